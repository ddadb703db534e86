#!/bin/bash
# objects.sh OUTDIR
# Makes OUTDIR/objects.root, objects.jsonl.gz and, of the streamed fields of OUTDIR/special_streamer.root,
# objects_special.jsonl.gz. Needs the same as types.sh.
set -eu
[ $# -ge 1 ] || { echo "usage: objects.sh OUTDIR" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
build objects -lPhysics
run objects "$@"
