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
mkdir -p "$1/program"
out=$(cd "$1" && pwd)
work=$out/program
shift
if [ $# -eq 0 ]; then
   build tree -lTree -lPhysics
   set -- "$out"
fi
cd "$work" && ./tree "$@"
