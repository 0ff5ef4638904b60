# breakdown.gp - what the time of each step is spent on, a bar a step.
#
#	gnuplot -e "input='b.tsv'; output='b.svg'; title='...'" breakdown.gp
#
# input: what `lockstep sweep` writes for it; a header line, then a line for
# each step, columns separated by tabs:
#
#	step        what step it is
#	compute_ms  computing
#	exposed_ms  waiting for communication
#	idle_ms     waiting for other ranks

# As many rows as bars, as much room to their left as their names take.
set datafile separator tab
longest = 0
note(name) = (longest = strlen(name) > longest ? strlen(name) : longest, 0)
stats input skip 1 using (note(strcol(1))) name "steps" nooutput
bars = steps_records
width = 900
height = 156 + 20 * bars
left = 36.0 + 7 * longest
load ARG0[1:strlen(ARG0) - strlen("breakdown.gp")] . "style.gp"
set datafile columnheaders

stats input using (column("compute_ms") + column("exposed_ms") + \
	column("idle_ms")) name "time" nooutput
stats input using "idle_ms" name "idle" nooutput

set title title font ",13" textcolor rgb ink offset 0, 1.2
set lmargin at screen left / width
set rmargin at screen 0.955
set tmargin at screen 1 - 88.0 / height
set bmargin at screen 60.0 / height
set xrange [0 : time_max * 1.1]
set yrange [bars - 0.4 : -0.6]
set xlabel "time of a step (ms)"
unset grid
set grid xtics linecolor rgb faint linetype 1 linewidth 0.7
set ytics scale 0 font ",10"
set key at graph 0, 1 left bottom horizontal Left reverse samplen 1.2 width 2
set style fill solid 1 noborder
low(n) = n - 0.36
high(n) = n + 0.36
computing = "compute_ms"
waiting(t) = column(computing) + column("exposed_ms")
whole(t) = waiting(0) + column("idle_ms")
plot input using (0):(low($0)):(0):computing:(low($0)):(high($0)) \
	with boxxyerror fillcolor rgb sky title "computing", \
     input using computing:(low($0)):computing:(waiting(0)):(low($0)):\
	(high($0)) with boxxyerror fillcolor rgb orange \
	title "waiting for communication", \
     input using (waiting(0)):(low($0)):(waiting(0)):(whole(0)):(low($0)):\
	(high($0)) with boxxyerror fillcolor rgb faint \
	title (idle_max > 0 ? "idle" : ""), \
     input using (whole(0)):0:(sprintf("%.4g", whole(0))):ytic(1) \
	with labels left offset 0.6, 0 font ",9" textcolor rgb ink notitle
