# best.awk: which of Open MPI's algorithms is best at each size, from CSV files NAME.mpi.RANKS.csv.
FNR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.mpi\..*/, "", name)
	next
}

{
	bytes = $at["bytes"] + 0
	if (!(bytes in best)) {
		order[++sizes] = bytes
		best[bytes] = $at["mpi_median_us"] + 0
		which[bytes] = name
		wring[bytes] = $at["median_us"] + 0
	}
	if ($at["mpi_median_us"] + 0 < best[bytes]) {
		best[bytes] = $at["mpi_median_us"] + 0
		which[bytes] = name
	}
	ratio = $at["ratio"] + 0
	if (!(bytes in least) || ratio < least[bytes])
		least[bytes] = ratio
}

END {
	print "| bytes | fastest | its median in us | ratio to Wring in the same run, the smallest of all |"
	print "|---|---|---|---|"
	for (s = 1; s <= sizes; s++)
		printf "| %d | %s | %.2f | %.2f |\n", order[s], which[order[s]], best[order[s]], least[order[s]]
}
