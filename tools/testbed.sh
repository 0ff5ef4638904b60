#!/bin/bash
# testbed.sh VERB [--name NAME] ... - several hosts on one machine: network
# namespaces lockstep-NAME-0, -1, ... behind a switch whose links have a known
# rate and delay (tests/cli/switch.c, in lockstep-NAME-net). Needs root,
# iproute2 and /dev/net/tun; exit 77 without. Host i is 10.77.0.<i + 1>.
#   up [OPTION...]          --hosts N, --bandwidth 200mbit, --delay 1ms,
#                           --slow HOST:FACTOR, --topology star|tree|
#                           oversubscribed[:RATIO] (leaves of 2 hosts), --mtu N
#   exec HOST|all WORD...   runs a command there; {host}, {hosts}, {address} and
#                           {address0} are filled in
#   down                    ends all that runs there, whatever its state
#   run [OPTION...] WORD... up, exec all, down
#   platform [--latency US] [--goodput RATE] [OPTION...]
#                           the platform of these hosts: lockstep platform new
#                           with more OPTIONs
# The kernel's tbf and netem would do as a switch; but not every kernel has
# netem, and tbf passes bursts of 66 kB.
set -eu
export LC_ALL=C.UTF-8
: "${LOCKSTEP:=build/default/lockstep}"
name=testbed hosts=2 bandwidth=1gbit delay=0us topology=star slow=0:1 mtu=9000
latency=0 goodput=

die() { # STATUS WORD...
	echo "testbed: ${*:2}" >&2
	exit "$1"
}

# number TEXT UNIT FACTOR... - TEXT in the unit of factor 1; fails without a unit.
number() {
	local text=$1
	shift
	while [ $# -gt 0 ]; do
		if [[ $text =~ ^([0-9]+\.?[0-9]*)$1$ ]]; then
			awk "BEGIN { printf \"%.17g\", ${BASH_REMATCH[1]} * $2 }"
			return
		fi
		shift 2
	done
	return 1
}

rate() { number "$1" kbit 1e3 mbit 1e6 gbit 1e9; } # bit/s

space() { echo "lockstep-$name-$1"; }

state() { echo "/run/lockstep-testbed.$name"; }

find_bed() {
	# shellcheck source=/dev/null
	[ -e "$(state)" ] && . "$(state)"
}

# What the options say, in numbers.
describe() {
	local ratio=1

	[[ $hosts =~ ^([2-9]|[1-5][0-9]|6[0-4])$ ]] ||
		die 2 "--hosts: expected 2 to 64"
	bits=$(rate "$bandwidth") || die 2 "--bandwidth: expected 1mbit or 1gbit"
	delay_us=$(number "$delay" us 1 ms 1e3 s 1e6) ||
		die 2 "--delay: expected 0us or 1ms"
	if ! [[ $slow =~ ^[0-9]+:[01](\.[0-9]+)?$ ]] || ((${slow%:*} >= hosts)); then
		die 2 "--slow: expected HOST:FACTOR"
	fi
	leaf_hosts=2
	case $topology in
	star) leaf_hosts=0 ;;
	tree) ;;
	oversubscribed) ratio=2 ;;
	oversubscribed:*) ratio=${topology#*:} ;;
	*) die 2 "--topology: expected star, tree or oversubscribed[:RATIO]" ;;
	esac
	((leaf_hosts < hosts)) || die 2 "--topology: expected more than 2 hosts"
	uplink=$(awk "BEGIN { printf \"%.17g\", $bits * 2 / $ratio }")
}

