#!/bin/bash
# check_man.sh: every public function and every program has a page, and mandoc finds nothing to say.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
cd "$srcdir/man" || exit

functions() {
	sed -n 's/^\t\(wring_[a-z0-9_]*\);$/\1/p' "$srcdir/wring.map"
}

# A page may be a ".so man3/OTHER.3" link, then the other one has to exist.
pages_missing() {
	local page target
	for page in wring.7 wring-bench.1 wring-info.1 wring_comm_create_mpi.3 \
		$(functions | sed 's/$/.3/'); do
		[ -s "$page" ] || echo "$page is missing"
		target=$(sed -n '1s/^\.so \(man[0-9]\/\)\?//p' "$page" 2>/dev/null)
		[ -z "$target" ] || [ -s "$target" ] || echo "$page: .so $target does not exist"
	done
}

pages_unlinted() {
	local page
	for page in *.[1-9]; do
		grep -q '^\.so ' "$page" || mandoc -Tlint -Wwarning "$page"
	done
}

sections_missing() {
	local page section
	for page in *.3; do
		grep -q '^\.so ' "$page" && continue
		for section in NAME SYNOPSIS DESCRIPTION 'RETURN VALUES\?' ERRORS EXAMPLES 'SEE ALSO'; do
			grep -qiE "^\.S[Hh] \"?${section/\\?/?}\"?\$" "$page" || echo "$page: no $section"
		done
	done
}

check_silent every_function_and_program_has_a_page pages_missing
check_silent pages_of_functions_have_all_sections sections_missing
if command -v mandoc >/dev/null; then
	check_silent mandoc_has_nothing_to_say pages_unlinted
else
	missing mandoc_has_nothing_to_say mandoc
fi
finish
