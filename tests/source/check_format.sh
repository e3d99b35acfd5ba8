#!/bin/bash
# check_format.sh: every C file looks as .clang-format says.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"

clang_format=$(command -v clang-format-14 || command -v clang-format)
if [ -z "$clang_format" ]; then
	missing format clang-format-14
	finish
fi
cd "$srcdir" || exit
# shellcheck disable=SC2046
check every_c_file_is_formatted "$clang_format" --dry-run -Werror $(c_files)
finish
