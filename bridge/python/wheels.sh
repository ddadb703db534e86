#!/bin/bash
# wheels.sh DIR OUT
# Builds the wheels of all platforms in OUT, twice, with the Python environment DIR of test.sh, and checks that both times the
# bytes are the same, that each wheel has the program of its platform, and those for manylinux a library that glibc 2.17 can load,
# and that the one for this machine can be installed and has the page, which must have been made by "go generate ./viewer".
set -eu
[ $# -eq 2 ] || { echo "usage: wheels.sh DIR OUT" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/environment.sh" "$1"
mkdir -p "$2"
python=$(cd "$1" && pwd)/bin/python out=$(cd "$2" && pwd)
"$python" -m pip install --quiet --disable-pip-version-check ziglang==0.17.0 # a C compiler for other systems
"$python" "$here/build.py" --out "$out"
"$python" "$here/build.py" --out "$out/again"
for wheel in "$out"/*.whl; do cmp "$wheel" "$out/again/${wheel##*/}"; done

# has PATTERN FILE WHAT: a wheel has a file of which the command file says something.
has() {
   local wheels=("$out"/rntuple-*-py3-none-$1.whl)
   [ ${#wheels[@]} = 1 ] && [ -f "${wheels[0]}" ] || { echo "there is not one wheel $1"; exit 1; }
   [ "$(stat -c %s "${wheels[0]}")" -le 25000000 ] || { echo "the wheel $1 has more than 25 MB"; exit 1; }
   unzip -p "${wheels[0]}" "rntuple/$2" > "$out/file"
   file "$out/file" | grep -E "$3" || { file "$out/file"; exit 1; }
}
# old: the file needs no symbol of a newer glibc than 2.17.
old() {
   local newest
   newest=$(readelf --version-info --wide "$out/file" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -1)
   [ "$(printf '%s\n' "$newest" GLIBC_2.17 | sort -V | tail -1)" = GLIBC_2.17 ] || { echo "the library needs $newest"; exit 1; }
}
for machine in x86_64:x86-64 aarch64:aarch64; do
   for c in manylinux_2_17 musllinux_1_1; do has "${c}_${machine%:*}*" bin/rnt "ELF 64-bit.*${machine#*:}.*statically linked"; done
   has "manylinux_2_17_${machine%:*}*" lib/librntuple.so "ELF 64-bit.*shared object.*${machine#*:}"
   old
done
has macosx_12_0_x86_64 bin/rnt 'Mach-O 64-bit.*x86_64'
has macosx_12_0_arm64 bin/rnt 'Mach-O 64-bit.*arm64'
has win_amd64 bin/rnt.exe 'PE32\+ executable.*x86-64'
[ "$(ls "$out"/*.whl | wc -l)" = 7 ]

"$python" -m venv --clear "$out/fresh"
"$out/fresh/bin/pip" install --quiet --disable-pip-version-check --find-links "$out" rntuple
"$out/fresh/bin/rnt" ls "$here/../../testdata/dimuon.root"
"$out/fresh/bin/rnt" page --force "$here/../../testdata/dimuon.root" -o "$out/page.html"
# The engine is in it: zstd's magic number, in base64.
grep -qF 'id="rnt-wasm">KLUv/' "$out/page.html" || { echo "the page of the wheel's rnt has no engine"; exit 1; }
"$out/fresh/bin/python" -c 'import rntuple, sys; print(rntuple.open(sys.argv[1]).arrow().read_all().num_rows, "entries")' "$here/../../testdata/dimuon.root"
