#!/bin/bash
# run.sh: installs what is missing, builds, runs tests; the last line is "N passed, N failed".
#
#     run.sh [--short | --all | --long | --job NAME...] [--list] [--coverage]
#
#     --short      a piece of everything, at most 15 minutes on two CPUs (this is the default)
#     --all        everything that a change must pass, at most 40 minutes
#     --long       wide spreads that take hours, once before a release
#     --job NAME   only this job; may be repeated
#     --list       the jobs of that tier with their seconds, and their sum
#     --coverage   instead of tests: how many lines of the library the shm tests reach
#
# The table of jobs is in tests/README.md. Everything is built out of the tree, in build-NAME; what a
# job printed is in build-logs/JOB.log.
set -u -o pipefail
export LC_ALL=C TESTS_STRICT=1
cd "$(dirname "$0")/.." || exit
top=$PWD logs=$PWD/build-logs cpus=$(nproc)

fail() { echo "run.sh: $*" >&2; exit 2; }

# Lines "job tier,tier seconds command" and, behind a tab, what the job shows.
jobs_of() { # TIER
	awk -F ' *[|] *' -v tier="$1" '
	/^<!-- jobs/ { inside = 1 }
	/^<!-- end of jobs/ { inside = 0 }
	inside && /^[|] `/ {
		gsub(/`/, "")
		if (tier == "" || index("," $3 ",", "," tier ","))
			print $2, $3, $4, $5 "\t" $6
	}' tests/README.md
}

# ---- counting ------------------------------------------------------------------------------------

# Each job appends lines "passed failed skipped what" to its results.
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
	srcdir=$top bash "$@" 2>&1 | tee "$log" || result=FAIL
	count_log "$log" $result "$1"
}

# make TARGET runs tests; every one of them left a .log and a .trs.
count_make() { # BUILD TARGET ARGUMENT...
	local build=$top/build-$1 trs log name status=0
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

# ---- what the commands of jobs are made of --------------------------------------------------------

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
		make -C "$directory" -j "$cpus" && make -C "$directory" -j "$cpus" check TESTS=
}

# The build of that name, made once in a run; it is a test by itself.
built() { # NAME
	local -a options=(CC=gcc --enable-werror)
	[ ! -e "$logs/$1.built" ] || return 0
	case $1 in
	gcc) ;;
	no-mpi) options+=(--disable-static --disable-lto --without-mpi) ;;
	clang) options=(CC=clang --enable-werror --disable-static) ;;
	sanitize) options+=('--enable-sanitizer=address,undefined' --disable-static) ;;
	esac
	step "the build $1 has no warning" build "$1" "${options[@]}" && touch "$logs/$1.built"
}

# A script that runs the programs of a build.
with() { # BUILD SCRIPT ARGUMENT...
	(srcdir=$top && . tests/harness/environment.sh && programs=build-$1/tests count_script "${@:2}")
}

# verbs and hwloc headers of this machine serve: they are the same for every Linux.
# The machine's own headers, those of rdma-core and hwloc only, stand in for aarch64's.
compile_for_aarch64() { # HEADERS
	local file
	mkdir "$1/machine"
	ln -s /usr/include/infiniband /usr/include/rdma /usr/include/hwloc /usr/include/hwloc.h "$1"
	ln -s "/usr/include/$(gcc -print-multiarch)/hwloc" "$1/machine"
	for file in $(find base bootstrap coll transport wring.c -name '*.c' | sort); do
		echo "$file"
		aarch64-linux-gnu-gcc -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -Wall -Wextra -Wconversion \
			-Werror -I. -isystem "$1" -isystem "$1/machine" -c -o "$1/object.o" "$file" || return
	done
}

compiled_for_aarch64() {
	local headers status
	headers=$(mktemp -d)
	compile_for_aarch64 "$headers"
	status=$?
	rm -rf "$headers"
	return "$status"
}

distchecked() {
	mkdir -p build-dist
	autoreconf_if_needed && (cd build-dist && ../configure -q) &&
		make -C build-dist -j "$cpus" distcheck TESTS="tests/source/check_symbols.sh
			tests/source/check_headers.sh tests/source/check_install.sh"
}

memcheck() { # SECONDS PROGRAM ARGUMENT...
	timeout -k 5 "$1" valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
		--errors-for-leak-kinds=definite --suppressions=tests/harness/valgrind.supp \
		"build-gcc/tests/$2" "${@:3}"
}

