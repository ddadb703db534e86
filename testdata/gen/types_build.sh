# Sourced by the other scripts: finds ROOT (a Python wheel or an installation), compiles one program with its
# dictionary:  build NAME [-lLIBRARY …]  makes $work/NAME from NAME.C, NAME.hxx and NAME_linkdef.h.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

findROOT() {
   rootdir=
   if command -v python >/dev/null; then
      # the folder of the ROOT package, without importing it
      rootdir=$(python -c 'import importlib.util as u; s = u.find_spec("ROOT"); print(list(s.submodule_search_locations)[0] if s and s.submodule_search_locations else "")' 2>/dev/null || true)
   fi
   if [ -n "$rootdir" ] && [ -x "$rootdir/bin/rootcling" ]; then
      # The wheel's tools and modules name this folder, which the wheel does not make
      if [ ! -e "$rootdir/mock_site_packages/ROOT" ]; then
         mkdir -p "$rootdir/mock_site_packages" && ln -s "$rootdir" "$rootdir/mock_site_packages/ROOT" || true
      fi
      # libraries in the wheel
      for d in "$rootdir"/../root.libs; do
         [ -d "$d" ] && export LD_LIBRARY_PATH="$(cd "$d" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
      done
      export ROOTSYS=$rootdir
      PATH=$rootdir/bin:$PATH
      libdir=$rootdir/lib
      incdir=$rootdir/include
   elif command -v root-config >/dev/null; then
      libdir=$(root-config --libdir)
      incdir=$(root-config --incdir)
   else
      echo "no ROOT found: activate a venv with the package root, or put root-config into the path" >&2
      exit 1
   fi
   export LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# workplace sets $work: to the folder GEN_WORK, which keeps programs, if that is set, else to one that is removed in the end.
workplace() {
   if [ -n "${GEN_WORK:-}" ]; then
      mkdir -p "$GEN_WORK"
      work=$(cd "$GEN_WORK" && pwd)
   else
      work=$(mktemp -d)
      trap 'rm -rf "$work"' EXIT
   fi
}

# compiled NAME FLAG…  makes $work/NAME from NAME.C, which needs no dictionary, unless it is there. Scripts may do so at the
# same time.
compiled() {
   [ -x "$work/$1" ] && return
   g++ -std=c++17 "${@:2}" -pthread -I"$incdir" -x c++ -o "$work/$1.$$" "$here/$1.C" \
      -L"$libdir" -Wl,-rpath,"$libdir" -Wl,--allow-shlib-undefined -lROOTNTuple -lRIO -lCore
   mv "$work/$1.$$" "$work/$1"
}

# build makes a program unless it is there. Scripts may do so at the same time.
build() {
   local name=$1 place dictionary
   if [ -x "$work/$name" ]; then return; fi
   place=$(mktemp -d "$work/$name.XXXXXX")
   (
      cp "$here"/*.hxx "$work" # ROOT reads them again when the program runs
      cd "$place"
      rootcling -f "${name}_dict.cxx" -I"$work" "$name.hxx" "$here/${name}_linkdef.h"
      # -O0: the programs are compiled once and run for seconds
      flags="-std=c++17 -O0 -pthread -I$incdir -I$work"
      g++ $flags -c -o "${name}_dict.o" "${name}_dict.cxx" &
      dictionary=$!
      g++ $flags -x c++ -c -o "$name.o" "$here/$name.C"
      wait $dictionary
      g++ -pthread -o "$name" "$name.o" "${name}_dict.o" -L"$libdir" -Wl,-rpath,"$libdir" -Wl,--allow-shlib-undefined \
         -lROOTNTuple -lROOTNTupleUtil -lROOTVecOps -lHist -lRIO -lCore "${@:2}"
      mv "${name}_dict_rdict.pcm" "$work"
      mv "$name" "$work"
   )
   rm -r "$place"
}

# run NAME OUTDIR [good]: runs the program, then packs the expected values
run() {
   local name=$1
   shift
   mkdir -p "$1"
   local out
   out=$(cd "$1" && pwd)
   shift
   (cd "$work" && "./$name" "$out" "$@")
   find "$out" -name "*.jsonl" -print0 | xargs -0 -r -n 1 -P 2 gzip -n -9 -f
}
