# gantt.gp - the timeline of a step: what each rank computes, and what its
# communication does meanwhile.
#
#	gnuplot -e "input='t.tsv'; output='t.svg'; title='...'" gantt.gp
#
# input: what `lockstep trace gantt --tsv` writes; a header line, then a line
# for each bar, columns separated by tabs:
#
#	 1 rank
#	 2 track     compute, collective or message
#	 3 start_ms
#	 4 end_ms
#	 5 label     what is computed, or the operation and its size

stats input skip 1 using 1 name "rank" nooutput
ranks = rank_max - rank_min + 1
each = ranks <= 2 ? 76 : ranks <= 8 ? 52 : ranks <= 16 ? 34 : 26
width = 1100
height = 150 + each * ranks
load ARG0[1:strlen(ARG0) - strlen("gantt.gp")] . "style.gp"

stats input skip 1 using 3 name "start" nooutput
stats input skip 1 using 4 name "end" nooutput

set title title font ",13" textcolor rgb ink offset 0, 1.8
set lmargin at screen 82.0 / width
set rmargin at screen 1 - 24.0 / width
set tmargin at screen 1 - 84.0 / height
set bmargin at screen 60.0 / height
set xrange [start_min : end_max]
set yrange [rank_max + 0.5 : rank_min - 0.5]
set xlabel "time (ms)"
set ytics rank_min, ranks > 32 ? 8 : 1, rank_max
set format y "rank %.0f"
set tics scale 0.6, 0
unset grid
set grid xtics linecolor rgb faint linetype 1 linewidth 0.7
set key at graph 1, 1 right bottom horizontal Left reverse samplen 1.2 \
	width 2
set style fill solid 1 noborder

# The upper half of a rank's row is its compute track, the lower half its
# communication.
top(track) = track eq "compute" ? -0.40 : 0.03
bottom(track) = track eq "compute" ? -0.03 : 0.40
low(t) = $1 + top(t)
high(t) = $1 + bottom(t)
is(t) = strcol(2) eq t
start(t) = is(t) ? $3 : NaN

# What fits into its bar is written on it: a letter takes 0.8
# pixels a point.
points = ranks <= 16 ? 9 : 7
fits(text) = strlen(text) * 0.8 * points < \
	($4 - $3) / (end_max - start_min) * (width - 106)
# The whole label, else what follows its first word, else nothing.
short(text) = strstrt(text, " ") ? text[strstrt(text, " ") + 1:strlen(text)] \
	: ""
shown(text) = fits(text) ? text : fits(short(text)) ? short(text) : ""

# Only the kinds that are there stand in the key.
messages = 0
set table $nothing
plot input skip 1 using (messages = messages + (strcol(2) eq "message"), 0):(0) \
	with table
unset table

plot input skip 1 using (start("compute")):(low("compute")):3:4:\
	(low("compute")):(high("compute")) with boxxyerror \
	fillcolor rgb sky fillstyle solid 1 border rgb "white" \
	linewidth 0.6 title "computing", \
     input skip 1 using (start("collective")):(low("collective")):3:4:\
	(low("collective")):(high("collective")) with boxxyerror \
	fillcolor rgb orange fillstyle solid 1 border rgb "white" \
	linewidth 0.6 title "collective", \
     input skip 1 using (start("message")):(low("message")):3:4:\
	(low("message")):(high("message")) with boxxyerror \
	fillcolor rgb green fillstyle solid 1 border rgb "white" \
	linewidth 0.6 title (messages ? "message" : ""), \
     input skip 1 using (($3 + $4) / 2):\
	($1 + (top(strcol(2)) + bottom(strcol(2))) / 2):(shown(strcol(5))) \
	with labels center font sprintf(",%d", points) \
	textcolor rgb "black" notitle
