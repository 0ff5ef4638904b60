#!/bin/bash
# One program runs in both worlds, with the same sentences and statuses.
. tests/cli/support.bash

platform=star-8
tcp=(run --backend tcp)

for world in sim tcp; do
	words=(run --backend "$world")
	[ "$world" = tcp ] || words+=(--platform "$platform")
	expect 0 "${words[@]}" --nproc-per-node 3 hello
	expect 0 "${words[@]}" --nproc_per_node=3 --nnodes=1 --standalone hello
	expect 0 "${words[@]}" --world-size 4 --trace "$scratch/$world.json" \
		all_reduce -e 64K
	[ -s "$scratch/$world.json" ] || fail "$world: no trace"
done

expect 0 "${tcp[@]}" --bind-to core --trace "$scratch/bound.json" hello
grep -q '"bind_to":"core"' "$scratch/bound.json" || fail "not bound"
# Of the ranks' own connections, which are all on this machine.
grep -qE '"congestion control":"(cubic|reno)"' "$scratch/tcp.json" ||
	fail "not the connections' own congestion control"

# Options end at the program: what follows is the program's.
expect_refusal 'frobnicate' "${tcp[@]}" hello --frobnicate

# The environment decides as the flags do.
if ! LOCKSTEP_BACKEND=sim LOCKSTEP_PLATFORM=$platform WORLD_SIZE=2 \
	timeout 250 "$LOCKSTEP" run hello >/dev/null 2>"$scratch/err"; then
	fail "run by environment: $(cat "$scratch/err")"
fi

# A prefix before each line of each rank.
expect 0 "${tcp[@]}" --nproc-per-node 2 --prefix-output hello
if [ -s "$scratch/out" ] && grep -qvE '^\[[a-z]*[01]\]:' "$scratch/out"; then
	fail "a line without its rank: $(head -n 3 "$scratch/out")"
fi

# Any executable can be started; it gets torchrun's variables.
cat >"$scratch/program" <<'END'
#!/bin/sh
# Rank 1 fails, and with it the job: only once rank 0 has spoken.
until [ "$RANK" = 0 ] || [ -e "$2" ]; do sleep 0.01; done
echo "$RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE, $1"
: >"$2"
exit "$RANK"
END
chmod +x "$scratch/program"
expect 1 "${tcp[@]}" --nproc-per-node 2 "$scratch/program" --argument \
	"$scratch/spoken"
expect_out '^0 of 2, 0 of 2, --argument$'

# What a rank printed and could not be written fails the job in either world,
# also where the launcher writes it.
for words in '' '--prefix-output' '--tee 1' \
	"--backend sim --platform $platform"; do
	# shellcheck disable=SC2086 # words
	"$LOCKSTEP" run $words --nproc-per-node 1 hello >/dev/full 2>"$scratch/err"
	[ $? -eq 1 ] || fail "run $words to a full device: not status 1"
	expect_err ': No space left on device$'
done

# In a simulation nobody has to be found; the rest of torchrun's words holds.
expect 0 run --backend sim --platform "$platform" --nproc-per-node 1 --role r \
	--rdzv-id 7 --rdzv-backend c10d --rdzv-endpoint node:1 --master-port 2 \
	env
expect_out '^ROLE_NAME=r$'
expect_out '^TORCHELASTIC_RUN_ID=7$'
grep -qx 'lockstep run: --rdzv-backend, --rdzv-endpoint, --master-port: no meaning in a simulation, ignored' \
	"$scratch/err" || fail "words that mean nothing: $(cat "$scratch/err")"

# A program that cannot be run.
: >"$scratch/plain"
expect_refusal 'plain' "${tcp[@]}" --nproc-per-node 2 "$scratch/plain"

finish
