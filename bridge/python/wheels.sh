#!/bin/bash
# wheels.sh DIR OUT
# Builds the wheels of all platforms in OUT, twice, with the Python environment DIR of test.sh, and checks that both times the
# bytes are the same, that each wheel has the program of its platform, and that the one for this machine can be installed and
# has the page, which must have been made by "go generate ./viewer".
set -eu
[ $# -eq 2 ] || { echo "usage: wheels.sh DIR OUT" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/environment.sh" "$1"
mkdir -p "$2"
python=$(cd "$1" && pwd)/bin/python out=$(cd "$2" && pwd)
"$python" "$here/build.py" --out "$out"
"$python" "$here/build.py" --out "$out/again"
for wheel in "$out"/*.whl; do cmp "$wheel" "$out/again/${wheel##*/}"; done

# program PATTERN FILE WHAT: a wheel has a program of which file says something.
program() {
   local wheels=("$out"/rntuple-*-py3-none-$1.whl)
   [ ${#wheels[@]} = 1 ] && [ -f "${wheels[0]}" ] || { echo "there is not one wheel $1"; exit 1; }
   unzip -p "${wheels[0]}" "rntuple/bin/$2" > "$out/program"
   file "$out/program" | grep -E "$3" || { file "$out/program"; exit 1; }
}
program 'manylinux_2_17_x86_64.*musllinux_1_1_x86_64' rnt 'ELF 64-bit.*x86-64.*statically linked'
program 'manylinux_2_17_aarch64.*musllinux_1_1_aarch64' rnt 'ELF 64-bit.*aarch64.*statically linked'
program macosx_12_0_x86_64 rnt 'Mach-O 64-bit.*x86_64'
program macosx_12_0_arm64 rnt 'Mach-O 64-bit.*arm64'
program win_amd64 rnt.exe 'PE32\+ executable.*x86-64'
[ "$(ls "$out"/*.whl | wc -l)" = 5 ]

"$python" -m venv --clear "$out/fresh"
"$out/fresh/bin/pip" install --quiet --disable-pip-version-check --find-links "$out" rntuple
"$out/fresh/bin/rnt" ls "$here/../../testdata/dimuon.root"
"$out/fresh/bin/rnt" page --force "$here/../../testdata/dimuon.root" -o "$out/page.html"
# The engine is in it: zstd's magic number, in base64.
grep -qF 'id="rnt-wasm">KLUv/' "$out/page.html" || { echo "the page of the wheel's rnt has no engine"; exit 1; }
"$out/fresh/bin/python" -c 'import rntuple, sys; print(rntuple.open(sys.argv[1]).arrow().read_all().num_rows, "entries")' "$here/../../testdata/dimuon.root"
