#!/bin/sh
# install-deps.sh [list] build|test|check|peers|deb ... - install the Debian
# packages that are missing for what is named, showing the command before it
# runs; with list, only name those for one.
set -eu

packages_for() {
	case $1 in
	build)
		echo gcc g++ make pkg-config libc6-dev libsimgrid-dev \
			libjansson-dev libyaml-dev zlib1g-dev nettle-dev \
			libdw-dev libexpat1-dev \
			gnuplot-nox fonts-dejavu-core
		;;
	test)
		echo libcriterion-dev jq libxml2-utils iproute2 locales procps \
			openmpi-bin mpich
		;;
	peers)
		echo libgloo-dev libopenmpi-dev openmpi-bin libmpich-dev mpich
		# Not every release has it.
		! apt-cache show libucc-dev >/dev/null 2>&1 || echo libucc-dev
		;;
	deb) echo build-essential debhelper ;;
	check)
		echo libcriterion-dev jq clang-format clang-tidy shellcheck \
			pyflakes3 openmpi-bin mpich
		;;
	*)
		echo "install-deps.sh: build, test, check, peers or deb, not \"$1\"" >&2
		exit 2
		;;
	esac
}

is_installed() {
	case $(dpkg-query -W -f '${Status} ' "$1" 2>/dev/null) in
	*"ok installed"*) return 0 ;;
	esac
	# A package may be there by way of another that provides its name.
	dpkg-query -W -f '${Status}: ${Provides},\n' 2>/dev/null |
		grep -Eq "ok installed:.*[ ,]$1[ ,(]"
}

if [ "${1-}" = list ]; then
	packages_for "$2"
	exit
fi

wanted=
for purpose; do
	wanted="$wanted $(packages_for "$purpose")"
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	missing=
	for tool in gcc g++ pkg-config; do
		command -v $tool >/dev/null || missing="$missing $tool"
	done
	if [ -z "$missing" ] && pkg-config --exists simgrid jansson yaml-0.1 \
		zlib nettle libdw expat; then
		exit 0
	fi
	echo "install-deps.sh: no apt-get here; please install what these" \
		"Debian packages hold:$wanted" >&2
	exit 1
fi

missing=
for package in $wanted; do
	case " $missing " in *" $package "*) continue ;; esac
	is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "install-deps.sh: neither root nor sudo; please run as" \
			"root: apt-get install$missing" >&2
		exit 1
	fi
	sudo=sudo
fi

run() {
	echo "+ $*"
	"$@" </dev/null
}

# shellcheck disable=SC2086 # the words are meant to be split
{
	run $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q
	run $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
		--no-install-recommends $missing
}
