#!/bin/bash
# build.sh OUTDIR
# Compiles the ROOT side of the benchmarks; OUTDIR/rootbench runs it.
# Needs an activated venv with the package root (or a ROOT in the path) and g++.
set -eu
[ $# -eq 1 ] || { echo "usage: build.sh OUTDIR" >&2; exit 2; }
cpp=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$cpp/../../../testdata/gen/types_build.sh"
findROOT
mkdir -p "$1"
cd "$1"
rootcling -f bench_dict.cxx map string "$cpp/linkdef.h"
g++ -std=c++17 -O2 -pthread -I"$incdir" -I"$cpp" -o bench "$cpp/bench.cpp" bench_dict.cxx \
   -L"$libdir" -Wl,-rpath,"$libdir" -Wl,--allow-shlib-undefined -lROOTDataFrame -lROOTNTupleUtil -lROOTNTuple -lROOTVecOps -lTreePlayer -lTree -lHist -lImt -lRIO -lCore
cat >rootbench <<END
#!/bin/sh
export ROOTSYS='$ROOTSYS' LD_LIBRARY_PATH='$LD_LIBRARY_PATH'
exec '$PWD/bench' "\$@"
END
chmod +x rootbench
