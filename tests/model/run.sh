#!/bin/bash
# run.sh: model-checks the protocol, and that each rule taken out of it is missed: 2 minutes on two CPUs.
#
#     run.sh [PART_OF_A_NAME]
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
models=$srcdir/tests/model

if ! command -v spin >/dev/null || ! command -v "${CC:-gcc}" >/dev/null; then
	missing model_of_the_protocol "spin gcc"
	finish
fi

part=${1:-} cpus=$(nproc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Leaves what the verifier said in ./out. Bounded: 3 GB, and 5 minutes if the machine is busy.
search() { # MODEL "SPIN OPTIONS" "COMPILER OPTIONS" "VERIFIER OPTIONS"
	# shellcheck disable=SC2086
	spin $2 -a "$models/$1.pml" >out 2>&1 &&
		${CC:-gcc} -O0 -w -DMEMLIM=3000 ${3:--DSAFETY} -o pan pan.c >>out 2>&1 &&
		timeout -k 5 300 ./pan -n -m200000 -w22 $4 >out 2>&1
}

# The judge of collective.pml says what an end is; elsewhere, spin does.
judged() { # MODEL
	[ "$1" != collective ] || printf %s -E
}

counts() {
	sed -nE -e 's/^.*depth reached ([0-9]+), errors.*/# depth \1/p' \
		-e 's/^ *([0-9]+) states, stored.*/# \1 states/p' \
		-e 's/^(hash factor: [0-9.]+).*/# \1/p' out
}

# Nothing is found, and nothing cut the search short.
found_nothing() { # MODEL SPIN_OPTIONS COMPILER_OPTIONS VERIFIER_OPTIONS
	search "$1" "$2" "$3" "$(judged "$1") $4" && grep -q 'errors: 0' out &&
		! grep -qE 'not completed|too small|out of memory|reached -DMEMLIM' out || return
	counts >said
}

# The fault is found, and it is that one.
found_that() { # WHAT MODEL SPIN_OPTIONS
	search "$2" "$3" "" "$(judged "$2")"
	grep -qE "^pan:1: ($1)" out || return
	sed -nE 's/^pan:1: .*\(at depth ([0-9]+)\)$/# at depth \1/p' out >said
}

# One search for each CPU at a time, each in a folder of its own; finish_all tells what came of them.
names=()
begin() { # NAME COMMAND...
	local name=$1
	shift
	[[ $name == *$part* ]] || return
	names+=("$name")
	mkdir "$work/$name"
	while [ "$(jobs -rp | wc -l)" -ge "$cpus" ]; do
		wait -n
	done
	(cd "$work/$name" && "$@" && touch good; rm -f pan*) &
}

finish_all() {
	local name
	wait
	for name in "${names[@]}"; do
		if [ -e "$work/$name/good" ]; then
			ok "$name"
			cat "$work/$name/said"
		else
			not_ok "$name" "$(tail -n 20 "$work/$name/out")"
		fi
	done
	finish
}

holds() { # NAME MODEL [SPIN_OPTIONS [COMPILER_OPTIONS [VERIFIER_OPTIONS]]]
	begin "$1" found_nothing "$2" "${3:-}" "${4:-}" "${5:-}"
}

# Four ranks: too many states to keep; each sets 3 bits of 2^29. Hash factor: 2^29 by states.
holds_by_bits() { # NAME MODEL SPIN_OPTIONS
	holds "$1" "$2" "$3" "-DSAFETY -DBITSTATE" -w29
}

finds() { # NAME WHAT MODEL SPIN_OPTIONS
	begin "$1" found_that "$2" "$3" "$4"
}

overwritten='assertion violated .*\.kind==0\)'
wrong_message='assertion violated .*operation==k\)'
hangs='assertion violated \(crashed\[r\]\|\|gone\[r\]\)'
not_lent='assertion violated .*operation\[.*>=k\)'
wrong_culprit='assertion violated .*error\[r\]==\(1\+0\)\)'
no_receive='assertion violated .*receives>0\)'
never_woken='invalid end state'

# ---- links, slots, credits, turns: two operations back to back ---------------------------------

ring=ALLREDUCE_RING direct=ALLREDUCE_DIRECT barrier=BARRIER_DISSEMINATION
chain=BROADCAST_CHAIN other_chain=BROADCAST_CHAIN_1
tree=BROADCAST_TREE other_tree=BROADCAST_TREE_1

pair() { # RANKS SLOTS SEGMENTS FIRST SECOND
	echo "-DRANKS=$1 -DSLOTS=$2 -DSEGMENTS=$3 -DFIRST=$4 -DSECOND=$5"
}

holds two_ranks_ring_and_ring collective "$(pair 2 2 2 $ring $ring)"
holds two_ranks_direct_and_chain_3_slots collective "$(pair 2 3 3 $direct $chain)"
holds three_ranks_ring_and_ring collective "$(pair 3 2 1 $ring $ring)"
holds three_ranks_ring_and_chain_3_slots collective "$(pair 3 3 1 $ring $chain)"
holds three_ranks_direct_and_barrier collective "$(pair 3 2 1 $direct $barrier)"
holds three_ranks_chains_of_two_roots collective "$(pair 3 2 3 $chain $other_chain)"
holds three_ranks_trees_of_two_roots collective "$(pair 3 2 1 $tree $other_tree)"
holds three_ranks_tree_and_ring collective "$(pair 3 2 1 $tree $ring)"
holds three_ranks_chain_and_tree collective "$(pair 3 2 3 $chain $tree)"
holds_by_bits four_ranks_ring collective "$(pair 4 2 1 $ring NOTHING)"
holds_by_bits four_ranks_direct_and_barrier collective "$(pair 4 2 1 $direct $barrier)"

# ---- a rank crashes at any moment ----------------------------------------------------------------

holds two_ranks_one_crashes collective "$(pair 2 2 2 $ring $ring) -DCRASH=0"
holds three_ranks_one_crashes_ring_and_barrier collective "$(pair 3 2 1 $ring $barrier) -DCRASH=0"
holds three_ranks_one_crashes_direct_and_barrier collective \
	"$(pair 3 2 1 $direct $barrier) -DCRASH=0"
for rank in 0 1 2; do
	holds three_ranks_rank_${rank}_crashes_chains collective \
		"$(pair 3 2 2 $chain $other_chain) -DCRASH=$rank"
done
holds three_ranks_one_crashes_trees collective "$(pair 3 2 1 $tree $other_tree) -DCRASH=0"
holds_by_bits four_ranks_one_crashes_barrier collective "$(pair 4 2 1 $barrier NOTHING) -DCRASH=0"

# All counters only grow: so every run reaches its end, where the judge waits.
holds no_run_is_infinite collective "$(pair 2 2 2 $ring $chain) -DCRASH=0" -DNP -l

# ---- a rank makes its calls in another order: all ranks get an error, without the deadline ------

holds calls_in_another_order_ring_and_barrier collective "$(pair 3 2 1 $ring $barrier) -DODD"
holds calls_in_another_order_direct_and_chain collective "$(pair 3 2 2 $direct $chain) -DODD"
holds calls_in_another_order_two_roots collective "$(pair 3 2 2 $chain $other_chain) -DODD"

holds calls_in_another_order_two_trees collective "$(pair 3 2 1 $tree $other_tree) -DODD"

# ---- credits that are returned in batches ------------------------------------------------------

# At half the slots the flush before waiting is for speed alone; beyond all slots it is needed.
batch() { # RANKS SEGMENTS COALESCE
	echo "$(pair "$1" 4 "$2" $ring NOTHING) -DCOALESCE=$3"
}
holds half_the_slots_need_no_flush collective "$(batch 3 2 2) -DNO_FLUSH"
holds all_slots_need_no_flush collective "$(batch 3 2 4) -DNO_FLUSH"
holds flush_before_waiting_is_enough collective "$(batch 2 3 5)"
finds without_flush_and_beyond_all_slots_it_hangs "$hangs" collective "$(batch 2 3 5) -DNO_FLUSH"

# ---- the rules, each taken out -----------------------------------------------------------------

finds without_credit_check_a_slot_is_overwritten "$overwritten" collective \
	"$(pair 3 2 1 $ring $ring) -DNO_CREDIT_CHECK"
finds taking_needs_a_credit_and_the_ring_fills_itself "$hangs" collective \
	"$(pair 3 2 2 $ring $ring) -DTAKE_NEEDS_CREDIT"
finds without_tickets_operations_overtake "$wrong_message" collective \
	"$(pair 3 2 1 $ring $ring) -DNO_TICKETS"
finds without_ready_a_buffer_is_written_too_early "$not_lent" collective \
	"$(pair 3 2 1 $direct $direct) -DNO_READY_WAIT"
finds without_a_look_at_processes_survivors_hang "$hangs" collective \
	"$(pair 2 2 1 $ring $ring) -DCRASH=0 -DNO_LOOK"
finds without_abort_the_wrong_rank_is_blamed "$wrong_culprit" collective \
	"$(pair 3 2 1 $ring $barrier) -DCRASH=0 -DNO_ABORT"
finds after_a_crash_a_late_rank_may_still_write_to_an_ended_one "$not_lent" collective \
	"$(pair 3 2 1 $direct $barrier) -DCRASH=0 -DLENT"
finds without_signature_watch_wrong_calls_hang "$hangs" collective \
	"$(pair 3 2 2 $chain $other_chain) -DODD -DNO_WATCH"

finds without_a_word_of_who_waits_for_whom_wrong_roots_hang "$hangs" collective \
	"$(pair 2 2 1 $tree $other_tree) -DODD -DNO_TELL"

# ---- the receive queue -------------------------------------------------------------------------

holds receives_suffice receive "-DRESERVES=0"
finds one_receive_less_is_too_few "$no_receive" receive "-DRESERVES=0 -DDEPTH=5"
finds receives_posted_after_the_credit_are_too_late "$no_receive" receive \
	"-DRESERVES=0 -DLATE_RECEIVES"
finds without_reuse_check_credits_use_up_the_receives "$no_receive" receive \
	"-DRESERVES=0 -DNO_REUSE_CHECK"
finds without_credit_check_a_message_is_overwritten 'assertion violated .*present\)<2\)' receive \
	"-DRESERVES=0 -DNO_CREDIT_CHECK"

# ---- sleeping ----------------------------------------------------------------------------------

holds sleepers_are_woken sleep
finds without_the_fence_of_the_waker_it_sleeps_on "$never_woken" sleep -DNO_FENCE_IN_WAKE
finds without_the_fence_of_the_sleeper_it_sleeps_on "$never_woken" sleep -DNO_FENCE_IN_ARM
finds without_the_second_look_it_sleeps_on "$never_woken" sleep -DNO_SECOND_LOOK
finds a_doorbell_before_its_flag_is_lost "$never_woken" sleep -DUNORDERED_DOORBELL
finds a_waker_that_dies_wakes_nobody "$never_woken" sleep -DWRITER_DIES

finish_all
