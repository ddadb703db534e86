#!/usr/bin/env python3
"""merge.py merge PLAN.json | merge.py uproot FILE:NTUPLE...

"merge" has ROOT write and merge files, as the plan says: {"files": [...], "jobs": [...]}. A file is written with an
RNTuple "n": {"path": ..., "compression": number, "entries": number, "start": number, "cluster": entries, "fields":
[{"name": ..., "type": ..., "source": path, "late": entry, "columns": [name], "bits": number, "range": [min, max]}, ...]}.
Values follow from the number x = (start + entry + length of the field's name) % 100; see Fill. A job is {"inputs":
[path, ...], "name": ..., "mode": "filter", "compression": number, "out": path, "only": option of written_check.py}: the
inputs are merged as hadd does it, with the compression of the first one if the number is 0. The result of each job is a
line of JSON: {"refused": message}, {"failed": why ROOT cannot read what it has written}, or what written_check.py prints
for the output. Each job has a process of its own, because ROOT may abort.

"uproot" has uproot read RNTuples. It prints the entries of each as a JSON array, or its error as a string.
"""
import json
import os
import sys
import tempfile

WRITER = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <TFile.h>
#include <TFileMerger.h>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct MergeField {
   std::string name, type, source, column;
   int late = 0, bits = 0;
   double min = 0, max = 0;

   template <class M>
   void AddTo(M &model) const
   {
      auto field = ROOT::RFieldBase::Create(name, type).Unwrap();
      if (!source.empty()) {
         model.AddProjectedField(std::move(field), [this](const std::string &path) { return source + path.substr(name.size()); });
         return;
      }
      auto real = dynamic_cast<ROOT::RField<float> *>(field.get());
      if (column == "Real32Quant")
         real->SetQuantized(min, max, bits);
      else if (column == "Real32Trunc")
         real->SetTruncated(bits);
      else if (!column.empty())
         field->SetColumnRepresentatives({{ColumnType()}});
      model.AddField(std::move(field));
   }

   ROOT::ENTupleColumnType ColumnType() const
   {
      for (int i = 1; i < static_cast<int>(ROOT::ENTupleColumnType::kMax); i++) {
         auto type = static_cast<ROOT::ENTupleColumnType>(i);
         if (column == ROOT::Internal::RColumnElementBase::GetColumnTypeName(type))
            return type;
      }
      throw std::runtime_error("unknown column type " + column);
   }

   void Fill(const ROOT::REntry &e, int x) const
   {
      if (type == "std::int32_t")
         *e.GetPtr<std::int32_t>(name) = x;
      else if (type == "std::int64_t")
         *e.GetPtr<std::int64_t>(name) = x;
      else if (type == "float")
         *e.GetPtr<float>(name) = x;
      else if (type == "double")
         *e.GetPtr<double>(name) = x;
      else if (type == "std::string")
         *e.GetPtr<std::string>(name) = "s" + std::to_string(x);
      else if (type == "std::vector<float>")
         e.GetPtr<std::vector<float>>(name)->assign(x % 3, x);
      else if (type == "std::vector<std::int32_t>")
         e.GetPtr<std::vector<std::int32_t>>(name)->assign(x % 3, x);
      else if (type == "std::vector<std::vector<float>>")
         e.GetPtr<std::vector<std::vector<float>>>(name)->assign(x % 2, std::vector<float>(x % 3, x));
      else if (type == "std::array<std::int32_t,2>")
         *e.GetPtr<std::array<std::int32_t, 2>>(name) = {x, x};
      else if (type == "std::pair<std::int32_t,float>")
         *e.GetPtr<std::pair<std::int32_t, float>>(name) = {x, x};
      else if (type == "std::optional<float>")
         *e.GetPtr<std::optional<float>>(name) = x % 2 ? std::optional<float>(x) : std::nullopt;
      else
         throw std::runtime_error("no values for " + type);
   }
};