up() {
	local i

	describe
	if [ "$(id -u)" -ne 0 ] || [ ! -e /dev/net/tun ] || ! command -v ip >/dev/null; then
		die 77 "needs root, /dev/net/tun and iproute2"
	fi
	! find_bed || die 2 "\"$name\" is up: testbed.sh down removes it"
	down
	trap down EXIT
	for i in net $(seq 0 $((hosts - 1))); do
		ip netns add "$(space "$i")" || die 77 "needs network namespaces"
	done
	"$(dirname "$LOCKSTEP")/tests/cli/switch" "$name" "$hosts" "$bits" \
		"$delay_us" "${slow%:*}" "${slow#*:}" "$leaf_hosts" "$uplink"
	for ((i = 0; i < hosts; i++)); do
		ip -n "$(space $i)" link set lo up
		ip -n "$(space $i)" addr add "10.77.0.$((i + 1))/24" dev net0
		ip -n "$(space $i)" link set net0 mtu "$mtu" txqueuelen 10000 up
	done
	declare -p hosts bits delay_us slow leaf_hosts uplink mtu | sed 's/^declare --/declare -g/' >"$(state)"
	trap - EXIT
}

down() {
	local at

	for at in "/run/netns/lockstep-$name-"*; do
		[ -e "$at" ] || continue
		# A process may end by itself in between.
		ip netns pids "${at##*/}" | xargs -r kill -9 2>/dev/null || :
		ip netns del "${at##*/}"
	done
	rm -f "$(state)"
}

# on HOST|all WORD... - the first status that is not 0, by host.
on() {
	local first=$1 last=$1 i status=0 pids=() words

	shift
	[ "${1-}" != -- ] || shift
	[ $# -gt 0 ] || die 2 "expected a command to run"
	if [ "$first" = all ]; then
		first=0 last=$((hosts - 1))
	fi
	if ! [[ $first =~ ^[0-9]+$ ]] || ((last >= hosts)); then
		die 2 "expected all or a host from 0 to $((hosts - 1))"
	fi
	for ((i = first; i <= last; i++)); do
		words=("${@//\{host\}/$i}")
		words=("${words[@]//\{hosts\}/$hosts}")
		words=("${words[@]//\{address\}/10.77.0.$((i + 1))}")
		setpriv --pdeathsig TERM ip netns exec "$(space $i)" \
			"${words[@]//\{address0\}/10.77.0.1}" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=$((status ? status : $?))
	done
	return $status
}

# Of the bytes on a wire a full TCP segment carries (mtu - 52) / (mtu + 14): IP
# and TCP headers with timestamps, a frame without preamble and gap.
platform() {
	local words=(--nodes "$hosts" --gpus 1 --queues fifo) share

	share=$(awk -v bits="$bits" -v goodput="${goodput:+$(rate "$goodput")}" -v mtu="$mtu" \
		'BEGIN { printf "%.17g", goodput ? goodput / bits : (mtu - 52) / (mtu + 14) }')
	words+=(--inter "$(awk "BEGIN { printf \"tcp:%.10gMbit/s,lat=%.10gus\", \
		$bits * $share / 1e6, $delay_us + $latency }")")
	[ "${slow#*:}" = 1 ] || words+=(--degrade "node${slow%:*}.nic0:${slow#*:}")
	((leaf_hosts == 0)) || words+=(--topology "leaf-spine:$(((hosts + leaf_hosts - 1) / leaf_hosts))x1,uplink=$(awk \
		"BEGIN { printf \"%.10g\", $uplink * $share / 1e6 }")Mbit/s,hop=1ns")
	exec "$LOCKSTEP" platform new "${words[@]}" "$@"
}

verb=${1:?a verb}
shift
while [[ ${1-} =~ ^--(name|hosts|bandwidth|delay|topology|slow|mtu|latency|goodput)$ ]]; do
	printf -v "${1#--}" %s "${2?a value for $1}"
	shift 2
done
[[ $name =~ ^[a-z0-9]{1,15}$ ]] || die 2 "--name: expected 1 to 15 small letters and digits"
case $verb in
up | down) "$verb" ;;
run)
	[ $# -gt 0 ] || die 2 "expected a command to run"
	up
	trap down EXIT
	trap : INT TERM
	on all "$@"
	;;
exec | platform)
	find_bed || die 2 "there is no test bed \"$name\""
	[ "$verb" = exec ] && verb=on
	"$verb" "$@"
	;;
*) die 2 "expected up, exec, down, run or platform" ;;
esac
