#!/usr/bin/env python3
"""container_odd.py make DIR  |  container_odd.py read FILE...

"make" writes ROOT files as programs leave them that update, delete, rename or copy objects, or are killed. Each RNTuple
in them has an integer field "i". "read" prints as JSON what ROOT finds in files:
{file: null if it does not open, otherwise {"recovered": whether ROOT had to recover it, "keys": {path: class}, "ntuples":
{path: values of "i"}}}. Paths have cycles.
ROOT's messages go to standard error.
"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import ROOT
import uproot

ROOT.gROOT.SetBatch(True)
ROOT.gInterpreter.Declare(r"""
#include <ROOT/RNTuple.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <TKey.h>
#include <cstdint>
#include <memory>
#include <vector>

template <class T>
std::vector<long> FieldI(ROOT::RNTupleReader &reader)
{
   std::vector<long> all;
   auto view = reader.GetView<T>("i");
   for (auto i : reader.GetEntryRange())
      all.push_back(view(i));
   return all;
}

std::vector<long> ValuesOf(TKey &key)
{
   std::unique_ptr<ROOT::RNTuple> anchor(key.ReadObject<ROOT::RNTuple>());
   auto reader = ROOT::RNTupleReader::Open(*anchor);
   const auto &d = reader->GetDescriptor();
   const auto type = d.GetFieldDescriptor(d.FindFieldId("i")).GetTypeName();
   return type == "std::int32_t" ? FieldI<std::int32_t>(*reader) : FieldI<std::int64_t>(*reader);
}
""")


def ntuple(directory, name, first, n=50, column="std::int32_t"):
    model = ROOT.RNTupleModel.Create()
    model.MakeField[column]("i")
    writer = ROOT.RNTupleWriter.Append(model, name, directory)
    entry = writer.CreateEntry()
    for i in range(first, first + n):
        entry["i"] = i
        writer.Fill(entry)
    del writer, entry


def histogram(file, name, bins=10):
    h = ROOT.TH1D(name, "a histogram", bins, 0, 1)
    h.SetDirectory(ROOT.nullptr)
    h.Fill(0.5)
    file.WriteObject(h, name)


def tree(file, name, n=100):
    file.cd()
    t = ROOT.TTree(name, name)
    x = np.zeros(1, dtype=np.int32)
    t.Branch("x", x, "x/I")
    for i in range(n):
        x[0] = i
        t.Fill()
    t.Write()


def by_root(path, update=False):
    file = ROOT.TFile.Open(path, "UPDATE" if update else "RECREATE")
    first = 1000 * update
    ntuple(file, "later" if update else "n", first)
    ntuple(file.mkdir("later_dir" if update else "dir"), "n", first + 100)
    histogram(file, "h")
    tree(file, "t")
    file.Close()


def run(program, *args):
    """Runs a program of ROOT."""
    program = os.path.join(os.path.dirname(ROOT.__file__), "bin", program)
    subprocess.run([program, *args], check=True, stdout=subprocess.DEVNULL)


def by_programs(at):
    by_root(at("create"))
    for name in "update", "delete", "delete_all", "rootrm", "rootmv", "uproot", "uproot_many":
        shutil.copy(at("create"), at(name))
    by_root(at("update"), True)
    file = ROOT.TFile.Open(at("delete"), "UPDATE")
    file.Delete("h;*")
    file.Delete("t;*")
    histogram(file, "h2", 3)
    file.Close()
    file = ROOT.TFile.Open(at("delete_all"), "UPDATE")
    for name in "h", "t", "n":
        file.Delete(name + ";*")
    file.rmdir("dir")
    ntuple(file, "again", 7)
    file.Close()
    run("rootrm", at("rootrm") + ":h")
    run("rootmv", at("rootmv") + ":h", at("rootmv") + ":renamed")
    run("rootcp", "--recreate", "-r", at("create") + ":*", at("rootcp"))
    run("hadd", "-v", "0", "-f", at("hadd"), at("create"), at("create"))
    with ROOT.RNTupleWriter.Recreate(simple(), "n", at("simple")) as writer:
        fill(writer)
    shutil.copy(at("simple"), at("simple_update"))
    by_root(at("simple_update"), True)


def simple():
    model = ROOT.RNTupleModel.Create()
    model.MakeField["std::int32_t"]("i")
    return model


def fill(writer):
    entry = writer.CreateEntry()
    for i in range(50):
        entry["i"] = i
        writer.Fill(entry)
    del entry


def killed(path):
    """A file whose writer stopped after SaveSelf, and one more object."""
    if os.fork() == 0:
        file = ROOT.TFile.Open(path, "RECREATE")
        ntuple(file, "n", 0)
        histogram(file, "h")
        tree(file, "t")
        file.Flush()
        os._exit(0)
    os.wait()


def lose_lists(path, free):
    """Makes the top directory say that it has no list of keys, and the header, if free is set, that it has no free list."""
    with open(path, "r+b") as file:
        file.seek(28)
        names = int.from_bytes(file.read(4), "big")
        file.seek(100 + names + 26)
        file.write(bytes(4))
        if free:
            file.seek(16)
            file.write(bytes(8))


def by_uproot(at):
    values = np.arange(50, dtype=np.int64)
    with uproot.recreate(at("uproot_create")) as f:
        f["h"] = np.histogram(values)
        f["dir/h"] = np.histogram(values)
        f.mktree("t", {"x": np.int32}).extend({"x": np.arange(10, dtype=np.int32)})
        f.mkrntuple("n", {"i": values})
        f.mkrntuple("dir/sub/n", {"i": 2 * values})
    for name, times in ("uproot", 1), ("uproot_many", 3), ("uproot_create", 1):
        if name == "uproot_create":
            shutil.copy(at(name), at("uproot_update"))
            name = "uproot_update"
        for k in range(times):
            with uproot.update(at(name)) as f:
                f[f"u{k}"] = np.histogram(values)
                f[f"added{k}/h"] = np.histogram(values)
                f.mktree(f"t{k}", {"x": np.int32}).extend({"x": np.arange(10, dtype=np.int32)})
                f.mkrntuple(f"n{k}", {"i": values + 100 * k})
                for many in range(40 if name == "uproot_many" else 0):
                    f[f"a long name of a histogram of which there are many {k} {many}"] = np.histogram(values)
    with uproot.recreate(at("uproot_delete")) as f:
        for k in range(5):
            f[f"h{k}"] = np.histogram(values)
        f.mkrntuple("n", {"i": values})
        del f["h1"]
        del f["h3"]
    shutil.copy(at("uproot_many"), at("uproot_root"))
    by_root(at("uproot_root"), True)


def make(folder):
    def at(name):
        return os.path.join(folder, name + ".root")
    by_programs(at)
    by_uproot(at)
    killed(at("killed"))
    # With its free list, ROOT leaves a wrong end of the file and a wrong free list.
    for name, free in ("recovered", True), ("recovered_wrong", False):
        shutil.copy(at("killed" if free else "create"), at(name))
        lose_lists(at(name), free)
        ROOT.TFile.Open(at(name), "UPDATE").Close()


def walk(directory, path, keys, ntuples):
    for key in directory.GetListOfKeys():
        name = f"{path}{key.GetName()};{key.GetCycle()}"
        keys[name] = key.GetClassName()
        if key.GetClassName() == "ROOT::RNTuple":
            ntuples[name] = list(ROOT.ValuesOf(key))
        if key.GetClassName().startswith("TDirectory"):
            walk(key.ReadObj(), f"{path}{key.GetName()}/", keys, ntuples)


def read(paths):
    found = {}
    for path in paths:
        found[path] = None
        try:
            file = ROOT.TFile.Open(path)
        except OSError:
            continue
        if not file or file.IsZombie():
            continue
        keys, ntuples = {}, {}
        walk(file, "", keys, ntuples)
        found[path] = {"keys": keys, "ntuples": ntuples, "recovered": bool(file.TestBit(ROOT.TFile.kRecovered))}
        file.Close()
    print(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 3:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["read"]:
        read(sys.argv[2:])
    else:
        sys.exit(__doc__)
