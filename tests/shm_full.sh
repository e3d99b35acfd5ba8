#!/bin/bash
# shm_full.sh: the whole spread of exactness over shared memory, up to 64 ranks: some minutes.
programs=${programs:-tests}
seed=${1:-$(date +%j)} # another one every day; a failure's line names it

run() { # SECONDS ARGUMENT...
	timeout -k 5 "$1" "$programs/exact" --transport shm --seed "$seed" "${@:2}" | grep --line-buffered -v '^1\.\.'
	local status=${PIPESTATUS[0]}
	[ "$status" -le 1 ] || echo "not ok - exact ${*:2} ended with $status"
	[ "$status" -eq 0 ] || failed=1
}

number() {
	awk '
	/^(not )?ok / { n++; sub(/ok ([0-9]+ )?/, "ok " n " ") }
	{ print; fflush() }
	END { print "1.." n + 0 }'
}

failed=0
{
	run 300 --ranks 1,2,3,4,5,7,8 --suite counts
	run 300 --ranks 1,2,3,4,5,7,8 --suite product
	run 400 --ranks 1,2,3,4,5,7,8 --suite pairwise
	run 300 --ranks 1,2,3,4,5,7,8 --suite random
	run 200 --ranks 1,2,3,4,5,7,8 --suite broadcast
	run 300 --ranks 1,2,3,4,5,7,8 --suite mixed
	run 300 --ranks 2,3,4,8 --suite destroy
	run 300 --ranks 13,32,64 --suite many
	run 200 --ranks 13,32,64 --suite destroy
	run 600 --ranks 2,8 --suite large
	run 400 --ranks 2 --suite huge
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
