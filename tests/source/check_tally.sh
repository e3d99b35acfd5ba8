#!/bin/bash
# check_tally.sh: tally.awk counts what passed, failed, crashed or never came; failures.awk shows
# what failed, and why.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"

says() { # SCRIPT NAME EXPECTED OUTPUT
	check "$2" test "$(printf '%b' "$4" | awk -f "$srcdir/tests/harness/$1")" = "$(printf '%b' "$3")"
}

counts() { says tally.awk "$@"; }
shows() { says failures.awk "$@"; }

counts tally_counts_tap '2 1 1' 'ok 1 - a\nok 2 - b\nnot ok 3 - c\nok 4 - d # SKIP no tool\n1..4\n'
counts tally_ignores_other_lines '1 0 0' 'okay\n# ok\nok 1\n not ok\nnot okay\n'
counts tally_counts_a_short_plan_as_failed '1 2 0' '1..3\nok 1\n'
counts tally_counts_cmocka '1 0 0' '[==========] Running 1\n[ RUN      ] a\n[       OK ] a\n[  PASSED  ] 1 test(s).\n'
counts tally_counts_a_cmocka_failure_once '0 1 0' \
	'[ RUN      ] a\n[  FAILED  ] a\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] a\n'
counts tally_counts_a_crash_as_failed '1 1 0' '[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n'
counts tally_counts_a_cmocka_skip '0 0 1' '[ RUN      ] a\n[  SKIPPED ] a\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] a\n'
counts tally_counts_nothing_in_nothing '0 0 0' ''

shows failures_of_tap_with_what_was_said 'not ok 2 - b\n# why' \
	'# before\nok 1 - a\n# of a\nnot ok 2 - b\nok 3 - c\n# why\n'
shows failures_after_a_name 'x/y: not ok 1 - b\nx/y: # why' 'x/y: not ok 1 - b\nx/y: # why\nx/y: ok 2 - c\n'
shows failures_of_cmocka '[  ERROR   ] --- 1 != 2\n[   LINE   ] --- a.c:3: error\n[  FAILED  ] a' \
	'[ RUN      ] a\n[  ERROR   ] --- 1 != 2\n[   LINE   ] --- a.c:3: error\n[  FAILED  ] a\n[ RUN      ] b\n'
shows failures_of_a_compiler 'a.c:1:2: error: no' 'gcc -c a.c\na.c:1:2: error: no\n'
shows failures_where_there_are_none '' '# all\nok 1 - error: a\n[       OK ] b\n'
finish
