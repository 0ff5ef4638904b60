# predicted_measured.gp - the time of each operation against its size,
# predicted and measured, and below it the ratio of the two.
#
#	gnuplot -e "input='c.tsv'; output='c.svg'; title='...'" \
#		predicted_measured.gp
#
# input: what `lockstep compare --tsv` writes; a header line, then a line for
# each operation, size and number of ranks, columns separated by tabs:
#
#	 1 op                   9 measured_min_ns
#	 2 algorithm           10 measured_p25_ns
#	 3 measured_algorithm  11 measured_p75_ns
#	 4 ranks               12 measured_max_ns
#	 5 bytes               13 ratio (predicted / measured)
#	 6 calls               14 error (ratio - 1)
#	 7 predicted_ns
#	 8 measured_ns (median)
#
# Operations without bytes (barriers), and times of 0, have no place on
# logarithmic axes and are left out.

width = 900
height = 640
load ARG0[1:strlen(ARG0) - strlen("predicted_measured.gp")] . "style.gp"

# On logarithmic axes a point needs a size and times.
drawn(bytes, predicted, low) = bytes > 0 && predicted > 0 && low > 0

# A curve for each op and number of ranks, in order of appearance.
name(op, ranks) = op . ", " . ranks . (ranks eq "1" ? " rank" : " ranks")
names = "|"
note(op, ranks, shown) = (shown && strstrt(names, "|" . name(op, ranks) \
	. "|") == 0 ? names = names . name(op, ranks) . "|" : 0, 0)
set table $nothing
plot input skip 1 using (note(strcol(1), strcol(4), drawn($5, $7, $10))):(0) with table
unset table
num = 0
do for [i = 2:strlen(names)] { if (names[i:i] eq "|") { num = num + 1 } }
array curves[num < 1 ? 1 : num]
rest = names[2:strlen(names)]
do for [i = 1:num] {
	curves[i] = rest[1:strstrt(rest, "|") - 1]
	rest = rest[strstrt(rest, "|") + 1:strlen(rest)]
}
is(i) = name(strcol(1), strcol(4)) eq curves[i] && drawn($5, $7, $10)
size_of(i) = is(i) ? $5 : NaN


# Room at both ends of the sizes; fine marks for a ratio near 1.
stats input skip 1 using (drawn($5, $7, $10) ? $5 : NaN) name "size" nooutput
stats input skip 1 using (drawn($5, $7, $10) ? $13 : NaN) name "ratio" nooutput
# A curve of one point has no line to show the prediction.
few = size_records <= 12
wide = ratio_min < 0.5 || ratio_max > 2

# The times' own range: predicted, and measured with its quartiles.
stats input skip 1 using (drawn($5, $7, $10) ? $7 : NaN) \
	name "predicted" nooutput
stats input skip 1 using (drawn($5, $7, $10) ? $10 : NaN) \
	name "low" nooutput
stats input skip 1 using (drawn($5, $7, $10) ? $11 : NaN) name "high" nooutput
time_min = predicted_min < low_min ? predicted_min : low_min
time_max = predicted_max > high_max ? predicted_max : high_max

set multiplot
set lmargin at screen 0.108
set rmargin at screen 0.975
set logscale x
set xrange [size_min / 1.5 : size_max * 1.5]

if (size_max / size_min < 100) {
	set xtics (1)
	do for [e = 0:12] {
		do for [m in "1 2 5"] { set xtics add (m * 10.0 ** e) }
	}
}

# ---- the times
set tmargin at screen 0.885
set bmargin at screen 0.40
set title title font ",13" textcolor rgb ink offset 0, 0.9
set label 2 (few ? "lines and open marks" : "lines") . ": predicted;  " . \
	(few ? "full marks" : "points") . ": measured, median and quartiles" \
	at graph 0.5, 1 center offset 0, 0.7 textcolor rgb grey font ",10"
set logscale y
set format x ""
set yrange [time_min * 1e-9 / 1.6 : time_max * 1e-9 * 1.6]
set ytics (1)
do for [e = -9:3] {
	do for [m in (time_max / time_min < 100 ? "1 2 5" : "1")] {
		set ytics add (sprintf("%d %s", m * 10 ** ((e + 9) % 3), \
			e < -6 ? "ns" : e < -3 ? "µs" : e < 0 ? "ms" : "s") \
			m * 10.0 ** e)
	}
}
set label 3 "time" at screen 0.018, graph 0.5 rotate center \
	textcolor rgb ink
set key top left Left reverse samplen 2.2 spacing 1.15
plot for [i = 1:num] input skip 1 \
	using (size_of(i)):($7 * 1e-9) \
	with linespoints pointtype (few ? (i % 2 ? 6 : 4) : -1) pointsize 1.5 \
	linewidth 1.2 linecolor rgb colour(i) notitle, \
     for [i = 1:num] input skip 1 \
	using (size_of(i)):($8 * 1e-9):($10 * 1e-9):($11 * 1e-9) \
	with yerrorbars pointtype 0 pointsize 0 \
	linewidth 1.2 linecolor rgb colour(i) notitle, \
     for [i = 1:num] input skip 1 using (size_of(i)):($8 * 1e-9) \
	with points pointtype (i % 2 ? 7 : 5) pointsize 0.6 \
	linecolor rgb colour(i) notitle, \
     for [i = 1:num] keyentry with linespoints pointtype (i % 2 ? 7 : 5) \
	pointsize 0.6 linewidth 1.6 linecolor rgb colour(i) title curves[i]

# ---- the ratio
set tmargin at screen 0.365
set bmargin at screen 0.115
unset title
unset label 2
set format x "%.0s %cB"
set xlabel "size"
set label 3 "predicted / measured" at screen 0.018, graph 0.5 rotate center \
	textcolor rgb ink
# Room for the marks at both ends.
room = (ratio_max / ratio_min) ** 0.04 * 1.05
set yrange [(ratio_min < 0.75 ? ratio_min / room : 0.75) : \
	(ratio_max > 1.3 ? ratio_max * room : 1.3)]
if (wide) {
	set ytics (1)
	do for [e = -4:4] {
		do for [m in (ratio_max / ratio_min < 300 ? "1 2 5" : "1")] {
			set ytics add (m * 10.0 ** e)
		}
	}
} else {
	set ytics ("0.5" 0.5, "0.6" 0.6, "0.7" 0.7, "0.8" 0.8, "0.9" 0.9, \
		"1" 1, "1.1" 1.1, "1.2" 1.2, "1.4" 1.4, "1.6" 1.6, "2" 2)
}
unset key
set object 1 rectangle from graph 0, first 0.9 to graph 1, first 1.1 behind \
	fillcolor rgb "#F0F0F0" fillstyle solid noborder
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead back \
	linecolor rgb grey linewidth 1
set label 1 "±10 %" at graph 0.992, first 1.1 right offset 0, 0.5 \
	textcolor rgb grey font ",9"
plot for [i = 1:num] input skip 1 using (size_of(i)):13 \
	with linespoints pointtype (i % 2 ? 7 : 5) pointsize 0.55 \
	linewidth 1.2 linecolor rgb colour(i) notitle
unset multiplot
