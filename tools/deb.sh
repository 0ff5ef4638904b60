#!/bin/bash
# deb.sh VERSION FOLDER - build a Debian package of this tree in FOLDER, for the
# release of Debian or Ubuntu that this is; the tree itself stays as it is.
set -eu
cd "$(dirname "$0")/.."

version=$1
mkdir -p "$2"
folder=$(realpath "$2")
tree=$folder/lockstep-$version

rm -rf "$tree" "$folder"/lockstep*_"$version"*
mkdir "$tree"
tar -c --exclude=./build --exclude=./.git --exclude="${folder/#$PWD/.}" . |
	tar -x -C "$tree"
cp -r tools/deb "$tree/debian"
cp LICENSE "$tree/debian/copyright"
# What is built with is asked for by name there.
sed -i "s/@BUILD@/$(tools/install-deps.sh list build | sed 's/ \(.\)/, \1/g; s/^/, /')/" \
	"$tree/debian/control"
cat >"$tree/debian/changelog" <<END
lockstep ($version) unstable; urgency=low

  * As built from its sources.

 -- The Lockstep authors <lockstep@localhost>  $(date -R -r Makefile)
END
# A make of its own: not the caller's job server, not the caller's flags.
(cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u BUILD \
	DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)" \
	dpkg-buildpackage -us -uc -b)
rm -rf "$tree"
printf 'built %s\n' "$folder"/lockstep_*.deb
