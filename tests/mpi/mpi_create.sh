#!/bin/bash
# mpi_create.sh: communicators of Wring from those of MPI: which are refused, which work, who waits how long.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"

ranks() { # RANKS ARGUMENT...
	timeout -k 5 120 mpirun -n "$1" ./tests/mpi/mpi_create "${@:2}" 2>&1 </dev/null
}

# The ranks leave without MPI_Finalize, of which mpirun complains: what they print counts.
each_says_good() { # RANKS ARGUMENT...
	local output
	output=$(ranks "$@")
	[ "$(grep -cx good <<<"$output")" -eq "$1" ] && ! grep -q '^wrong' <<<"$output" && return
	echo "$output"
	return 1
}

check create_before_init_and_after_finalize_is_a_state_error ranks 1 states
check null_and_inter_communicators_are_refused_and_one_ranks_null_fails_all ranks 4 refused
check parts_and_reordered_communicators_work_and_mpi_may_end_first ranks 4 parts
check a_rank_that_never_duplicates_is_waited_for_timeout_ms each_says_good 3 late 1
check a_rank_that_stops_in_the_first_round_is_waited_for_timeout_ms each_says_good 3 late 2
check a_rank_that_stops_in_the_second_round_is_waited_for_timeout_ms each_says_good 3 late 3
check a_rank_that_stops_in_the_last_round_is_waited_for_timeout_ms each_says_good 3 late 4
check mpi_that_cannot_duplicate_is_told_with_its_code each_says_good 2 failing 1
check mpi_that_fails_in_a_round_is_told_with_its_code each_says_good 2 failing 3
finish