void WriteForMerge(const std::string &path, int compression, int entries, int start, int cluster,
                   const std::vector<MergeField> &fields)
{
   auto model = ROOT::RNTupleModel::Create();
   for (const auto &f : fields) {
      if (f.late == 0)
         f.AddTo(*model);
   }
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(compression);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path, options);
   for (int i = 0; i < entries; i++) {
      if (i > 0 && cluster > 0 && i % cluster == 0)
         writer->CommitCluster();
      for (const auto &f : fields) {
         if (f.late > 0 && f.late == i) {
            auto updater = writer->CreateModelUpdater();
            updater->BeginUpdate();
            f.AddTo(*updater);
            updater->CommitUpdate();
         }
      }
      const auto &entry = writer->GetModel().GetDefaultEntry();
      for (const auto &f : fields) {
         if (f.late <= i && f.source.empty())
            f.Fill(entry, (start + i + f.name.size()) % 100);
      }
      writer->Fill();
   }
}

bool MergeAsHadd(const std::vector<std::string> &inputs, const std::string &out, int compression, const std::string &mode)
{
   TFileMerger merger(false, false);
   std::string options = "rntuple.MergingMode=" + mode;
   if (compression == 0)
      options += " FirstSrcCompression";
   merger.SetMergeOptions(TString(options));
   merger.SetPrintLevel(0);
   if (!merger.OutputFile(out.c_str(), "RECREATE", compression))
      return false;
   for (const auto &in : inputs) {
      if (!merger.AddFile(in.c_str()))
         return false;
   }
   return merger.Merge();
}
"""


def write(ROOT, file):
    fields = ROOT.std.vector["MergeField"]()
    for f in file["fields"]:
        m = ROOT.MergeField()
        m.name, m.type, m.source = f["name"], f["type"], f.get("source", "")
        m.column, m.late, m.bits = (f.get("columns") or [""])[0], f.get("late", 0), f.get("bits", 0)
        m.min, m.max = f.get("range") or [0, 0]
        fields.push_back(m)
    ROOT.WriteForMerge(file["path"], file["compression"], file["entries"], file["start"], file["cluster"], fields)


def merged(ROOT, check, job):
    """Merges and reads the output, in another process, which reports its progress."""
    with tempfile.TemporaryFile("w+") as result, tempfile.TemporaryFile("w+", errors="replace") as said:
        pid = os.fork()
        if pid == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            try:
                inputs = ROOT.std.vector["std::string"](job["inputs"])
                if ROOT.MergeAsHadd(inputs, job["out"], job["compression"], job["mode"]):
                    print("merged", file=result, flush=True)
                    print(json.dumps(check(job["out"], job["name"], job["only"])), file=result, flush=True)
            except BaseException as e:
                os.write(2, f"{type(e).__name__}: {e}\n".encode())
            os._exit(0)
        os.waitpid(pid, 0)
        result.seek(0)
        said.seek(0)
        lines = result.read().splitlines()
        if len(lines) == 2:
            return json.loads(lines[1])
        why = said.read()[:1000] or "no message"
        return {"failed": why} if lines else {"refused": why}


def setup():
    """ROOT and the function that makes a view, both used once, so that child processes need not compile them again."""
    import ROOT

    from written_check import check

    ROOT.gInterpreter.Declare(WRITER)
    with tempfile.TemporaryDirectory() as folder:
        path, out = f"{folder}/in.root", f"{folder}/out.root"
        fields = [{"name": "x", "type": "float"}]
        write(ROOT, {"path": path, "compression": 505, "entries": 1, "start": 0, "cluster": 1, "fields": fields})
        ROOT.MergeAsHadd(ROOT.std.vector["std::string"]([path]), out, 0, "Filter")
        check(out, "n", "")
    return ROOT, check


def merge(path):
    ROOT, check = setup()
    with open(path) as f:
        plan = json.load(f)
    for f in plan["files"]:
        write(ROOT, f)
    for job in plan["jobs"]:
        print(json.dumps(merged(ROOT, check, job)), flush=True)


def uproot(*ntuples):
    import awkward as ak
    import uproot

    for arg in ntuples:
        path, _, name = arg.rpartition(":")
        try:
            entries = uproot.open(path, handler=uproot.MemmapSource)[name].arrays(ak_add_doc=False)
            print(json.dumps(ak.to_list(entries)))
        except Exception as e:  # whatever uproot raises
            print(json.dumps(f"{type(e).__name__}: {e}"[:300]))


if __name__ == "__main__":
    tasks = {"merge": merge, "uproot": uproot}
    if len(sys.argv) < 3 or sys.argv[1] not in tasks:
        sys.exit(__doc__)
    tasks[sys.argv[1]](*sys.argv[2:])
