#!/bin/bash
# check_headers.sh: the public headers are pedantic C and C++, and agree with configure on the version.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"

warnings='-pedantic-errors -Werror -Wall -Wextra -Wshadow -Wconversion -Wswitch-enum -Wundef'
c_warnings="$warnings -Wstrict-prototypes -Wmissing-prototypes -Wvla"
mpi=${MPI_CFLAGS//-I/-isystem }

compiles() { # COMPILER STANDARD HEADER FLAG...
	local compiler=$1 standard=$2 header=$3 language=c name
	shift 3
	name="${header%.h}_h_is_${standard}_for_$compiler"
	case $standard in c++*) language=c++ ;; esac
	if ! command -v "$compiler" >/dev/null; then
		missing "$name" "${compiler/g++/g++}"
		return
	fi
	check "$name" "$compiler" -std="$standard" -fsyntax-only -I"$srcdir" "$@" -x $language - \
		<<<"#include <$header>"
}

# shellcheck disable=SC2086
for compiler in gcc clang; do
	for standard in c99 c11; do
		compiles $compiler $standard wring.h $c_warnings
		[ -z "$mpi" ] || compiles $compiler $standard wring-mpi.h $c_warnings $mpi
	done
done
# shellcheck disable=SC2086
for compiler in g++ clang++; do
	for standard in c++11 c++17; do
		compiles $compiler $standard wring.h $warnings
		[ -z "$mpi" ] || compiles $compiler $standard wring-mpi.h $warnings $mpi
	done
done

# Both headers in two files of one program: nothing is defined twice.
links_twice() {
	local directory status
	directory=$(mktemp -d)
	printf '#include <wring.h>\n#include <wring-mpi.h>\nint main(void) { return 0; }\n' >"$directory/a.c"
	printf '#include <wring-mpi.h>\n#include <wring.h>\n' >"$directory/b.c"
	# shellcheck disable=SC2086,SC2046
	${CC:-cc} -O1 -I"$srcdir" $mpi "$directory"/[ab].c -o "$directory/ab" \
		-L.libs -lwring -Wl,-rpath,"$PWD/.libs" $(pkg-config --libs ompi-c) ${SANITIZER:-}
	status=$?
	rm -rf "$directory"
	return $status
}
[ -z "$mpi" ] || check headers_can_be_included_twice links_twice

version=$(printf '#include <wring.h>\nWRING_VERSION_MAJOR.WRING_VERSION_MINOR\n' |
	${CC:-cc} -I"$srcdir" -E -P -x c - | tail -n 1 | tr -d ' ')
check header_has_the_version_of_configure test "$version" = "${PACKAGE_VERSION:-$version}"
finish
