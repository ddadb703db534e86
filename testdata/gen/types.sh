#!/bin/bash
# types.sh OUTDIR [good]
# Makes OUTDIR/types_*.root, types_*.jsonl.gz and manifest.json; "good": the small set of the repository.
# Needs an activated venv with the package root (or a ROOT in the path), g++ and gzip.
set -eu
[ $# -ge 1 ] || { echo "usage: types.sh OUTDIR [good]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
findROOT
build types
run types "$@"
