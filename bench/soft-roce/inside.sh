#!/bin/bash
# inside.sh: runs in the virtual machine: all systems in turns, as $VM_OUT/settings says.
#
# What it measures goes to $VM_OUT/times, a line each: round, ranks, system, collective, bytes,
# microseconds (of the link: microseconds or MiB/s); what failed to $VM_OUT/failures: round, ranks,
# system, collective, and why. Logs are in $VM_OUT/logs.
#
# shellcheck disable=SC2154 # from the settings
set -u
# shellcheck source=/dev/null
. "$VM_OUT/settings"
times=$VM_OUT/times failures=$VM_OUT/failures logs=$VM_OUT/logs
device=rxe0 work=$(mktemp -d /dev/shm/soft-roce.XXXXXX)
mkdir -p "$logs"

# ---- the systems ---------------------------------------------------------------------------------

# Only RC queue pairs of the device, no shared memory; its GIDs belong to no card that UCX knows.
ucx=(UCX_UD_VERBS_ETH_DGID_CHECK=n "UCX_TLS=rc_v,ud_v,self" "UCX_NET_DEVICES=$device:1")

# Sets $command to what starts the ranks with the given arguments; false: cannot do this collective.
prepare() { # SYSTEM COLLECTIVE RANKS
	local time=("$programs/soft-roce-openmpi" "$2" "$budget")
	local pml=(--mca pml ucx --mca osc ^ucx)
	case $1 in
	wring)
		time[0]=$programs/soft-roce-wring
		command=(env WRING_TRANSPORT=verbs mpirun -n "$3" "${time[@]}")
		;;
	openmpi-ucx) command=(env "${ucx[@]}" mpirun "${pml[@]}" -n "$3" "${time[@]}") ;;
	openmpi-ucx-ring)
		[ "$2" = allreduce ] || return
		command=(env "${ucx[@]}" mpirun "${pml[@]}" --mca coll_tuned_use_dynamic_rules 1
			--mca coll_tuned_allreduce_algorithm 4 -n "$3" "${time[@]}")
		;;
	openmpi-libfabric)
		command=(env FI_UNIVERSE_SIZE=16 mpirun --mca pml cm --mca mtl ofi
			--mca mtl_ofi_provider_include "verbs;ofi_rxm" -n "$3" "${time[@]}")
		;;
	mpich)
		time[0]=$programs/soft-roce-mpich
		command=(env "${ucx[@]}" MPIR_CVAR_NOLOCAL=1
			"LD_LIBRARY_PATH=$mpich/usr/lib/x86_64-linux-gnu"
			"$mpich/usr/bin/mpiexec.hydra" -launcher fork -n "$3" "${time[@]}")
		;;
	gloo)
		time[0]=$programs/soft-roce-gloo
		command=(env "SOFT_ROCE_DEVICE=$device" mpirun -n "$3" "${time[@]}")
		;;
	esac
}

# Standard output of a system to lines "bytes microseconds".
read_times() { # LOG
	awk 'NF == 2 && $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.]+$/' "$1"
}

packets() {
	cat "/sys/class/infiniband/$device/ports/1/hw_counters/sent_pkts"
}

