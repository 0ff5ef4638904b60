# style.gp - what all plots share; loaded by each script.
#
# Takes output, the file to write, and format, "svg" or "png" (without: as the
# suffix of output says), and from the script the picture's width and height
# in pixels. Colours: the eight of Okabe and Ito (2008), Color Universal
# Design, which people of any colour vision can tell apart.

if (!exists("format")) format = output[strlen(output) - 2:strlen(output)]

set encoding utf8
if (format eq "svg") {
	set terminal svg size width, height font "DejaVu Sans,11" \
		background "white" dynamic
} else {
	# Twice the pixels, for screens that have them.
	set terminal pngcairo size 2 * width, 2 * height \
		font "DejaVu Sans,11" fontscale 2 linewidth 2 pointscale 2 \
		background "white"
}
# Names are no markup: "all_reduce" is not "all" with an index.
set termoption noenhanced
set output output

blue = "#0072B2"; vermilion = "#D55E00"; green = "#009E73"
orange = "#E69F00"; sky = "#56B4E9"; purple = "#CC79A7"
ink = "#333333"; grey = "#8C8C8C"; faint = "#E3E3E3"
array colours[6] = [blue, vermilion, green, purple, orange, sky]
colour(i) = int(rgb_of(colours[(int(i) - 1) % 6 + 1]))
rgb_of(text) = int("0x" . text[2:7])

set datafile separator tab
set border 3 linecolor rgb ink linewidth 0.8
set tics nomirror out scale 0.6, 0.3 textcolor rgb ink
set grid xtics ytics linecolor rgb faint linetype 1 linewidth 0.7
set xlabel textcolor rgb ink
set ylabel textcolor rgb ink
set errorbars 0.5
set pointintervalbox 0
set key textcolor rgb ink
if (!exists("title")) title = ""
