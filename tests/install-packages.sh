#!/bin/bash
# install-packages.sh: installs, on Debian 12, what is missing to do WHAT.
#
#     install-packages.sh [--dry-run] WHAT...        WHAT: build bench test vm peers
#
# Asks apt only if something is missing, and for root only then.
set -u
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

declare -A packages_for=(
	[build]='build-essential autoconf automake libtool pkg-config libibverbs-dev libhwloc-dev
		libopenmpi-dev openmpi-bin'
	[bench]='gnuplot-nox'
	[test]='clang clang-14 clang-format-14 libclang-rt-14-dev libcmocka-dev valgrind
		gcc-aarch64-linux-gnu libc6-dev-arm64-cross mandoc shellcheck spin'
	[vm]='qemu-system-x86 busybox-static cpio kmod xz-utils rdma-core ibverbs-providers
		ibverbs-utils perftest iproute2 dropbear-bin openssh-client'
	# Only bench/soft-roce/run asks for these: what Wring is measured beside, and what MPICH needs,
	# which itself is not installed, for it would take the names of Open MPI's programs.
	[peers]='g++ libfabric1 libgfortran5 libgloo-dev libhwloc15 libslurm38 libucx0'
)

fail() { echo "install-packages: $*" >&2; exit 1; }

is_missing() { # PACKAGE
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" != installed ]
}

as_root() { # COMMAND...
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo --preserve-env=DEBIAN_FRONTEND "$@"
	fi
}

# A mirror that does not answer is asked three times in all; a lock held by another apt is waited for.
apt() { # ARGUMENT...
	local attempt
	for attempt in 1 2 3; do
		as_root timeout -k 10 900 apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 -q "$@" && return
		[ "$attempt" -eq 3 ] || sleep $((attempt * 5))
	done
	return 1
}

dry_run='' packages=()
[ "${1:-}" != --dry-run ] || { dry_run=1; shift; }
[ $# -gt 0 ] || fail "nothing asked for; one or more of: build bench test vm peers"
for what in "$@"; do
	[ -n "${packages_for[$what]:-}" ] || fail "'$what' is not one of: build bench test vm peers"
	# shellcheck disable=SC2206
	packages+=(${packages_for[$what]})
done

command -v dpkg-query >/dev/null || fail "this is no Debian; install what corresponds to: ${packages[*]}"
wanted=()
for package in "${packages[@]}"; do
	! is_missing "$package" || wanted+=("$package")
done
[ ${#wanted[@]} -gt 0 ] || exit 0
echo "install-packages: missing: ${wanted[*]}"
[ -z "$dry_run" ] || exit 0

if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
	fail "neither root nor sudo; let an administrator run: apt-get install ${wanted[*]}"
fi
apt update || fail "apt-get update failed: no network, or no working mirror in /etc/apt/sources.list"
apt install -y --no-install-recommends "${wanted[@]}" || fail "apt-get could not install: ${wanted[*]}"
