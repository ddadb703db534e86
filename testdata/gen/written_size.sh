#!/bin/bash
# written_size.sh OUT.root COMPRESSION ENTRIES [CLUSTERBYTES]
# Has ROOT write made-up events to OUT.root, with default options but for the compression and the cluster size.
# The program is kept in the folder GEN_WORK, if that is set. Needs what types.sh needs.
set -eu
[ $# -ge 3 ] || { echo "usage: written_size.sh OUT.root COMPRESSION ENTRIES [CLUSTERBYTES]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
compiled written_size -O2
"$work/written_size" "$@"
