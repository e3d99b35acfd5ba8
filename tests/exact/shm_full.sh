#!/bin/bash
# shm_full.sh: the whole spread of exactness over shared memory, up to 64 ranks: some minutes.
# shellcheck source=tests/harness/programs.sh
. "$(dirname "$0")/../harness/programs.sh"
seed=${1:-$(date +%j)} # another one every day; a failure's line names it

exact() { # SECONDS ARGUMENT...
	run "$1" exact/exact --transport shm --seed "$seed" "${@:2}"
}

{
	exact 300 --ranks 1,2,3,4,5,8 --suite counts
	exact 300 --ranks 1,2,3,4,5,7,8 --suite product
	exact 400 --ranks 1,2,3,5 --suite pairwise
	exact 300 --ranks 2,3,7 --suite random
	exact 200 --ranks 1,2,3,4,5,7,8 --suite broadcast
	exact 300 --ranks 1,2,3,5,8 --suite mixed
	exact 300 --ranks 2,3,8 --suite destroy
	exact 300 --ranks 13,32,64 --suite many
	exact 200 --ranks 13,32,64 --suite destroy
	exact 600 --ranks 2,8 --suite large
	exact 400 --ranks 2 --suite huge
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
