#!/bin/bash
# vm_two.sh: runs in the first of two virtual machines joined by a virtual wire, from the build
# directory:
#     vm_two.sh PART...    of: tools ring exact shm death
# shellcheck source=tests/vm_inside.sh
. "$(dirname "$(realpath "$0")")/vm_inside.sh"
port=47600 # of the next bootstrap without MPI

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

on_vm2() { # COMMAND...
	local name settings=()
	for name in $(compgen -e WRING_) LD_LIBRARY_PATH; do
		settings+=("$name=${!name}")
	done
	# shellcheck disable=SC2029
	ssh vm2 "cd ${build@Q} && env ${settings[*]@Q} ${*@Q}"
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

# Ranks started one by one, not by mpirun, which would end the survivors. The last one is the
# victim.
death_between() { # NAME MACHINES ARGUMENT...     MACHINES: that of rank 0, of rank 1...
	local name=$1 machines ranks rank pids=() status said='' failed='' command
	read -ra machines <<<"$2"
	shift 2
	ranks=${#machines[@]} port=$((port + 1))
	for ((rank = 0; rank < ranks; rank++)); do
		command=(timeout -k 5 120 "$death" --rank "$rank" --size "$ranks"
			--host "10.78.0.${machines[0]}" --port "$port" --victim "$((ranks - 1))" "$@")
		if [ "${machines[rank]}" = 1 ]; then
			"${command[@]}" >"$scratch/death.$rank" 2>&1 &
		else
			on_vm2 "${command[@]}" >"$scratch/death.$rank" 2>&1 &
		fi
		pids+=($!)
	done
	for ((rank = 0; rank < ranks; rank++)); do
		wait "${pids[rank]}" 2>/dev/null
		status=$?
		said+="$rank: status $status, $(cat "$scratch/death.$rank")"$'\n'
		case $rank,$* in
		$((ranks - 1)),*kill*) [ $status -ge 128 ] || failed=1 ;;
		*) [ $status -eq 0 ] || failed=1 ;;
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

# Both machines' count.
resources() {
	rdma resource show
	ssh vm2 'rdma resource show; ls -A /dev/shm'
}
resources_at_begin=$(resources)

for part in "$@"; do
	case $part in
	tools) tools ;;
	ring) ring ;;
	exact) exactness ;;
	shm) shm_refused ;;
	death) deaths ;;
	*) not_ok "vm_two.sh $part" "no such part" ;;
	esac
done
finish_inside
