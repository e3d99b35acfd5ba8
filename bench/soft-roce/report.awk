# report.awk: what run has measured, as tables on standard output and as JSON in a file.
#
#     awk -v json=FILE -v rounds=N -v segment=BYTES -f report.awk versions failures times
#
# For the lines of failures and times see inside.sh; those of versions are a name and a text.

FILENAME == "versions" { names[++versions] = $1; version[$1] = rest(2) }

FILENAME == "failures" {
	failures++
	fail_where[failures] = sprintf("%s round %s ranks %s %s", $3, $1, $2, $4)
	fail_json[failures] = sprintf("{\"round\": %d, \"ranks\": %d, \"system\": \"%s\", " \
		"\"collective\": \"%s\", \"reason\": \"%s\"}", $1, $2, $3, $4, rest(5))
	fail_why[failures] = rest(5)
}

FILENAME == "times" {
	if ($4 == "write_bw" || $4 == "write_bw_both")
		$6 = $6 * 1.048576 # MiB/s
	note(system_at, $3)
	note(work_at, $4 " " $2)
	note(bytes_at, $5 + 0)
	value[$3, $4 " " $2, $5 + 0, $1] = $6
}

END {
	sort_bytes()
	for (w = 1; w <= work_at[0]; w++)
		if (work_at[w] !~ /^write/)
			print_work(work_at[w])
	print_link()
	for (i = 1; i <= failures; i++)
		print "failed: " fail_where[i] ": " fail_why[i]
	write_json()
}

