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

# A name or a file that a comment or a page mentions must be there. Names have an underscore; on pages
# they stand between backquotes. Prints FILE:LINE: NAME.
dangling_names() { # FILE...
	perl -e '
	my (%known, %file, @said);
	for my $path (@ARGV) {
		(my $base = $path) =~ s{.*/}{};
		$file{$base} = 1;
		next if $path =~ m{\.(svg|csv)$|^tests/fuzz/seeds};
		open my $in, "<", $path or next;
		local $/;
		my $text = <$in>;
		if ($path =~ /\.md$/) {
			my $line = 0;
			for (split /\n/, $text) {
				$line++;
				push @said, [$path, $line, $1] while /`([^`]*)`/g;
			}
			next;
		}
		if ($path =~ /\.[ch]$/) {
			my $all = $text;
			$text =~ s{("(?:\\.|[^"\\\n])*")|(/\*.*?\*/|//[^\n]*)}{
				push @said, [$path, 1 + (substr($all, 0, $-[0]) =~ tr/\n//), $2] if defined $2;
				$1 // " "}gse;
		}
		$known{$_} = 1 for $text =~ /[A-Za-z_]\w*/g;
	}
	for (@said) {
		my ($path, $line, $text) = @$_;
		$text =~ s{https?://\S+}{}g;
		for my $name ($text =~ m{(?<![\w/.-])([a-z][a-z0-9]*_[a-z0-9_]*[a-z0-9])\b(?![.*]|_)}g) {
			print "$path:$line: $name\n" unless $known{$name} || $name =~ /^ibv_/;
		}
		for my $name ($text =~ m{(?<![\w.])(?:[a-z]+/)*([a-z0-9_-]+\.[ch])\b}g) {
			print "$path:$line: $name\n" unless $file{$name} || $name =~ /^(config|mpi|cmocka)\.h$/;
		}
	}' "$@"
}
all_files() {
	find .ci base bench bootstrap coll examples man tests transport ./*.* -type f \
		-not -path '*/.libs/*' -not -path '*/.deps/*' -not -name '*.o' -not -name '*.l[ao]' |
		sed 's,^\./,,'
}
mkdir "$made_up.d"
printf '/* a.c: no_such_name is in no_such_file.c. */\nint such_name;\n' >"$made_up.d/a.c"
check two_dangling_names_are_noticed test "$(dangling_names "$made_up.d/a.c" | grep -c no_such_)" = 2
rm -r "$made_up.d"
# shellcheck disable=SC2046
check_silent comments_and_pages_name_what_is_there dangling_names $(all_files)

# clang-format leaves comments as long as they are.
long_comments() { # FILE...
	local file
	for file in "$@"; do
		expand "$file" | awk -v file="$file" 'length > 100 { print file ":" FNR ": " length " columns" }'
	done
}
printf '\t/* %0100d */\n' 0 >"$made_up"
check a_long_comment_is_noticed test -n "$(long_comments "$made_up")"
check_silent no_line_over_100_columns long_comments "${files[@]}"

# The library is taken apart and copied file by file.
without_license() { # FILE...
	awk 'FNR == 2 && !/SPDX-License-Identifier: MIT/ { print FILENAME ": " $0 }' "$@"
}
check a_file_without_a_license_is_noticed test -n "$(without_license "$made_up" <(printf 'a\nb\n'))"
# shellcheck disable=SC2046
check_silent second_line_names_the_license without_license \
	$(printf '%s\n' "${files[@]}" | grep -E '^(base|bootstrap|coll|transport)/|^wring')

# TRANSPORT_SHM_ARENA_H in transport/shm/arena.h.
wrong_guards() { # FILE...
	local file guard
	for file in "$@"; do
		guard=$(tr 'a-z/.-' 'A-Z___' <<<"$file")
		grep -q "^#ifndef $guard\$" "$file" || echo "$file: not $guard"
	done
}
mkdir "$made_up.d"
echo '#ifndef A_H' >"$made_up.d/b.h"
check a_wrong_guard_is_noticed test -n "$(wrong_guards "$made_up.d/b.h")"
rm -r "$made_up.d"
# shellcheck disable=SC2046
check_silent guards_are_paths wrong_guards \
	$(printf '%s\n' "${files[@]}" | grep -E '^(base|bootstrap|coll|transport|bench)/.*\.h$' |
		grep -vE 'coll/reduce/(template|floating|half|integer)\.h')

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
