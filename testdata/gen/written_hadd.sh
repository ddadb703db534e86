#!/bin/bash
# written_hadd.sh OUT.root IN.root...
# Has ROOT's hadd merge files, with the compression of the first one. Needs what types.sh needs, but no compiler.
set -eu
[ $# -ge 2 ] || { echo "usage: written_hadd.sh OUT.root IN.root..." >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
exec hadd -v 1 -ff "$@"
