#!/usr/bin/env python3
"""written_uproot.py ROOTS OURS NTUPLE FILE...

Has uproot read every field of the RNTuple in ROOT files of the same names in two folders, and prints as JSON for each
file which fields it cannot read, or reads differently in the second folder, otherwise "":
{"uproot": version, "files": [{field: what}, ...]}. The field "*" is the RNTuple as a whole.
"""
import json
import sys
import warnings

import awkward as ak
import uproot

warnings.simplefilter("ignore")


def read(ntuple, field):
    """The values of a field, or why there are none."""
    try:
        return ntuple.arrays([field], ak_add_doc=False)[field], None
    except Exception as e:  # whatever uproot raises
        return None, f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:200]


def compare(root, ours, field):
    (want, why), (got, why_not) = read(root, field), read(ours, field)
    if why is not None:
        return "unreadable: " + why if why_not is not None else "unreadable in ROOT's file only: " + why
    if why_not is not None:
        return "unreadable in our file only: " + why_not
    if not ak.array_equal(want, got, equal_nan=True, check_parameters=False):
        bad = next((i for i in range(min(len(want), len(got))) if not ak.array_equal(want[i:i + 1], got[i:i + 1], equal_nan=True)), -1)
        return f"differs: {len(got)} entries, {len(want)} in ROOT's; first at {bad}: {got[bad]}, ROOT's {want[bad]}"[:300]
    return None


def opened(path, name):
    """The RNTuple, or why there is none."""
    try:
        return uproot.open(path, handler=uproot.MemmapSource)[name], None
    except Exception as e:
        return None, f"{type(e).__name__}: {str(e).splitlines()[0]}"[:200]


def compare_files(root, ours, name):
    (a, why), (b, why_not) = opened(root, name), opened(ours, name)
    if why or why_not:
        return {"*": f"unreadable: {why}" if why and why_not else f"ROOT's file: {why}, ours: {why_not}"}
    names = a.keys(recursive=False)
    if sorted(names) != sorted(b.keys(recursive=False)) or a.num_entries != b.num_entries:
        return {"*": "other fields or entries"}
    return {field: compare(a, b, field) or "" for field in names}


def main(roots, ours, name, *files):
    report = [compare_files(f"{roots}/{file}", f"{ours}/{file}", name) for file in files]
    json.dump({"uproot": uproot.__version__, "files": report}, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
