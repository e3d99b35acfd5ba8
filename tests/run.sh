#!/bin/bash
# run.sh: installs what is missing, builds, runs all tests; the last line is "N passed, N failed".
#
#     run.sh [--quick] [--part NAME]... [--list] [--coverage]
#
#     --quick       only build with gcc and make check
#     --part NAME   only this part (may be repeated); --list names them
#     --coverage    instead of tests: how many lines of the library the shm tests reach
#
# Everything is built out of the tree, in build-NAME; what was printed is in build-logs/NAME.log.
set -u -o pipefail
export LC_ALL=C TESTS_STRICT=1
cd "$(dirname "$0")/.." || exit
top=$PWD logs=$PWD/build-logs jobs=$(nproc)

# Name, minutes, what it does. Together under 45 minutes on two CPUs that do nothing else; a part is
# ended after five times its minutes.
parts='packages 1 what is missing is installed
gcc 3 gcc builds without a warning, with MPI and without
check 2 make check: static checks, unit tests, shm with 1 to 5 ranks
spread 4 exactness over shm: everything, up to 64 ranks
clang 2 clang builds without a warning
aarch64 1 the library compiles for aarch64
distcheck 3 make distcheck: install, installcheck, uninstall
sanitize 3 unit and shm tests, chaos under ASan and UBSan
tsan 2 the shm data path, and the thread of a rank, under TSan
valgrind 3 unit tests, shm tests, chaos under memcheck
faults 2 faults one at a time, and the n-th call to the system
chaos 2 random collectives with a random fault, 300 seeds
model 3 the protocol under a model checker, and with each rule taken out
fuzz 2 what other ranks and the user can send, 60 s each
vm 13 verbs on a real kernel driver, in virtual machines'
quick='packages gcc check'

fail() { echo "run.sh: $*" >&2; exit 2; }

# ---- counting ------------------------------------------------------------------------------------

# Each part appends lines "passed failed skipped what" to its results.
record() { # PASSED FAILED SKIPPED WHAT
	echo "$*" >>"$results"
}

has_failures() {
	awk '$2 > 0 { found = 1 } END { exit !found }' "$results"
}

step() { # WHAT COMMAND...
	local what=$1
	shift
	echo "==== $what: $*"
	if "$@"; then
		record 1 0 0 "$what"
	else
		record 0 1 0 "$what"
		return 1
	fi
}

# A program's output in a log; status 1 if something has failed. A failure that no line tells of
# counts as one.
count_log() { # LOG RESULT WHAT
	local passed failed skipped
	read -r passed failed skipped < <(awk -f tests/harness/tally.awk "$1")
	case $2 in
	PASS) [ $((passed + failed + skipped)) -gt 0 ] || passed=1 ;;
	SKIP) [ "$skipped" -gt 0 ] || skipped=1 ;;
	*) [ "$failed" -gt 0 ] || failed=1 ;;
	esac
	record "$passed" "$failed" "$skipped" "$3"
	[ "$failed" -eq 0 ]
}

