# tap.sh: what the test scripts share; it is sourced, prints TAP lines, and keeps the count.
# shellcheck shell=bash
export LC_ALL=C
srcdir=$(cd "${srcdir:-$(dirname "${BASH_SOURCE[0]}")/../..}" && pwd)
tests=0 failures=0

ok() { # NAME
	tests=$((tests + 1))
	echo "ok $tests - $1"
}

not_ok() { # NAME [EXPLANATION]
	tests=$((tests + 1)) failures=$((failures + 1))
	echo "not ok $tests - $1"
	[ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# The command succeeds; otherwise what it printed is shown.
check() { # NAME COMMAND...
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "$output"
	fi
}

# The command judges what was done before; if it is not content, the script's "shown" tells that.
verdict() { # NAME COMMAND...
	local name=$1
	shift
	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "$(shown)"
	fi
}

# The command finds nothing to print.
check_silent() { # NAME COMMAND...
	local name=$1 output
	shift
	output=$("$@" 2>&1)
	if [ -z "$output" ]; then
		ok "$name"
	else
		not_ok "$name" "$output"
	fi
}

# A tool is missing: a skipped test, but a failed one where all tools have to be there.
missing() { # NAME PACKAGE
	if [ -n "${TESTS_STRICT:-}" ]; then
		not_ok "$1" "missing: apt-get install $2"
	else
		tests=$((tests + 1))
		echo "ok $tests - $1 # SKIP apt-get install $2"
	fi
}

finish() {
	echo "1..$tests"
	[ "$failures" -eq 0 ]
	exit
}

# The project's own C files, as paths from the top of the tree.
c_files() {
	(cd "$srcdir" && find base bench bootstrap coll examples tests transport ./*.[ch] -name '*.[ch]' |
		sed 's,^\./,,' | sort)
}
