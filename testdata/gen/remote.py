#!/usr/bin/env python3
"""remote.py root | remote.py uproot

Has ROOT or uproot read an RNTuple "Events", as each line of standard input says, and prints a line of JSON for it:
{"seconds": from opening the file to the last value, "entries": number, "sum": of all values that were asked for}, or
{"error": message}.

{"do": "open", "url": URL} finds out how many entries there are.
{"do": "columns", "url": URL, "fields": [NAME, ...]} reads some fields: floats, 32-bit integers, and lists of floats.
{"do": "all", "url": URL, "fields": [NAME, ...]} reads all fields; the sum is that of some.
{"do": "skim", "url": URL, "field": NAME, "values": [number, ...], "out": FILE} writes the entries in which a field has one
of some values to a new file; "entries" is their number.
{"do": "write", "out": FILE, "entries": number, "cluster": bytes} has ROOT write a file in the manner of CMS's NanoAOD; see
J in bench/cpp/data.hxx. Clusters have about as many compressed bytes.
"""
import json
import os
import sys
import time

READER = r"""
#include "%s/bench/cpp/data.hxx"
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Result = std::pair<double, double>; // entries, and the sum of values

Result Open(const std::string &url)
{
   return {ROOT::RNTupleReader::Open("Events", url)->GetNEntries(), 0};
}

Result Columns(const std::string &url, const std::vector<std::string> &fields)
{
   auto reader = ROOT::RNTupleReader::Open("Events", url);
   std::vector<ROOT::RNTupleView<float>> floats;
   std::vector<ROOT::RNTupleView<std::int32_t>> integers;
   std::vector<ROOT::RNTupleView<std::vector<float>>> lists;
   for (const auto &name : fields) {
      const auto &desc = reader->GetDescriptor();
      const auto &type = desc.GetFieldDescriptor(desc.FindFieldId(name)).GetTypeName();
      if (type == "float")
         floats.push_back(reader->GetView<float>(name));
      else if (type == "std::int32_t")
         integers.push_back(reader->GetView<std::int32_t>(name));
      else
         lists.push_back(reader->GetView<std::vector<float>>(name));
   }
   double sum = 0;
   for (auto i : reader->GetEntryRange()) {
      for (auto &view : floats)
         sum += view(i);
      for (auto &view : integers)
         sum += view(i);
      for (auto &view : lists)
         for (auto x : view(i))
            sum += x;
   }
   return {reader->GetNEntries(), sum};
}

Result All(const std::string &url, const std::vector<std::string> &fields)
{
   auto reader = ROOT::RNTupleReader::Open("Events", url);
   const auto &entry = reader->GetModel().GetDefaultEntry();
   std::vector<std::shared_ptr<float>> floats;
   for (const auto &name : fields)
      floats.push_back(entry.GetPtr<float>(name));
   double sum = 0;
   for (auto i : reader->GetEntryRange()) {
      reader->LoadEntry(i);
      for (const auto &x : floats)
         sum += *x;
   }
   return {reader->GetNEntries(), sum};
}

void Write(const std::string &path, std::uint64_t entries, std::size_t cluster)
{
   auto model = ROOT::RNTupleModel::CreateBare();
#define ADD(Type, Name) model->AddField(std::make_unique<ROOT::RField<Type>>(#Name));
   J_FIELDS(ADD)
#undef ADD
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(505);
   options.SetApproxZippedClusterSize(cluster);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path, options);
   auto entry = writer->GetModel().CreateBareEntry();
   J j;
#define BIND(Type, Name) entry->BindRawPtr<Type>(#Name, &j.Name);
   J_FIELDS(BIND)
#undef BIND
   Random random(1);
   for (std::uint64_t i = 0; i < entries; ++i) {
      Generate(j, random, i);
      writer->Fill(*entry);
   }
}
"""


def root():
    import ROOT

    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    ROOT.gInterpreter.ProcessLine("#pragma cling optimize(3)")
    ROOT.gInterpreter.Declare(READER % top)

    def skim(job):
        options = ROOT.RDF.RSnapshotOptions()
        options.fOutputFormat = ROOT.RDF.ESnapshotOutputFormat.kRNTuple
        where = " || ".join(f"{job['field']} == {v}" for v in job["values"])
        some = ROOT.RDF.FromRNTuple("Events", job["url"]).Filter(where)
        names = [str(n) for n in some.GetColumnNames()]
        count = some.Count()
        some.Snapshot("Events", job["out"], names, options)
        return count.GetValue(), 0

    def pair(r):
        return r.first, r.second

    return {
        "open": lambda job: pair(ROOT.Open(job["url"])),
        "columns": lambda job: pair(ROOT.Columns(job["url"], job["fields"])),
        "all": lambda job: pair(ROOT.All(job["url"], job["fields"])),
        "skim": skim,
        "write": lambda job: (ROOT.Write(job["out"], job["entries"], job["cluster"]), 0),
    }


def uproot():
    import awkward
    import numpy
    import uproot

    def total(arrays, fields):
        return sum(float(numpy.sum(awkward.to_numpy(awkward.ravel(arrays[f])), dtype="f8")) for f in fields)

    def read(job, **some):
        with uproot.open(job["url"]) as file:
            return file["Events"].arrays(**some)

    def open_only(job):
        with uproot.open(job["url"]) as file:
            return file["Events"].num_entries, 0

    def columns(job):
        arrays = read(job, filter_name=job["fields"])
        return len(arrays), total(arrays, job["fields"])

    def everything(job):
        arrays = read(job)
        return len(arrays), total(arrays, job["fields"])

    def skim(job):
        arrays = read(job)
        some = arrays[numpy.isin(awkward.to_numpy(arrays[job["field"]]), job["values"])]
        with uproot.recreate(job["out"]) as file:
            file.mkrntuple("Events", some)
        return len(some), 0

    return {"open": open_only, "columns": columns, "all": everything, "skim": skim}


def main():
    jobs = {"root": root, "uproot": uproot}[sys.argv[1]]()
    out = os.fdopen(os.dup(1), "w", buffering=1)  # others may write to standard output
    os.dup2(2, 1)
    for line in sys.stdin:
        job = json.loads(line)
        start = time.perf_counter()
        try:
            entries, values = jobs[job["do"]](job)
            result = {"seconds": time.perf_counter() - start, "entries": entries, "sum": values}
        except Exception as e:  # the test says what it expected
            result = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(result), file=out)


main()
