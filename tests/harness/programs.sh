# programs.sh: sourced by scripts that run several test programs and give them one plan.
# shellcheck shell=bash
programs=${programs:-tests}
failed=0

# A program's results without its plan; one that is killed or dies leaves a failed test. patience
# multiplies the seconds, for programs built to be looked at.
run() { # SECONDS PROGRAM ARGUMENT...
	local seconds=$1 status begin=$SECONDS
	shift
	timeout -k 5 $((seconds * ${patience:-1})) "$programs/$1" "${@:2}" | grep --line-buffered -v '^1\.\.'
	status=${PIPESTATUS[0]}
	echo "# $* took $((SECONDS - begin)) s"
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