# What a launcher that was killed may have left would disturb all others.
end_leftovers() {
	local exe
	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe") in
		"$programs"/soft-roce-*)
			kill -9 "$(basename "$(dirname "$exe")")" 2>/dev/null
			;;
		esac
	done
	rm -rf "${work:?}"/*
}

# The last line that says something; a launcher's frame does not.
reason() { # STATUS LOG
	case $1 in
	124 | 137) echo "hung: ended after $seconds s"; return ;;
	esac
	printf 'status %s: %s\n' "$1" "$(grep -aE '[Ee]rror|ERROR|[Ff]ailed|[Aa]ssert|wrong|signal|what\(\)' "$2" |
		head -n 1 | tr -d '"\\' | tr -s '[:space:][:cntrl:]' ' ' | cut -c 1-160)"
}

# A size that a system did not manage would only cost time again, unless it managed none.
sizes_left() { # RANKS SYSTEM COLLECTIVE
	local most=$most_of_2 managed size
	[ "$1" -le 2 ] || most=$most_of_more
	managed=$(awk -v r="$1" -v s="$2" -v c="$3" '$2 == r && $3 == s && $4 == c && $5 > most { most = $5 }
		END { print most }' "$times")
	for size in "${all_sizes[@]}"; do
		[ "$size" -gt "${managed:-$most}" ] || [ "$size" -gt "$most" ] || echo "$size"
	done
}

run_system() { # ROUND RANKS SYSTEM COLLECTIVE SIZE...
	local round=$1 ranks=$2 system=$3 collective=$4 command=() before status
	local log=$logs/$3-$4-$2-$1
	shift 4
	prepare "$system" "$collective" "$ranks" || return
	command+=("$@")
	before=$(packets)
	SOFT_ROCE_SHARED=$work/shared timeout -k 5 "$seconds" "${command[@]}" >"$work/out" 2>"$log" </dev/null
	status=$?
	cat "$work/out" >>"$log"
	if [ $(($(packets) - before)) -lt 100 ]; then
		echo "$round $ranks $system $collective did not use $device: $(reason $status "$log")" >>"$failures"
	else
		read_times "$work/out" | sed "s/^/$round $ranks $system $collective /" >>"$times"
		[ $status -eq 0 ] ||
			echo "$round $ranks $system $collective $(reason $status "$log")" >>"$failures"
	fi
	end_leftovers
}

# ---- the link ------------------------------------------------------------------------------------

perftest() { # LOG PROGRAM OPTION...
	local log=$1 server
	shift
	timeout -k 5 "$seconds" "$@" -d "$device" -x 1 -m 4096 -F >"$log.server" 2>&1 </dev/null &
	server=$!
	sleep 2
	timeout -k 5 "$seconds" "$@" -d "$device" -x 1 -m 4096 -F 10.77.0.1 >"$log" 2>&1 </dev/null ||
		kill $server 2>/dev/null
	wait $server
}

# The line of numbers after the heading that begins with #bytes; the column is counted from 1.
link_value() { # ROUND NAME BYTES COLUMN LOG
	awk -v line="$1 2 link $2 $3" -v column="$4" '
		found { print line, $column; exit }
		/^ *#bytes/ { found = 1 }' "$5" >>"$times"
	grep -q "^$1 2 link $2 " "$times" ||
		echo "$1 2 link $2 $(reason 1 "$5")" >>"$failures"
}

# ib_write_bw counts in MiB/s.
run_link() { # ROUND
	local log=$logs/link-$1
	perftest "$log-lat" ib_write_lat -s 8 -n 1000
	link_value "$1" write_lat 8 5 "$log-lat" # t_typical
	perftest "$log-bw" ib_write_bw -s "$segment" -n 1000
	link_value "$1" write_bw "$segment" 4 "$log-bw" # average
	perftest "$log-bw-both" ib_write_bw -b -s "$segment" -n 1000
	link_value "$1" write_bw_both "$segment" 4 "$log-bw-both"
}

# ---- main ----------------------------------------------------------------------------------------

run_round() { # ROUND
	local i ranks system collective count=${#systems[@]}
	run_link "$1"
	for ranks in $ranks_list; do
		for collective in allreduce broadcast; do
			for ((i = 0; i < count; i++)); do
				system=${systems[(i + $1 - 1) % count]}
				# shellcheck disable=SC2046
				run_system "$1" "$ranks" "$system" "$collective" \
					$(sizes_left "$ranks" "$system" "$collective")
			done
		done
		echo "soft-roce: round $1 of $rounds with $ranks ranks is done after $SECONDS s"
	done
}

uname -r >"$VM_OUT/kernel"
: >"$times"
: >"$failures"
for ((round = 1; round <= rounds; round++)); do
	run_round $round
done
rm -rf "$work"
