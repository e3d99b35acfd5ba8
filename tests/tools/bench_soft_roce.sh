#!/bin/bash
# bench_soft_roce.sh: bench/soft-roce/run refuses what makes no sense before it begins, and reports right.
#
# It boots and installs nothing. WRING_BENCH is the program, ./bench/wring-bench/wring-bench if not given.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
cd "$(dirname "$(realpath "${WRING_BENCH:-./bench/wring-bench/wring-bench}")")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- refused options -----------------------------------------------------------------------------

# Status 2, and one line on stderr, which has the text.
refuses() { # NAME TEXT ARGUMENT...
	local name=$1 text=$2 status
	shift 2
	timeout -k 5 60 bash "$srcdir/bench/soft-roce/run" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null
	status=$?
	if [ $status -eq 2 ] && [ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/stderr")" -eq 1 ] &&
		grep -qF -- "$text" "$work/stderr"; then
		ok "refuses_$name"
	else
		not_ok "refuses_$name" "status $status: $(cat "$work/stdout" "$work/stderr")"
	fi
}

refuses unknown_option "'--itterations'" --itterations 5
refuses argument_that_is_no_option "'now'" now
refuses missing_value '--rounds: its value is missing' --rounds
refuses no_rounds "--rounds '0'" --rounds 0
refuses rounds_that_are_no_number "--rounds 'many'" --rounds many
refuses one_rank "--ranks '1'" --ranks 2,1
refuses hole_in_a_list "--ranks '2,,4'" --ranks 2,,4
refuses unknown_peer "--peers 'nccl'" --peers mpich,nccl
refuses max_below_the_least_size "--max '4'" --max 4
refuses no_limit "--limit '0'" --limit 0
refuses no_budget "--budget '0.0'" --budget 0.0
refuses budget_that_is_no_number "--budget 'nan'" --budget nan
refuses json_that_is_a_directory "--json $work" --json "$work"
refuses json_that_cannot_be_written '--json /nonexistent/file' --json /nonexistent/file

help_shows_every_option() {
	[ "$(bash "$srcdir/bench/soft-roce/run" --help | grep -c '^    --')" -eq 8 ]
}
check help_shows_every_option help_shows_every_option
check peers_can_be_installed bash "$srcdir/tests/install-packages.sh" --dry-run peers

# ---- the report ----------------------------------------------------------------------------------

# The medians are 10 and 20 at 8 bytes, 16000 and 8000 at 1 MiB; a second peer is slower, or fails.
cat >"$work/times" <<'END'
1 2 link write_lat 8 8.00
1 2 link write_bw_both 65536 250
1 2 wring allreduce 8 12
2 2 wring allreduce 8 10
3 2 wring allreduce 8 9
1 2 mpich allreduce 8 90
2 2 mpich allreduce 8 20
3 2 mpich allreduce 8 19
2 2 gloo allreduce 8 40
1 2 wring allreduce 1048576 16000
1 2 mpich allreduce 1048576 8000
END
echo '2 2 gloo allreduce status 1: it said "\x"' >"$work/failures"
printf 'wring 0.1\nsource a"b\n' >"$work/versions"
(cd "$work" && awk -v json=json -v rounds=3 -v segment=65536 -f "$srcdir/bench/soft-roce/report.awk" \
	versions failures times) >"$work/report" 2>&1

reports() { # NAME TEXT
	if tr -s ' ' <"$work/report" | grep -qF -- "$2"; then
		ok "report_$1"
	else
		not_ok "report_$1" "$(cat "$work/report")"
	fi
}

reports has_medians_and_the_best_peer ' 8 10.0 20.0 40.0 2.00 mpich'
reports has_a_dash_for_what_failed ' 1048576 16000.0 8000.0 - 0.50 mpich'
reports has_geometric_means 'up to 16 KiB 2.00, above 0.50, all 1.00'
reports compares_with_latency ' 1.25 x ib_write_lat'
reports compares_with_bandwidth '65.5 MB/s, 50 % of half'
reports tells_failures 'failed: gloo round 2 ranks 2 allreduce: status 1: it said x'
if command -v python3 >/dev/null; then
	check json_can_be_parsed python3 -m json.tool "$work/json" "$work/parsed"
fi
check json_has_all_rounds grep -qF '"median": 10.0000, "rounds": [12.0000, 10.0000, 9.0000]}' "$work/json"
check json_has_a_hole_for_a_missing_round grep -qF '"rounds": [null, 40.0000, null]}' "$work/json"
finish
