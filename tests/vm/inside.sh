# inside.sh: what the scripts that run inside a virtual machine share; sourced, from the build
# directory, as root of the VM. Results are TAP lines, which the runner outside numbers.
# shellcheck shell=bash
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=tests/harness/tap.sh
. "$here/../harness/tap.sh"
build=$PWD
scratch=$(mktemp -d)

# Libtool's wrappers are slow here: take the program itself.
program() { # NAME
	local real=$build/${1%/*}/.libs/${1##*/}
	if [ -x "$real" ]; then
		echo "$real"
	else
		echo "$build/$1"
	fi
}
export LD_LIBRARY_PATH=$build/.libs
# shellcheck disable=SC2034
bench=$(program bench/wring-bench/wring-bench) info=$(program bench/wring-info/wring-info) \
	pingpong=$(program examples/pingpong) exact=$(program tests/exact/exact) \
	death=$(program tests/vm/death) start=$(program tests/vm/start) link=$(program tests/vm/link) \
	chaos=$(program tests/chaos/chaos) failure=$(program tests/failure/failure)

limited() { # SECONDS COMMAND...
	timeout -k 5 "$@"
}

# What a program that prints TAP has found, under this name, without its plan; one that dies is a
# failed test. What it says on stderr becomes comments.
run_tap() { # NAME COMMAND...
	local name=$1 status begin=$SECONDS
	"${@:2}" >"$scratch/tap" 2>"$scratch/said"
	status=$?
	sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $name: /" "$scratch/tap"
	sed 's/^\(# \)\?/# /' "$scratch/said" | head -n 40
	echo "# $name took $((SECONDS - begin)) s"
	if [ $status -gt 1 ] || ! grep -Eq '^(not )?ok' "$scratch/tap"; then
		not_ok "$name" "ended with status $status"
	fi
}

# The command succeeds, and what it prints matches each of the patterns.
check_says() { # NAME PATTERN... -- COMMAND...
	local name=$1 patterns=() status pattern
	shift
	while [ "$1" != -- ]; do
		patterns+=("$1")
		shift
	done
	shift
	"$@" >"$scratch/output" 2>&1
	status=$?
	for pattern in "${patterns[@]}"; do
		grep -Eq -- "$pattern" "$scratch/output" && continue
		not_ok "$name" "does not say '$pattern' (status $status): $(tail -n 40 "$scratch/output")"
		return
	done
	if [ $status -eq 0 ]; then
		ok "$name"
	else
		not_ok "$name" "status $status: $(tail -n 40 "$scratch/output")"
	fi
}

# The same for a command that has to fail.
check_refuses() { # NAME PATTERN... -- COMMAND...
	local name=$1 patterns=()
	shift
	while [ "$1" != -- ]; do
		patterns+=("$1")
		shift
	done
	shift
	check_says "$name" "${patterns[@]}" -- fails "$@"
}

# The command fails by itself: neither killed nor out of time.
fails() { # COMMAND...
	local status
	"$@"
	status=$?
	[ $status -ne 0 ] && [ $status -lt 124 ]
}

# Every rank's wring_comm_create fails with the same line, which has the pattern, and leaves nothing
# in the process.
check_every_rank_refuses() { # NAME RANKS PATTERN COMMAND...
	local name=$1 ranks=$2 pattern=$3 status
	shift 3
	"$@" >"$scratch/output" 2>&1
	status=$?
	sed -n 's/.*rank [0-9]*: create: //p' "$scratch/output" >"$scratch/lines"
	if [ "$(grep -Ec -- "$pattern" "$scratch/lines")" -ne "$ranks" ]; then
		not_ok "$name" "not $ranks times '$pattern': $(cat "$scratch/output")"
	elif [ "$(sort -u "$scratch/lines" | wc -l)" -ne 1 ]; then
		not_ok "$name" "the ranks differ: $(cat "$scratch/lines")"
	elif grep -q 'left open' "$scratch/output"; then
		not_ok "$name" "$(cat "$scratch/output")"
	elif [ $status -eq 0 ] || [ $status -ge 124 ]; then
		not_ok "$name" "status $status"
	else
		ok "$name"
		head -n 1 "$scratch/lines" | sed 's/^/# /'
	fi
}

# All QPs, CQs, MRs, PDs and contexts of all devices. The kernel has one QP for itself. What a
# process leaves when it is killed is taken down a moment after it has ended.
resources() {
	rdma resource show
}
resources_at_begin=$(resources)

check_nothing_left() { # NAME
	local i
	for ((i = 0; i < 50; i++)); do
		[ "$(resources)" = "$resources_at_begin" ] && break
		sleep 0.1
	done
	if [ "$(resources)" = "$resources_at_begin" ] && [ -z "$(ls -A /dev/shm)" ]; then
		ok "$1"
	else
		not_ok "$1" "was $resources_at_begin; is $(resources); /dev/shm: $(ls -A /dev/shm)"
	fi
}

# The last line: nothing of this script was skipped.
finish_inside() {
	rm -rf "$scratch"
	echo "# all of $(basename "$0") has run"
}
