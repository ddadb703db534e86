#!/usr/bin/env python3
"""written_check.py [--columns|--attributes] FILE:NTUPLE...

Has ROOT read RNTuples and prints a line of JSON for each: {"entries": [...], "columns": [...], "clusters": number,
"groups": number, "description": text}. The entries are as RNTupleReader::Show would print them. The columns, as
RNTupleInspector sees them, are lines "field type bits elements first representation"; --columns prints them only.
--attributes prints {"attributes": {set: [entry, ...]}}, an entry as {"start": number, "len": number, "data": {...}}.
ROOT's messages go to standard error.
"""
import json
import re
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <ROOT/RFieldVisitor.hxx>
#include <ROOT/RNTupleInspector.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <TFile.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// Types of the files
enum class WrittenColor : std::int32_t { kNone };

struct Written {
   std::unique_ptr<TFile> file;
   std::unique_ptr<ROOT::RNTuple> anchor;

   Written(const std::string &path, const std::string &name) : file(TFile::Open(path.c_str()))
   {
      if (file)
         anchor.reset(file->Get<ROOT::RNTuple>(name.c_str()));
      if (!anchor)
         throw std::runtime_error("no RNTuple " + name + " in " + path);
   }

   // As RNTupleReader::Show, which in 6.40.00 fails with cardinalities ("type mismatch for field") and does not find
   // pages that are split over keys
   std::string Show()
   {
      auto sizes = ROOT::RNTupleReader::Open(*anchor);
      const auto &desc = sizes->GetDescriptor();
      auto model = ROOT::RNTupleModel::Create();
      ROOT::RCreateFieldOptions options;
      options.SetEmulateUnknownTypes(true); // classes without a dictionary
      std::vector<std::pair<std::string, ROOT::RNTupleView<ROOT::RNTupleCardinality<std::uint64_t>>>> views;
      for (const auto &f : desc.GetTopLevelFields()) {
         if (f.GetTypeName().find("ROOT::RNTupleCardinality") == 0)
            views.emplace_back(f.GetFieldName(),
                               sizes->GetView<ROOT::RNTupleCardinality<std::uint64_t>>(f.GetFieldName()));
         else
            model->AddField(f.CreateField(desc, options));
      }
      auto reader = ROOT::RNTupleReader::Open(std::move(model), *anchor);
      std::ostringstream out;
      out << "[";
      for (auto i : *reader) {
         reader->LoadEntry(i);
         const char *separator = i ? ",\n{" : "{";
         for (const auto &value : reader->GetModel().GetDefaultEntry()) {
            out << separator;
            ROOT::Internal::RPrintValueVisitor visitor(value, out);
            value.GetField().AcceptVisitor(visitor);
            separator = ", ";
         }
         for (auto &[name, view] : views)
            out << ", \"" << name << "\": " << view(i);
         out << "}";
      }
      return out.str() + "]";
   }

   std::string Columns()
   {
      auto inspector = ROOT::Experimental::RNTupleInspector::Create(*anchor);
      const auto &desc = inspector->GetDescriptor();
      std::ostringstream out;
      for (ROOT::DescriptorId_t i = 0; i < desc.GetNPhysicalColumns(); i++) {
         const auto &c = desc.GetColumnDescriptor(i);
         out << desc.GetQualifiedFieldName(c.GetFieldId()) << " "
             << ROOT::Internal::RColumnElementBase::GetColumnTypeName(c.GetType()) << " " << c.GetBitsOnStorage() << " "
             << inspector->GetColumnInspector(i).GetNElements() << " " << c.GetFirstElementIndex() << " "
             << c.GetRepresentationIndex() << "\n";
      }
      return out.str();
   }

   // The names of the linked attribute sets, a line each
   std::string Sets()
   {
      auto reader = ROOT::RNTupleReader::Open(*anchor);
      std::ostringstream out;
      for (const auto &set : reader->GetDescriptor().GetAttrSetIterable())
         out << set.GetName() << "\n";
      return out.str();
   }

   std::string Attributes(const std::string &name)
   {
      auto reader = ROOT::RNTupleReader::Open(*anchor);
      auto set = reader->OpenAttributeSet(name);
      auto entry = set->CreateEntry();
      std::ostringstream out;
      out << "[";
      for (std::size_t i = 0; i < set->GetNEntries(); i++) {
         auto range = set->LoadEntry(i, *entry);
         out << (i ? ",\n" : "") << "{\"start\": " << range.GetStart() << ", \"len\": " << range.GetLength()
             << ", \"data\": ";
         const char *separator = "{";
         for (const auto &value : *entry) {
            out << separator;
            ROOT::Internal::RPrintValueVisitor visitor(value, out);
            value.GetField().AcceptVisitor(visitor);
            separator = ", ";
         }
         out << "}}";
      }
      return out.str() + "]";
   }

   std::string Facts()
   {
      auto reader = ROOT::RNTupleReader::Open(*anchor);
      const auto &desc = reader->GetDescriptor();
      std::ostringstream out;
      out << desc.GetNClusters() << " " << desc.GetNClusterGroups() << " " << desc.GetDescription();
      return out.str();
   }
};
""")


def entries(text):
    """What ROOT prints is JSON, except for control characters in strings, single characters and bytes."""
    text = re.sub(r"(?s)(?<=: )([^0-9\"\[{]|0x[0-9a-f]{2})(?=[,}])", lambda m: json.dumps(m[1]), text)
    return json.loads(text, strict=False)


def check(path, name, only):
    written = ROOT.Written(path, name)
    if only == "--columns":
        return {"columns": str(written.Columns()).splitlines()}
    if only == "--attributes":
        return {"attributes": {s: entries(str(written.Attributes(s))) for s in str(written.Sets()).splitlines()}}
    clusters, groups, description = str(written.Facts()).split(" ", 2)
    return {
        "entries": entries(str(written.Show())),
        "columns": str(written.Columns()).splitlines(),
        "clusters": int(clusters),
        "groups": int(groups),
        "description": description,
    }


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    only = sys.argv[1] if sys.argv[1].startswith("--") else ""
    for arg in sys.argv[1 + bool(only):]:
        path, _, name = arg.rpartition(":")
        print(json.dumps(check(path, name, only)))
