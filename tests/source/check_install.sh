#!/bin/bash
# check_install.sh: what is installed suffices to build and run a program, and uninstall leaves nothing.
#
#     check_install.sh                       in a build folder: installs below a folder of its own
#     check_install.sh --installed DESTDIR   looks at what is installed already (make installcheck)
#
# prefix and libdir in the environment are those of configure.
# shellcheck source=tests/harness/tap.sh disable=SC2154
. "$(dirname "$0")/../harness/tap.sh"
# shellcheck source=tests/harness/environment.sh
. "$srcdir/tests/harness/environment.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

# pkg-config puts the sysroot before every path, so MPI's own are asked for without it.
wring() { # PKG_CONFIG_OPTION...
	PKG_CONFIG_SYSROOT_DIR=$destdir PKG_CONFIG_PATH=$destdir$libdir/pkgconfig pkg-config "$@" wring
}

compile() { # EXAMPLE
	# shellcheck disable=SC2046,SC2086
	${CC:-cc} -std=c11 -D_GNU_SOURCE $(wring --cflags) $(pkg-config --cflags ompi-c) \
		-o "$work/$1" "$srcdir/examples/$1.c" $(wring --libs) $(pkg-config --libs ompi-c) \
		${SANITIZER:-} && test -x "$work/$1"
}

run() { # EXAMPLE
	LD_LIBRARY_PATH=$destdir$libdir timeout -k 5 60 mpirun -n 2 "$work/$1"
}

installed_files() {
	local file
	for file in "$libdir/libwring.so" "$libdir/pkgconfig/wring.pc" "$prefix/include/wring.h" \
		"$prefix/bin/wring-info" "$@"; do
		[ -e "$destdir$file" ] || echo "$file was not installed"
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --installed ]; then
	destdir=$2
else
	destdir=$work/root
	check make_install make install DESTDIR="$destdir"
fi

check_silent library_and_headers_are_there installed_files
check pkg_config_knows_the_version wring --exact-version="$(wring --modversion)"
if pkg-config --exists ompi-c && [ -e "$destdir$prefix/include/wring-mpi.h" ]; then
	check_silent mpi_parts_are_there installed_files "$libdir/libwring-mpi.so" "$prefix/bin/wring-bench"
	check hello_allreduce_compiles_with_pkg_config compile hello_allreduce
	check hello_allreduce_runs_on_two_ranks run hello_allreduce
fi

if [ "${1:-}" != --installed ]; then
	check make_uninstall make uninstall DESTDIR="$destdir"
	check_silent uninstall_leaves_no_file find "$destdir" ! -type d
fi
finish
