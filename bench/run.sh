#!/bin/bash
# run.sh: installs what is missing, builds, and measures Wring beside Open MPI; needs git and apt.
#
#     run.sh [-n RANKS] [OPTION OF WRING-BENCH]...
#
# Everything is built in build/; the table goes to the terminal, and with JSON, CSV and the drawing
# to build/bench-results/.
set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit
top=$PWD build=$PWD/build results=$PWD/build/bench-results

fail() { echo "run.sh: $*" >&2; exit "${status:-2}"; }

# Quiet unless it fails: what was printed is in the log.
step() { # SECONDS WHAT COMMAND...
	local seconds=$1 what=$2 log=$build/$2.log
	shift 2
	echo "run.sh: $what (log: ${log#"$top"/})"
	timeout -k 10 "$seconds" "$@" >"$log" 2>&1 </dev/null && return
	tail -n 20 "$log" >&2
	status=1 fail "$what failed; the whole log is $log"
}

configure_and_make() {
	mkdir -p "$build" || fail "cannot create $build"
	if [ ! -x configure ] || [ configure.ac -nt configure ] || [ Makefile.am -nt configure ]; then
		step 300 autoreconf autoreconf -i
	fi
	if [ ! -f "$build/Makefile" ] || [ configure -nt "$build/Makefile" ]; then
		(cd "$build" && step 300 configure "$top/configure") || exit
	fi
	step 1800 make make -C "$build" -j "$(nproc)"
	[ -x "$build/bench/wring-bench/wring-bench" ] ||
		fail "make built no bench/wring-bench/wring-bench; see $build/configure.log: was MPI found?"
}

# As root, and with more ranks than CPUs, Open MPI wants to be told that it is meant so.
launch() { # COMMAND...
	local flags=()
	[ "$(id -u)" -ne 0 ] || flags+=(--allow-run-as-root)
	[ "$ranks" -le "$(nproc)" ] || flags+=(--oversubscribe)
	timeout -k 10 3600 mpirun "${flags[@]}" -n "$ranks" "$@" </dev/null
}

ranks=2
case ${1:-} in
-h | --help)
	sed -n 's/^# \{0,1\}//; 2,7p' "$0"
	exit 0
	;;
-n)
	[[ ${2:-} =~ ^[1-9][0-9]{0,3}$ ]] || fail "-n '${2:-}': give the number of ranks, 1 or more"
	ranks=$2
	shift 2
	;;
esac

timeout -k 10 3000 bash tests/install-packages.sh build bench || fail "not all packages could be installed"
configure_and_make
mkdir -p "$results" || fail "cannot create $results"
launch "$build/bench/wring-bench/wring-bench" --compare mpi --check --json "$results/bench.json" \
	--csv "$results/bench.csv" --plot "$results/bench.svg" "$@" | tee "$results/bench.txt"
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] || fail "wring-bench ended with status $status"
echo "run.sh: results: ${results#"$top"/}/bench.{txt,json,csv,svg}"
