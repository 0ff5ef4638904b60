# sweep_scaling.gp - how steps scale with the number of ranks: efficiency, time
# of a step, and samples a second.
#
#	gnuplot -e "input='s.tsv'; output='s.svg'; title='...'" sweep_scaling.gp
#
# input: what `lockstep sweep` writes for it; a header line, then a line for
# each point, columns separated by tabs:
#
#	curve          what the others of its curve share; "-": there is one
#	world-size
#	step_ms        predicted time of one step
#	efficiency     of a rank against a rank alone, 0 to 1
#	samples_per_s  of all ranks

width = 900
height = 760
here = ARG0[1:strlen(ARG0) - strlen("sweep_scaling.gp")]
load here . "style.gp"
load here . "curves.gp"

stats input using "world-size" name "ranks" nooutput
stats input using "step_ms" name "time" nooutput
stats input using "samples_per_s" name "rate" nooutput

set multiplot
set lmargin at screen 0.108
set rmargin at screen 0.975
set logscale x 2
set xrange [ranks_min / 1.3 : ranks_max * 1.3]
set xtics (1)
do for [e = 1:24] { set xtics add (2 ** e) }
size(i) = is(i) ? column("world-size") : NaN

# ---- the efficiency
set tmargin at screen 0.92
set bmargin at screen 0.70
set title title font ",13" textcolor rgb ink offset 0, 0.4
set yrange [0 : 105]
set ytics 0, 25, 100
set format x ""
set format y "%.0f %%"
set label 1 "efficiency" at screen 0.018, graph 0.5 rotate center \
	textcolor rgb ink
unset key
plot for [i = 1:num] input using (size(i)):(column("efficiency") * 100) \
	with linespoints pointtype mark(i) pointsize 0.6 linewidth 1.6 \
	linecolor rgb colour(i)

# ---- the step
set tmargin at screen 0.62
set bmargin at screen 0.38
unset title
set yrange [0 : time_max * 1.08]
set ytics autofreq
set format y "%g"
set label 1 "time of a step (ms)"
if (num > 1) {
	set key at screen 0.108, screen 0.66 left center horizontal Left \
		reverse samplen 1.6 width 1 maxrows 2
}
plot for [i = 1:num] input using (size(i)):"step_ms" \
	with linespoints pointtype mark(i) pointsize 0.6 linewidth 1.6 \
	linecolor rgb colour(i) title curves[i]

# ---- the throughput
set tmargin at screen 0.33
set bmargin at screen 0.09
unset key
set logscale y
set yrange [rate_min / 1.4 : rate_max * 1.4]
set format x "%g"
set ytics (1)
do for [e = 0:9] {
	do for [m in (rate_max / rate_min < 50 ? "1 2 5" : "1")] {
		set ytics add (m * 10.0 ** e)
	}
}
set format y "%.0s%c"
set xlabel "ranks"
set label 1 "samples / s"
plot for [i = 1:num] input using (size(i)):"samples_per_s" \
	with linespoints pointtype mark(i) pointsize 0.6 linewidth 1.6 \
	linecolor rgb colour(i)
unset multiplot
