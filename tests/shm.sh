#!/bin/bash
# shm.sh: real collectives between processes of this machine, a short spread: under 90 s on two CPUs.
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/programs.sh"

{
	run 60 exact --quick --transport shm --ranks 1,2,3,4,5 --suite counts,product,pairwise
	run 60 exact --quick --transport shm --ranks 1,2,3,4,5 --suite random,broadcast,mixed,destroy
	run 120 api_refuses
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
