#!/bin/bash
# failure.sh: faults, one at a time: 3 minutes on two CPUs. An argument is a part of a test's name.
# shellcheck source=tests/programs.sh
. "$(dirname "$0")/programs.sh"

{
	run 600 failure "$@"
	[ $# -gt 0 ] || [ "${WRING_TRANSPORT:-shm}" = verbs ] || run 120 exhaust
	exit $failed
} | number
exit "${PIPESTATUS[0]}"
