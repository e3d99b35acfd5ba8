#!/bin/bash
# tsan.sh: the shm data path under ThreadSanitizer: clean as it is, and reported once it is broken.
#
#     tsan.sh [--quick] [RANKS]
#
#     --quick   two suites, and two seeds of chaos
#     RANKS     numbers of ranks, 2,3 by default
#
# CC is the compiler, gcc by default.
#
# The ranks are threads of one process and use the arena of a peer through its owner's own map, so
# the sanitizer sees both sides of a slot, a credit word or a reserve slot at one address. What it
# cannot see: wring_alloc memory of a peer is mapped a second time (reach() in shm/data.c), at
# another address, so a race in direct access (allreduce_direct, gathered segments, broadcast_chain)
# is hidden from it; the exactness of the numbers is all that these runs say of that. It knows no
# fences either: the sleeping flag, which needs one, is tested elsewhere. In chaos the ranks are
# processes, since some of them are killed: there it sees a rank and its own thread only.
#
# Then one release store is made relaxed, in a copy of the source, for each of the two stores that
# the data path rests on. The sanitizer must report that, or a clean run proves nothing.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
suites='counts product pairwise random broadcast mixed destroy many' seeds=1..10
if [ "${1:-}" = --quick ]; then
	suites='broadcast mixed' seeds=1..2
	shift
fi
ranks=${1:-2,3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS='halt_on_error=1 exitcode=66'

flags=(-std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=thread -fno-omit-frame-pointer -ffp-contract=off
	-pthread -DWRING_NO_CLONES -I"$srcdir")

library() {
	(cd "$srcdir" && find base bootstrap coll transport wring.c -name '*.c' | sort)
}

shared_by_tests() {
	echo tests/harness/{ranks,ranks_threads,reference,tap,tcp_bootstrap}.c
}

object() { # SOURCE
	echo "$work/$(tr / _ <<<"${1%.c}").o"
}

compile() { # SOURCE...
	local file
	for file in "$@"; do
		printf '%s\n%s\n' "$(object "$file")" "$srcdir/$file"
	done | xargs -P "$(nproc)" -n 2 "${CC:-gcc}" "${flags[@]}" -c -o
}

link() { # PROGRAM SOURCE...
	local program=$1 file
	local -a objects=()
	shift
	for file in "$@"; do
		objects+=("$(object "$file")")
	done
	"${CC:-gcc}" "${flags[@]}" -o "$work/$program" "${objects[@]}" -libverbs -lhwloc -lm
}

build() {
	# shellcheck disable=SC2046
	compile $(library) $(shared_by_tests) "${exact[@]}" tests/sanitize/two_communicators.c "${chaos[@]}" &&
		link exact $(library) $(shared_by_tests) "${exact[@]}" &&
		link two_communicators $(library) $(shared_by_tests) tests/sanitize/two_communicators.c &&
		link chaos $(library) $(shared_by_tests) "${chaos[@]}"
}

# Random addresses can collide with those that the sanitizer keeps for itself.
fixed_addresses=(setarch "$(uname -m)" -R)
"${fixed_addresses[@]}" true 2>/dev/null || fixed_addresses=()

run() { # SECONDS PROGRAM ARGUMENT...
	timeout -k 5 "$1" "${fixed_addresses[@]}" "$work/$2" "${@:3}" 2>&1
}

silent() { # SECONDS PROGRAM ARGUMENT...
	local output status=0
	output=$(run "$@") || status=$?
	grep -E '^(ok|not ok|# )' <<<"$output"
	grep -A 40 'WARNING: ThreadSanitizer' <<<"$output" && return 1
	return $status
}

# For chaos, which counts threads: the sanitizer starts one of its own in a rank that was forked.
raceless() { # SECONDS PROGRAM ARGUMENT...
	local output
	output=$(run "$@")
	grep -A 40 'WARNING: ThreadSanitizer' <<<"$output" && return 1
	grep -q ' 0 hung, 0 wrong values' <<<"$output" && return
	tail -n 20 <<<"$output"
	return 1
}

reported() { # SECONDS PROGRAM ARGUMENT...
	local output
	output=$(run "$@")
	grep -q 'WARNING: ThreadSanitizer: data race' <<<"$output" && return
	tail -n 20 <<<"$output"
	return 1
}

# Makes the release in the function of that name relaxed, and a program of it.
# shellcheck disable=SC2046
mutate() { # FUNCTION
	sed "/^static void $1(/,/^}/s/__ATOMIC_RELEASE/__ATOMIC_RELAXED/" \
		"$srcdir/transport/shm/data.c" >"$work/mutant.c"
	! cmp -s "$work/mutant.c" "$srcdir/transport/shm/data.c" &&
		"${CC:-gcc}" "${flags[@]}" -c -o "$(object transport/shm/data.c)" "$work/mutant.c" &&
		link "exact_$1" $(library) $(shared_by_tests) "${exact[@]}"
}

if ! echo 'int main(void) { return 0; }' | "${CC:-gcc}" -fsanitize=thread -x c -o "$work/none" - ||
	! run 10 none; then
	missing thread_sanitizer_is_there libtsan2
	finish
fi
mapfile -t exact < <(cd "$srcdir" && find tests/exact -name '*.c' ! -name fake.c | sort)
mapfile -t chaos < <(cd "$srcdir" && ls tests/chaos/*.c tests/harness/usage.c)
check exact_builds_with_thread_sanitizer build
[ "$failures" -eq 0 ] || finish

for suite in $suites; do
	check "no_race_in_${suite}" silent 300 exact --threads --quick --ranks "$ranks" --suite $suite
done
check no_race_of_two_communicators_in_two_threads silent 300 two_communicators
check no_race_with_the_thread_of_a_rank_in_chaos raceless 300 chaos --seeds $seeds

for function in publish return_credit; do
	check "${function}_without_release_builds" mutate $function
	check "${function}_without_release_is_reported" \
		reported 120 "exact_$function" --threads --quick --ranks 2,3 --suite broadcast,counts
done
finish
