#!/usr/bin/env python3
"""expression_check.py FILE NTUPLE

Has ROOT's RDataFrame evaluate C++ expressions over the entries of an RNTuple. Standard input holds a list of
{"cpp": expression or function body, "where": condition, "bins": number, "low": number, "high": number}. Prints a list of
{"values": [text, ...], "bins": [number, ...]}: what the expression is in the entries for which the condition, if there
is one, holds, and the contents of a histogram of it, from underflow to overflow, if bins is not 0.

Optional fields are called Name_.

Texts are numbers, the floats among them in hexadecimal, true and false, strings, [item,...] for arrays, and - for an
empty optional.
"""
import json
import re
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RVec.hxx>
#include <ROOT/StringUtils.hxx>
#include <Math/Vector4D.h>
#include <TRegexp.h>
#include <TString.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace check {

using ROOT::VecOps::RVec;
using Vec = RVec<double>;
inline std::string path, ntuple;
using Number = std::optional<double>;

inline std::string text(const std::string &s) { return s; }

template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
std::string text(T x)
{
   if constexpr (std::is_same_v<T, bool>)
      return x ? "true" : "false";
   else if constexpr (std::is_integral_v<T>)
      return std::to_string(x);
   char buffer[64];
   std::snprintf(buffer, sizeof(buffer), "%a", double(x));
   return buffer;
}

template <typename T>
std::string text(const RVec<T> &v);

template <typename T>
std::string text(const std::optional<T> &x) { return x ? text(*x) : "-"; }

template <typename T>
std::string text(const RVec<T> &v)
{
   std::string s;
   for (std::size_t i = 0; i < v.size(); ++i)
      s += (i == 0 ? "" : ",") + text(T(v[i]));
   return "[" + s + "]";
}

// The bools of ROOT's comparisons, which are integers
template <typename T>
RVec<bool> mask(const RVec<T> &v) { return RVec<bool>(v.begin(), v.end()); }

template <typename T>
Vec wide(const RVec<T> &v) { return Vec(v.begin(), v.end()); }

// The first of equal items
template <typename T>
RVec<T> unique(const RVec<T> &v)
{
   RVec<T> result;
   for (const auto &x : v)
      if (std::find(result.begin(), result.end(), x) == result.end())
         result.push_back(x);
   return result;
}

template <typename T>
RVec<std::int64_t> integers(const RVec<T> &v) { return RVec<std::int64_t>(v.begin(), v.end()); }

// What is out of range is missing
template <typename T>
std::optional<T> at(const RVec<T> &v, long i)
{
   if (i < 0)
      i += v.size();
   return i >= 0 && i < long(v.size()) ? std::optional<T>(v[i]) : std::nullopt;
}

template <typename T>
Number plus(const std::optional<T> &x, double y) { return x ? Number(*x + y) : std::nullopt; }

template <typename T>
Number unless(bool missing, T x) { return missing ? std::nullopt : Number(x); }

// RDataFrame cannot read optionals: "Could not create field with type optional<double>"
template <typename T>
std::optional<T> optional(const char *field, ULong64_t entry)
{
   static std::map<std::string, std::vector<std::optional<T>>> all;
   auto &values = all[field];
   if (values.empty()) {
      auto reader = ROOT::RNTupleReader::Open(ntuple, path);
      auto view = reader->GetView<std::optional<T>>(field);
      for (auto i : *reader)
         values.push_back(view(i));
   }
   return values[entry];
}

// Combinations throws if there are no pairs
template <typename T>
RVec<RVec<std::size_t>> pairs(const RVec<T> &v)
{
   return v.size() < 2 ? RVec<RVec<std::size_t>>(2) : ROOT::VecOps::Combinations(v, 2);
}

inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// A function of each number
template <typename F>
Vec each(const Vec &v, F f)
{
   Vec result;
   for (double x : v)
      result.push_back(f(x));
   return result;
}

template <typename F>
Vec each(const Vec &v, const Vec &w, F f)
{
   Vec result;
   for (std::size_t i = 0; i < v.size(); ++i)
      result.push_back(f(v[i], w[i]));
   return result;
}

} // namespace check
""")

path, name = sys.argv[1:]
ROOT.check.path, ROOT.check.ntuple = path, name
frame = ROOT.RDataFrame(name, path)
reader = ROOT.RNTupleReader.Open(name, path)
for field in reader.GetDescriptor().GetTopLevelFields():
    if match := re.fullmatch(r"std::optional<(.*)>", field.GetTypeName()):
        frame = frame.Define(field.GetFieldName() + "_", f'check::optional<{match[1]}>("{field.GetFieldName()}", rdfentry_)')
booked = []
for i, e in enumerate(json.load(sys.stdin)):
    node = frame.Filter(e["where"]) if e["where"] else frame
    cpp = e["cpp"] if e["cpp"].endswith(";") else f"return {e['cpp']};"  # for lambdas have a return as well
    node = node.Define(f"value{i}", cpp)
    values = node.Define(f"text{i}", f"check::text(value{i})").Take["std::string"](f"text{i}")
    histogram = node.Histo1D((f"h{i}", "", e["bins"], e["low"], e["high"]), f"value{i}") if e["bins"] else None
    booked.append((values, histogram))
results = []
for values, histogram in booked:
    bins = [histogram.GetBinContent(b) for b in range(histogram.GetNbinsX() + 2)] if histogram else []
    results.append({"values": [str(v) for v in values.GetValue()], "bins": bins})
json.dump(results, sys.stdout)
