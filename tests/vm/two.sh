#!/bin/bash
# two.sh: runs in the first of two virtual machines joined by a virtual wire, from the build
# directory:
#     two.sh PART...    of: tools ring exact shm death chaos
# shellcheck source=tests/vm/between.sh
. "$(dirname "$(realpath "$0")")/between.sh"

# ---- ranks on both -------------------------------------------------------------------------------

# Options of mpirun: "slot" puts the ranks of a machine together, "node" takes turns.
mpi() { # RANKS slot|node SECONDS COMMAND...
	local each=$(($1 / 2)) name options=()
	for name in $(compgen -e WRING_) LD_LIBRARY_PATH; do
		options+=(-x "$name")
	done
	limited "$3" mpirun --host "10.78.0.1:$each,10.78.0.2:$each" -n "$1" --map-by "$2" \
		--wdir "$build" "${options[@]}" "${@:4}"
}

exact_mpi() { # RANKS slot|node SECONDS SUITES
	port=$((port + 1))
	mpi "$1" "$2" "$3" "$exact" --from-env --host 10.78.0.1 --port $port --quick \
		--timeout "$3" --suite "$4"
}

# ---- tools ---------------------------------------------------------------------------------------

pingpong_between() {
	local other status=0
	limited 60 "$pingpong" &
	other=$!
	on_vm2 timeout -k 5 60 "$pingpong" 10.78.0.1 || status=1
	wait $other || status=1
	return $status
}

tools() {
	check_says pingpong_goes_both_ways_between_machines ping pong -- pingpong_between
	check_says bench_compares_with_mpi_on_2x1_ranks 'vm1 .*verbs: 1' 'vm2 .*verbs: 0' -- \
		mpi 2 slot 120 "$bench" --compare mpi --check --sizes 4,4K,64K,1M --budget 0.4
}

# ---- shm and verbs in one ring -------------------------------------------------------------------

bench_ring() { # RANKS slot|node RING PATTERN...
	local ranks=$1 placed=$2 name=$1_ranks_by_$2_ring_$3
	export WRING_RING=$3
	shift 3
	check_says "bench_allreduce_$name" "$@" -- \
		mpi "$ranks" "$placed" 120 "$bench" --check --sizes 4,4K,64K,1M --budget 0.2
	check_says "bench_broadcast_$name" "$@" -- mpi "$ranks" "$placed" 120 "$bench" \
		--collective broadcast --rotate-root --check --sizes 4,4K,256K --budget 0.2
	unset WRING_RING
}

# The table says who reaches whom how: half of the others by shm, the other machine by verbs.
ring() {
	bench_ring 4 slot host '^0 +vm1 .*shm: 1; verbs: 2-3' '^3 +vm2 .*shm: 2; verbs: 0-1'
	bench_ring 4 node host '^0 +vm1 .*shm: 2; verbs: 1,3' '^3 +vm2 .*shm: 1; verbs: 0,2'
	bench_ring 4 node rank '^0 +vm1 .*shm: 2; verbs: 1,3' '^3 +vm2 .*shm: 1; verbs: 0,2'
	bench_ring 6 slot rank '^0 +vm1 .*shm: 1-2; verbs: 3-5' '^5 +vm2 .*shm: 3-4; verbs: 0-2'
	bench_ring 6 node host '^0 +vm1 .*shm: 2,4; verbs: 1,3,5' '^5 +vm2 .*shm: 1,3; verbs: 0,2,4'
	check_says bench_barrier_6_ranks_by_node verbs -- \
		mpi 6 node 120 "$bench" --collective barrier --budget 0.5
	check_nothing_left ring_leaves_nothing
}

exactness() {
	run_tap exact_2x1 exact_mpi 2 slot 240 broadcast,mixed
	run_tap exact_2x2_by_slot exact_mpi 4 slot 240 many,mixed
	WRING_RING=rank run_tap exact_2x2_by_node_ring_rank exact_mpi 4 node 240 mixed,broadcast
	WRING_RING=host run_tap exact_2x2_by_node_ring_host exact_mpi 4 node 240 many,mixed
	WRING_TRANSPORT=verbs run_tap exact_2x2_all_by_verbs exact_mpi 4 slot 240 many
	run_tap exact_2x3_by_node exact_mpi 6 node 240 many
	WRING_RING=rank run_tap exact_2x3_by_node_ring_rank exact_mpi 6 node 240 many
	check_nothing_left exact_leaves_nothing
}

# ---- what cannot be ------------------------------------------------------------------------------

shm_refused() {
	WRING_TRANSPORT=shm check_every_rank_refuses shm_between_two_machines_is_refused_on_every_rank 4 \
		'shm.*(host|vm1|vm2)' exact_mpi 4 slot 60 many
	WRING_TRANSPORT=shm check_refuses shm_between_two_machines_is_refused_by_bench 'shm' -- \
		mpi 4 node 60 "$bench" --sizes 4 --iterations 1
	check_nothing_left refused_shm_leaves_nothing
}

# ---- death ---------------------------------------------------------------------------------------

# The last rank is the victim.
death_between() { # NAME MACHINES ARGUMENT...
	local name=$1 victim rank failed=''
	victim=$(($(wc -w <<<"$2") - 1))
	start_ranks "$2" "$death" --victim $victim "${@:3}"
	wait_for_ranks
	for ((rank = 0; rank <= victim; rank++)); do
		case $rank,$* in
		$victim,*kill*) [ "${statuses[rank]}" -ge 128 ] || failed=1 ;;
		*) [ "${statuses[rank]}" -eq 0 ] || failed=1 ;;
		esac
	done
	if [ -z "$failed" ]; then
		ok "$name # $(sed -n 's/.* after /after /p' <<<"$said" | paste -sd' ')"
	else
		not_ok "$name" "$said"
	fi
}

deaths() {
	death_between kill_during_between_machines '1 1 2' --fate kill --moment during
	death_between kill_before_between_machines '1 2 1' --fate kill --moment before
	death_between kill_waiting_between_machines '2 1 2' --fate kill --moment waiting
	WRING_WAIT=event death_between kill_while_sleeping_in_a_mixed_ring '1 1 2 2' \
		--fate kill --moment waiting
	death_between kill_during_in_a_mixed_ring '1 2 1 2' --fate kill --moment during
	death_between stop_during_between_machines '1 1 2' --fate stop --moment during
	death_between stop_waiting_in_a_mixed_ring '1 1 2 2' --fate stop --moment waiting
	check_nothing_left deaths_leave_nothing
}

# ---- chaos ---------------------------------------------------------------------------------------

# One ring, shm and verbs in it: the lower half of the ranks runs here. A seed is judged by each
# machine for its own ranks.
chaos_between() { # FROM TO
	local options=(--transport auto --seeds "$1..$2" --host 10.78.0.1 --port 47000) other
	on_vm2 timeout -k 5 300 "$chaos" "${options[@]}" --half 1 >"$scratch/half.1" 2>&1 &
	other=$!
	run_tap chaos_in_a_mixed_ring limited 300 "$chaos" "${options[@]}" --half 0
	run_tap chaos_in_a_mixed_ring eval "wait $other; cat $scratch/half.1"
	check_nothing_left chaos_in_a_mixed_ring_leaves_nothing
}

for part in "$@"; do
	case $part in
	tools) tools ;;
	ring) ring ;;
	exact) exactness ;;
	shm) shm_refused ;;
	death) deaths ;;
	chaos) chaos_between 1 10 ;;
	*) not_ok "two.sh $part" "no such part" ;;
	esac
done
finish_inside
