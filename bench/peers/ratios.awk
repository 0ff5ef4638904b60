# ratios.awk - of runs.tsv (tools/peers.sh) how many times faster ours is than
# each peer at each point: the peer's time over ours in the same round, median,
# smallest and largest over the rounds; and of_minima, the same of the shortest
# call of all rounds, which a busy machine disturbs least. The best peer of a
# point is the one with the smallest median time. Of the iterations asked for,
# those that the peer made in the round in which it made fewest.
BEGIN {
	FS = OFS = "\t"
	print "transport", "collective", "ranks", "size_bytes", "curve",
		"lockstep_us", "peer_us", "ratio", "low", "high", "of_minima", "best",
		"iterations", "asked"
}
/^#/ || $1 == "round" { next }
{
	point = $2 OFS $3 OFS $4 OFS $5
	if (!(point in seen)) {
		seen[point] = 1
		points[++num_points] = point
	}
	if (!(($6) in known)) {
		known[$6] = 1
		put_in_order($6)
	}
	if ($1 > rounds)
		rounds = $1
	time[point, $6, $1] = $7
	if (!((point, $6) in shortest) || $8 < shortest[point, $6])
		shortest[point, $6] = $8
	if (!((point, $6) in fewest) || $10 < fewest[point, $6])
		fewest[point, $6] = $10
	asked[point] = $11
}

# By name, whatever the order in which they ran, so that colours stay.
function put_in_order(library,    i) {
	for (i = ++num_libraries; i > 1 && libraries[i - 1] > library; i--)
		libraries[i] = libraries[i - 1]
	libraries[i] = library
}

# Sorts values[1..num] and returns their median.
function median(num,    i, j, v) {
	for (i = 2; i <= num; i++) {
		v = values[i]
		for (j = i; j > 1 && values[j - 1] > v; j--)
			values[j] = values[j - 1]
		values[j] = v
	}
	return (values[int((num + 1) / 2)] + values[int(num / 2) + 1]) / 2
}

# Puts a library's times at a point into values; returns how many there are.
function times_of(point, library,    r, num) {
	for (r = 1; r <= rounds; r++)
		if ((point, library, r) in time)
			values[++num] = time[point, library, r]
	return num + 0
}

# The same of a peer's times over ours.
function ratios_of(point, library,    r, num) {
	for (r = 1; r <= rounds; r++)
		if ((point, library, r) in time && (point, "lockstep", r) in time)
			values[++num] = time[point, library, r] / \
				time[point, "lockstep", r]
	return num + 0
}

END {
	for (p = 1; p <= num_points; p++) {
		point = points[p]
		num = times_of(point, "lockstep")
		if (num == 0)
			continue
		ours = median(num)
		best = ""
		for (l = 1; l <= num_libraries; l++) {
			library = libraries[l]
			num = times_of(point, library)
			if (num == 0 || library == "lockstep")
				continue
			peer[library] = median(num)
			if (best == "" || peer[library] < peer[best])
				best = library
		}
		for (l = 1; l <= num_libraries; l++) {
			library = libraries[l]
			num = library == "lockstep" ? 0 : ratios_of(point, library)
			if (num == 0)
				continue
			ratio = median(num)
			print point, library, sprintf("%.2f", ours),
				sprintf("%.2f", peer[library]),
				sprintf("%.3f", ratio),
				sprintf("%.3f", values[1]),
				sprintf("%.3f", values[num]),
				sprintf("%.3f", shortest[point, library] / \
					shortest[point, "lockstep"]),
				library == best, fewest[point, library],
				asked[point]
		}
	}
}
