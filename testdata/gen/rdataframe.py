#!/usr/bin/env python3
"""rdataframe.py RNT DIR

Writes tables without nulls with the Python package and the program RNT, and prints for each what ROOT's RDataFrame computes of n*2 and of the sums of x.
"""

import sys
from pathlib import Path

import awkward
import numpy as np
import pyarrow
import ROOT

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "src"))

import rntuple

COLUMNS = {"n": [1, 2, 3], "x": [[1.5], [], [2.5, 3.5]]}
TABLES = {
    "numpy": {"n": np.array(COLUMNS["n"]), "x": COLUMNS["x"]},
    "arrow": pyarrow.table(COLUMNS),
    "awkward": awkward.zip(COLUMNS, depth_limit=1),
}
for package in ("pandas", "polars"):  # which this environment may have
    try:
        TABLES[package] = __import__(package).DataFrame(COLUMNS)
    except ImportError:
        pass

for name, table in TABLES.items():
    path = Path(sys.argv[2]) / f"{name}.root"
    rntuple.write(path, table, rnt=sys.argv[1])
    frame = ROOT.RDataFrame("Events", str(path)).Define("twice", "n * 2").Define("total", "Sum(x)")
    print(name, [int(v) for v in frame.Take["long"]("twice")], [float(v) for v in frame.Take["double"]("total")])
