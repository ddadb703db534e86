#!/bin/bash
# test.sh DIR [PYTEST-ARGUMENTS...]
# Builds the wheel for this machine, installs it in the Python environment DIR, see environment.sh, checks the types, and runs
# the tests.
set -eu
[ $# -ge 1 ] || { echo "usage: test.sh DIR [PYTEST-ARGUMENTS...]" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/environment.sh" "$1"
env=$(cd "$1" && pwd)
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$env/bin/python" "$here/build.py" --native --out "$scratch"
"$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$scratch"/rntuple-*.whl
cd "$here"
"$env/bin/mypy" --cache-dir "$scratch/mypy"
unset RNTUPLE_RNT RNTUPLE_LIBRARY RNTUPLE_BACKEND
"$env/bin/python" -m pytest -q -p no:cacheprovider "$@"
