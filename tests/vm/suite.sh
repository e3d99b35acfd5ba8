#!/bin/bash
# suite.sh: Wring on a real kernel RDMA driver, Soft-RoCE in virtual machines; prints TAP.
#
#     suite.sh [--quick] [--list] [JOB]...
#
#     --quick   only a benchmark, and exactness with 2 ranks
#     --list    name the jobs: a job is one boot
#
# It runs the programs of the current directory, or of the one above $programs. All together take
# under 13 minutes on two CPUs that do nothing else.
set -u -o pipefail
export LC_ALL=C
srcdir=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${programs:-tests}/.." && pwd) || exit 2
[ -e "$build/tests/exact/exact" ] || build=$srcdir/build-gcc
cd "$build" || exit 2

# Name, time limit in seconds (for a busy machine), options of the runner, script and parts. down
# takes the newer kernel: rdma_rxe of 6.1 follows a pointer to a queue pair that is gone when a packet
# of it is still in a queue of the netdev that went down, and the kernel falls.
jobs='exact 900 - one.sh tools exact
faults 900 - one.sh trace bad death
chaos 900 - one.sh chaos idle
ring 1200 -n_2 two.sh tools ring shm
spread 1200 -n_2 two.sh exact death chaos
netem 900 -n_2 netem.sh lossy cut
down 600 -n_2_-k_6.12 netem.sh down
kernel612 600 -k_6.12 one.sh short
quick 300 - one.sh quick'

# One plan and one count for all; status 1 if one has failed.
number() {
	local line n=0 failed=''
	while IFS= read -r line; do
		if [[ $line =~ ^((not )?ok)\ ([0-9]+\ )?(.*)$ ]]; then
			n=$((n + 1)) failed+=${BASH_REMATCH[2]}
			line="${BASH_REMATCH[1]} $n ${BASH_REMATCH[4]}"
		fi
		printf '%s\n' "$line"
	done
	echo "1..$n"
	[ -z "$failed" ] && [ $n -gt 0 ]
}

# Boots, runs, and adds a test of its own: that the script came to its end.
run_job() { # NAME SECONDS OPTIONS SCRIPT PART...
	local name=$1 seconds=$2 options=() script=$4 status begin=$SECONDS log
	[ "$3" = - ] || IFS=_ read -ra options <<<"$3"
	shift 4
	log=$(mktemp) || return
	echo "# job $name: $script $*"
	setpriv --pdeathsig TERM "$srcdir/tests/vm/run" -t "$seconds" -v "${options[@]}" -- \
		bash "$srcdir/tests/vm/$script" "$@" </dev/null 2>&1 | tee "$log" |
		sed -u '/^ok \|^not ok \|^#/!s/^/# /'
	status=${PIPESTATUS[0]}
	if [ "$status" -eq 0 ] && grep -q "^# all of $script has run" "$log"; then
		echo "ok - job_${name}_came_to_its_end # $((SECONDS - begin)) s"
	else
		echo "not ok - job_${name}_came_to_its_end # status $status, $((SECONDS - begin)) s"
	fi
	rm -f "$log"
}

chosen=''
while [ $# -gt 0 ]; do
	case $1 in
	--quick) chosen+=' quick' ;;
	--list) echo "$jobs"; exit ;;
	-h | --help) sed -n '2,/^set/s/^#\( \|$\)//p' "$0"; exit ;;
	*)
		grep -q "^$1 " <<<"$jobs" || { echo "suite.sh: $1: no such job; see --list" >&2; exit 2; }
		chosen+=" $1"
		;;
	esac
	shift
done
for program in tests/exact/exact tests/vm/{death,start,link} tests/chaos/chaos tests/failure/failure \
	bench/wring-bench/wring-bench bench/wring-info/wring-info; do
	[ -x $program ] && continue
	echo "suite.sh: $build/$program is missing: make; make check TESTS=" >&2
	exit 2
done

# Nothing but what the scripts set decides: no variable of the caller goes into the machines.
unset "${!WRING_@}" "${!OMPI_MCA_@}"
while read -r name rest; do
	case " ${chosen:-exact faults chaos ring spread netem down kernel612} " in *" $name "*)
		# shellcheck disable=SC2086
		run_job "$name" $rest
		;;
	esac
done <<<"$jobs" | number
