#!/bin/bash
# fake.sh: whole collectives over verbs where there is no device: the ranks are threads, a write is a memcpy.
# shellcheck source=tests/harness/programs.sh
. "$(dirname "$0")/../harness/programs.sh"

exact() { # ARGUMENT...
	run 120 exact/exact_fake --threads --quick --transport verbs "$@"
}

{
	exact --ranks 1,2,3 --suite counts,product,pairwise,destroy
	exact --ranks 2,4 --suite random,broadcast,mixed
	exact --ranks 3 --suite broadcast,mixed --set wait=event
	exact --ranks 3 --suite broadcast,mixed --set progress=thread --set trace=/dev/null
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
