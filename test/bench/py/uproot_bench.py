"""What uproot does for the benchmarks; see ../cpp/bench.cpp for what each work is.

uproot_bench.py bulk F|J|S FILE, dimuon J FILE, open wide FILE
"""
import json
import sys
import time

import awkward as ak
import numpy as np
import uproot

ITEM = 1 << 32  # what an item of a collection adds to a sum
MASK = (1 << 64) - 1


def bits(array):
    """The sum of the bits of numbers."""
    words = np.ascontiguousarray(array)
    words = words.view(f"u{words.dtype.itemsize}")
    return int(words.sum(dtype=np.uint64))


def sum_of(layout):
    """The sum of all values below a layout of Awkward Array, and of what it counts."""
    if layout.is_option:
        content = layout.project()
        return ITEM * len(content) + sum_of(content)
    if layout.is_indexed:
        return sum_of(layout.project())
    if layout.is_list:
        layout = layout.to_ListOffsetArray64(True)
        count = int(layout.offsets[-1])
        return ITEM * count + sum_of(layout.content[:count])
    if layout.is_record:
        return sum(sum_of(content) for content in layout.contents)
    return bits(layout.data)


def bulk(path):
    with uproot.open(path) as file:
        arrays = file["Events"].arrays()
    return [sum_of(arrays[name].layout) & MASK for name in arrays.fields]


def dimuon(path):
    names = ["Muon_pt", "Muon_eta", "Muon_phi", "Muon_charge"]
    with uproot.open(path) as file:
        arrays = file["Events"].arrays(filter_name=names)
    pairs = arrays[ak.num(arrays["Muon_charge"]) >= 2]
    pairs = pairs[pairs["Muon_charge"][:, 0] != pairs["Muon_charge"][:, 1]]
    pt, eta, phi = (ak.values_astype(pairs[name], np.float64) for name in names[:3])
    angles = np.cosh(eta[:, 0] - eta[:, 1]) - np.cos(phi[:, 0] - phi[:, 1])
    mass = np.asarray(np.sqrt(2 * pt[:, 0] * pt[:, 1] * angles))
    counts = np.bincount(np.minimum(mass / 2, 100).astype(np.int64), minlength=101)
    return counts.tolist()


def open_wide(path):
    with uproot.open(path) as file:
        events = file["Events"]
        n = events.num_entries
        value = events["f0"].array(entry_start=n // 2, entry_stop=n // 2 + 1)
        return [n, sum_of(value.layout)]


def main():
    work = {"bulk": bulk, "dimuon": dimuon, "open": open_wide}[sys.argv[1]]
    for _ in sys.stdin:
        start = time.perf_counter()
        sums = work(sys.argv[3])
        print(json.dumps({"seconds": time.perf_counter() - start, "sums": sums}), flush=True)


main()
