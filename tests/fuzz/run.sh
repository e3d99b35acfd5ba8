#!/bin/bash
# run.sh: libFuzzer on what other ranks and the user can send, for some seconds on each target.
#
#     run.sh [SECONDS [TARGET...]]     60 s each by default; targets: introduction line config options
#
# The seeds in tests/fuzz/corpus/TARGET are run first, each must pass: findings of the past are
# among them, by name. Then it starts from them. A finding is printed as the command that repeats it;
# nothing is left behind.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
seconds=${1:-60}
[ $# -eq 0 ] || shift
targets=("$@")
[ $# -gt 0 ] || targets=(introduction line config options)
clang=$(command -v "${FUZZ_CC:-clang-14}" || command -v clang)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

# A local variable that nobody has set holds a wild pointer, not what happens to be there.
flags=(-std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -ffp-contract=off -pthread
	-ftrivial-auto-var-init=pattern -fno-sanitize-recover=undefined -DWRING_NO_CLONES
	-I"$srcdir")
sanitizers=address,undefined

library() {
	(cd "$srcdir" && find base bootstrap coll transport wring.c -name '*.c' | sort)
}

build_library() {
	local file
	for file in $(library); do
		printf '%s\n%s\n' "$work/$(tr / _ <<<"${file%.c}").o" "$srcdir/$file"
	done | xargs -P "$(nproc)" -n 2 "$clang" "${flags[@]}" -fsanitize=fuzzer-no-link,$sanitizers -c -o
}

# What a target is made of besides its own file and the library.
others() { # TARGET
	case $1 in
	introduction) echo tests/harness/{fake_verbs,fake_verbs_data}.c ;;
	options) echo bench/wring-bench/{options,options_mode,options_settle,gradients_plan,parse}.c ;;
	esac
}

build() { # TARGET
	local file
	local -a sources=()
	for file in "tests/fuzz/fuzz_$1.c" $(others "$1"); do
		sources+=("$srcdir/$file")
	done
	"$clang" "${flags[@]}" -fsanitize=fuzzer,$sanitizers "${sources[@]}" "$work"/*.o \
		-libverbs -lhwloc -lm -o "$work/fuzz_$1"
}

# The end of a run: what was found, and how to see it again (a seed is there already).
explain() { # TARGET LOG
	local found
	grep -E 'ERROR|SUMMARY|runtime error|does not hold|^ +#[0-9]+ .*/(base|bootstrap|coll|transport|bench|wring\.c)' \
		"$2" | head -n 20
	found=$(sed -n 's/.*Test unit written to //p' "$2" | tail -n 1)
	if [ -n "$found" ]; then
		echo "to see it again, now one of the seeds:"
		echo "echo $(base64 -w 0 "$found") | base64 -d >$srcdir/tests/fuzz/corpus/$1/found &&" \
			"bash $srcdir/tests/fuzz/run.sh 0 $1"
	fi
}

run_seed() { # TARGET SEED
	timeout -k 5 60 "$work/fuzz_$1" -rss_limit_mb=1024 "$2" >"$work/log" 2>&1 && return
	explain "$1" "$work/log"
	return 1
}

# On a busy machine an input may stand still for many seconds, and the whole take longer.
fuzz() { # TARGET
	mkdir -p "$work/corpus_$1"
	timeout -k 5 $((2 * seconds + 120)) nice -n 10 "$work/fuzz_$1" -max_total_time="$seconds" \
		-rss_limit_mb=1024 -timeout=60 -print_final_stats=1 -artifact_prefix="$work/" \
		"$work/corpus_$1" "$srcdir/tests/fuzz/corpus/$1" >"$work/log" 2>&1 && return
	explain "$1" "$work/log"
	return 1
}

executed() { # of the last run
	sed -n 's/^stat::number_of_executed_units: *//p' "$work/log"
}

if [ -z "$clang" ] || ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
	"$clang" -fsanitize=fuzzer,$sanitizers -x c -o "$work/none" - 2>/dev/null; then
	missing fuzzing 'clang-14 libclang-rt-14-dev'
	finish
fi
check library_builds_for_fuzzing build_library
[ "$failures" -eq 0 ] || finish

for target in "${targets[@]}"; do
	check "fuzz_${target}_builds" build "$target"
	[ -x "$work/fuzz_$target" ] || continue
	for seed in "$srcdir/tests/fuzz/corpus/$target"/*; do
		check "fuzz_${target}_seed_$(basename "$seed")" run_seed "$target" "$seed"
	done
	[ "$seconds" -gt 0 ] || continue
	check "fuzz_${target}_finds_nothing_in_${seconds}_s" fuzz "$target"
	echo "# $target: $(executed) inputs"
done
finish
