# between.sh: what the scripts share that start ranks on both of two virtual machines; sourced,
# in the first of them, instead of inside.sh.
# shellcheck shell=bash
# shellcheck source=tests/vm/inside.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/inside.sh"
port=47600 # of the next bootstrap without MPI

on_vm2() { # COMMAND...
	local name settings=()
	for name in $(compgen -e WRING_) LD_LIBRARY_PATH; do
		settings+=("$name=${!name}")
	done
	# shellcheck disable=SC2029
	ssh vm2 "cd ${build@Q} && env ${settings[*]@Q} ${*@Q}"
}

# Ranks started one by one, not by mpirun, which would end the survivors. What a rank says goes to
# $scratch/rank.R. Sets $pids.
start_ranks() { # MACHINES COMMAND...     MACHINES: that of rank 0, of rank 1...
	local machines rank command
	read -ra machines <<<"$1"
	shift
	port=$((port + 1)) pids=()
	rm -f "$scratch"/rank.*
	for ((rank = 0; rank < ${#machines[@]}; rank++)); do
		command=(timeout -k 5 120 "$1" --rank "$rank" --size "${#machines[@]}"
			--host "10.78.0.${machines[0]}" --port "$port" "${@:2}")
		if [ "${machines[rank]}" = 1 ]; then
			"${command[@]}" >"$scratch/rank.$rank" 2>&1 &
		else
			on_vm2 "${command[@]}" >"$scratch/rank.$rank" 2>&1 &
		fi
		pids+=($!)
	done
}

# Sets $statuses, and $said to what all ranks have said.
wait_for_ranks() {
	local rank
	statuses=() said=''
	for ((rank = 0; rank < ${#pids[@]}; rank++)); do
		wait "${pids[rank]}" 2>/dev/null
		statuses[rank]=$?
		said+="rank $rank ended with status ${statuses[rank]}: $(cat "$scratch/rank.$rank")"$'\n'
	done
}

# Both machines' count.
resources() {
	rdma resource show
	ssh vm2 'rdma resource show; ls -A /dev/shm'
}
resources_at_begin=$(resources)
