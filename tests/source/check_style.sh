#!/bin/bash
# check_style.sh: no long function, no long file, and every file begins by saying what it is.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
cd "$srcdir" || exit

# A function's braces stand alone in the first column.
long_functions() { # FILE...
	awk '
	FNR == 1 { open = 0 }
	/^\{$/ { open = FNR }
	/^\}$/ && open {
		if (FNR - open - 1 > 60)
			print FILENAME ":" open ": a body of " FNR - open - 1 " lines"
		open = 0
	}' "$@"
}

long_files() { # FILE...
	awk 'FNR == 501 { print FILENAME ": more than 500 lines" }' "$@"
}

nameless_files() { # FILE...
	awk 'FNR == 1 && !/^\/\* [^ ].*\*\/$/ { print FILENAME ": " $0 }' "$@"
}

made_up=$(mktemp)
trap 'rm -f "$made_up"' EXIT
{
	echo '#include <stdio.h>'
	echo 'void f(void)'
	echo '{'
	yes '	g();' | head -n 500
	echo '}'
} >"$made_up"
for rule in long_functions long_files nameless_files; do
	check "${rule}_are_noticed" test -n "$($rule "$made_up")"
done

mapfile -t files < <(c_files)
check_silent no_function_body_over_60_lines long_functions "${files[@]}"
check_silent no_file_over_500_lines long_files "${files[@]}"
check_silent first_line_says_what_the_file_is nameless_files "${files[@]}"

# Forgotten in Makefile.am, a file would be missing in a release, or never be compiled.
unlisted_files() { # FILE...
	local file
	for file in "$@"; do
		# A program of one file is listed without .c.
		case $file in tests/*.c) file="${file%.c}(.c)?" ;; esac
		grep -qE "(^|[ 	])${file//./\\.}( |\$)" Makefile.am || echo "${file%"(.c)?"}"
	done
}
# shellcheck disable=SC2046
check_silent makefile_lists_every_file unlisted_files "${files[@]}" \
	$(find man tests bench -name '*.[1-9]' -o -name '*.sh' -o -name '*.xml')

# A test that is renamed would leave a page that proves nothing.
unknown_tests() {
	local name
	grep -o '`[a-z0-9]*_[a-z0-9_]*' "$@" | tr -d '`' | sort -u | while read -r name; do
		grep -rqs --include='*.[ch]' --include='*.sh' -- "$name" tests || echo "there is no $name"
	done
}
echo '`no_such'"_test_$$"'`' >"$made_up"
check a_made_up_test_is_noticed test -n "$(unknown_tests "$made_up")"
check_silent complaints_are_answered_by_tests unknown_tests tests/COMPLAINTS.md

scripts() {
	grep -rlE --exclude-dir='build*' '^#!/bin/(ba)?sh' bench tests .ci
}

if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2046
	check shellcheck_has_nothing_to_say shellcheck -x -P . -S warning $(scripts)
else
	missing shellcheck_has_nothing_to_say shellcheck
fi
finish
