#!/bin/bash
# shm.sh: real collectives between processes of this machine, a short spread: under 90 s on two CPUs.
#
#     shm.sh [--sample]      a few seconds of it, for programs that are slow to run
# shellcheck source=tests/harness/programs.sh
. "$(dirname "$0")/../harness/programs.sh"

if [ "${1:-}" = --sample ]; then
	run 60 exact/exact --quick --transport shm --ranks 2,3 --suite broadcast,mixed | number
	exit "${PIPESTATUS[0]}"
fi

# All algorithms give the same bits; these files choose those that the built-in table does not.
tuning=$(mktemp -d)
trap 'rm -rf "$tuning"' EXIT
printf '%s\n' 'segment_bytes 4096' 'allreduce > 0 ring' 'broadcast > 0 chain' >"$tuning/streams"
printf '%s\n' 'eager_bytes 16384' 'allreduce <= 64 direct' 'allreduce <= 2048 owner' \
	'allreduce <= 16384 oneshot' 'broadcast <= 16384 tree' >"$tuning/hops"

{
	for file in streams hops; do
		export WRING_TUNING=$tuning/$file
		run 60 exact/exact --quick --transport shm --ranks 2,3 --suite many,broadcast,pairwise
	done
	unset WRING_TUNING
	run 60 exact/exact --quick --transport shm --ranks 1,2,3,4,5 --suite counts,product,pairwise
	run 60 exact/exact --quick --transport shm --ranks 1,2,3,4,5 --suite random,broadcast,mixed,destroy
	run 120 refuse/api_refuses
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
