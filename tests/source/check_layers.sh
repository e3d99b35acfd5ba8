#!/bin/bash
# check_layers.sh: who may include and name what; every rule is also shown to notice a made-up violation.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"

# Prints FILE:LINE:INCLUDE with its quotes or brackets, and FILE:LINE:NAME for every other word that
# is in the code, not in a comment or a string.
words() { # FILE...
	perl -e '
	for my $file (@ARGV) {
		open my $in, "<", $file or die "$file: $!\n";
		my $text = join "", <$in>;
		my $string = qr{"(?:\\.|[^"\\\n])*"};
		$text =~ s{($string)|/\*.*?\*/|//[^\n]*}{$1 // "\n" x ($& =~ tr/\n//)}gse;
		my $line = 0;
		for (split /\n/, $text) {
			$line++;
			if (/^\s*#\s*include\s*([<"][^>"]*[>"])/) {
				print "$file:$line:$1\n";
				next;
			}
			s/$string//g;
			print "$file:$line:$_\n" for /\b[A-Za-z_]\w*/g;
		}
	}' "$@"
}

# Reads words; prints those of FILES, but not of EXCEPT, that PATTERN forbids; "only PATTERN" forbids
# every include but these.
violations() { # FILES EXCEPT PATTERN
	grep -P "^($1):" | grep -vP "^(${2:-/}):" | case $3 in
	only\ *) grep '[">]$' | grep -vP ":\d+:(${3#only })" ;;
	*) grep -P ":\d+:($3)" ;;
	esac
}

