#!/bin/bash
# bench_options.sh: wring-bench refuses what makes no sense, in one line, and writes what it promises.
#
# WRING_BENCH is the program, ./bench/wring-bench/wring-bench if not given.
. "$(dirname "$0")/../harness/tap.sh"
bench=$(realpath "${WRING_BENCH:-./bench/wring-bench/wring-bench}")
unset WRING_BENCH # the library refuses WRING_ variables that it does not know
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# Without mpirun it is a single rank; good enough for most refusals, and far quicker.
alone() { # ARGUMENT...
	timeout -k 5 120 "$bench" "$@" >stdout 2>stderr </dev/null
	status=$?
}

ranks() { # RANKS ARGUMENT...
	local n=$1
	shift
	timeout -k 5 240 mpirun -n "$n" "$bench" "$@" >stdout 2>stderr </dev/null
	status=$?
}

shown() {
	echo "status $status"
	cat stdout stderr
}

# Status 2, one line on stderr that names the value, nothing on stdout.
refused() { # TEXT...
	local text
	[ "$status" -eq 2 ] && [ "$(grep -c '^wring-bench: ' stderr)" -eq 1 ] && [ ! -s stdout ] || return 1
	for text; do
		grep '^wring-bench: ' stderr | grep -qF -- "$text" || return 1
	done
}

refuses() { # NAME TEXT ARGUMENT...
	local name=$1 text=$2
	shift 2
	alone "$@"
	verdict "refuses_$name" refused "$text"
}

one_line() {
	[ "$(wc -l <stderr)" -eq 1 ]
}

# ---- refused options -----------------------------------------------------------------------------

refuses unknown_option "'--itterations': did you mean --iterations" --itterations 5
verdict refusal_is_a_single_line one_line
refuses option_like_no_other "'--xyzzyplugh'" --xyzzyplugh
refuses argument_that_is_no_option "'now'" now
refuses single_dash "'-n'" -n 2
refuses missing_value "'--max': its BYTES is missing" --max
refuses value_of_a_flag "'--check=yes'" --check=yes
refuses unknown_collective "'gather'" --collective gather
refuses unknown_datatype "'float'" --datatype float
refuses unknown_op "'plus'" --op plus
refuses unknown_buffers "'stack'" --buffers stack
refuses unknown_system_to_compare "'nccl'" --compare nccl
refuses unknown_transport "'tcp'" --transport tcp
refuses unknown_setting "'colour=blue'" --set colour=blue
refuses setting_without_value "'slots'" --set slots
refuses setting_out_of_range "'slots=3'" --set slots=3
refuses size_that_is_none "'lots'" --min lots
refuses negative_size "'-4'" --max -4
refuses unknown_unit "'4X'" --max 4X
refuses size_that_overflows "'99999999999T'" --max 99999999999T
refuses number_that_overflows "'99999999999999999999'" --max 99999999999999999999
refuses min_above_max "--min 2048: is above --max 1024" --min 2K --max 1K
refuses min_of_nothing '--min 0' --min 0
refuses part_of_an_element "--min 6: not a multiple of the datatype's 4 bytes" --min 6
refuses part_of_an_element_in_a_list '--sizes 10' --sizes 4,10
refuses hole_in_a_list "''" --sizes 4,,8
refuses factor_of_one "'1'" --factor 1
refuses no_iterations "'0'" --iterations 0
refuses negative_warmup "'-1'" --warmup -1
refuses no_batch "'0'" --batch 0
refuses no_budget "'0'" --budget 0
refuses budget_that_is_no_number "'nan'" --budget nan
refuses deadline_of_nothing "'0'" --deadline 0
refuses negative_root "'-1'" --collective broadcast --root -1
refuses root_outside '--root 7: there are only ranks 0 to 0' --collective broadcast --root 7
refuses root_of_allreduce '--root: allreduce has no root' --root 0 --root 1
refuses touch_in_batches '--batch 4' --touch --batch 4
refuses average_of_integers '--op avg: not of int32' --op avg --datatype int32
refuses average_through_mpi '--op avg: MPI' --op avg --compare mpi
refuses half_through_mpi '--datatype float16: MPI' --datatype float16 --compare mpi
refuses more_elements_than_mpi_takes '--compare mpi: MPI takes at most' --compare mpi --sizes 3G --datatype int8
refuses barrier_with_data '--check: a barrier' --collective barrier --check
refuses in_place_broadcast '--in-place: broadcast' --collective broadcast --in-place
refuses gradients_of_a_broadcast '--collective: does not go with --gradients' --gradients --collective broadcast
refuses gradients_of_chosen_sizes '--sizes: does not go with --gradients' --gradients --sizes 4
refuses gradients_from_a_size_on '--min: does not go with --gradients' --gradients --min 4
refuses gradients_up_to_a_size '--max: does not go with --gradients' --gradients --max 4
refuses gradients_with_a_factor '--factor: does not go with --gradients' --gradients --factor 4
refuses gradients_in_batches '--batch: does not go with --gradients' --gradients --batch 4
refuses touched_gradients '--touch: does not go with --gradients' --gradients --touch
refuses gradients_as_csv '--csv: does not go with --gradients' --gradients --csv a.csv
refuses gradients_as_a_drawing '--plot: does not go with --gradients' --gradients --plot a.svg
refuses gradients_that_mpi_cannot_reduce '--datatype bfloat16: MPI' --gradients --datatype bfloat16
refuses two_other_measurements '--overlap: --gradients is another measurement' --gradients --overlap
refuses overlap_of_a_barrier '--collective: does not go with --overlap' --overlap --collective barrier
refuses overlap_over_a_range '--max: does not go with --overlap' --overlap --max 4
refuses checked_overlap '--check: does not go with --overlap' --overlap --check
refuses overlap_with_one_kind_of_progress '--set progress: does not go with --overlap' --overlap --set progress=thread
refuses overlap_of_part_of_an_element '--sizes 10' --overlap --sizes 10
refuses overlap_without_waiting_apart '--nonblocking: does not go with --overlap' --overlap --nonblocking
refuses limits_of_a_single_rank '--limits: a single rank' --limits
refuses limits_of_gradients '--limits: does not go with --gradients' --limits --gradients
refuses limits_of_overlap '--limits: does not go with --overlap' --limits --overlap
refuses tuning_beside_mpi '--compare: does not go with --tune' --tune --compare mpi
refuses tuning_as_json '--json: does not go with --tune' --tune --json a.json
refuses tuning_of_chosen_sizes '--sizes: does not go with --tune' --tune --sizes 4
refuses tuning_with_a_tuning_file '--set tuning: does not go with --tune' --tune --set tuning=a
refuses tuning_of_a_given_segment '--set segment_bytes: does not go' --tune --set segment_bytes=4096
refuses tuning_of_a_single_rank '--tune: a single rank' --tune
refuses empty_file_name "--json ''" --json ''

