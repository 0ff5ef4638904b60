#!/bin/bash
# check-python.sh VERSION - pyflakes has nothing to say of the Python sources,
# whose lines have at most 80 columns; those of python/ import the standard
# library, torch, safetensors where it is, and their own package only; the
# package has VERSION.
set -u
cd "$(dirname "$0")/.." || exit 1
version=$1
bad=0

complain() {
	echo "check-python: $*" >&2
	bad=1
}

command -v pyflakes3 >/dev/null || {
	echo "check-python: no pyflakes3 here (Debian: apt-get install pyflakes3)" >&2
	exit 1
}
mapfile -t files < <(find python/*.py python/lockstep tests -name '*.py' | sort)
pyflakes3 "${files[@]}" >&2 || bad=1
awk '
{ gsub(/\t/, "        ") }
length > 80 { print FILENAME ":" FNR ": longer than 80 columns"; bad = 1 }
END { exit bad }' "${files[@]}" >&2 || bad=1
grep -qxF "version = \"$version\"" python/pyproject.toml ||
	complain "python/pyproject.toml: expected version = \"$version\""

/usr/bin/python3 - python >&2 <<'PROGRAM' || bad=1
import ast, pathlib, sys
bad = False
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        for name in names:
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names | {"torch", "lockstep", "safetensors"}:
                print(f"{path}:{node.lineno}: {name} is neither of the "
                      "standard library nor torch's nor ours")
                bad = True
sys.exit(bad)
PROGRAM
[ $bad -eq 0 ] || exit 1
echo "check-python: ${#files[@]} Python files: pyflakes has nothing to say, they import what they may"
