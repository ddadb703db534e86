#!/bin/bash
# tree.sh OUTDIR
# Makes trees of every type of branch, and RNTuples of them with ROOT's importer. Needs the same as types.sh.
#
# tree.sh OUTDIR show NTUPLE.root ...
# Then prints what ROOT reads from RNTuples.
set -eu
[ $# -ge 1 ] || { echo "usage: tree.sh OUTDIR [show NTUPLE.root ...]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- "$out"
workplace
build tree -lTree -lPhysics >&2
cd "$work" && ./tree "$@"
