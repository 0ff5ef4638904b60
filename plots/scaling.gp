# scaling.gp - how long a training step takes, and how well it scales, against
# the number of ranks.
#
#	gnuplot -e "input='s.tsv'; output='s.svg'; title='...'" scaling.gp
#
# input: what `lockstep predict --tsv` writes; a header line, then a line for
# each world size, columns separated by tabs and known by their names, in any
# order:
#
#	world_size
#	step_ms      predicted time of one step
#	compute_ms   of it, computing
#	exposed_ms   of it, waiting for communication
#	efficiency   of a rank against a rank alone, 0 to 1

width = 900
height = 600
load ARG0[1:strlen(ARG0) - strlen("scaling.gp")] . "style.gp"
set datafile columnheaders

size = "world_size"
step = "step_ms"
stats input using size name "ranks" nooutput
stats input using step name "time" nooutput

set multiplot
set lmargin at screen 0.108
set rmargin at screen 0.975
set logscale x 2
set xrange [ranks_min / 1.5 : ranks_max * 1.5]
set xtics 2
set grid noxtics
set style fill solid 1 noborder

# ---- the efficiency
set tmargin at screen 0.90
set bmargin at screen 0.69
set title title font ",13" textcolor rgb ink offset 0, 0.4
set yrange [0 : 128]
set ytics 0, 25, 100
set format x ""
set format y "%.0f %%"
set label 1 "efficiency" at screen 0.018, graph 0.5 rotate center \
	textcolor rgb ink
unset key
percent(fraction) = fraction * 100
plot input using size:(percent(column("efficiency"))) \
	with linespoints linecolor rgb blue linewidth 1.6 pointtype 7 \
	pointsize 0.7, \
     input using size:(percent(column("efficiency"))):\
	(sprintf("%.1f", percent(column("efficiency")))) \
	with labels center offset 0, 0.9 font ",9" textcolor rgb ink

# ---- the step
set tmargin at screen 0.62
set bmargin at screen 0.115
unset title
set yrange [0 : time_max * 1.12]
set ytics autofreq
set format x "%g"
set format y "%g"
set xlabel "ranks"
set label 1 "time of a step (ms)" at screen 0.018, graph 0.5 rotate center \
	textcolor rgb ink
set key at screen 0.108, screen 0.65 left center horizontal Left reverse \
	samplen 1.2 width 2
left(n) = n / 1.22
right(n) = n * 1.22
plot input using size:(0):(left(column(size))):\
	(right(column(size))):(0):"compute_ms" \
	with boxxyerror fillcolor rgb sky title "computing", \
     input using size:(0):(left(column(size))):\
	(right(column(size))):"compute_ms":\
	(column("compute_ms") + column("exposed_ms")) \
	with boxxyerror fillcolor rgb orange \
	title "waiting for communication", \
     input using size:step:(sprintf("%.4g", column(step))) \
	with labels offset 0, 0.6 font ",9" textcolor rgb ink notitle
unset multiplot