rule() { # NAME FILES EXCEPT PATTERN FILE_OF_EXAMPLE EXAMPLE
	local noticed
	check_silent "$1" violations "$2" "$3" "$4" <"$work/words"
	mkdir -p "$work/$(dirname "$5")"
	printf '/* made up */\n%s\n' "$6" >"$work/$5"
	noticed=$(cd "$work" && words "$5" | violations "$2" "$3" "$4")
	check "$1:_a_violation_is_noticed" grep -q "^$5:2:" <<<"$noticed"
	rm "$work/$5"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$srcdir" || exit
mapfile -t files < <(c_files)
words "${files[@]}" >"$work/words"
check there_is_code_to_look_at grep -q '^wring.h:' "$work/words"

library='(base|bootstrap|coll|transport)/.*|wring\.[ch]'
verbs='transport/verbs/.*|bench/wring-info/.*|examples/pingpong\.c|tests/.*'
verbs_header='["<](infiniband|rdma)/'
inner='"(base|bootstrap|coll|transport)/'
mpi_header='["<]mpi\.h'

rule wring_h_includes_two_headers 'wring\.h' '' 'only <std(def|int)\.h>' \
	wring.h '#include <stdio.h>'
rule wring_mpi_h_is_for_programs 'wring-mpi\.[ch]' '' "$inner" \
	wring-mpi.h '#include "coll/coll.h"'
rule coll_knows_transport_h_alone 'coll/.*' '' \
	'only (<[a-z0-9_/]*\.h>|"(base|coll)/.*"|"transport/transport\.h"|"wring\.h")' \
	coll/a.c '#include "transport/link.h"'
rule base_stands_on_nothing 'base/.*' '' 'only (<[a-z0-9_/]*\.h>|"base/.*"|"wring\.h")' \
	base/a.c '#include "transport/transport.h"'
rule bootstrap_stands_on_base 'bootstrap/.*' '' 'only (<[a-z0-9_/]*\.h>|"(base|bootstrap)/.*"|"wring\.h")' \
	bootstrap/a.h '#  include  "coll/coll.h"'
rule transport_stands_on_base 'transport/.*' '' 'only (<[a-z0-9_/]*\.h>|"(base|transport)/.*"|"wring\.h")' \
	transport/a.c '#include "bootstrap/config.h"'
rule shm_does_not_know_verbs 'transport/shm/.*' '' '"transport/verbs/' \
	transport/shm/a.c '#include "transport/verbs/verbs.h"'
rule verbs_does_not_know_shm 'transport/verbs/.*' '' '"transport/shm/' \
	transport/verbs/a.c '#include "transport/shm/shm.h"'
rule bench_uses_public_headers 'bench/.*' 'bench/wring-info/.*' "$inner" \
	bench/a.c '#include "base/error.h"'
rule examples_use_public_headers 'examples/.*' '' "$inner" \
	examples/a.c '#include "base/error.h"'
rule includes_name_a_folder "$library" '' '"(?!wring(-mpi)?\.h")([^/]*|\.\.?/.*)"' \
	transport/a.c '#include "error.h"'
rule verbs_headers_in_verbs_files '.*' "$verbs" "$verbs_header" \
	transport/wait.c '#include <infiniband/verbs.h>'
rule verbs_names_in_verbs_files '.*' "$verbs" '(ibv|IBV)_' \
	transport/link.c 'int n = ibv_poll_cq(cq, 1, &wc);'
rule hwloc_in_topology_files '.*' 'bootstrap/topology.*|tests/.*' '["<]?(hwloc|HWLOC)' \
	bootstrap/identity.c 'hwloc_topology_t topology;'
rule no_mpi_header_in_the_library "$library" '' "$mpi_header" \
	bootstrap/a.c '#include <mpi.h>'
rule no_mpi_name_in_the_library "$library|bench/wring-info/.*" '' 'MPI_' \
	coll/a.c 'MPI_Comm comm;'
rule shared_memory_in_shm_files '.*' 'transport/shm/.*|tests/.*' \
	'(memfd_create|shm_open|process_vm_(readv|writev))$' \
	transport/link.c 'int fd = memfd_create("arena", 0);'
rule no_typedefs '.*' 'tests/.*' 'typedef' \
	coll/a.h 'typedef struct ring ring_t;'

# --- no circles ------------------------------------------------------------------------------

# Prints the files of each circle; standard input has pairs "FILE OTHER": FILE needs OTHER.
circles() {
	tsort 2>&1 >/dev/null | grep -v 'contains a loop' | sed 's/^tsort: //'
}

# Of words: "FILE OTHER" for every include of a file of ours.
include_pairs() {
	sed -nE 's/^([^:]*):[0-9]+:"([^"]*)"$/\1 \2/p'
}

# "FILE OTHER" for every symbol that an object of the library takes from another one.
call_pairs() { # OBJECT...
	gcc-nm "$@" 2>/dev/null | awk '
	/:$/ { file = substr($0, 1, length($0) - 1); next }
	NF == 3 && $2 ~ /^[TDBRVW]$/ { at[$3] = file }
	NF == 2 && $1 == "U" { n++; from[n] = file; name[n] = $2 }
	END { for (i = 1; i <= n; i++) if (name[i] in at) print from[i], at[name[i]] }'
}

check_silent no_include_goes_in_a_circle circles < <(include_pairs <"$work/words")
check include_circle:_a_violation_is_noticed test -n \
	"$(printf 'coll/a.h:2:"coll/b.h"\ncoll/b.h:2:"coll/a.h"\n' | include_pairs | circles)"

mapfile -t objects < <(find "$OLDPWD" -path '*/.libs/*' -name 'lib*_la-*.o' \
	\( -path '*/base/*' -o -path '*/bootstrap/*' -o -path '*/coll/*' -o -path '*/transport/*' \) 2>/dev/null)
if command -v gcc-nm >/dev/null && [ "${#objects[@]}" -gt 0 ]; then
	call_pairs "${objects[@]}" >"$work/calls"
	check there_are_calls_to_look_at test "$(wc -l <"$work/calls")" -gt 200
	check_silent no_call_goes_in_a_circle circles <"$work/calls"
else
	missing no_call_goes_in_a_circle 'gcc-nm, or a build of the library'
fi
check call_circle:_a_violation_is_noticed test -n "$(printf 'a.o b.o\nb.o c.o\nc.o a.o\n' | circles)"

# What must not be taken for a violation.
printf '/* ibv_a\n * ibv_b */\n// ibv_c\nchar *s = "ibv_d \\" ibv_e";\nint f_ibv_g;\n' >"$work/coll.c"
check comments_and_strings_do_not_count test -z \
	"$(cd "$work" && words coll.c | violations '.*' "$verbs" '(ibv|IBV)_')"
finish
