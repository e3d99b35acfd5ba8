#!/bin/bash
# check_symbols.sh: the libraries export what the headers declare and nothing else, and no MPI is linked.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"

declared() { # HEADER: the functions it declares
	grep -v '^#' "$srcdir/$1" | perl -0777 -pe 's{/\*.*?\*/}{}gs' |
		grep -oE '\bwring_[a-z0-9_]+\(' | tr -d '(' | sort -u
}

mapped() {
	sed -n 's/^\t\(wring_[a-z0-9_]*\);$/\1/p' "$srcdir/wring.map" | sort
}

exported() { # LIBRARY
	nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}

needed() { # LIBRARY
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

library=.libs/libwring.so
check map_has_what_the_header_declares diff <(declared wring.h) <(mapped)
check library_exports_what_the_header_declares diff <(declared wring.h) <(exported $library)
check symbols_carry_the_version grep -q 'wring_allreduce@@WRING_0\.1$' <(nm -D $library)
check_silent library_links_no_mpi grep -iE 'mpi|open-(rte|pal)' <(needed $library)
if [ -e .libs/libwring-mpi.so ]; then
	check mpi_library_exports_two_functions diff <(exported .libs/libwring-mpi.so) \
		<(printf 'wring_comm_create_mpi\nwring_comm_create_mpi_f\n')
fi
finish
