#!/usr/bin/env python3
"""attributes_found.py ENTRIES FILE:NTUPLE...

Has ROOT find attributes, and prints a line of JSON for each RNTuple:
{set: {"holding": [[number, ...], ...], "covering": [...], "within": [...]}}. Attributes are named by their numbers in
the set. holding has the attributes of each entry below ENTRIES; covering and within have an item for each range of these
entries that is not empty, (0,1), (0,2) ... (1,2) ...: the attributes that hold for all of it, and those that hold for
nothing else. ROOT's messages go to standard error.
"""
import json
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <ROOT/RNTupleAttrReading.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

static void appendFound(std::ostream &out, ROOT::Experimental::RNTupleAttrEntryIterable &&found, const char *separator)
{
   std::vector<ROOT::NTupleSize_t> numbers;
   for (auto i : found)
      numbers.push_back(i);
   std::sort(numbers.begin(), numbers.end()); // ROOT goes by the first entry of the range
   out << separator << "[";
   for (std::size_t i = 0; i < numbers.size(); i++)
      out << (i ? "," : "") << numbers[i];
   out << "]";
}

std::string FoundAttributes(const std::string &path, const std::string &name, std::uint64_t entries)
{
   auto reader = ROOT::RNTupleReader::Open(name, path);
   std::ostringstream out;
   const char *nextSet = "{";
   for (const auto &desc : reader->GetDescriptor().GetAttrSetIterable()) {
      auto set = reader->OpenAttributeSet(desc.GetName());
      out << nextSet << "\"" << desc.GetName() << "\": {\"holding\": [";
      nextSet = ", ";
      for (std::uint64_t i = 0; i < entries; i++)
         appendFound(out, set->GetAttributes(i), i ? "," : "");
      for (bool covering : {true, false}) {
         out << (covering ? "], \"covering\": [" : "], \"within\": [");
         const char *separator = "";
         for (std::uint64_t first = 0; first < entries; first++) {
            for (std::uint64_t end = first + 1; end <= entries; end++) {
               appendFound(out, covering ? set->GetAttributesContainingRange(first, end) : set->GetAttributesInRange(first, end),
                           separator);
               separator = ",";
            }
         }
      }
      out << "]}";
   }
   out << "}";
   return out.str();
}
""")

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for arg in sys.argv[2:]:
        path, _, name = arg.rpartition(":")
        print(json.dumps(json.loads(str(ROOT.FoundAttributes(path, name, int(sys.argv[1]))))))
