#!/bin/bash
# shm_full.sh: exactness over shared memory, a wide spread: everything, up to 64 ranks.
#
#     shm_full.sh [small | many | large | wide]...      all but wide by default
#
# A seed makes the inputs: another one every day, or SEED. A failure's line names it.
# shellcheck source=tests/harness/programs.sh
. "$(dirname "$0")/../harness/programs.sh"

exact() { # SECONDS ARGUMENT...
	run "$1" exact/exact --transport shm --seed "${SEED:-$(date +%j)}" "${@:2}"
}

spread_small() {
	exact 300 --ranks 1,2,3,4,5,8 --suite counts
	exact 300 --ranks 1,2,3,4,5,7,8 --suite product
	exact 400 --ranks 1,2,3,5 --suite pairwise
	exact 300 --ranks 2,3,7 --suite random
	exact 200 --ranks 1,2,3,4,5,7,8 --suite broadcast
	exact 300 --ranks 1,2,3,5,8 --suite mixed
	exact 300 --ranks 2,3,8 --suite destroy
}

spread_many() {
	exact 300 --ranks 13,32,64 --suite many
	exact 200 --ranks 13,32,64 --suite destroy
}

spread_large() {
	exact 600 --ranks 2,8 --suite large
	exact 400 --ranks 2 --suite huge
}

# Every number of ranks up to 16, and the inputs of five seeds.
spread_wide() {
	local SEED
	for SEED in 1 2 3 4 5; do
		exact 3000 --ranks 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --suite counts,product,broadcast,mixed
		exact 3000 --ranks 2,3,4,5,6,7,8,13,16 --suite pairwise,random,destroy
	done
}

[ $# -gt 0 ] || set -- small many large
{
	for spread in "$@"; do
		"spread_$spread" || failed=1
	done
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
