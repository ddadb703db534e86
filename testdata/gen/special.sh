#!/bin/bash
# special.sh OUTDIR
# Makes OUTDIR/special_*.root, special_*.jsonl.gz and special_manifest.json. With "good" it leaves out special_wide.root
# (10000 columns, no expected values).
# Needs the same as types.sh.
set -eu
[ $# -ge 1 ] || { echo "usage: special.sh OUTDIR [good]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
build special
run special "$@"
