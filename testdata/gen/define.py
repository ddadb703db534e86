#!/usr/bin/env python3
"""define.py PLAN.json

Has ROOT's RDataFrame do what "rnt skim --define" does. The plan is {"in": path, "filter": condition, "keep": [fields],
"define": [[name, expression], ...], "out": path, "ours": path}: the fields are defined and the entries filtered that the
RNTuple "Events" in the file "in" has, and what is left is written to "out" as an RNTuple of the same name. Then the file
"ours" is read. It prints {"entries": number, "columns": {name: [values]}} for that, where floats are as float.hex prints
them.
"""
import json
import sys

import ROOT

plan = json.load(open(sys.argv[1]))
ROOT.RDataFrame  # the library is loaded before its options are used
options = ROOT.RDF.RSnapshotOptions()
options.fOutputFormat = ROOT.RDF.ESnapshotOutputFormat.kRNTuple
frame = ROOT.RDataFrame("Events", plan["in"])
for name, expression in plan["define"]:
    frame = frame.Define(name, expression)
names = plan["keep"] + [name for name, _ in plan["define"]]
frame.Filter(plan["filter"]).Snapshot("Events", plan["out"], names, options)


def plain(v):
    if isinstance(v, (bool, int, str)):
        return v
    if isinstance(v, float):
        return v.hex()
    kind = type(v).__name__
    if kind.startswith(("bool", "str")):
        return bool(v) if kind.startswith("bool") else str(v)
    if kind.startswith(("int", "uint")):
        return int(v)
    if kind.startswith("float"):
        return float(v).hex()
    if "string" in kind:
        return str(v)
    return [plain(x) for x in v]


columns = ROOT.RDataFrame("Events", plan["ours"]).AsNumpy(names)
values = {name: [plain(v) for v in columns[name]] for name in names}
json.dump({"entries": len(values[names[0]]), "columns": values}, sys.stdout)
