#!/bin/bash
# one.sh: runs in one virtual machine with Soft-RoCE, from the build directory:
#     one.sh PART...    of: tools exact trace bad death chaos idle, short (for a second kernel),
#                              quick
# shellcheck source=tests/vm/inside.sh
. "$(dirname "$(realpath "$0")")/inside.sh"
export WRING_TRANSPORT=verbs

# ---- tools ---------------------------------------------------------------------------------------

# One side waits for the other; both have to see the other's text.
pingpong_here() {
	local other status=0
	limited 60 "$pingpong" &
	other=$!
	limited 60 "$pingpong" localhost || status=1
	wait $other || status=1
	return $status
}

bench_compares() { # RANKS
	check_says "bench_compares_with_mpi_on_$1_ranks" 'verbs: ' 'rxe0' -- \
		limited 120 mpirun -n "$1" "$bench" --compare mpi --check --sizes 4,4K,64K,1M --budget 0.4
}

tools() {
	check_says info_finds_rxe0_usable rxe0 -- limited 60 "$info"
	check_says pingpong_goes_both_ways ping pong -- pingpong_here
	bench_compares 2
}

# ---- exactness -----------------------------------------------------------------------------------

exact_on() { # RANKS SUITES SETTING...
	local name=exact_$2_on_$1_ranks ranks=$1 suites=$2
	shift 2
	run_tap "$name" limited 300 env "$@" "$exact" --quick --ranks "$ranks" --suite "$suites"
}

# With two ranks "random" goes through all settings; with four that would take minutes.
exactness() {
	exact_on 2 counts,product
	exact_on 2 pairwise,random
	exact_on 2 broadcast,mixed
	exact_on 4 broadcast
	exact_on 4 mixed
	exact_on 4 many WRING_SEGMENT_BYTES=4096 WRING_SLOTS=2 WRING_EAGER_BYTES=0
	exact_on 4 many WRING_SEGMENT_BYTES=65536 WRING_SLOTS=4 WRING_EAGER_BYTES=65536
	exact_on 4 many WRING_SEGMENT_BYTES=1048576 WRING_SLOTS=16 WRING_RING=rank
	check_nothing_left exact_leaves_nothing
}

# "destroy" leaves 60 times; twice, that is 120 times with two ranks and with four.
leaving() {
	exact_on 2 destroy
	exact_on 2 destroy
	exact_on 4 destroy
	exact_on 4 destroy
	check_nothing_left leaving_leaves_nothing
}

# ---- the trace -----------------------------------------------------------------------------------

# Each rank's queue pairs: per peer one number, and the states in order.
one_queue_pair_per_peer() { # RANKS
	local rank
	for ((rank = 0; rank < $1; rank++)); do
		sed -n 's/.*"cat":"qp","name":"\([A-Z]*\)".*"peer":\([0-9]*\),"qpn":\([0-9]*\).*/\1 \2 \3/p' \
			"$scratch/trace.$rank.json" |
			awk -v rank="$rank" -v ranks="$1" '
			$1 != "ERROR" { states[$2] = states[$2] " " $1 }
			!(($2, $3) in seen) { seen[$2, $3]; numbers[$2]++; pairs++ }
			END {
				for (peer = 0; peer < ranks; peer++) {
					if (peer == rank)
						continue
					print "rank " rank " peer " peer ":" states[peer] ", " numbers[peer] " QP"
					if (states[peer] != " RESET INIT RTR RTS" || numbers[peer] != 1)
						bad = 1
				}
				exit bad || pairs != ranks - 1
			}' || return
	done
}

traces() {
	run_tap trace_of_a_run limited 60 env WRING_TRACE="$scratch/trace.json" \
		"$exact" --quick --ranks 4 --suite many
	check trace_shows_reset_init_rtr_rts_for_one_qp_per_peer one_queue_pair_per_peer 4
	run_tap start_over_verbs limited 90 "$start" \
		/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
	run_tap start_over_shm limited 90 env WRING_TRANSPORT=shm "$start"
}

# ---- bad input -----------------------------------------------------------------------------------

