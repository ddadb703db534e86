#!/usr/bin/env python3
"""durable.py

Has ROOT update and read files, as each line of standard input says, and prints a line of JSON for it, with what ROOT
wrote to standard error under "said", and under "error" why it failed, if it did.

{"update": FILE, "ntuple": NAME, "entries": number, "histogram": NAME, "before", "within", "after": seconds}
opens FILE for updating, adds an RNTuple whose entries have an x of 1, 2, ... or a TH1D, or both, and closes it. It
sleeps before it opens the file, between opening it and writing, and before closing it.

{"read": FILE, "field": NAME} reads all RNTuples and other objects, in all directories. The result has "ntuples":
{PATH;CYCLE: [number of entries, sum of all numbers in them]}, "keys": [PATH;CYCLE of another object, ...] and "recovered":
whether ROOT had to recover the file. With a "field", the sum is that of the numbers in it, where there is one. A sum is 0
if it is not finite.
"""
import json
import math
import os
import sys
import tempfile
import time

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <ROOT/RNTuple.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TDirectory.h>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

template <class T>
double SumOf(const T &value) { return value; }

template <class T>
double SumOf(const std::vector<T> &list)
{
   return std::accumulate(list.begin(), list.end(), 0., [](double sum, const T &one) { return sum + SumOf(one); });
}

double SumOf(const std::string &text) { return text.size(); }

template <class T>
bool AddSum(ROOT::RNTupleReader &reader, const std::string &type, const std::string &name, const std::string &field, double &sum)
{
   if (type != name)
      return false;
   auto view = reader.GetView<T>(field);
   for (auto i : reader.GetEntryRange())
      sum += SumOf(view(i));
   return true;
}

std::pair<double, double> EntriesAndSum(TDirectory &dir, const std::string &name, const std::string &only)
{
   std::unique_ptr<ROOT::RNTuple> anchor(dir.Get<ROOT::RNTuple>(name.c_str()));
   if (!anchor)
      throw std::runtime_error("no RNTuple " + name);
   auto reader = ROOT::RNTupleReader::Open(*anchor);
   const bool all = reader->GetDescriptor().FindFieldId(only) == ROOT::kInvalidDescriptorId;
   double sum = 0;
   for (const auto &f : reader->GetDescriptor().GetTopLevelFields()) {
      const auto &type = f.GetTypeName(), &field = f.GetFieldName();
      if (!all && field != only)
         continue;
      if (!AddSum<std::int64_t>(*reader, type, "std::int64_t", field, sum) &&
          !AddSum<std::int32_t>(*reader, type, "std::int32_t", field, sum) &&
          !AddSum<double>(*reader, type, "double", field, sum) &&
          !AddSum<float>(*reader, type, "float", field, sum) &&
          !AddSum<std::string>(*reader, type, "std::string", field, sum) &&
          !AddSum<std::vector<float>>(*reader, type, "std::vector<float>", field, sum) &&
          !AddSum<std::vector<double>>(*reader, type, "std::vector<double>", field, sum) &&
          !AddSum<std::vector<std::int32_t>>(*reader, type, "std::vector<std::int32_t>", field, sum) &&
          !AddSum<std::vector<std::int64_t>>(*reader, type, "std::vector<std::int64_t>", field, sum))
         throw std::runtime_error("no sum for " + type);
   }
   return {static_cast<double>(reader->GetNEntries()), sum};
}

void AddNumbers(TDirectory &dir, const std::string &name, int entries)
{
   auto model = ROOT::RNTupleModel::Create();
   auto x = model->MakeField<std::int64_t>("x");
   auto writer = ROOT::RNTupleWriter::Append(std::move(model), name, dir);
   for (*x = 1; *x <= entries; ++*x)
      writer->Fill();
}
""")


def open_file(path, mode):
    file = ROOT.TFile.Open(path, mode)
    if not file or file.IsZombie():
        raise OSError(f"{path} cannot be opened")
    return file


def update(job):
    time.sleep(job.get("before", 0))
    file = open_file(job["update"], "UPDATE")
    if file.GetOption() != "UPDATE":
        raise OSError(f"opened for {file.GetOption()}")
    recovered = bool(file.TestBit(ROOT.TFile.kRecovered))
    time.sleep(job.get("within", 0))
    if job.get("ntuple"):
        where, _, name = job["ntuple"].rpartition("/")
        ROOT.AddNumbers(file.mkdir(where, "", True) if where else file, name, job["entries"])
    if job.get("histogram"):
        h = ROOT.TH1D(job["histogram"], "histogram", 3, 0, 3)
        h.SetDirectory(ROOT.nullptr)
        h.Fill(1)
        if file.WriteObject(h, job["histogram"]) <= 0:
            raise OSError("the histogram was not written")
    time.sleep(job.get("after", 0))
    file.Close()
    return {"recovered": recovered}


def walk(result, directory, field, path=""):
    for key in directory.GetListOfKeys():
        name = f"{key.GetName()};{key.GetCycle()}"
        if key.GetClassName().startswith("TDirectory"):
            walk(result, directory.GetDirectory(key.GetName()), field, f"{path}{key.GetName()}/")
        elif key.GetClassName() == "ROOT::RNTuple":
            entries, sum = ROOT.EntriesAndSum(directory, name, field)
            result["ntuples"][path + name] = [entries, sum if math.isfinite(sum) else 0]
        elif key.ReadObj():
            result["keys"].append(path + name)
        else:
            raise OSError(f"{path}{name} cannot be read")


def read(job):
    file = open_file(job["read"], "READ")
    result = {"recovered": bool(file.TestBit(ROOT.TFile.kRecovered)), "ntuples": {}, "keys": []}
    walk(result, file, job.get("field", ""))
    file.Close()
    return result


def main():
    saved = os.dup(2)
    for line in sys.stdin:
        job = json.loads(line)
        with tempfile.TemporaryFile() as said:
            os.dup2(said.fileno(), 2)
            try:
                result = update(job) if "update" in job else read(job)
            except Exception as e:  # whatever ROOT throws
                result = {"error": f"{type(e).__name__}: {e}"[:1000]}
            ROOT.gInterpreter.ProcessLine("std::cerr << std::flush; fflush(stderr);")
            os.dup2(saved, 2)
            said.seek(0)
            result["said"] = said.read().decode(errors="replace")
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    main()
