#!/bin/bash
# dataset.sh PRIMARY [AUX [FIELDS]]
# Has ROOT read the RNTuples "set" of the files PRIMARY, separated by commas, as a chain, joined with that of the files AUX
# by the values of FIELDS or, without FIELDS, side by side. Prints a line for each entry: number, id and adc, and of AUX
# weight and list, or "-" without a match.
# The program is kept in the folder GEN_WORK, if that is set. Needs what types.sh needs.
set -eu
[ $# -ge 1 ] || { echo "usage: dataset.sh PRIMARY [AUX [FIELDS]]" >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
compiled dataset -O0
"$work/dataset" "$@"
