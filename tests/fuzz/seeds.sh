#!/bin/bash
# seeds.sh: what fuzzing started from and has found, once more, without a fuzzer.
# shellcheck source=tests/harness/programs.sh
. "$(dirname "$0")/../harness/programs.sh"
corpus=$(dirname "$0")/corpus

{
	for target in introduction line config; do
		run 60 "fuzz/replay_$target" "$corpus/$target"/*
	done
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
