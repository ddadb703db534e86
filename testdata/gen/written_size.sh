#!/bin/bash
# written_size.sh OUT.root COMPRESSION ENTRIES [CLUSTERBYTES]
# Has ROOT write made-up events to OUT.root, with default options but for the compression and the cluster size.
# The program is kept in the folder GEN_WORK, if that is set. Needs what types.sh needs.
set -eu
[ $# -ge 3 ] || { echo "usage: written_size.sh OUT.root COMPRESSION ENTRIES [CLUSTERBYTES]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
if [ -n "${GEN_WORK:-}" ]; then
   work=$GEN_WORK
   mkdir -p "$work"
else
   work=$(mktemp -d)
   trap 'rm -rf "$work"' EXIT
fi
findROOT
[ -x "$work/written_size" ] ||
   g++ -std=c++17 -O2 -pthread -I"$incdir" -x c++ -o "$work/written_size" "$here/written_size.C" \
      -L"$libdir" -Wl,-rpath,"$libdir" -Wl,--allow-shlib-undefined -lROOTNTuple -lRIO -lCore
"$work/written_size" "$@"
