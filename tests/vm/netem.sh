#!/bin/bash
# netem.sh: runs in the first of two virtual machines joined by a virtual wire, from the build
# directory: the wire loses, repeats, reorders and delays packets, fails for a while or for good.
#     netem.sh PART...    of: lossy cut down
# Accepted are: all results right, bit for bit; or an error on every rank that names rank, device
# and port; each in time.
# shellcheck source=tests/vm/between.sh
. "$(dirname "$(realpath "$0")")/between.sh"

# ---- the wire ------------------------------------------------------------------------------------

# What each machine sends on the data network goes through netem; without arguments no more.
netem() { # ARGUMENT...
	local change="tc qdisc del dev data0 root 2>/dev/null; true"
	[ $# -eq 0 ] || change="tc qdisc replace dev data0 root netem $*"
	bash -c "$change"
	# shellcheck disable=SC2029
	ssh vm2 "$change"
}

no_fault() { :; }
outage_of_2_s() { netem loss 100% && sleep 2 && netem; }
cut() { netem loss 100%; }

# Long enough for both ends to give up. Not for good: with packets left in the queue of a netdev that
# is down, rdma_rxe of 6.12 lets no queue pair be destroyed for 50 s.
link_down_here() { ip link set data0 down && sleep 2.2 && ip link set data0 up; }
link_down_there() { ssh vm2 "ip link set data0 down && sleep 2.2 && ip link set data0 up"; }
address_gone_here() { ip addr del 10.77.0.1/24 dev data0; }

mend() {
	netem
	ip link set data0 up
	ssh vm2 ip link set data0 up
	ip addr show dev data0 | grep -q '10\.77\.0\.1/24' || ip addr add 10.77.0.1/24 dev data0
	until_it_is_well info_is_well
}

info_is_well() {
	"$info" && on_vm2 "$info"
}

until_it_is_well() { # COMMAND...
	local i
	for ((i = 0; i < 100; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	not_ok "$1" "the devices did not recover: $("$@" 2>&1)"
}

# ---- one run -------------------------------------------------------------------------------------

wait_until_running() {
	local i
	for ((i = 0; i < 300; i++)); do
		grep -q running "$scratch"/rank.0 2>/dev/null && return
		sleep 0.1
	done
	return 1
}

# The ranks are at work when the fault happens, and for a while after it, however slow the machine.
run_link() { # NAME right|failed|either MACHINES FAULT PATTERN SECONDS ARGUMENT...
	local name=$1 wanted=$2 fault=$4 pattern=$5 why='' rights failures begin=$SECONDS
	touch "$scratch/on"
	start_ranks "$3" "$link" --while "$scratch/on" "${@:7}"
	wait_until_running || why='never began; '
	"$fault" || why+="$fault failed; "
	sleep "$6"
	[ "$wanted" = failed ] || rm "$scratch/on"
	wait_for_ranks
	[[ ${statuses[*]} =~ ^[0\ ]*$ ]] || why+='a rank says why; '
	rights=$(grep -c ': right after' <<<"$said")
	failures=$(grep -Ec ', rank [0-9]+, after [0-9]+ ms: ' <<<"$said")
	case $wanted in
	right) [ "$rights" -eq ${#pids[@]} ] || why+='not all are right; ' ;;
	failed) [ "$failures" -eq ${#pids[@]} ] || why+='not all have failed; ' ;;
	either) [ "$rights" -eq ${#pids[@]} ] || [ "$failures" -eq ${#pids[@]} ] || why+='some right, some not; ' ;;
	esac
	grep -Eq -- "$pattern" <<<"$said" || why+="no '$pattern'; "
	if [ -z "$why" ]; then
		ok "$name # $((SECONDS - begin)) s"
		grep -E 'right after|, after' <<<"$said" | sed 's/^/# /'
	else
		not_ok "$name" "after $((SECONDS - begin)) s: $why"$'\n'"$said"$'\n'"$(dmesg | tail -n 5)"
	fi
}

# ---- a wire that is bad --------------------------------------------------------------------------

bad_wire() { # NAME MOST NETEM...
	netem "${@:3}"
	run_link "$1" either '1 2' no_fault '' 2 --most "$2"
	netem
}

lossy() {
	bad_wire loss_of_0.1_percent_is_borne_or_named 262144 loss 0.1%
	bad_wire loss_of_1_percent_is_borne_or_named 262144 loss 1%
	bad_wire loss_of_5_percent_is_borne_or_named 16384 loss 5%
	bad_wire reordering_is_borne_or_named 65536 delay 1ms reorder 75% 50%
	bad_wire duplication_is_borne_or_named 262144 duplicate 5%
	bad_wire delay_of_20_ms_is_borne_or_named 2048 delay 20ms
	netem loss 1%
	run_link loss_of_1_percent_in_a_mixed_ring_is_borne_or_named either '1 1 2 2' no_fault \
		'' 2 --most 65536
	netem
	check_nothing_left lossy_leaves_nothing
}

# ---- a wire that fails ---------------------------------------------------------------------------

cuts() {
	WRING_STALL_MS=300 run_link outage_of_2_s_is_borne_or_named either '1 2' outage_of_2_s \
		'log: waiting for rank [01].*loss on this path: completer_retry_err' 1
	mend
	run_link cut_for_good_is_named_with_the_loss failed '1 2' cut \
		', link to rank [01]: send completion: .*loss on this path: completer_retry_err' 0
	mend
	check_nothing_left cuts_leave_nothing
}

# ---- a port that goes down, an address that goes away ---------------------------------------------

# Not in a ring of 2 x 2: there rdma_rxe of both kernels now and then takes its machine down, while the
# ranks, which have named the port, leave.
downs() {
	run_link link_down_here_is_named_here failed '1 2' link_down_here \
		'rank 0: .*, rank 0, .*the port of rank 0 (went down|is down|may be down).* ip link set data0 up' 0
	mend
	run_link link_down_there_is_named_there failed '1 2' link_down_there \
		'rank 1: .*, rank 1, .*the port of rank 1 (went down|is down|may be down).* ip link set data0 up' 0
	mend
	run_link address_gone_is_named failed '1 2' address_gone_here \
		'rank 0: .*, rank 0, .*rxe0 port 1.*GID.* of rank 0 .*is gone' 0
	mend
	run_link all_is_well_after_the_faults right '1 1 2 2' no_fault '' 1
	check_nothing_left downs_leave_nothing
}

for part in "$@"; do
	case $part in
	lossy) lossy ;;
	cut) cuts ;;
	down) downs ;;
	*) not_ok "netem.sh $part" "no such part" ;;
	esac
done
finish_inside
