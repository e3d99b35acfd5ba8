#!/bin/bash
# check_jobs.sh: the table of jobs in tests/README.md is whole, its tiers keep their time, no script is forgotten.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
cd "$srcdir" || exit

rows() {
	awk -F ' *[|] *' '/^<!-- jobs/ { inside = 1 } /^<!-- end of jobs/ { inside = 0 }
	inside && /^[|] `/ { gsub(/`/, ""); print $2 "\t" $3 "\t" $4 "\t" $5 "\t" $6 }' "$1"
}

# Rows that run.sh would not understand.
bad_rows() { # README
	local name tiers seconds command what
	while IFS=$'\t' read -r name tiers seconds command what; do
		[[ $name =~ ^[a-z0-9-]+$ ]] || echo "'$name' is no name of a job"
		[[ $tiers =~ ^(short|all|long)(,(short|all|long))*$ ]] || echo "$name: '$tiers' are no tiers"
		[[ $seconds =~ ^[0-9]+$ ]] || echo "$name: '$seconds' are no seconds"
		[ -n "$what" ] || echo "$name: it does not say what it shows"
		bash -n <<<"$command" 2>/dev/null || echo "$name: bash does not understand '$command'"
	done < <(rows "$1")
	rows "$1" | cut -f 1 | sort | uniq -d | sed 's/$/ stands twice in the table/'
}

too_long() { # README TIER SECONDS
	rows "$1" | awk -F '\t' -v tier="$2" -v most="$3" '
	index("," $2 ",", "," tier ",") { sum += $3 }
	END { if (sum > most || !sum) print tier " has " sum + 0 " s, allowed are " most }'
}

# A script that is neither in make check, nor in the command of a job, nor part of another script.
unused_scripts() { # README
	local script
	git ls-files 'tests/*.sh' 2>/dev/null | while read -r script; do
		case $script in tests/run.sh | tests/install-packages.sh | tests/harness/*) continue ;; esac
		rows "$1" | cut -f 4 | grep -qF "$script" && continue
		sed -n '/^\(SHM_TESTS\|STATIC_CHECKS\|OPTION_TESTS\|MPI_TESTS\)/,/[^\\]$/p' Makefile.am | grep -qF "$script" && continue
		grep -rqF --include='*.sh' --exclude="${script##*/}" "${script##*/}" "${script%/*}" && continue
		echo "$script runs nowhere"
	done
}

made_up=$(mktemp)
trap 'rm -f "$made_up"' EXIT
printf '%s\n' '<!-- jobs -->' '| `a b` | now | 9x | `if` | |' '| `long` | short | 9999 | `true` | it |' \
	'<!-- end of jobs -->' >"$made_up"
check a_bad_row_is_noticed test "$(bad_rows "$made_up" | wc -l)" -eq 5
check a_tier_that_takes_too_long_is_noticed test -n "$(too_long "$made_up" short 900)"
check an_empty_tier_is_noticed test -n "$(too_long "$made_up" all 2400)"
[ ! -e .git ] || check a_script_that_runs_nowhere_is_noticed test -n "$(unused_scripts "$made_up")"

check_silent every_row_is_understood bad_rows tests/README.md
check_silent short_takes_at_most_15_minutes too_long tests/README.md short 900
check_silent all_takes_at_most_40_minutes too_long tests/README.md all 2400
[ ! -e .git ] || check_silent every_script_runs_somewhere unused_scripts tests/README.md
finish