# The benchmark with a check of every element, in every datatype and for every collective.
benchmark_checks() { # RANKS
	local datatype collective
	(srcdir=$top && . tests/harness/environment.sh &&
		for collective in allreduce broadcast; do
			for datatype in int8 uint8 int32 uint32 int64 uint64 float16 bfloat16 float32 float64; do
				timeout -k 5 600 mpirun -n "$1" build-gcc/bench/wring-bench/wring-bench --check \
					--collective $collective --datatype $datatype --compare mpi || return
			done
		done)
}

# ---- the whole -----------------------------------------------------------------------------------

# Runs one job, five times its seconds and two minutes at most; prints what came of it.
run_job() { # NAME SECONDS WHAT
	local name=$1 most=$(($2 * 5 + 120)) begin=$SECONDS status=0
	results=$logs/$name.results
	: >"$results"
	timeout -k 10 "$most" bash tests/run.sh --inside "$name" >"$logs/$name.log" 2>&1 </dev/null || status=$?
	case $status in 124 | 137) record 0 1 0 "$name ended within $most s" ;; esac
	[ $status -eq 0 ] || has_failures || record 0 1 0 "$name (exit status $status)"
	awk '$2 > 0 { sub(/^[0-9]+ /, ""); sub(/ [0-9]+/, " failed:"); print "   " $0 }' "$results"
	if has_failures; then
		awk -f tests/harness/failures.awk "$logs/$name.log" | head -n 60 | sed 's/^/   | /'
	fi
	awk -v s=$((SECONDS - begin)) -v most="$2" '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "   %d passed, %d failed, %d skipped in %d s", passed, failed, skipped, s
		print (s > most ? " (its budget is " most " s)" : "")
	}' "$results"
}

minutes() { # SECONDS
	echo "$((($1 + 59) / 60)) min"
}

list_jobs() {
	awk -F '\t' '{ split($1, f, " "); s += f[3]; printf "%-20s %-15s %5d s  %s\n", f[1], f[2], f[3], $2 }
	END { printf "%d jobs, %d min %02d s\n", NR, s / 60, s % 60 }' <<<"$chosen"
}

run_jobs() {
	local n=0 of left name seconds command what
	of=$(wc -l <<<"$chosen")
	left=$(awk '{ s += $3 } END { print s }' <<<"$chosen")
	while read -r name _ seconds command; do
		n=$((n + 1)) what=${command#*$'\t'}
		echo "$n of $of jobs, about $(minutes "$left") left: $name: $what"
		run_job "$name" "$seconds" 9>&-
		left=$((left - seconds))
	done <<<"$chosen"
}

tier=short chosen='' asked=run
while [ $# -gt 0 ]; do
	case $1 in
	--short | --all | --long) tier=${1#--} ;;
	--job)
		grep -q "^${2:-?} " <<<"$(jobs_of '')" || fail "--job ${2:-}: no such job; tests/README.md has the table"
		chosen+=$(jobs_of '' | grep "^$2 ")$'\n'
		shift
		;;
	--list) asked=list ;;
	--coverage) asked=coverage ;;
	--inside) # a job, started by run_job
		results=$logs/$2.results
		command=$(jobs_of '' | sed -n "s/^$2 [^ ]* [0-9]* //p")
		eval "${command%$'\t'*}"
		exit
		;;
	-h | --help) sed -n '2,/^set/s/^#\( \|$\)//p' "$0"; exit ;;
	*) fail "$1: no such option; see --help" ;;
	esac
	shift
done
chosen=${chosen%$'\n'}
[ -n "$chosen" ] || chosen=$(jobs_of $tier)
[ -n "$chosen" ] || fail "tests/README.md has no job of the tier $tier"
if [ $asked = list ]; then
	list_jobs
	exit
fi

mkdir -p "$logs"
exec 9>"$logs/lock"
flock -n 9 || fail "another run.sh is at work in this tree"
if [ $asked = coverage ]; then
	bash tests/harness/coverage.sh 9>&-
	exit
fi
rm -f "$logs"/*.results "$logs"/*.built
run_jobs
echo "in all $((SECONDS / 60)):$(printf %02d $((SECONDS % 60))) min; logs in build-logs"
awk '
{ passed += $1; failed += $2 }
END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }
' "$logs"/*.results
