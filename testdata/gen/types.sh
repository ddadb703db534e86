#!/bin/bash
# types.sh OUTDIR [good | read]
# Makes OUTDIR/types_*.root, types_*.jsonl.gz and manifest.json; "good": the small set of the repository.
# "read" has ROOT read OUTDIR/*.root, written by another program, to NAME.jsonl.gz, and report what it finds in NAME.facts.
# The program is kept in the folder GEN_WORK, if that is set.
# Needs an activated venv with the package root (or a ROOT in the path), g++ and gzip.
set -eu
[ $# -ge 1 ] || { echo "usage: types.sh OUTDIR [good]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
build types
run types "$@"