# From field "first" on; nothing that would end a string of JSON.
function rest(first,    i, text) {
	for (i = first; i <= NF; i++)
		text = text (i > first ? " " : "") $i
	gsub(/[\\"]|[^ -~]/, "", text)
	return text
}

# Lists keep the order in which things were first seen.
function note(list, name) {
	if (!(name in seen)) {
		seen[name] = 1
		list[++list[0]] = name
	}
}

function sort_bytes(    i, j, x) {
	for (i = 2; i <= bytes_at[0]; i++) {
		x = bytes_at[i]
		for (j = i - 1; j > 0 && bytes_at[j] > x; j--)
			bytes_at[j + 1] = bytes_at[j]
		bytes_at[j + 1] = x
	}
}

# The median over the rounds; 0: there is none.
function median(who, work, bytes,    r, n, i, x, v) {
	for (r = 1; r <= rounds; r++) {
		if (!((who, work, bytes, r) in value))
			continue
		x = value[who, work, bytes, r]
		for (i = n++; i > 0 && v[i] > x; i--)
			v[i + 1] = v[i]
		v[i + 1] = x
	}
	return n ? (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 : 0
}

# The fastest peer's median, 0 if there is none; its name is left in best_name.
function best_peer(work, bytes,    s, x, best) {
	best = 0
	best_name = "-"
	for (s = 1; s <= system_at[0]; s++) {
		if (system_at[s] == "wring" || system_at[s] == "link")
			continue
		x = median(system_at[s], work, bytes)
		if (x && (!best || x < best)) {
			best = x
			best_name = system_at[s]
		}
	}
	return best
}

function ratio(work, bytes,    wring) {
	wring = median("wring", work, bytes)
	return wring ? best_peer(work, bytes) / wring : 0
}

# The geometric mean of the ratios at the sizes from low to high that have one; 0: none has.
function mean_ratio(work, low, high,    b, n, sum, x) {
	for (b = 1; b <= bytes_at[0]; b++) {
		if (bytes_at[b] < low || bytes_at[b] > high)
			continue
		x = ratio(work, bytes_at[b])
		if (x) {
			sum += log(x)
			n++
		}
	}
	return n ? exp(sum / n) : 0
}

# In a table, a time or ratio that is not known is a dash.
function cell(format, x) {
	return x ? sprintf(format, x) : "-"
}

function print_row(work, bytes,    s) {
	printf "%9d", bytes
	for (s = 1; s <= system_at[0]; s++)
		if (system_at[s] != "link")
			printf " %17s", cell("%.1f", median(system_at[s], work, bytes))
	printf " %7s  ", cell("%.2f", ratio(work, bytes))
	best_peer(work, bytes)
	print best_name
}

function print_work(work,    b, s, part) {
	split(work, part, " ")
	printf "%s, %d ranks: us, median of %d rounds; best peer's / Wring's\n", part[1], part[2], rounds
	printf "%9s", "bytes"
	for (s = 1; s <= system_at[0]; s++)
		if (system_at[s] != "link")
			printf " %17s", system_at[s]
	print "   ratio  best peer"
	for (b = 1; b <= bytes_at[0]; b++)
		if (median("wring", work, bytes_at[b]) || best_peer(work, bytes_at[b]))
			print_row(work, bytes_at[b])
	printf "geometric mean ratio: up to 16 KiB %s, above %s, all %s\n\n", \
		cell("%.2f", mean_ratio(work, 0, 16384)), cell("%.2f", mean_ratio(work, 16385, 1e12)), \
		cell("%.2f", mean_ratio(work, 0, 1e12))
}

# MB/s that a link has to carry in an all-reduce of 2 ranks, which is half of what both ways carry.
function bus(bytes,    x) {
	x = median("wring", "allreduce 2", bytes)
	return x ? bytes / x : 0
}

function print_link(    b, x, both, lat) {
	lat = median("link", "write_lat 2", 8)
	both = median("link", "write_bw_both 2", segment)
	printf "ib_write_lat of 8 bytes: %s us; ib_write_bw of %d bytes: %s MB/s, -b %s MB/s\n", \
		cell("%.1f", lat), segment, cell("%.1f", median("link", "write_bw 2", segment)), \
		cell("%.1f", both)
	x = median("wring", "allreduce 2", 8)
	if (lat && x)
		printf "Wring's all-reduce of 8 bytes, 2 ranks: %.2f x ib_write_lat\n", x / lat
	for (b = 1; both && b <= bytes_at[0]; b++)
		if (bytes_at[b] >= 1048576 && bus(bytes_at[b]))
			printf "Wring's bus bandwidth, 2 ranks, %d bytes: %.1f MB/s, %.0f %% of half of -b\n", \
				bytes_at[b], bus(bytes_at[b]), 100 * bus(bytes_at[b]) / (both / 2)
}

# ---- JSON ----------------------------------------------------------------------------------------

function number(x) {
	return x ? sprintf("%.4f", x) : "null"
}

function put_rounds(who, work, bytes,    r) {
	printf "\"median\": %s, \"rounds\": [", number(median(who, work, bytes)) >json
	for (r = 1; r <= rounds; r++)
		printf "%s%s", (r > 1 ? ", " : ""), number(value[who, work, bytes, r]) >json
	printf "]}" >json
}

function put_results(    s, w, b, part, comma) {
	for (w = 1; w <= work_at[0]; w++)
		for (b = 1; b <= bytes_at[0]; b++)
			for (s = 1; s <= system_at[0]; s++) {
				if (!median(system_at[s], work_at[w], bytes_at[b]))
					continue
				split(work_at[w], part, " ")
				printf "%s\n{\"system\": \"%s\", \"what\": \"%s\", \"ranks\": %d, " \
					"\"bytes\": %d, \"unit\": \"%s\", ", comma, system_at[s], \
					part[1], part[2], bytes_at[b], \
					(part[1] ~ /^write_bw/ ? "MB/s" : "us") >json
				put_rounds(system_at[s], work_at[w], bytes_at[b])
				comma = ","
			}
}

function put_ratios(    w, part, comma) {
	for (w = 1; w <= work_at[0]; w++) {
		if (work_at[w] ~ /^write/)
			continue
		split(work_at[w], part, " ")
		printf "%s\n{\"what\": \"%s\", \"ranks\": %d, \"up_to_16KiB\": %s, \"above\": %s, " \
			"\"all\": %s}", comma, part[1], part[2], number(mean_ratio(work_at[w], 0, 16384)), \
			number(mean_ratio(work_at[w], 16385, 1e12)), number(mean_ratio(work_at[w], 0, 1e12)) >json
		comma = ","
	}
}

function write_json(    i) {
	printf "{\"rounds\": %d, \"versions\": {", rounds >json
	for (i = 1; i <= versions; i++)
		printf "%s\n\"%s\": \"%s\"", (i > 1 ? "," : ""), names[i], version[names[i]] >json
	printf "},\n\"geometric_mean_ratios\": [" >json
	put_ratios()
	printf "],\n\"results\": [" >json
	put_results()
	printf "],\n\"failures\": [" >json
	for (i = 1; i <= failures; i++)
		printf "%s\n%s", (i > 1 ? "," : ""), fail_json[i] >json
	printf "]}\n" >json
	close(json)
}