refuses more_than_there_is_memory 'are available on this host' --sizes 1T

for option in json csv plot; do
	refuses "${option}_that_cannot_be_written" "--$option /nonexistent/file" --$option /nonexistent/file
	refuses "${option}_that_is_a_directory" "--$option $work" --$option "$work"
done
alone --json new.json --csv /nonexistent/file
verdict refusal_leaves_no_file test ! -e new.json

mkdir no-gnuplot
ln -s /usr/bin/* /usr/local/bin/* no-gnuplot 2>/dev/null
rm -f no-gnuplot/gnuplot*
PATH=$work/no-gnuplot timeout -k 5 120 "$bench" --plot a.svg >stdout 2>stderr </dev/null
status=$?
verdict refuses_plot_without_gnuplot refused 'gnuplot'

# ---- refused ways of starting --------------------------------------------------------------------

export PMI_SIZE=2
alone
verdict refuses_rank_0_of_1_of_another_launcher refused 'PMI_SIZE=2' 'mpirun'
export PMI_RANK=1
alone
verdict only_rank_0_says_so test "$status" -eq 2 -a ! -s stderr
unset PMI_SIZE PMI_RANK

ranks 2 --max 4Q
verdict two_ranks_complain_once refused "'4Q'"

timeout -k 5 240 mpirun -n 1 "$bench" --max 4 : -n 1 "$bench" --max 8 >stdout 2>stderr </dev/null
status=$?
verdict refuses_ranks_with_different_options refused 'rank 1 has other options'

# ---- help and version ----------------------------------------------------------------------------

alone --help
verdict help_shows_every_option test "$status" -eq 0 -a "$(grep -c '^  --' stdout)" -ge 31
verdict help_fits_on_a_terminal test -z "$(awk 'length > 90' stdout)"
alone --version
verdict version_names_both_libraries test "$status" -eq 0 -a "$(wc -l <stdout)" -eq 2

# ---- what it measures ----------------------------------------------------------------------------

ends_well() {
	[ "$status" -eq 0 ]
}

quick='--iterations 2 --warmup 1 --batch 2'

# shellcheck disable=SC2086
ranks 2 $quick --transport shm --compare mpi --check --sizes 0,4,1K,96K \
	--json 'a "quoted".json' --csv a.csv
verdict compares_and_checks ends_well
verdict table_of_ranks_shows_the_peers grep -qE '^1 .*shm: 0' stdout
verdict creation_is_timed_and_weighed grep -qE '^wring_comm_create: [0-9.]+ ms; .* [0-9.]+ MiB' stdout
verdict nothing_is_wrong grep -q '^checked: 0 elements wrong' stdout
verdict ratio_is_summed_up grep -q '^geometric mean ratio (4 KiB - 96 KiB\|96 KiB - 96 KiB): ' stdout
verdict csv_has_a_line_for_each_size test "$(wc -l <a.csv)" -eq 5
verdict csv_lines_have_as_many_fields_as_the_heading \
	test "$(awk -F, '{ print NF }' a.csv | sort -u | wc -l)" -eq 1
verdict csv_begins_with_names grep -q '^collective,datatype,op,ranks,.*,median_us,.*,ratio$' a.csv
if command -v python3 >/dev/null; then
	verdict json_can_be_parsed python3 -m json.tool 'a "quoted".json' parsed.json
	verdict json_has_every_result test "$(grep -c '"ratio"' parsed.json)" -eq 4
else
	verdict json_has_every_result test "$(grep -c '"ratio"' 'a "quoted".json')" -eq 4
fi
verdict json_escapes_quotes grep -qF 'a \"quoted\".json' 'a "quoted".json'

for buffers in malloc register; do
	# shellcheck disable=SC2086
	ranks 2 $quick --buffers $buffers --in-place --nonblocking --check --sizes 4,64K
	verdict "checks_in_place_with_${buffers}_buffers" ends_well
done
# shellcheck disable=SC2086
ranks 2 $quick --collective broadcast --rotate-root --datatype bfloat16 --check --compare mpi --sizes 2,64K
verdict checks_broadcast_from_every_root ends_well
ranks 2 --iterations 3 --warmup 1 --touch --op max --datatype int8 --check --sizes 1,64K
verdict checks_touched_buffers ends_well
# shellcheck disable=SC2086
ranks 2 $quick --collective barrier --nonblocking --compare mpi
verdict measures_barrier ends_well
# shellcheck disable=SC2086
ranks 1 $quick --check --sizes 4,64K
verdict a_single_rank_is_fine ends_well

once='--iterations 1 --warmup 1'

# shellcheck disable=SC2086
ranks 2 $once --gradients --check --json gradients.json
verdict gradients_are_checked_and_compared ends_well
verdict gradients_are_all_right grep -q '^checked: 0 elements wrong' stdout
verdict gradients_have_a_ratio grep -q 'better MPI way / Wring median: [0-9]' stdout
verdict json_of_gradients_says_how_long_they_are grep -q '"smallest_bytes": 204' gradients.json
# shellcheck disable=SC2086
ranks 2 $once --gradients --check --in-place --buffers malloc --datatype float64
verdict gradients_in_place_are_all_right ends_well

# shellcheck disable=SC2086
ranks 2 $once --overlap --sizes 64K,1M --json overlap.json
verdict overlap_is_measured ends_well
verdict overlap_is_measured_six_ways test "$(grep -cE '^(Wring|MPI).* [0-9.]+$' stdout)" -eq 12
verdict json_has_overlap_of_each_size_and_way test "$(grep -o '"overlap_percent"' overlap.json | wc -l)" -eq 12
export WRING_PROGRESS=thread
# shellcheck disable=SC2086
ranks 2 $once --overlap --sizes 64K
verdict overlap_overrides_the_environment ends_well
unset WRING_PROGRESS

# shellcheck disable=SC2086
ranks 2 $quick --limits --compare mpi --sizes 4,96K --budget 0.1 --json limits.json --csv limits.csv
verdict limits_are_measured ends_well
verdict limits_are_shown_in_percent grep -qE '^ *98304 .* [0-9]+\.[0-9]$' stdout
verdict json_has_a_limit_for_each_size test "$(grep -o '"percent_of_limit": [0-9]' limits.json | wc -l)" -eq 2
verdict csv_has_limits test "$(awk -F, '{ print NF }' limits.csv | sort -u | wc -l)" -eq 1
for collective in broadcast barrier; do
	# shellcheck disable=SC2086
	ranks 2 $quick --limits --collective $collective --max 4K --budget 0.1
	verdict "limits_of_${collective}_are_measured" ends_well
done
# shellcheck disable=SC2086
ranks 2 $quick --limits --touch --batch 1 --in-place --sizes 64K --budget 0.1
verdict limits_of_touched_memory_are_measured ends_well

# shellcheck disable=SC2086
ranks 2 $once --tune
verdict tunes_itself ends_well
mv stdout a.tuning
verdict tuning_chooses_for_every_size grep -qE '^allreduce > [0-9]+ (direct|ring)$' a.tuning
export WRING_TUNING=$work/a.tuning
# shellcheck disable=SC2086
ranks 2 $quick --check --sizes 0,4,1K,96K
verdict tuning_can_be_loaded ends_well
unset WRING_TUNING

if command -v gnuplot >/dev/null; then
	# shellcheck disable=SC2086
	ranks 2 $quick --compare mpi --sizes 4,4K,64K --plot "it's.svg"
	verdict plot_is_an_svg grep -q '</svg>' "it's.svg"
	verdict gnuplot_has_nothing_to_say test ! -s stderr
else
	missing plot_is_an_svg gnuplot-nox
fi

ranks 2 --iterations 10000000 --batch 1000 --sizes 64K --deadline 5
verdict deadline_ends_all_ranks test "$status" -ne 0 -a "$status" -ne 124
verdict deadline_says_where_it_was grep -q 'not finished after 5 s, in .*' stderr
finish
