#!/bin/bash
# tree.sh OUTDIR
# Makes trees of every type of branch, and RNTuples of them with ROOT's importer. Needs the same as types.sh.
set -eu
[ $# -ge 1 ] || { echo "usage: tree.sh OUTDIR" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
findROOT
build tree -lTree -lPhysics
mkdir -p "$1"
out=$(cd "$1" && pwd)
(cd "$work" && ./tree "$out")
