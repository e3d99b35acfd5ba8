#!/bin/bash
# coverage.sh: builds with gcov and runs all tests that need no virtual machine: which lines of the
# library do they reach?
#
#     coverage.sh            build in build-coverage, run, print; fails below 90 % in one folder
#     coverage.sh --report   print again what the last run has reached
#
# Prints a line for each file and each folder, then every function with lines that were not reached
# and that COVERAGE.md does not explain. All lines not reached are in build-logs/uncovered.txt. Tests
# that fail are named, but not judged: they run slower here than their deadlines were made for.
set -u -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit
top=$PWD logs=$PWD/build-logs jobs=$(nproc) least=90
mkdir -p "$logs"

build() {
	mkdir -p build-coverage && cd build-coverage || return
	[ -e Makefile ] || ../configure -q --disable-lto CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage \
		--disable-dependency-tracking
	make -j "$jobs" && make -j "$jobs" check TESTS=
}

# A rank that is killed does not write down what it has reached; the others do.
run_tests() {
	find build-coverage -name '*.gcda' -delete
	export patience=10 CHAOS_SECONDS=3000
	make -k -C build-coverage check STATIC_CHECKS= AM_LOG_FLAGS='-k 5 3000' \
		AM_SH_LOG_FLAGS='-k 5 3000 bash'
	cd build-coverage || return
	export srcdir=$top programs=tests
	# shellcheck source=tests/harness/environment.sh
	. "$top/tests/harness/environment.sh"
	bash "$top/tests/failure/failure.sh"
	bash "$top/tests/chaos/chaos.sh" --seeds 1..60
	tests/exact/exact --threads --quick --ranks 2,3 --suite broadcast,mixed,destroy
}

# Lines "file line count" of the library, each once, the best of its objects.
reached() {
	cd build-coverage || return
	find . -name '*.gcda' -exec gcov -t {} + 2>/dev/null | awk -F: '
	$3 == "Source" { file = $4; sub(/^(\.\.\/)+/, "", file) }
	file !~ /^((base|bootstrap|coll|transport)\/.*|wring)\.[ch]$/ { next }
	{ count = $1; gsub(/[ *]/, "", count); line = $2 + 0 }
	line == 0 || count == "-" { next }
	{ n = count ~ /^[#=]/ ? 0 : 1; at = file " " line; if (!(at in best) || n > best[at]) best[at] = n }
	END { for (at in best) print at, best[at] }' | sort -k1,1 -k2,2n
}

# "file function line,line,..." for each function with lines that were not reached.
uncovered() { # REACHED
	awk '$3 == 0 { print $1, $2 }' "$1" | while read -r file line; do
		printf '%s %s %s\n' "$file" "$(function_at "$file" "$line")" "$line"
	done | awk '
	{ at = $1 " " $2; if (at in lines) lines[at] = lines[at] "," $3; else { order[++n] = at; lines[at] = $3 } }
	END { for (i = 1; i <= n; i++) print order[i], lines[order[i]] }'
}

# A function begins where a line that is not indented has a name before its first bracket.
function_at() { # FILE LINE
	awk -v last="$2" '
	NR > last { exit }
	/^[A-Za-z].*\(/ && !/;$/ && !/ = / {
		name = $0
		gsub(/__attribute__\(\([^()]*(\([^()]*\))?\)\) /, "", name)
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
	}
	END { print name == "" ? "-" : name }' "$1"
}

# Functions that COVERAGE.md does not name below the heading of their file.
unexplained() { # UNCOVERED
	awk '
	FNR == NR && /^## / { file = $2; next }
	FNR == NR { text = $0; while (match(text, /`[a-z_0-9]+`/)) {
			known[file, substr(text, RSTART + 1, RLENGTH - 2)] = 1
			text = substr(text, RSTART + RLENGTH) }
		next }
	!(($1, $2) in known) { print "not explained: " $1 ": " $2 ", line " $3 }' tests/COVERAGE.md "$1"
}

percentages() { # REACHED
	awk -v least=$least '
	{
		folder = $1; if (!sub(/\/.*/, "/", folder)) folder = ""
		lines[$1]++; got[$1] += $3; lines["in all"]++; got["in all"] += $3
		if (folder != "") { lines[folder]++; got[folder] += $3 }
	}
	function share(name) { return sprintf("%6.2f %% of %5d  %s", 100 * got[name] / lines[name], lines[name], name) }
	END {
		for (file in lines) if (file ~ /\./) print share(file) | "sort -k5"
		close("sort -k5")
		n = split("coll/ transport/ bootstrap/", folders, " ")
		for (i = 1; i <= n; i++) {
			print share(folders[i])
			low += 100 * got[folders[i]] < least * lines[folders[i]]
		}
		print share("in all")
		if (low) printf "%d folders are below %d %%\n", low, least
		exit low > 0
	}' "$1"
}

if [ "${1:-}" != --report ]; then
	(build) >"$logs/coverage.log" 2>&1 ||
		{ echo "coverage.sh: the build failed, see $logs/coverage.log" >&2; exit 2; }
	(run_tests) >>"$logs/coverage.log" 2>&1 </dev/null
	grep -rh --include='*.log' '^not ok' "$logs/coverage.log" build-coverage/tests | sort -u | sed 's/^/# /'
fi
(reached) >"$logs/reached.txt"
[ -s "$logs/reached.txt" ] || { echo 'coverage.sh: gcov has found nothing' >&2; exit 2; }
uncovered "$logs/reached.txt" >"$logs/uncovered.txt"
percentages "$logs/reached.txt"
status=$?
unexplained "$logs/uncovered.txt"
exit $status
