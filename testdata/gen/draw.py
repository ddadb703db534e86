#!/usr/bin/env python3
"""draw.py PLAN.json

Has ROOT's RDataFrame fill histograms, and prints each as a line of JSON. The plan is {"file": path, "name": RNTuple,
"jobs": [{"x": ..., "y": ..., "weight": ..., "where": ..., "kind": "Histo1D", "Histo2D" or "Profile1D", "bins": [number,
...], "range": [[low, high], ...], "edges": [edge, ...]}, ...]}, with C++ expressions, of which only x must be there; edges
take the place of bins and ranges of one axis. A line has the sums of weights and of their squares in all bins, with those
beyond the ends, in ROOT's order; of a profile, contents, errors and sums of weights. All is read in one loop over the
entries.
"""
import array
import json
import sys

import ROOT


def book(df, job):
    if job.get("where"):
        df = df.Filter(job["where"])
    columns = []
    for name in ("x", "y", "weight"):
        if job.get(name):
            df = df.Define("the_" + name, job[name])
            columns.append("the_" + name)
    limits = []
    if job.get("edges"):
        limits = [len(job["edges"]) - 1, array.array("d", job["edges"])]
    for n, (low, high) in zip(job.get("bins") or [], job.get("range") or []):
        limits += [n, low, high]
    model = {"Histo1D": ROOT.RDF.TH1DModel, "Histo2D": ROOT.RDF.TH2DModel, "Profile1D": ROOT.RDF.TProfile1DModel}[job["kind"]]
    return getattr(df, job["kind"])(model("h", "", *limits), *columns)


def result(h, job):
    cells = range(h.GetNcells())
    squares = h.GetSumw2()
    out = {
        "entries": h.GetEntries(),
        "mean": [h.GetMean(axis) for axis in (1, 2)],
        "std_dev": [h.GetStdDev(axis) for axis in (1, 2)],
        "contents": [h.GetBinContent(i) for i in cells],
    }
    if job["kind"] == "Profile1D":
        out["errors"] = [h.GetBinError(i) for i in cells]
        out["weights"] = [h.GetBinEntries(i) for i in cells]
    else:
        out["squares"] = [squares.At(i) if squares.GetSize() else h.GetBinContent(i) for i in cells]
    return out


def main():
    with open(sys.argv[1]) as f:
        plan = json.load(f)
    df = ROOT.RDataFrame(plan["name"], plan["file"])
    booked = [(book(df, job), job) for job in plan["jobs"]]
    for h, job in booked:
        print(json.dumps(result(h.GetValue(), job)))


main()
