#!/usr/bin/env python3
"""written_container.py inspect FILE  |  written_container.py update FILE NTUPLE

"inspect" has ROOT open a file as users do, and prints as JSON what it finds: {"recovered": whether it was recovered,
"again": how many keys of the top directory TFile::Recover finds, "keys": {path: class}, "title": text, "map": text,
"ls": text, "infos": names of streamer infos}. "update" adds a TNamed, a TH1D and an RNTuple of the given path with the
100 entries {"i": 0, "v": []}, {"i": 1, "v": [1]}, ...
ROOT's messages go to standard error.
"""
import json
import os
import sys
import tempfile

import ROOT


def printed(do):
    """What do() prints to the standard output of the process."""
    sys.stdout.flush()
    saved = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            do()
            ROOT.gInterpreter.ProcessLine("std::cout << std::flush; fflush(stdout);")
        finally:
            os.dup2(saved, 1)
            os.close(saved)
        file.seek(0)
        return file.read().decode()


def keys(directory, path=""):
    all = {}
    for key in directory.GetListOfKeys():
        name = f"{path}{key.GetName()};{key.GetCycle()}"
        all[name] = key.GetClassName()
        if key.GetClassName().startswith("TDirectory"):
            all.update(keys(directory.GetDirectory(key.GetName()), f"{path}{key.GetName()}/"))
    return all


def inspect(path):
    file = ROOT.TFile.Open(path)
    report = {
        "recovered": bool(file.TestBit(ROOT.TFile.kRecovered)) or file.IsZombie(),
        "keys": keys(file),
        "title": str(file.GetTitle()),
        "map": printed(file.Map),
        "ls": printed(file.ls),
        "infos": sorted(str(i.GetName()) for i in file.GetStreamerInfoList() or []),
    }
    level, ROOT.gErrorIgnoreLevel = ROOT.gErrorIgnoreLevel, ROOT.kWarning  # Recover tells what it finds
    report["again"] = file.Recover()
    ROOT.gErrorIgnoreLevel = level
    file.Close()
    print(json.dumps(report))


def update(path, ntuple):
    file = ROOT.TFile.Open(path, "UPDATE")
    if file.TestBit(ROOT.TFile.kRecovered):
        raise RuntimeError("the file was recovered")
    ROOT.TNamed("named", "a title").Write()
    h = ROOT.TH1D("h", "histogram", 3, 0, 3)
    h.SetDirectory(ROOT.nullptr)
    h.Fill(1)
    file.WriteObject(h, "h")
    where, _, name = ntuple.rpartition("/")
    directory = file.mkdir(where, "", True) if where else file
    model = ROOT.RNTupleModel.Create()
    model.MakeField["std::int32_t"]("i")
    model.MakeField["std::vector<std::int32_t>"]("v")
    writer = ROOT.RNTupleWriter.Append(model, name, directory)
    entry = writer.CreateEntry()
    for i in range(100):
        entry["i"] = i
        v = ROOT.std.vector["std::int32_t"]()
        for k in range(i % 5):
            v.push_back(i)
        entry["v"] = v
        writer.Fill(entry)
    del writer, entry
    file.Close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["inspect"] and len(sys.argv) == 3:
        inspect(sys.argv[2])
    elif sys.argv[1:2] == ["update"] and len(sys.argv) == 4:
        update(*sys.argv[2:])
    else:
        sys.exit(__doc__)
