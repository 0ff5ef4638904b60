# table.awk - of ratios.tsv what people want to know: ours against the best peer
# at each point, how often it is as fast, where it is slowest, and the geometric
# mean against each peer.
BEGIN { FS = "\t" }
NR == 1 {
	print "how many times faster ours is than the best peer: median over" \
		" rounds (lowest to highest), and of the shortest calls"
	printf "%-5s %-14s %5s %10s  %11s %-10s %11s  %8s  %6s\n", "over",
		"collective", "ranks", "bytes", "ours (us)", "best peer",
		"its (us)", "shortest", "ratio"
	next
}
{
	log_sum[$1, $5] += log($8)
	points[$1, $5]++
	if ($13 < $14) {
		cut_short[$1, $5]++
		if (!(($1, $5) in fewest) || $13 < fewest[$1, $5])
			fewest[$1, $5] = $13
	}
	if (!(($1, $5) in points_named)) {
		points_named[$1, $5] = 1
		pairs[++num_pairs] = $1 SUBSEP $5
	}
}
$12 == 1 {
	printf "%-5s %-14s %5d %10d  %11.1f %-10s %11.1f  %8.2f  %6.2f " \
		"(%.2f to %.2f)%s\n", $1, $2, $3, $4, $6, $5, $7, $11, $8, $9,
		$10, $13 < $14 ? ", " $13 " iterations of " $14 : ""
	num++
	won += $8 >= 1
	if (num == 1 || $8 + 0 < worst) {
		worst = $8
		where = $2 " of " $4 " bytes on " $3 " ranks over " $1
	}
}
END {
	if (num == 0) {
		print "nothing to compare: no peer ran"
		exit
	}
	printf "as fast as the best peer, or faster, at %d of %d points; " \
		"worst %.2f: %s\n", won, num, worst, where
	for (i = 1; i <= num_pairs; i++) {
		split(pairs[i], pair, SUBSEP)
		printf "geometric mean over %s against %s: %.2f (%d points)\n",
			pair[1], pair[2],
			exp(log_sum[pairs[i]] / points[pairs[i]]),
			points[pairs[i]]
		if (pairs[i] in cut_short)
			printf "%s over %s ran out of time at %d of them, " \
				"after as few as %d iterations\n", pair[2],
				pair[1], cut_short[pairs[i]], fewest[pairs[i]]
	}
}
