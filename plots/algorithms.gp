# algorithms.gp - which algorithm belongs to which size and number of ranks.
#
#	gnuplot -e "input='a.tsv'; output='a.svg'; title='...'" algorithms.gp
#
# input: what `lockstep sweep` writes for it; a header line, then a line for
# each size and number of ranks, columns separated by tabs:
#
#	bytes       of a bucket
#	world_size
#	algorithm

width = 900
height = 480
load ARG0[1:strlen(ARG0) - strlen("algorithms.gp")] . "style.gp"
set datafile columnheaders

# The algorithms, in order of appearance.
names = " "
note(name) = (strstrt(names, " " . name . " ") == 0 ? \
	names = names . name . " " : 0, 0)
set table $nothing
plot input using (note(strcol("algorithm"))):(0) with table
unset table

stats input using "bytes" name "size" nooutput
stats input using "world_size" name "ranks" nooutput

set title title font ",13" textcolor rgb ink offset 0, 0.4
set lmargin at screen 0.108
set rmargin at screen 0.96
set tmargin at screen 0.88
set bmargin at screen 0.26
set logscale x 2
set logscale y 2
set xrange [size_min / 1.5 : size_max * 1.5]
set yrange [ranks_min / 1.5 : ranks_max * 1.5]
# Powers of two, every other one where there are many.
every = size_max / size_min > 2048 ? 2 : 1
set xtics (1)
do for [e = 0:40:every] { set xtics add (e < 10 ? \
	sprintf("%d B", 2 ** e) : e < 20 ? \
	sprintf("%d KiB", 2 ** (e - 10)) : e < 30 ? \
	sprintf("%d MiB", 2 ** (e - 20)) : \
	sprintf("%d GiB", 2 ** (e - 30)) 2.0 ** e) }
set ytics (1)
do for [e = 1:24] { set ytics add (2 ** e) }
set format y "%g"
set xlabel "size of a bucket"
set label 2 "ranks" at screen 0.018, graph 0.5 rotate center textcolor rgb ink
set key at screen 0.54, screen 0.055 center center horizontal Left reverse \
	samplen 1 width 1 maxrows 2
plot for [i = 1:words(names)] input \
	using (strcol("algorithm") eq word(names, i) ? column("bytes") : NaN):\
	"world_size" with points pointtype 5 pointsize 1.6 \
	linecolor rgb colour(i) title word(names, i)