count_script() { # SCRIPT ARGUMENT...
	local log result=PASS
	log=${1#tests/}
	log=$logs/$(tr / - <<<"${log%.sh}")$(printf -- -%s "${@:2}" | tr -c 'a-z0-9\n' -).out
	echo "==== $*"
	bash "$@" 2>&1 | tee "$log" || result=FAIL
	count_log "$log" $result "$1"
}

# make TARGET runs tests; every one of them left a .log and a .trs.
count_make() { # BUILD TARGET ARGUMENT...
	local build=$1 trs log name status=0
	shift
	echo "==== make -C $build $*"
	find "$build" -name '*.trs' -delete
	make -C "$build" "$@" || status=$?
	while read -r trs; do
		log=${trs%.trs}.log name=${build##*/}/$(realpath --relative-to="$build" "${trs%.trs}")
		count_log "$log" "$(sed -n 's/^:global-test-result: *//p' "$trs")" "$name" ||
			sed "s,^,$name: ," "$log"
	done < <(find "$build" -name '*.trs' | sort)
	if [ $status -ne 0 ] && ! has_failures; then
		record 0 1 0 "make $*"
	fi
}

# ---- parts ---------------------------------------------------------------------------------------

# configure is made anew when what it is made of is newer.
autoreconf_if_needed() {
	if ! [ configure -nt configure.ac ] || ! [ Makefile.in -nt Makefile.am ]; then
		mkdir -p build-aux/m4 && autoreconf -i
	fi
}

build() { # NAME CONFIGURE_ARGUMENT...
	local directory=$top/build-$1
	shift
	mkdir -p "$directory"
	autoreconf_if_needed && (cd "$directory" && ../configure -q "$@") &&
		make -C "$directory" -j "$jobs" && make -C "$directory" -j "$jobs" check TESTS=
}

part_packages() {
	if [ "$asked" = quick ]; then
		step 'packages are there' tests/install-packages.sh build test
	else
		step 'packages are there' tests/install-packages.sh build bench test vm
	fi
}

part_gcc() {
	step 'gcc builds without a warning' build gcc CC=gcc --enable-werror &&
		step 'gcc builds without MPI' build no-mpi CC=gcc --enable-werror --disable-static --without-mpi
}

part_check() {
	[ -e build-gcc/Makefile ] || part_gcc || return
	count_make "$top/build-gcc" check
}

part_spread() {
	[ -e build-gcc/tests/exact/exact ] || part_gcc || return
	programs=build-gcc/tests count_script tests/exact/shm_full.sh
}

part_clang() {
	step 'clang builds without a warning' build clang CC=clang --enable-werror --disable-static
}

# verbs and hwloc headers of this machine serve: they are the same for every Linux.
part_aarch64() {
	local headers file
	headers=$(mktemp -d)
	trap 'rm -rf "$headers"' RETURN
	mkdir "$headers/machine"
	ln -s /usr/include/infiniband /usr/include/rdma /usr/include/hwloc /usr/include/hwloc.h "$headers"
	ln -s "/usr/include/$(gcc -print-multiarch)/hwloc" "$headers/machine"
	for file in $(find base bootstrap coll transport wring.c -name '*.c' | sort); do
		echo "$file"
		aarch64-linux-gnu-gcc -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -Wall -Wextra -Wconversion \
			-Werror -I. -isystem "$headers" -isystem "$headers/machine" -c -o "$headers/object.o" "$file" || break
		file=''
	done
	step 'every file of the library compiles for aarch64' test -z "$file"
}

part_distcheck() {
	mkdir -p build-dist
	autoreconf_if_needed && (cd build-dist && ../configure -q) &&
		step 'make distcheck' make -C build-dist -j "$jobs" distcheck \
		TESTS='tests/source/check_symbols.sh tests/source/check_headers.sh tests/source/check_install.sh'
}

part_sanitize() {
	step 'ASan and UBSan build' build sanitize --enable-sanitizer=address,undefined --enable-werror --disable-static &&
		count_make "$top/build-sanitize" check-shm &&
		(srcdir=$top && . tests/harness/environment.sh &&
			programs=build-sanitize/tests count_script tests/chaos/chaos.sh --seeds 1..20)
}

part_tsan() {
	if [ -e tests/sanitize/tsan.sh ]; then
		count_script tests/sanitize/tsan.sh
	fi
}

part_faults() {
	[ -e build-gcc/tests/failure/failure ] || part_gcc || return
	programs=build-gcc/tests count_script tests/failure/failure.sh
}

part_chaos() {
	[ -e build-gcc/tests/chaos/chaos ] || part_gcc || return
	programs=build-gcc/tests count_script tests/chaos/chaos.sh
}

part_model() {
	count_script tests/model/run.sh
}

# Two at a time.
part_fuzz() {
	count_script tests/fuzz/run.sh 60 introduction line &
	count_script tests/fuzz/run.sh 60 config options
	wait
}

part_valgrind() {
	local -a memcheck=(valgrind -q --error-exitcode=99 --leak-check=full
		--show-leak-kinds=definite --errors-for-leak-kinds=definite
		--suppressions=tests/harness/valgrind.supp)
	[ -e build-gcc/Makefile ] || part_gcc || return
	count_make "$top/build-gcc" check-valgrind
	step 'shm tests under memcheck' timeout -k 5 400 "${memcheck[@]}" \
		build-gcc/tests/exact/exact --quick --ranks 2,3 --suite broadcast,mixed,random --timeout 300
	step 'chaos under memcheck' timeout -k 5 300 "${memcheck[@]}" build-gcc/tests/chaos/chaos --seeds 1..5
}

part_vm() {
	if [ -e tests/vm/suite.sh ]; then
		count_script tests/vm/suite.sh
	fi
}

# ---- the whole -----------------------------------------------------------------------------------

# Runs one part within its minutes; prints what came of it.
run_part() { # NAME MINUTES WHAT
	local name=$1 minutes=$2 begin=$SECONDS status=0
	results=$logs/$name.results
	: >"$results"
	echo "== $name: $3 (budget $minutes min)"
	timeout -k 10 "$((minutes * 5))m" bash tests/run.sh --inside "$asked" "$name" \
		>"$logs/$name.log" 2>&1 </dev/null || status=$?
	case $status in 124 | 137) record 0 1 0 "$name ended within $((minutes * 5)) minutes" ;; esac
	[ $status -eq 0 ] || has_failures || record 0 1 0 "$name (exit status $status)"
	awk '$2 > 0 { sub(/^[0-9]+ /, ""); sub(/ [0-9]+/, " failed:"); print "   " $0 }' "$results"
	if has_failures; then
		awk -f tests/harness/failures.awk "$logs/$name.log" | head -n 60 | sed 's/^/   | /'
	fi
	awk -v s=$((SECONDS - begin)) '
	{ passed += $1; failed += $2; skipped += $3 }
	END { printf "   %d passed, %d failed, %d skipped in %d:%02d min\n\n", passed, failed, skipped, s / 60, s % 60 }
	' "$results"
}

chosen='' asked=all
while [ $# -gt 0 ]; do
	case $1 in
	--quick) asked=quick chosen=$quick ;;
	--coverage) asked=coverage ;;
	--list) awk '{ n = $1; m = $2; $1 = $2 = ""; printf "%-10s %2d min %s\n", n, m, $0 }' <<<"$parts"; exit ;;
	--part)
		grep -q "^${2:-?} " <<<"$parts" || fail "--part ${2:-}: no such part; see --list"
		chosen+=" $2"
		shift
		;;
	--inside) # a part, started by run_part
		asked=$2 results=$logs/$3.results
		"part_$3"
		exit
		;;
	-h | --help) sed -n '2,/^set/s/^#\( \|$\)//p' "$0"; exit ;;
	*) fail "$1: no such option; see --help" ;;
	esac
	shift
done

mkdir -p "$logs"
exec 9>"$logs/lock"
flock -n 9 || fail "another run.sh is at work in this tree"
if [ $asked = coverage ]; then
	bash tests/harness/coverage.sh 9>&-
	exit
fi
rm -f "$logs"/*.results
[ -n "$chosen" ] || chosen=$(awk '{ print $1 }' <<<"$parts")
while read -r name minutes what; do
	case " ${chosen//$'\n'/ } " in *" $name "*) run_part "$name" "$minutes" "$what" 9>&- ;; esac
done <<<"$parts"

echo "in all $((SECONDS / 60)):$(printf %02d $((SECONDS % 60))) min; logs in build-logs"
awk '
{ passed += $1; failed += $2 }
END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }
' "$logs"/*.results
