#!/bin/bash
# ranks.sh: times an all-reduce with 2, 4, 8, 16 and 32 ranks of this host beside MPI, and draws it.
#
#     ranks.sh WRING-BENCH FILE.svg [OPTION OF WRING-BENCH]...
#
# WRING-BENCH is the program, built; FILE.svg gets the drawing, FILE.csv (the same name) what is drawn.
# Sizes are 1 KiB and 1 MiB. Needs mpirun and gnuplot.
set -u -o pipefail
export LC_ALL=C

fail() { echo "ranks.sh: $*" >&2; exit "${status:-2}"; }

case ${1:-} in
-h | --help)
	sed -n 's/^# \{0,1\}//; 2,8p' "$0"
	exit 0
	;;
esac
[ $# -ge 2 ] || fail "give the program and a file for the drawing; ranks.sh --help says more"
bench=$1 svg=$2 csv=${2%.svg}.csv
shift 2
[ -x "$bench" ] || fail "'$bench': no program; build bench/wring-bench/wring-bench first"
[[ $svg == *.svg ]] || fail "'$svg': give a name that ends with .svg"
for tool in mpirun gnuplot; do
	command -v $tool >/dev/null || fail "$tool is not in PATH; apt-get install it"
done
echo 'ranks,bytes,wring_us,mpi_us' >"$csv" || fail "$csv cannot be written"

part=$(mktemp) || fail "no temporary file"
trap 'rm -f "$part"' EXIT

# As root, and with more ranks than CPUs, Open MPI wants to be told that it is meant so.
measure() { # RANKS OPTION...
	local ranks=$1 flags=()
	shift
	[ "$(id -u)" -ne 0 ] || flags+=(--allow-run-as-root)
	[ "$ranks" -le "$(nproc)" ] || flags+=(--oversubscribe)
	timeout -k 10 700 mpirun "${flags[@]}" -n "$ranks" "$bench" --compare mpi --sizes 1K,1M \
		--csv "$part" "$@" </dev/null
}

# Columns are found by their names in the first line.
append() {
	awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ print $at["ranks"] "," $at["bytes"] "," $at["median_us"] "," $at["mpi_median_us"] }
	' "$part" >>"$csv"
}

for ranks in 2 4 8 16 32; do
	measure "$ranks" "$@"
	status=$?
	[ "$status" -eq 0 ] || fail "wring-bench with $ranks ranks ended with status $status"
	append
done

lines() { # TITLE COLUMN BYTES STYLE
	printf "'%s' using 1:(\$2 == %d ? \$%d : NaN) with linespoints %s title '%s'" \
		"$csv" "$3" "$2" "$4" "$1"
}

gnuplot <<EOF || status=1 fail "gnuplot failed; $csv has the numbers"
set terminal svg size 940,620 font 'sans-serif,13' background '#ffffff'
set output '$svg'
set datafile separator ','
set datafile missing NaN
set logscale xy
set xtics (2, 4, 8, 16, 32)
set grid xtics ytics lc rgb '#dddddd'
set key left top
set title 'all-reduce over ranks of one host with $(nproc) CPUs' noenhanced
set xlabel 'ranks'
set ylabel 'time of one call, us (lower is better)'
plot $(lines 'Wring, 1 KiB' 3 1024 "lc rgb '#0060a8' pt 7 ps 0.6 lw 2"), \\
     $(lines 'MPI, 1 KiB' 4 1024 "lc rgb '#d55e00' pt 7 ps 0.6 lw 2"), \\
     $(lines 'Wring, 1 MiB' 3 1048576 "lc rgb '#0060a8' pt 5 ps 0.6 lw 2 dt 2"), \\
     $(lines 'MPI, 1 MiB' 4 1048576 "lc rgb '#d55e00' pt 5 ps 0.6 lw 2 dt 2")
EOF
echo "ranks.sh: $svg and $csv"
