#!/bin/sh
# deps-torch.sh FOLDER - make a virtual environment with torch in FOLDER, for the
# tests that need it. Nothing else of Lockstep does. Does nothing where one is
# whole; one line and exit status 1 where none can be made. PYTHON names another
# interpreter than python3.
set -eu

folder=$1
torch=2.13.0
python=${PYTHON:-python3}

refuse() {
	echo "deps-torch: $1; the tests that need torch are skipped without" >&2
	exit 1
}

[ "$(cat "$folder/version" 2>/dev/null)" != $torch ] || exit 0
command -v "$python" >/dev/null || refuse "no $python here"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
	refuse "torch $torch needs Python 3.10 or later, $("$python" --version) is here"

mkdir -p "$folder"
log=$folder/log
exec 9>"$folder/lock"
flock 9
[ "$(cat "$folder/version" 2>/dev/null)" != $torch ] || exit 0
"$python" -m venv "$folder" >"$log" 2>&1 ||
	refuse "$python -m venv fails (Debian: apt-get install python3-venv)"
# The build without CUDA where it is offered: a tenth of the other's size.
packages="numpy expecttest setuptools"
for build in $torch+cpu $torch; do
	echo "+ pip install torch==$build $packages"
	# shellcheck disable=SC2086 # words
	if "$folder/bin/pip" install -q --only-binary torch "torch==$build" \
		$packages >"$log" 2>&1; then
		echo $torch >"$folder/version"
		echo "deps-torch: torch $build in $folder"
		exit 0
	fi
done
refuse "pip cannot install torch $torch ($(sed -n 's/^ERROR: //p' "$log" | tail -n 1))"
