# peers.gp - how many times faster ours is than each peer, by size: a panel for
# each transport and number of ranks; bars are from the lowest to the highest
# round.
#
#	gnuplot -e "input='r.tsv'; output='r.svg'; title='...'" \
#		-e "transports='tcp shm'; worlds='2 4'" peers.gp
#
# input: what `make bench-peers` writes, of one collective; a header line, then
# a line for each point and peer, columns separated by tabs:
#
#	transport    tcp or shm
#	ranks        number of ranks
#	size_bytes   of a call
#	curve        the peer
#	ratio        its time over ours, median over the rounds; low, high

across = words(worlds)
down = words(transports)
left = 84.0
right = 20.0
panel_width = 360.0
panel_height = 260.0
gap = 66.0
width = left + across * panel_width + (across - 1) * gap + right
height = 146 + down * (panel_height + gap)
here = ARG0[1:strlen(ARG0) - strlen("peers.gp")]
load here . "style.gp"
load here . "curves.gp"

stats input using "low" name "low" nooutput
stats input using "high" name "high" nooutput
stats input using "size_bytes" name "size" nooutput

# Which peers are in which panel.
present = "|"
see(transport, ranks, peer) = (present = present . \
	sprintf("%s %d %s|", transport, ranks, peer), 0)
is_in(panel, peer) = strstrt(present, "|" . panel . " " . peer . "|") > 0
set table $nothing
plot input using (see(strcol("transport"), column("ranks"), strcol("curve"))) \
	:(0) with table
unset table

set multiplot
set label 1 title at screen 0.5, screen 1 - 22.0 / height center \
	font ",13" textcolor rgb ink
set label 2 "above the line ours is faster; bars: over all rounds" \
	at screen 0.5, screen 1 - 42.0 / height center font ",10" \
	textcolor rgb grey
set key at screen left / width, screen 1 - 80.0 / height left center \
	horizontal Left reverse samplen 1.6 width 1 maxrows (across > 1 ? 1 : 2)
set logscale xy
set xrange [size_min / 2 : size_max * 2]
set xtics (1)
do for [e = 0:40:4] {
	set xtics add (sprintf("%d %s", 2 ** (e % 10), \
		word("B KiB MiB GiB TiB", e / 10 + 1)) 2 ** e)
}
set yrange [(low_min < 1 ? low_min : 1) / 1.3 : \
	(high_max > 1 ? high_max : 1) * 1.3]
set ytics (1)
do for [e = -3:5] {
	do for [m in (high_max / low_min < 100 ? "1 2 5" : "1")] {
		set ytics add (m * 10.0 ** e)
	}
}
set format y "%g"
# Rows of other panels and peers do not end a line.
set datafile missing NaN
# Peers stand beside each other at a size.
beside(i) = 2 ** (0.16 * (i - (num + 1) / 2.0))

do for [row = 1:down] {
	do for [column = 1:across] {
		transport = word(transports, row)
		ranks = int(word(worlds, column))
		x = left + (column - 1) * (panel_width + gap)
		y = height - 126 - (row - 1) * (panel_height + gap)
		set lmargin at screen x / width
		set rmargin at screen (x + panel_width) / width
		set tmargin at screen y / height
		set bmargin at screen (y - panel_height) / height
		set label 3 sprintf("%d ranks over %s", ranks, transport) \
			at graph 0, graph 1.05 textcolor rgb ink
		set label 4 (column == 1 ? "times faster" : "") \
			at screen 18.0 / width, graph 0.5 rotate center \
			textcolor rgb ink
		if (row == down) { set xlabel "size of a call" }
		own(i) = is(i) && strcol("transport") eq transport && \
			column("ranks") == ranks
		inside = ""
		do for [i = 1:num] {
			if (is_in(sprintf("%s %d", transport, ranks), curves[i])) {
				inside = inside . sprintf("%d ", i)
			}
		}
		if (inside eq "") {
			plot 1 with lines linewidth 1.4 linecolor rgb ink notitle
		} else {
			plot 1 with lines linewidth 1.4 linecolor rgb ink notitle, \
				for [i in inside] input using (own(int(i)) ? \
				column("size_bytes") * beside(int(i)) : NaN): \
				"ratio":"low":"high" with yerrorlines \
				pointtype 7 pointsize 0.6 linewidth 1.4 \
				linecolor rgb colour(int(i)) notitle, \
				for [i = 1:num] keyentry with linespoints \
				pointtype 7 pointsize 0.6 linewidth 1.4 \
				linecolor rgb colour(i) title curves[i]
		}
		unset label 1
		unset label 2
		unset key
	}
}
unset multiplot
