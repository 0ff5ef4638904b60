# bucket_size.gp - the time of a step against the size at which a bucket of
# gradients closes: the whole step, and of it what waits for communication.
#
#	gnuplot -e "input='b.tsv'; output='b.svg'; title='...'" bucket_size.gp
#
# input: what `lockstep sweep` writes for it; a header line, then a line for
# each point, columns separated by tabs:
#
#	curve          what the others of its curve share; "-": there is one
#	bucket-cap-mb
#	step_ms        predicted time of one step
#	exposed_ms     of it, waiting for communication

width = 900
height = 520
here = ARG0[1:strlen(ARG0) - strlen("bucket_size.gp")]
load here . "style.gp"
load here . "curves.gp"

stats input using "bucket-cap-mb" name "cap" nooutput
stats input using "step_ms" name "time" nooutput

set title title font ",13" textcolor rgb ink offset 0, 1.2
set label 1 "solid: the step;  dashed: its wait for communication" at graph 0.5, 1 center offset 0, 0.7 \
	textcolor rgb grey font ",10"
set lmargin at screen 0.108
set rmargin at screen 0.975
set tmargin at screen 0.86
set bmargin at screen 0.24
set logscale x 2
set xrange [cap_min / 1.2 : cap_max * 1.2]
set yrange [0 : time_max * 1.08]
set xtics (1)
do for [e = -6:16] { set xtics add (2.0 ** e) }
set format x "%g"
set xlabel "bucket cap (MiB)"
set label 2 "time (ms)" at screen 0.018, graph 0.5 rotate center \
	textcolor rgb ink
set key at screen 0.54, screen 0.055 center center horizontal Left reverse \
	samplen 1.6 width 1 maxrows 2
size(i) = is(i) ? column("bucket-cap-mb") : NaN
plot for [i = 1:num] input using (size(i)):"step_ms" \
	with linespoints pointtype mark(i) pointsize 0.6 linewidth 1.6 \
	linecolor rgb colour(i) title (num > 1 ? curves[i] : ""), \
     for [i = 1:num] input using (size(i)):"exposed_ms" \
	with linespoints pointtype open_mark(i) pointsize 0.6 linewidth 1.2 dashtype 2 \
	linecolor rgb colour(i) notitle