# On all of three ranks, in the benchmark too, and nothing remains.
refuses() { # NAME PATTERN SETTING...
	local name=$1 pattern=$2
	shift 2
	check_every_rank_refuses "${name}_is_refused_on_every_rank" 3 "$pattern" limited 60 \
		env "$@" "$death" --ranks 3
	check_refuses "${name}_is_refused_by_bench" "$pattern" -- limited 60 \
		env "$@" mpirun -n 2 "$bench" --sizes 4 --iterations 1
	check_nothing_left "${name}_leaves_nothing"
}

# Root without the right to pin more than the limit.
pinning_little() { # COMMAND...
	limited 60 setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock \
		bash -c 'ulimit -l 64; exec "$@"' - "$@"
}

bad() {
	refuses unknown_device 'nosuch0' WRING_DEVICE=nosuch0
	refuses port_out_of_range '\b9\b' WRING_PORT=9
	refuses empty_gid_index '\b77\b' WRING_GID_INDEX=77
	refuses qp_retry_7_on_rxe '\b7\b' WRING_QP_RETRY=7

	check_every_rank_refuses memlock_too_small_is_refused_on_every_rank 3 'MEMLOCK is 65536 ' \
		pinning_little "$death" --ranks 3
	check_refuses memlock_too_small_is_refused_by_bench MEMLOCK -- \
		pinning_little mpirun -n 2 "$bench" --sizes 4 --iterations 1
	check_says info_tells_how_to_raise_memlock 'ulimit -l|limits' -- pinning_little "$info"
	check_nothing_left memlock_too_small_leaves_nothing

	ip link set dum0 down
	refuses port_down 'DOWN|down' WRING_DEVICE=rxe0
	check_refuses info_tells_how_to_mend_a_port_down 'ip link set dum0 up' -- limited 60 "$info"
	ip link set dum0 up

	rdma link delete rxe0
	resources_at_begin=$(resources)
	refuses no_device 'wring-info' WRING_TRANSPORT=verbs
	check_refuses info_tells_how_to_make_a_device 'rdma link add' -- limited 60 "$info"
	rdma link add rxe0 type rxe netdev dum0
	resources_at_begin=$(resources)
	check_says info_finds_the_new_device rxe0 -- limited 60 "$info"
}

# ---- death ---------------------------------------------------------------------------------------

deaths() {
	local moment
	for moment in before during waiting; do
		run_tap "kill_$moment" limited 120 "$death" --fate kill --moment $moment
	done
	WRING_WAIT=event run_tap kill_while_sleeping limited 120 "$death" --fate kill \
		--moment waiting --victim 2
	run_tap stop_during limited 120 "$death" --fate stop --moment during
	run_tap stop_waiting limited 120 "$death" --fate stop --moment waiting --victim 0
	check_nothing_left deaths_leave_nothing
}

# ---- chaos ---------------------------------------------------------------------------------------

# A seed that fails again: tests/vm/run -- tests/chaos/chaos --seeds N..N --transport verbs
chaos_seeds() { # FROM TO
	run_tap chaos limited 300 "$chaos" --seeds "$1..$2" --transport verbs
	check_nothing_left "chaos_leaves_nothing_after_seeds_$1_to_$2"
}

# ---- waiting -------------------------------------------------------------------------------------

# A peer is late by seconds: less than 5 % of a CPU, less than 20 wake-ups a second, and awake in
# time. The program asks for events itself.
idle() {
	run_tap idle limited 90 "$failure" sleeping_rank_
	check_nothing_left idle_leaves_nothing
}

# ---- the whole -----------------------------------------------------------------------------------

for part in "$@"; do
	case $part in
	tools) tools ;;
	exact) exactness && leaving ;;
	trace) traces ;;
	bad) bad ;;
	death) deaths ;;
	chaos) chaos_seeds 1 15 && chaos_seeds 16 30 ;;
	idle) idle ;;
	short) tools && exact_on 2 counts,mixed,random && exact_on 4 many ;;
	quick) tools && exact_on 2 counts,mixed,random ;;
	*) not_ok "one.sh $part" "no such part" ;;
	esac
done
finish_inside
