#!/bin/bash
# shm.sh: real collectives between processes of this machine, a short spread: under 90 s on two CPUs.
programs=${programs:-tests}

# A program's results without its plan; one that is killed or dies leaves a failed test.
run() { # SECONDS PROGRAM ARGUMENT...
	local seconds=$1 status
	shift
	timeout -k 5 "$seconds" "$programs/$1" "${@:2}" | grep --line-buffered -v '^1\.\.'
	status=${PIPESTATUS[0]}
	[ "$status" -le 1 ] || echo "not ok - $* ended with $status"
	[ "$status" -eq 0 ] || failed=1
}

# One plan and one count for all of them.
number() {
	awk '
	/^(not )?ok / { n++; sub(/ok ([0-9]+ )?/, "ok " n " ") }
	{ print; fflush() }
	END { print "1.." n + 0 }'
}

failed=0
{
	run 60 exact --quick --transport shm --ranks 1,2,3,4,5 --suite counts,product,pairwise
	run 60 exact --quick --transport shm --ranks 1,2,3,4,5 --suite random,broadcast,mixed,destroy
	run 120 api_refuses
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
