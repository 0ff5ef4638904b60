#!/bin/bash
# fresh-machine.sh [bookworm|trixie|noble] [TARGET ...] - make a bare Debian 12
# (bookworm, the default), Debian 13 (trixie) or Ubuntu 24.04 (noble) in a
# temporary folder, with nothing in it but make, git and certificates, clone this
# repository into it, and run the make targets there (default: demo test).
#
# Packages come from wherever this machine's own apt takes them, or from
# MIRROR=URL, which Ubuntu needs on Debian and Debian on Ubuntu. Needs root and
# debootstrap; exit status 77 without. ARCH=arm64 makes a system for ARM64, which
# another processor runs where qemu-user-static is installed, slowly.
set -eu
cd "$(dirname "$0")/.."

skip() {
	echo "fresh-machine.sh: $1" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || skip "needs root, to make and enter the new system"
command -v debootstrap >/dev/null || skip "needs debootstrap"
case ${1-} in
bookworm | trixie | noble) suite=$1 && shift ;;
*) suite=bookworm ;;
esac
case $suite in
noble) system=Ubuntu suites=noble components=main,universe ;;
*) system=Debian suites='bookworm|trixie' components=main ;;
esac
[ $# -gt 0 ] || set -- demo test

# The first archive of the system among apt's sources, in either of their
# notations: it has all releases.
# shellcheck disable=SC2016 # apt's variables, not the shell's
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
	2>/dev/null | awk -v of="^($suites)\$" '$2 ~ of { print $1; exit }')}
mirror=${mirror:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* \
	2>/dev/null | sed -nE \
	-e 's/^URIs: *([^ ]+).*/\1/p' \
	-e "s/^deb +(\[[^]]*\] +)?([^ ]+) +($suites) .*/\2/p" |
	head -n 1)}
[ -n "$mirror" ] || skip "apt names no archive of $system: MIRROR=URL"

root=$(mktemp -d "${TMPDIR:-/tmp}/fresh.XXXXXX")
chmod 755 "$root"
clean_up() {
	umount --recursive --lazy "$root" 2>/dev/null || true
	rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

echo "== a bare $system ($suite) in $root"
# An older debootstrap has no script of that name; all releases have one script.
script=/usr/share/debootstrap/scripts/$suite
[ -e "$script" ] || script=${script%/*}/gutsy
debootstrap --arch="${ARCH:-$(dpkg --print-architecture)}" --variant=minbase \
	--components="$components" --include=make,git,ca-certificates \
	"$suite" "$root" "$mirror" "$script"

# A machine's root is a mount point, without which no network namespace is
# entered.
mount --bind "$root" "$root"

# How this machine reaches its archive (proxy, certificates, names) holds in
# there too; which packages are chosen does not.
for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
	if grep -qsiE '(Acquire|Proxy|Verify)' "$file"; then
		cp --parents "$file" "$root"
	fi
done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
if [ -d /usr/local/share/ca-certificates ]; then
	cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
	chroot "$root" update-ca-certificates >/dev/null 2>&1 || true
fi

mount --bind /dev "$root/dev" && mount -t tmpfs shm "$root/dev/shm"
mount --bind /dev/pts "$root/dev/pts" || true
mount -t proc proc "$root/proc"
mount --bind /sys "$root/sys" || true

git clone -q --no-hardlinks . "$root/root/lockstep"
inside() {
	env -i HOME=/root TERM=dumb LANG=C.UTF-8 CI=true \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
		chroot "$root" "$@" </dev/null
}
for target; do
	echo "== make $target"
	inside make -C /root/lockstep "$target"
done
echo "== fine: make $* in a bare $system ($suite)"
