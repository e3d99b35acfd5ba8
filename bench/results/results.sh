#!/bin/bash
# results.sh: measures what bench/RESULTS.md shows, three times in turns, and prints it as Markdown.
#
#     results.sh WRING-BENCH [DIRECTORY]
#
# WRING-BENCH is the program, built; DIRECTORY keeps each run's JSON and CSV (results). The runs go
# through all series one after the other, three times; a series that fails is told and left out. About
# 15 minutes on two idle cores; $budget is the seconds for one size (0.25).
set -u -o pipefail
export LC_ALL=C

fail() { echo "results.sh: $*" >&2; exit 2; }

case ${1:-} in
-h | --help) sed -n 's/^# \{0,1\}//; 2,9p' "$0"; exit 0 ;;
esac
[ $# -ge 1 ] && [ $# -le 2 ] || fail "give the program and perhaps a directory; results.sh --help says more"
bench=$1 directory=${2:-results} runs=3
[ -x "$bench" ] || fail "'$bench': no program; build bench/wring-bench/wring-bench first"
mkdir -p "$directory" || fail "'$directory' cannot be created"

few=4,64,256,1K,4K,16K,64K,256K,1M,4M,16M,64M
all=$few,256M

# Name, ranks, sizes, options; a title begins a table of the series that follow.
series="
# all-reduce, 2 ranks
malloc 2 $all --buffers malloc
malloc-in-place 2 $all --buffers malloc --in-place
alloc 2 $all
alloc-in-place 2 $all --in-place
alloc-touch 2 $all --touch
# all-reduce, 4 ranks
malloc4 4 $few --buffers malloc
alloc4 4 $few
# all-reduce, 8 ranks
malloc8 8 $few --buffers malloc
alloc8 8 $few
# broadcast from one root after the other
broadcast-malloc2 2 $few --collective broadcast --rotate-root --buffers malloc
broadcast-alloc2 2 $few --collective broadcast --rotate-root
broadcast-malloc4 4 $few --collective broadcast --rotate-root --buffers malloc
broadcast-alloc4 4 $few --collective broadcast --rotate-root
# broadcast from one root, calls back to back
broadcast-rate2 2 4,256,4K,64K,1M --collective broadcast
broadcast-rate4 4 4,256,4K,64K,1M --collective broadcast
# barrier
barrier2 2 4 --collective barrier
barrier4 4 4 --collective barrier
barrier8 8 4 --collective barrier
"

# What Open MPI can be told to do; for a vector in wring_alloc memory.
tuned='--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm'
algorithms="
default
recursive-doubling $tuned 3
ring $tuned 4
segmented-ring $tuned 5
rabenseifner $tuned 6
coll-sm --mca coll_sm_priority 100
"

launch() { # RANKS OPTION-OF-MPIRUN... -- OPTION-OF-WRING-BENCH...
	local flags=(-n "$1")
	shift
	[ "$(id -u)" -ne 0 ] || flags+=(--allow-run-as-root)
	[ "${flags[1]}" -le "$(nproc)" ] || flags+=(--oversubscribe)
	while [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	timeout -k 10 600 mpirun "${flags[@]}" "$bench" --compare mpi --budget "${budget:-0.25}" "${@:2}" </dev/null
}

# A barrier has no size.
run_series() { # RUN NAME RANKS SIZES OPTION...
	local file=$directory/$2.$1 sizes=(--sizes "$4")
	[[ $2 != barrier* ]] || sizes=()
	launch "$3" -- "${sizes[@]}" "${@:5}" --json "$file.json" --csv "$file.csv" >"$file.txt" 2>&1 ||
		echo "results.sh: run $1 of $2 failed, see $file.txt" >&2
}

run_algorithm() { # NAME OPTION-OF-MPIRUN...
	local file=$directory/$1.mpi ranks
	for ranks in 2 4; do
		launch "$ranks" "${@:2}" -- --sizes "$few" --csv "$file.$ranks.csv" >"$file.$ranks.txt" 2>&1 ||
			echo "results.sh: $1 with $ranks ranks failed, see $file.$ranks.txt" >&2
	done
}

# The first word of each line of series or algorithms, and the rest of it as arguments.
each() { # FUNCTION LINES [ARGUMENT...]
	local line words
	while IFS= read -r line; do
		[ -n "$line" ] && [[ $line != \#* ]] || continue
		read -ra words <<<"$line"
		"$1" "${@:3}" "${words[@]}"
	done <<<"$2"
}

# One table: sizes down, series across; three ratios and Wring's median of the second best run.
print_table() { # TITLE NAME...
	local title=$1 files=() name run
	shift
	for name in "$@"; do
		for ((run = 1; run <= runs; run++)); do
			files+=("$directory/$name.$run.csv")
		done
	done
	printf '\n### %s\n\n' "$title"
	awk -F, -v names="$*" -f "$(dirname "$0")/table.awk" "${files[@]}"
}

print_series() {
	local line title='' names=()
	while IFS= read -r line; do
		case $line in
		'#'*)
			[ ${#names[@]} -eq 0 ] || print_table "$title" "${names[@]}"
			title=${line#\# } names=()
			;;
		?*) names+=("${line%% *}") ;;
		esac
	done <<<"$series"
	print_table "$title" "${names[@]}"
}

print_algorithms() {
	local ranks files
	for ranks in 2 4; do
		printf '\n### The best of Open MPI, all-reduce, wring_alloc, %s ranks\n\n' "$ranks"
		files=("$directory"/*.mpi."$ranks".csv)
		awk -F, -f "$(dirname "$0")/best.awk" "${files[@]}"
	done
}

for ((run = 1; run <= runs; run++)); do
	each run_series "$series" "$run"
done
each run_algorithm "$algorithms"
echo "Measured $(date -u +%F) with: $(sed -n 1p "$directory/alloc.1.txt"); $(sed -n 2p "$directory/alloc.1.txt")"
print_series
print_algorithms
