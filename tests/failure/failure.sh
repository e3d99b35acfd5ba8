#!/bin/bash
# failure.sh: faults, one at a time: 3 minutes on two CPUs. An argument is a part of a test's name.
# shellcheck source=tests/harness/programs.sh
. "$(dirname "$0")/../harness/programs.sh"

{
	run 600 failure/failure "$@"
	[ $# -gt 0 ] || [ "${WRING_TRANSPORT:-shm}" = verbs ] || run 120 failure/exhaust
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
