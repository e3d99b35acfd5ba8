#!/bin/bash
# info_options.sh: wring-info takes the options of its page, and refuses all others in one line.
# shellcheck source=tests/harness/tap.sh
. "$(dirname "$0")/../harness/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

info() { # ARGUMENT...
	timeout -k 5 60 ./bench/wring-info/wring-info "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

shown() {
	echo "status $status"
	cat "$work/out" "$work/err"
}

# Status 2, one line on stderr with the value, nothing on stdout.
refused() { # TEXT
	[ "$status" -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] &&
		grep -qF -- "wring-info: $1" "$work/err"
}

refuses() { # NAME TEXT ARGUMENT...
	info "${@:3}"
	verdict "refuses_$1" refused "$2"
}

printed() { # PATTERN
	[ ! -s "$work/err" ] && grep -qE -- "$1" "$work/out"
}

looked() { # PATTERN
	[ "$status" -le 1 ] && printed "$1"
}

refuses unknown_option '--colour: no such option' --colour blue
refuses single_dash '-p: no such option' -p
refuses argument_that_is_no_option 'now: not an option' now
refuses missing_port '--port: a value is missing' --port
refuses missing_device '--device: a value is missing' --json --device
refuses port_0 '--port 0: not a number from 1 to 254' --port 0
refuses port_255 '--port 255: not a number from 1 to 254' --port 255
refuses negative_port '--port -1: not a number' --port -1
refuses port_that_is_no_number '--port 1x: not a number' --port 1x
refuses empty_port '--port : not a number' --port ''
refuses port_beyond_every_number '--port 99999999999999999999: not' --port 99999999999999999999
refuses empty_device '--device: not a name of 1 to 63 letters' --device ''
refuses device_of_64_letters '--device: not a name' --device "$(printf 'x%.0s' {1..64})"
refuses value_of_a_flag '--json=yes: no such option' --json=yes

info --help
verdict help_is_no_error test "$status" -eq 0
for option in --device --port --json --help --version; do
	verdict "help_has_$option" printed "^  $option "
done
info --version
verdict version_is_that_of_configure printed "^wring-info ${PACKAGE_VERSION:-[0-9.]+}\$"
verdict version_is_no_error test "$status" -eq 0

info
verdict text_names_the_memlock_limit looked '^RLIMIT_MEMLOCK (unlimited|[0-9]+ bytes), at most '
WRING_TRAFFIC_CLASS=106 WRING_SERVICE_LEVEL=3 info
verdict text_has_traffic_class_and_service_level looked \
	'^Traffic class 106 \(WRING_TRAFFIC_CLASS\), service level 3 '
WRING_TRAFFIC_CLASS=106 info --json
verdict json_has_the_traffic_class looked '"traffic_class": 106'
WRING_TRAFFIC_CLAS=106 info
verdict a_variable_that_wring_would_refuse_is_told looked '^The environment is refused: .*TRAFFIC_CLAS'
info --json
verdict json_is_one_object looked '^\{'
verdict json_ends test "$(tail -n 1 "$work/out")" = '}'
info --device no_such_device --port 254
verdict a_device_that_is_not_there_gives_status_1 test "$status" -eq 1
verdict a_device_that_is_not_there_is_told printed '^no RDMA device$'
timeout -k 5 60 ./bench/wring-info/wring-info >/dev/full 2>"$work/err"
status=$?
verdict a_full_disk_is_told test "$status" -eq 1 -a -s "$work/err"
finish
