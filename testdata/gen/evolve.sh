#!/bin/bash
# evolve.sh OUT.root
# Has ROOT write OUT.root and read its fields as many other types; evolve.C says what is printed. Needs what types.sh needs.
set -eu
[ $# -eq 1 ] || { echo "usage: evolve.sh OUT.root" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
build evolve >&2
"$work/evolve" "$1"
