# curves.gp - finds the curves of a file: the names in its column "curve", in
# order of appearance. Loaded by scripts whose data has such a column.
#
# Gives num, how many there are, and curves[1] to curves[num]; is(i) is whether
# a row belongs to the i-th, mark(i) its mark: full circles, and squares where
# the colours begin again; open_mark(i) the same, open.

set datafile columnheaders
names = "|"
note(name) = (strstrt(names, "|" . name . "|") == 0 ? \
	names = names . name . "|" : 0, 0)
set table $nothing
plot input using (note(strcol("curve"))):(0) with table
unset table
num = 0
do for [i = 2:strlen(names)] { if (names[i:i] eq "|") { num = num + 1 } }
array curves[num < 1 ? 1 : num]
rest = names[2:strlen(names)]
do for [i = 1:num] {
	curves[i] = rest[1:strstrt(rest, "|") - 1]
	rest = rest[strstrt(rest, "|") + 1:strlen(rest)]
}
is(i) = strcol("curve") eq curves[i]
mark(i) = i <= |colours| ? 7 : 5
open_mark(i) = mark(i) - 1
