#!/bin/bash
# What `make install` puts down is complete: a program of a user compiles
# against it by pkg-config alone and runs in both worlds.
. tests/cli/support.bash

command -v pkg-config >/dev/null || {
	echo "no pkg-config"
	exit 77
}

prefix=/opt/lockstep
root=$scratch/root
installed=$root$prefix
# A make of its own: not the caller's job server, not the caller's flags. What is
# built stays as it is, for tests beside this one use it.
if ! env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -o all install \
	DESTDIR="$root" PREFIX=$prefix \
	BUILD="$(dirname "$LOCKSTEP" | sed "s|^$PWD/||")" \
	>"$scratch/log" 2>&1; then
	cat "$scratch/log"
	fail "make install"
	finish
fi
for file in bin/lockstep lib/liblockstep.a lib/liblockstep.so \
	lib/liblockstep-sim.so.0 \
	include/lockstep/dist.h lib/pkgconfig/lockstep.pc \
	share/man/man1/lockstep.1 share/lockstep/models/resnet50.csv \
	share/lockstep/machines/dgx-1.yaml \
	share/lockstep/measured/hardware/gpus.tsv \
	share/lockstep/python/lockstep/__init__.py \
	share/lockstep/python/sitecustomize.py \
	share/man/man1/lockstep-predict.1 share/man/man1/lockstep-platform-new.1 \
	share/bash-completion/completions/lockstep \
	share/zsh/site-functions/_lockstep \
	share/fish/vendor_completions.d/lockstep.fish; do
	[ -e "$installed/$file" ] || fail "not installed: $file"
done
if grep -q "$PWD/scenarios" "$installed/bin/lockstep"; then
	fail "the installed command looks into the source tree"
fi

cat >"$scratch/program.c" <<'END'
#include <stdio.h>
#include <lockstep/dist.h>

static int rank_main(void *arg)
{
	struct dist_group *group;
	float x = 1;
	int fine;

	(void)arg;
	if (dist_init_process_group(NULL, &group))
		return 1;
	fine = !dist_all_reduce(group, dist_tensor(&x, 1, DIST_FLOAT32),
				DIST_SUM, NULL) &&
	       x == (float)dist_get_world_size(group);
	if (fine && dist_get_rank(group) == 0)
		printf("sum %g on %s\n", (double)x, dist_get_backend(group));
	return dist_destroy_process_group(group) != DIST_OK || !fine;
}

int main(void)
{
	return dist_launch(NULL, rank_main, NULL);
}
END
# Nothing of others need be installed to compile with it.
export PKG_CONFIG_LIBDIR=$installed/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
# shellcheck disable=SC2046 # the flags are words
gcc -std=c17 -Wall -Wextra -Werror -o "$scratch/program" "$scratch/program.c" \
	$(pkg-config --cflags --libs lockstep) || fail "does not compile"

export LD_LIBRARY_PATH=$installed/lib
LOCKSTEP=$installed/bin/lockstep
if command -v python3 >/dev/null; then
	echo 'import lockstep, os; print(lockstep.__file__, os.environ["LOCKSTEP_LIBRARY"])' \
		>"$scratch/where.py"
	expect 0 run "$scratch/where.py"
	expect_out "^$installed/share/lockstep/python/lockstep/__init__.py $installed/lib/liblockstep.so.0\$"
fi
platform=star-8
expect 0 run --backend sim --platform "$platform" --world-size 3 \
	"$scratch/program"
expect_out '^sum 3 on sim$'
expect 0 run --backend tcp --world-size 3 "$scratch/program"
expect_out '^sum 3 on tcp$'
out=$(WORLD_SIZE=2 LOCKSTEP_BACKEND=tcp timeout 250 "$scratch/program")
[ "$out" = "sum 2 on tcp" ] || fail "started by hand it says: $out"

# Linked statically it simulates, too; without SimGrid what is plain, and for
# real. Neither kind loads SimGrid when it starts.
# shellcheck disable=SC2046 # the flags are words
gcc -std=c17 -o "$scratch/static" "$scratch/program.c" \
	$(pkg-config --cflags --libs --static lockstep |
		sed 's/-llockstep/-l:liblockstep.a/') || fail "is not static"
for linked in program static; do
	ldd "$scratch/$linked" >"$scratch/needs"
	if grep -E 'simgrid|stdc\+\+' "$scratch/needs"; then
		fail "$linked loads the simulation engine as it starts"
	fi
done
! grep -q liblockstep "$scratch/needs" || fail "is linked to a library"
if nm "$scratch/static" | grep -E ' [Tt] (sg|simgrid)_'; then
	fail "a static program has functions under the names of SimGrid's"
fi
export LOCKSTEP_DATA=$installed/share/lockstep
simulate() {
	WORLD_SIZE=3 LOCKSTEP_BACKEND=sim LOCKSTEP_PLATFORM=$platform \
		timeout 250 "$scratch/static" 2>"$scratch/err"
}
out=$(simulate)
[ "$out" = "sum 3 on sim" ] || fail "linked statically it says: $out"
mv "$installed/lib/liblockstep-sim.so.0" "$scratch/away"
out=$(simulate)
[ "$out" = "sum 3 on sim" ] || fail "without SimGrid it says: $out"
platform=fat-tree-64
simulate && fail "simulates without the engine"
grep -q 'no simulation engine: liblockstep-sim.so.0' "$scratch/err" ||
	fail "without the engine: $(cat "$scratch/err")"
out=$(WORLD_SIZE=2 LOCKSTEP_BACKEND=tcp timeout 250 "$scratch/static")
[ "$out" = "sum 2 on tcp" ] || fail "without the engine, over TCP: $out"

finish
