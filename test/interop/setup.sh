#!/bin/bash
# setup.sh DIR
# Makes DIR a Python environment with ROOT, uproot and awkward, if it is not one already.
set -eu
[ $# -eq 1 ] || { echo "usage: setup.sh DIR" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! cmp -s "$here/requirements.txt" "$1/requirements.txt"; then
   python3 -m venv --clear "$1"
   "$1/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
   cp "$here/requirements.txt" "$1/requirements.txt"
fi
