# table.awk: a table of ratios from CSV files NAME.RUN.csv of wring-bench; names: the columns.
function label(bytes) {
	if (bytes >= 1048576)
		return bytes / 1048576 " MiB"
	return bytes >= 1024 ? bytes / 1024 " KiB" : bytes " B"
}

FNR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.[0-9]+\.csv$/, "", name)
	next
}

{
	bytes = $at["bytes"] + 0
	if (!(bytes in seen)) {
		seen[bytes] = 1
		order[++sizes] = bytes
	}
	cell[name, bytes] = cell[name, bytes] sprintf("%.2f ", $at["ratio"])
	time[name, bytes] = time[name, bytes] $at["median_us"] " "
	part = bytes < 4096 ? "small" : "large"
	sum[name, part] += log($at["ratio"])
	n[name, part]++
}

function middle(list,    values, count, i, j, x) {
	count = split(list, values, " ")
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && values[j] + 0 < values[j - 1] + 0; j--) {
			x = values[j]
			values[j] = values[j - 1]
			values[j - 1] = x
		}
	return values[int((count + 1) / 2)]
}

function mean_row(part, title,    line, i) {
	line = "| " title
	for (i = 1; i <= columns; i++)
		line = line " | " (n[column[i], part] ? sprintf("**%.2f**", exp(sum[column[i], part] / n[column[i], part])) : "")
	print line " |"
}

END {
	columns = split(names, column, " ")
	head = "| bytes"
	rule = "|---"
	for (i = 1; i <= columns; i++) {
		head = head " | " column[i]
		rule = rule "|---"
	}
	print head " |"
	print rule "|"
	for (s = 1; s <= sizes; s++) {
		line = "| " label(order[s])
		for (i = 1; i <= columns; i++)
			line = line " | " (cell[column[i], order[s]] ? cell[column[i], order[s]] sprintf("(%.2f us)", middle(time[column[i], order[s]])) : "")
		print line " |"
	}
	mean_row("small", "geometric mean below 4 KiB")
	mean_row("large", "geometric mean from 4 KiB")
}
