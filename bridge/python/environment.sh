#!/bin/bash
# environment.sh DIR
# Makes DIR a Python environment with what the tests and the wheels need, if it is not one already.
set -eu
[ $# -eq 1 ] || { echo "usage: environment.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! cmp -s "$here/requirements-test.txt" "$1/requirements-test.txt"; then
   python3 -m venv --clear "$1"
   "$1/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements-test.txt"
   cp "$here/requirements-test.txt" "$1/requirements-test.txt"
fi
