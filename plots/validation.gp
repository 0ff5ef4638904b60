# validation.gp - predicted against measured times, a panel a library, with the
# bands that are 10 % and 30 % off.
#
#	gnuplot -e "input='v.tsv'; output='v.svg'; title='...'" validation.gp
#
# input: what `lockstep validate --tsv` writes; a header line, then a line for
# each row that was predicted, columns separated by tabs:
#
#	 1 table              7 protocol
#	 2 library            8 predicted_us
#	 3 what               9 measured_us
#	 4 ranks             10 ratio (predicted / measured)
#	 5 bytes             11 fit_us
#	 6 algorithm

# A panel for each library, in order of appearance.
names = "|"
note(name) = (strstrt(names, "|" . name . "|") == 0 \
	? names = names . name . "|" : 0, 0)
set datafile separator tab
set table $nothing
plot input skip 1 using (note(strcol(2))):(0) with table
unset table
num = 0
do for [i = 2:strlen(names)] { if (names[i:i] eq "|") { num = num + 1 } }
array panels[num < 1 ? 1 : num]
rest = names[2:strlen(names)]
do for [i = 1:num] {
	panels[i] = rest[1:strstrt(rest, "|") - 1]
	rest = rest[strstrt(rest, "|") + 1:strlen(rest)]
}
is(i) = strcol(2) eq panels[i]
within(y) = y < least ? least : y > most ? most : y

across = num < 3 ? num : 3
down = (num + across - 1) / across
left = 84.0
right = 20.0
panel = 300.0
gap = 74.0
width = left + across * panel + (across - 1) * gap + right
height = 70 + down * (panel + gap)
load ARG0[1:strlen(ARG0) - strlen("validation.gp")] . "style.gp"

# Times as people read them: each power of ten; 2 and 5 times it, too, where a
# panel has less than two decades; and more of them below one.
set logscale xy
set macros
tick(m, e) = sprintf(", \"%g %s\" %g)", \
	m * (e < 0 ? 10 ** ((e + 9) % 3) : 10 ** e), e < -6 ? "ns" : \
	e < -3 ? "µs" : e < 0 ? "ms" : "s", m * 10.0 ** (e + 6))
more(ticks, m, e) = ticks[1:strlen(ticks) - 1] . tick(m, e)
powers = '(1)'
fives = '(1)'
fine = '(1)'
do for [e = -6:4] {
	powers = more(powers, 1, e)
	do for [m in "1 2 5"] { fives = more(fives, real(m), e) }
	do for [m in "1 1.5 2 3 4 5 7"] { fine = more(fine, real(m), e) }
}

set multiplot
set label 1 title at screen 0.5, screen 1 - 22.0 / height center \
	font ",13" textcolor rgb ink
set label 2 "shaded: 10 % and 30 % off; a point a measurement" \
	at screen 0.5, screen 1 - 42.0 / height center font ",10" \
	textcolor rgb grey
unset key
do for [i = 1:num] {
	column = (i - 1) % across
	row = (i - 1) / across
	at_x = left + column * (panel + gap)
	at_y = 66 + row * (panel + gap)
	set lmargin at screen at_x / width
	set rmargin at screen (at_x + panel) / width
	set tmargin at screen 1 - at_y / height
	set bmargin at screen 1 - (at_y + panel) / height
	# What stats counts lies within the ranges that are set.
	set xrange [*:*]
	set yrange [*:*]
	stats input skip 1 using (is(i) ? ($8 < $9 ? $8 : $9) : NaN) \
		name "low" nooutput
	stats input skip 1 using (is(i) ? ($8 > $9 ? $8 : $9) : NaN) \
		name "high" nooutput
	least = low_min / 1.6
	most = high_max * 1.6
	set xrange [least : most]
	set yrange [least : most]
	if (most > 100 * least) {
		set xtics @powers font ",9"
		set ytics @powers font ",9"
	} else { if (most > 10 * least) {
		set xtics @fives font ",9"
		set ytics @fives font ",9"
	} else {
		set xtics @fine font ",9"
		set ytics @fine font ",9"
	} }
	set xlabel "measured" offset 0, 0.4
	set ylabel (column == 0 ? "predicted" : "") offset 1, 0
	set label 3 sprintf("%s, %d rows", panels[i], low_records) \
		at graph 0.04, 0.94 left front textcolor rgb ink
	set samples 60
	plot [t = least : most] \
		'+' using 1:(within($1 / 1.3)):(within($1 * 1.3)) \
		with filledcurves fillcolor rgb "#F0F0F0" fillstyle solid noborder, \
	     '+' using 1:(within($1 / 1.1)):(within($1 * 1.1)) \
		with filledcurves fillcolor rgb "#DADADA" fillstyle solid noborder, \
	     '+' using 1:1 with lines linecolor rgb grey linewidth 0.8, \
	     input skip 1 using (is(i) ? $9 : NaN):8 with points \
		pointtype 7 pointsize 0.28 linecolor rgb colour(i)
	unset label 1
	unset label 2
}
unset multiplot
