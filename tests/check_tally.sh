#!/bin/bash
# check_tally.sh: tally.awk counts what passed, failed, crashed or never came.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

counts() { # NAME EXPECTED OUTPUT
	local got
	got=$(printf '%b' "$3" | awk -f "$srcdir/tests/tally.awk")
	check "$1" test "$got" = "$2"
}

counts tally_counts_tap '2 1 1' 'ok 1 - a\nok 2 - b\nnot ok 3 - c\nok 4 - d # SKIP no tool\n1..4\n'
counts tally_ignores_other_lines '1 0 0' 'okay\n# ok\nok 1\n not ok\nnot okay\n'
counts tally_counts_a_short_plan_as_failed '1 2 0' '1..3\nok 1\n'
counts tally_counts_cmocka '1 0 0' '[==========] Running 1\n[ RUN      ] a\n[       OK ] a\n[  PASSED  ] 1 test(s).\n'
counts tally_counts_a_cmocka_failure_once '0 1 0' \
	'[ RUN      ] a\n[  FAILED  ] a\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] a\n'
counts tally_counts_a_crash_as_failed '1 1 0' '[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n'
counts tally_counts_a_cmocka_skip '0 0 1' '[ RUN      ] a\n[  SKIPPED ] a\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] a\n'
counts tally_counts_nothing_in_nothing '0 0 0' ''
finish
