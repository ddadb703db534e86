#!/bin/bash
# written_budget.sh write OUT.root KIND COMPRESSION CLUSTER UNZIPPED BUDGET PAGE ENTRIES
# written_budget.sh pages FILE...
# Has ROOT write made-up entries with little memory for the pages that are being filled; 0 is the default of a setting.
# KIND is wide, 1000 fields of numbers, or jagged, fields that grow at different rates. The second form prints the numbers
# of elements of the pages that ROOT finds: a line of JSON for each file, a list by cluster of lists by column.
# The program is kept in the folder GEN_WORK, if that is set. Needs what types.sh needs.
set -eu
[ $# -ge 2 ] || { echo "usage: written_budget.sh write|pages ..." >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/types_build.sh"
findROOT
workplace
compiled written_budget -O2
"$work/written_budget" "$@"
