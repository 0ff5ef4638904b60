# mpi.awk - of the runs of bench/mpi.sh, a line for each point: medians over the
# rounds, and the lowest and highest ratio.
BEGIN {
	FS = OFS = "\t"
	print "mpi", "ranks", "size_bytes", "alone_us", "over_us",
		"agreement_us", "ratio", "low", "high"
}
{
	point = $2 OFS $3 OFS $4
	if (!(point in num))
		points[++num_points] = point
	i = ++num[point]
	alone[point, i] = $5
	over[point, i] = $6
	agreement[point, i] = $7
	# What is left may be nothing where both are short.
	left = $6 - $7
	ratio[point, i] = left > 0 ? $5 / left : 99
}

# Sorts the values of a point and returns their median.
function median(values, point,    i, j, v, n) {
	n = num[point]
	for (i = 2; i <= n; i++) {
		v = values[point, i]
		for (j = i; j > 1 && values[point, j - 1] > v; j--)
			values[point, j] = values[point, j - 1]
		values[point, j] = v
	}
	return (values[point, int((n + 1) / 2)] + \
		values[point, int(n / 2) + 1]) / 2
}

END {
	for (p = 1; p <= num_points; p++) {
		point = points[p]
		middle = median(ratio, point)
		print point, sprintf("%.2f", median(alone, point)),
			sprintf("%.2f", median(over, point)),
			sprintf("%.2f", median(agreement, point)),
			sprintf("%.2f", middle),
			sprintf("%.2f", ratio[point, 1]),
			sprintf("%.2f", ratio[point, num[point]])
	}
}
