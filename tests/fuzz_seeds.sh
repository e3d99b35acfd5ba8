#!/bin/bash
# fuzz_seeds.sh: what fuzzing started from and has found, once more, without a fuzzer.
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/programs.sh"
corpus=$(dirname "$0")/fuzz/corpus

{
	for target in introduction line config; do
		run 60 "fuzz/replay_$target" "$corpus/$target"/*
	done
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
