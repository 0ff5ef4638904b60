# validation_errors.gp - predicted over measured time against the size, a panel
# a table.
#
#	gnuplot -e "input='v.tsv'; output='v.svg'; title='...'" \
#		validation_errors.gp
#
# input: as for validation.gp. Steps, which have no size, are left out.

names = "|"
note(name, bytes) = (bytes > 0 && strstrt(names, "|" . name . "|") == 0 \
	? names = names . name . "|" : 0, 0)
set datafile separator tab
set table $nothing
plot input skip 1 using (note(strcol(1), $5)):(0) with table
unset table
num = 0
do for [i = 2:strlen(names)] { if (names[i:i] eq "|") { num = num + 1 } }
array panels[num < 1 ? 1 : num]
rest = names[2:strlen(names)]
do for [i = 1:num] {
	panels[i] = rest[1:strstrt(rest, "|") - 1]
	rest = rest[strstrt(rest, "|") + 1:strlen(rest)]
}
is(i) = strcol(1) eq panels[i] && $5 > 0

across = num < 6 ? num : 6
down = (num + across - 1) / across
left = 62.0
wide = 208.0
high = 118.0
gap_x = 14.0
gap_y = 30.0
width = left + across * (wide + gap_x) + 8
height = 84 + down * (high + gap_y) + 34
load ARG0[1:strlen(ARG0) - strlen("validation_errors.gp")] . "style.gp"

set multiplot
set label 1 title at screen 0.5, screen 1 - 22.0 / height center \
	font ",13" textcolor rgb ink
set label 2 "predicted over measured time against the size; shaded: 10 % and 30 % off; grey: the fit that has seen the rows" \
	at screen 0.5, screen 1 - 42.0 / height center font ",10" \
	textcolor rgb grey
unset key
set logscale xy
set xrange [4 : 3e10]
set yrange [0.25 : 4]
set xtics ("1 KiB" 2 ** 10, "1 MiB" 2 ** 20, "1 GiB" 2 ** 30) font ",9"
set ytics ("0.3" 0.3, "0.5" 0.5, "1" 1, "2" 2, "4" 4) font ",9"
clip(ratio) = ratio < 0.26 ? 0.26 : ratio > 3.85 ? 3.85 : ratio
do for [i = 1:num] {
	column = (i - 1) % across
	row = (i - 1) / across
	at_x = left + column * (wide + gap_x)
	at_y = 78 + row * (high + gap_y)
	set lmargin at screen at_x / width
	set rmargin at screen (at_x + wide) / width
	set tmargin at screen 1 - at_y / height
	set bmargin at screen 1 - (at_y + high) / height
	set format x (i + across > num ? "%g" : "")
	set format y (column == 0 ? "%g" : "")
	if (i + across > num) {
		set xtics ("1 KiB" 2 ** 10, "1 MiB" 2 ** 20, "1 GiB" 2 ** 30)
	} else {
		set xtics ("" 2 ** 10, "" 2 ** 20, "" 2 ** 30)
	}
	if (column == 0) {
		set ytics ("0.3" 0.3, "0.5" 0.5, "1" 1, "2" 2, "4" 4)
	} else {
		set ytics ("" 0.3, "" 0.5, "" 1, "" 2, "" 4)
	}
	set label 3 panels[i] at graph 0, 1 left offset 0, 0.5 \
		font ",9" textcolor rgb ink
	set object 1 rectangle from graph 0, first 1 / 1.3 to \
		graph 1, first 1.3 behind fillcolor rgb "#F0F0F0" \
		fillstyle solid noborder
	set object 2 rectangle from graph 0, first 1 / 1.1 to \
		graph 1, first 1.1 behind fillcolor rgb "#DADADA" \
		fillstyle solid noborder
	plot input skip 1 using (is(i) && $11 > 0 ? $5 : NaN):(clip($11 / $9)) \
		with points pointtype 7 pointsize 0.2 linecolor rgb grey, \
	     input skip 1 using (is(i) ? $5 : NaN):(clip($10)) with points \
		pointtype 7 pointsize 0.34 linecolor rgb blue
	unset label 1
	unset label 2
}
unset multiplot
