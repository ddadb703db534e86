#!/usr/bin/env python3
"""Dumps every RNTuple of a directory of ROOT files as exact JSON, one object per entry.

    python testdata/gen/shared_reference.py ../shared/testdata/root OUTDIR

Writes OUTDIR/<file stem>__<ntuple name>.jsonl.gz and OUTDIR/manifest.json, a list of {file, ntuple, jsonl, entries,
sha256}, the last the digest of the uncompressed lines. testdata/shared.json is such a list.

Every top-level field is read twice, by uproot and by ROOT (PyROOT; classes without dictionary are emulated), each
through its own printer below. If both can read a field and differ, ROOT's value is written and a warning printed; if
only one can, its value is written. A field that neither can read is left out, with a warning.

Form (no spaces; keys = top-level field names in schema order):
  integers, std::byte, char (signed), cardinality   number
  bool                                              true, false
  float, double                                     bit pattern "0x%08x", "0x%016x"
  std::string                                       string; bytes that are not UTF-8 as escaped lone surrogate \\udcXX
  vector, RVec, set, array, untyped collection      array (unordered containers sorted by the JSON text of the elements)
  pair, tuple                                       array
  map                                               object if the key is a string and none repeats, else array of
                                                    [key,value]; unordered ones always the latter, sorted
  optional, unique_ptr                              null or the value
  variant                                           the held value or null
  class, untyped record                             object; bases first, as members ":_0", ":_1"
  std::bitset<N>                                    string of 0 and 1, highest bit first
  enum, atomic                                      as the value inside
"""
import gzip
import hashlib
import json
import os
import re
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

import awkward as ak  # noqa: E402
import numpy as np  # noqa: E402
import uproot  # noqa: E402

CHUNK = 500_000

# ---------------------------------------------------------------------------------------------------------- ROOT

CPP = r"""
#include <ROOT/RError.hxx>
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleDescriptor.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace exactjson {
using ROOT::RFieldBase;

inline bool starts(const std::string &s, const char *p) { return s.compare(0, std::strlen(p), p) == 0; }

inline void str(std::string &o, const std::string &s)
{
   o += '"';
   for (unsigned char c : s) {
      switch (c) {
      case '"': o += "\\\""; break;
      case '\\': o += "\\\\"; break;
      case '\n': o += "\\n"; break;
      case '\r': o += "\\r"; break;
      case '\t': o += "\\t"; break;
      case '\b': o += "\\b"; break;
      case '\f': o += "\\f"; break;
      default:
         if (c < 0x20) {
            char b[8];
            std::snprintf(b, sizeof b, "\\u%04x", c);
            o += b;
         } else {
            o += static_cast<char>(c);
         }
      }
   }
   o += '"';
}

template <class T>
void num(std::string &o, const void *p)
{
   T v;
   std::memcpy(&v, p, sizeof v);
   if constexpr (std::is_signed_v<T>)
      o += std::to_string(static_cast<long long>(v));
   else
      o += std::to_string(static_cast<unsigned long long>(v));
}
template <class U>
void hex(std::string &o, const void *p, const char *fmt)
{
   U u;
   std::memcpy(&u, p, sizeof u);
   char b[32];
   std::snprintf(b, sizeof b, fmt, u);
   o += b;
}

enum Leaf { kNone, kBool, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64, kString };
inline Leaf leaf(const RFieldBase &f)
{
   const std::string &t = f.GetTypeName();
   if (t == "bool") return kBool;
   if (t == "char" || t == "std::int8_t") return kI8;
   if (t == "std::byte" || t == "std::uint8_t") return kU8;
   if (t == "std::int16_t") return kI16;
   if (t == "std::uint16_t") return kU16;
   if (t == "std::int32_t") return kI32;
   if (t == "std::uint32_t") return kU32;
   if (t == "std::int64_t") return kI64;
   if (t == "std::uint64_t") return kU64;
   if (t == "float") return kF32;
   if (t == "double") return kF64;
   if (t == "std::string") return kString;
   if (starts(t, "ROOT::RNTupleCardinality<")) return f.GetValueSize() == 8 ? kU64 : kU32;
   return kNone;
}
inline void printLeaf(std::string &o, Leaf l, const void *p)
{
   switch (l) {
   case kBool: o += *static_cast<const bool *>(p) ? "true" : "false"; break;
   case kI8: num<std::int8_t>(o, p); break;
   case kU8: num<std::uint8_t>(o, p); break;
   case kI16: num<std::int16_t>(o, p); break;
   case kU16: num<std::uint16_t>(o, p); break;
   case kI32: num<std::int32_t>(o, p); break;
   case kU32: num<std::uint32_t>(o, p); break;
   case kI64: num<std::int64_t>(o, p); break;
   case kU64: num<std::uint64_t>(o, p); break;
   case kF32: hex<std::uint32_t>(o, p, "\"0x%08x\""); break;
   case kF64: hex<unsigned long>(o, p, "\"0x%016lx\""); break;
   case kString: str(o, *static_cast<const std::string *>(p)); break;
   case kNone: break;
   }
}

inline void print(std::string &o, const RFieldBase::RValue &v)
{
   const RFieldBase &f = v.GetField();
   if (auto l = leaf(f)) {
      printLeaf(o, l, v.GetPtr<void>().get());
      return;
   }
   const std::string &t = f.GetTypeName();
   if (auto b = dynamic_cast<const ROOT::RBitsetField *>(&f)) {
      auto w = static_cast<const unsigned long *>(v.GetPtr<void>().get());
      o += '"';
      for (std::size_t i = b->GetN(); i-- > 0;)
         o += (w[i / 64] >> (i % 64)) & 1 ? '1' : '0';
      o += '"';
      return;
   }
   if (f.GetStructure() == ROOT::ENTupleStructure::kStreamer)
      throw std::runtime_error("streamer field " + f.GetQualifiedFieldName());
   if (f.GetStructure() == ROOT::ENTupleStructure::kVariant) {
      // ROOT does not split variants. libstdc++: a union, then the index as a byte, 0xff when valueless.
      std::size_t size = 0, align = 1;
      std::vector<const RFieldBase *> alternatives;
      for (const auto *a : f.GetConstSubfields()) {
         size = std::max(size, a->GetValueSize());
         align = std::max(align, a->GetAlignment());
         alternatives.push_back(a);
      }
      size = (size + align - 1) / align * align;
      auto p = v.GetPtr<void>();
      const auto tag = static_cast<const unsigned char *>(p.get())[size];
      if (tag == 0xff)
         o += "null";
      else
         print(o, const_cast<RFieldBase *>(alternatives.at(tag))->BindValue(p));
      return;
   }
   auto sub = f.SplitValue(v);
   if (starts(t, "std::optional<") || starts(t, "std::unique_ptr<")) {
      if (sub.empty())
         o += "null";
      else
         print(o, sub[0]);
      return;
   }
   if (f.GetStructure() == ROOT::ENTupleStructure::kRecord) {
      const bool list = starts(t, "std::pair<") || starts(t, "std::tuple<");
      o += list ? '[' : '{';
      bool first = true;
      for (const auto &s : sub) {
         if (!first)
            o += ',';
         first = false;
         if (!list) {
            str(o, s.GetField().GetFieldName());
            o += ':';
         }
         print(o, s);
      }
      o += list ? ']' : '}';
      return;
   }
   if (f.GetStructure() == ROOT::ENTupleStructure::kPlain && !dynamic_cast<const ROOT::RArrayField *>(&f) &&
       !starts(t, "std::array<")) {
      // enum, atomic
      if (sub.size() != 1)
         throw std::runtime_error("unsupported type " + t);
      print(o, sub[0]);
      return;
   }
   const bool unordered = starts(t, "std::unordered_");
   const bool strmap = starts(t, "std::map<std::string,") || starts(t, "std::multimap<std::string,");
   std::vector<std::string> items;
   std::vector<std::pair<std::string, std::string>> kv;
   std::set<std::string> keys;
   for (const auto &s : sub) {
      items.emplace_back();
      print(items.back(), s);
      if (strmap) {
         auto p = s.GetField().SplitValue(s);
         kv.emplace_back();
         print(kv.back().first, p[0]);
         print(kv.back().second, p[1]);
         keys.insert(kv.back().first);
      }
   }
   if (unordered)
      std::sort(items.begin(), items.end());
   const bool object = strmap && keys.size() == kv.size();
   o += object ? '{' : '[';
   for (std::size_t i = 0; i < items.size(); ++i) {
      if (i)
         o += ',';
      if (object)
         o += kv[i].first + ":" + kv[i].second;
      else
         o += items[i];
   }
   o += object ? '}' : ']';
}

// The schema as JSON: [{name,type,structure,fields}]
inline void schema(std::string &o, const ROOT::RNTupleDescriptor &d, ROOT::DescriptorId_t id)
{
   o += '[';
   bool first = true;
   for (const auto &f : d.GetFieldIterable(id)) {
      o += first ? "{\"name\":" : ",{\"name\":";
      first = false;
      str(o, f.GetFieldName());
      o += ",\"type\":";
      str(o, f.GetTypeName());
      o += ",\"structure\":" + std::to_string(static_cast<int>(f.GetStructure())) + ",\"fields\":";
      schema(o, d, f.GetId());
      o += '}';
   }
   o += ']';
}

inline std::string Schema(const std::string &ntuple, const std::string &file)
{
   std::string o;
   auto probe = ROOT::RNTupleReader::Open(ntuple, file);
   const auto &d = probe->GetDescriptor();
   schema(o, d, d.GetFieldZeroId());
   return o;
}

class Dump {
   std::string fNTuple, fFile;
   std::unique_ptr<ROOT::RNTupleReader> fReader;
   std::unique_ptr<ROOT::REntry> fEntry;
   std::uint64_t fNext = 0;

   std::unique_ptr<ROOT::RNTupleReader> Open(const ROOT::RNTupleDescriptor &d, const std::vector<std::string> &names)
   {
      auto model = ROOT::RNTupleModel::Create();
      ROOT::RCreateFieldOptions opts;
      opts.SetEmulateUnknownTypes(true);
      for (const auto &n : names)
         model->AddField(d.GetFieldDescriptor(d.FindFieldId(n)).CreateField(d, opts));
      return ROOT::RNTupleReader::Open(std::move(model), fNTuple, fFile);
   }

public:
   std::vector<std::string> fFields; // those ROOT reads
   std::string fErrors, fText;

   Dump(const std::string &ntuple, const std::string &file) : fNTuple(ntuple), fFile(file)
   {
      auto probe = ROOT::RNTupleReader::Open(ntuple, file);
      const auto &d = probe->GetDescriptor();
      std::vector<std::string> names;
      for (const auto &f : d.GetTopLevelFields())
         names.push_back(f.GetFieldName());
      try {
         fReader = Open(d, names);
         fFields = names;
      } catch (const std::exception &) {
         for (const auto &n : names) {
            try {
               Open(d, {n});
               fFields.push_back(n);
            } catch (const std::exception &e) {
               fErrors += n + ": " + e.what() + "\n";
            }
         }
         fReader = Open(d, fFields);
      }
      fEntry = fReader->GetModel().CreateEntry();
   }
   std::uint64_t GetNEntries() { return fReader->GetNEntries(); }
   // Up to n entries into fText: values separated by 0x1f, each entry ended by a line feed.
   void Next(std::uint64_t n)
   {
      fText.clear();
      struct Out {
         const RFieldBase::RValue *v;
         Leaf leaf;
         const void *p;
      };
      std::vector<Out> outs;
      for (const auto &v : *fEntry)
         outs.push_back({&v, leaf(v.GetField()), v.GetPtr<void>().get()});
      const auto end = std::min<std::uint64_t>(fNext + n, GetNEntries());
      for (; fNext < end; ++fNext) {
         fReader->LoadEntry(fNext, *fEntry);
         bool first = true;
         for (const auto &x : outs) {
            if (!first)
               fText += '\x1f';
            first = false;
            if (x.leaf)
               printLeaf(fText, x.leaf, x.p);
            else
               print(fText, *x.v);
         }
         fText += '\n';
      }
   }
   unsigned long Data() const { return reinterpret_cast<unsigned long>(fText.data()); }
   unsigned long Size() const { return fText.size(); }
};
} // namespace exactjson
"""

_surrogate = re.compile("[\ud800-\udfff]")


def escape(text):
    """Lone surrogates as JSON escapes."""
    return _surrogate.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def root_columns(dump, n):
    """The next n entries as {field: list of JSON texts}."""
    import ctypes

    dump.Next(n)
    raw = ctypes.string_at(int(dump.Data()), int(dump.Size()))
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = escape(raw.decode("utf-8", "surrogateescape"))
    names = [str(f) for f in dump.fFields]
    lines = text.split("\n")
    assert lines.pop() == ""
    if len(names) == 1:
        return {names[0]: lines}
    return dict(zip(names, map(list, zip(*(line.split("\x1f") for line in lines)))))


# -------------------------------------------------------------------------------------------------------- uproot


def jstr(b):
    return escape(json.dumps(b.decode("utf-8", "surrogateescape"), ensure_ascii=False))


def leaf_texts(a, node):
    t = node["type"]
    if t == "bool":
        assert a.dtype in (np.bool_, np.uint8), a.dtype
        return ["true" if x else "false" for x in a.tolist()]
    if t in ("float", "double"):
        size = 4 if t == "float" else 8
        assert a.dtype.kind == "f", a.dtype
        a = np.ascontiguousarray(a.astype(f"f{size}"))
        fmt = '"0x%08x"' if size == 4 else '"0x%016x"'
        return [fmt % x for x in a.view(f"u{size}").tolist()]
    if t == "char":
        a = a.view(np.int8)
    if t == "std::byte":
        a = a.view(np.uint8)
    assert a.dtype.kind in "iu", (t, a.dtype)
    return list(map(str, a.tolist()))


def texts(layout, node):
    """JSON texts of all elements of an awkward layout for a field of the given schema node."""
    t, kids = node["type"], node["fields"]
    if isinstance(layout, (ak.contents.IndexedArray,)):
        inner = texts(layout.content, node)
        return [inner[i] for i in np.asarray(layout.index).tolist()]
    if t.startswith(("std::optional<", "std::unique_ptr<")):
        if layout.is_option:
            lay = layout.to_IndexedOptionArray64()
            inner = texts(lay.content, kids[0])
            return ["null" if i < 0 else inner[i] for i in np.asarray(lay.index).tolist()]
        lay = layout.to_ListOffsetArray64(False)  # as a list of 0 or 1
        off = np.asarray(lay.offsets).tolist()
        inner = texts(lay.content, kids[0])
        assert all(b - a in (0, 1) for a, b in zip(off, off[1:]))
        return [inner[a] if b > a else "null" for a, b in zip(off, off[1:])]
    if node["structure"] == VARIANT:
        if not layout.is_union:
            raise TypeError("not a union")
        contents = layout.contents
        # uproot: one more content, for the valueless state
        assert len(contents) in (len(kids), len(kids) + 1), "union arity"
        shift = len(contents) - len(kids)
        inner = [None] * shift + [texts(c, k) for c, k in zip(contents[shift:], kids)]
        tags, index = np.asarray(layout.tags).tolist(), np.asarray(layout.index).tolist()
        return ["null" if inner[g] is None else inner[g][i] for g, i in zip(tags, index[: len(tags)])]
    if layout.is_option:
        lay = layout.to_IndexedOptionArray64()
        inner = texts(lay.content, node)
        return ["null" if i < 0 else inner[i] for i in np.asarray(lay.index).tolist()]
    if t == "std::string":
        assert layout.is_list, layout
        lay = layout.to_ListOffsetArray64(False)
        off = np.asarray(lay.offsets).tolist()
        data = np.asarray(lay.content.data).astype(np.uint8).tobytes()
        return [jstr(data[a:b]) for a, b in zip(off, off[1:])]
    if node["structure"] == RECORD:
        if not layout.is_record:
            raise TypeError("not a record")
        # by position: uproot names a base class after its type, ROOT ":_0"
        assert len(layout.fields) == len(kids), (layout.fields, [k["name"] for k in kids])
        n = len(layout)
        aslist = t.startswith(("std::pair<", "std::tuple<"))
        cols = []
        for i, k in enumerate(kids):
            col = texts(layout.content(i), k)[:n]
            key = "" if aslist else jstr(k["name"].encode()) + ":"
            cols.append([key + x for x in col])
        o, c = "[]" if aslist else "{}"
        if not cols:
            return [o + c] * n
        return [o + ",".join(x) + c for x in zip(*cols)]
    if t.startswith("std::bitset<"):
        lay = layout.to_RegularArray()
        bits = ak.to_numpy(ak.Array(lay)).reshape(len(layout), -1)
        return ['"' + "".join("1" if b else "0" for b in row[::-1]) + '"' for row in bits.tolist()]
    if node["structure"] == COLLECTION or t.startswith("std::array<") or (t and layout.is_list):
        assert layout.is_list, layout
        lay = layout.to_ListOffsetArray64(False)
        off = np.asarray(lay.offsets).tolist()
        kid = kids[0]
        ismap = re.match(r"std::(unordered_)?(multi)?map<", t)
        if ismap and not t.startswith("std::unordered") and kid["fields"][0]["type"] == "std::string":
            rec = lay.content
            ks, vs = (texts(rec.content(i), kid["fields"][i]) for i in (0, 1))
            out = []
            for a, b in zip(off, off[1:]):
                if len(set(ks[a:b])) == b - a:
                    out.append("{" + ",".join(k + ":" + v for k, v in zip(ks[a:b], vs[a:b])) + "}")
                else:
                    out.append("[" + ",".join(f"[{k},{v}]" for k, v in zip(ks[a:b], vs[a:b])) + "]")
            return out
        inner = texts(lay.content, kid)
        if t.startswith("std::unordered_"):
            return ["[" + ",".join(sorted(inner[a:b], key=lambda s: s.encode())) + "]" for a, b in zip(off, off[1:])]
        return ["[" + ",".join(inner[a:b]) + "]" for a, b in zip(off, off[1:])]
    if len(kids) == 1 and node["structure"] == PLAIN:  # enum, atomic
        return texts(layout, kids[0])
    return leaf_texts(ak.to_numpy(ak.Array(layout)), node)


PLAIN = COLLECTION = RECORD = VARIANT = None  # set from ROOT's enum in main


def uproot_arrays(ntuple, schema):
    """{field: array of all its values}, {field: error}."""
    good, bad = {}, {}
    for node in schema:
        name = node["name"]
        try:
            a = ntuple.arrays(filter_name=[name, name + ".*"])
            # (the filter also matches members of that name of other fields)
            a = a[name]
            if len(a) != ntuple.num_entries:
                raise ValueError(f"{len(a)} of {ntuple.num_entries} entries")
            good[name] = a
        except Exception as e:  # noqa: BLE001
            bad[name] = f"{type(e).__name__}: {e}"
    return good, bad


# ---------------------------------------------------------------------------------------------------------- main


def warn(*what):
    print("WARNING:", *what)


declared = {}


def declare(ROOT, label, nodes, under_variant=False):
    """Declares to the interpreter the classes inside variants: ROOT 6.40 emulates unknown classes elsewhere, but
    crashes (null TClass in the constructor of RVariantField) on a variant of one."""
    for node in nodes:
        below = under_variant or node["structure"] == VARIANT
        declare(ROOT, label, node["fields"], below)
        t = node["type"]
        if not (under_variant and node["structure"] == RECORD) or not re.fullmatch(r"\w+(::\w+)*", t):
            continue
        *spaces, name = t.split("::")
        bases = [f["type"] for f in node["fields"] if f["name"].startswith(":")]
        members = [f["type"] + " " + f["name"] for f in node["fields"] if not f["name"].startswith(":")]
        code = "".join(f"namespace {s} {{ " for s in spaces) + f"struct {name}"
        code += " : " + ", ".join(bases) if bases else ""
        code += " { " + "".join(m + "{}; " for m in members) + "};" + " }" * len(spaces)
        if t in declared:
            if declared[t] != code:
                warn(label, f"class {t} declared differently before: {declared[t]}")
        elif not ROOT.gInterpreter.ClassInfo_IsValid(ROOT.gInterpreter.ClassInfo_Factory(t)):
            ROOT.gInterpreter.Declare(code)
            declared[t] = code
            print(f"{label}: declared to ROOT: {code}")


def declare_containers(ROOT, label, nodes):
    """Compiles dictionaries for maps and sets: ROOT aborts in the proxy of one that has none."""
    types = set()

    def collect(nodes):
        for node in nodes:
            if re.match(r"std::(unordered_)?(multi)?(set|map)<", node["type"]) and node["type"] not in declared:
                types.add(node["type"])
            collect(node["fields"])

    collect(nodes)
    types = sorted(types)
    declared.update(zip(types, types))
    if not types:
        return
    # (in one go, and named after std::set<int>: ACLiC fails on the file name made from some of the types)
    headers = "array;map;optional;set;string;unordered_map;unordered_set;vector"
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        try:
            if not ROOT.gInterpreter.GenerateDictionary(";".join(["std::set<int>"] + types), headers):
                raise RuntimeError(f"no dictionaries for {types}")
        finally:
            os.chdir(here)



def dump_ntuple(ROOT, path, key, ntuple, out):
    label = f"{os.path.basename(path)}:{key}"
    try:
        schema = json.loads(str(ROOT.exactjson.Schema(key, path)))
        declare(ROOT, label, schema)
        declare_containers(ROOT, label, schema)
        dump = ROOT.exactjson.Dump(key, path)
    except Exception as e:  # noqa: BLE001
        raise SystemExit(f"{label}: ROOT cannot open it: {e}")
    for line in str(dump.fErrors).splitlines():
        warn(label, "ROOT cannot read", line)
    entries = int(dump.GetNEntries())
    if ntuple.num_entries != entries:
        warn(label, f"entries: ROOT {entries}, uproot {ntuple.num_entries}")
    by_root = {str(f) for f in dump.fFields}
    arrays, errors = uproot_arrays(ntuple, schema)
    for name, e in errors.items():
        warn(label, f"uproot cannot read {name}: {e.splitlines()[0]}")
    names = [n["name"] for n in schema]
    written = [n for n in names if n in by_root or n in arrays]
    for n in names:
        if n not in written:
            warn(label, f"LEFT OUT, nobody reads it: {n}")
    heads = [jstr(n.encode()) + ":" for n in written]
    differ, unprintable = {}, {}
    digest = hashlib.sha256()
    with open(out, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as z:
        for start in range(0, entries, CHUNK):
            stop = min(start + CHUNK, entries)
            cols = root_columns(dump, CHUNK)
            for node in schema:
                name = node["name"]
                if name not in arrays or name in unprintable:
                    continue
                try:
                    col = texts(ak.to_packed(arrays[name][start:stop]).layout, node)
                except Exception as e:  # noqa: BLE001
                    unprintable[name] = f"{type(e).__name__}: {e}"
                    assert name in by_root, (label, name, e)
                    continue
                if name not in by_root:
                    cols[name] = col
                elif col != cols[name]:
                    for i, (u, r) in enumerate(zip(col, cols[name])):
                        if u != r:
                            n, first = differ.get(name, (0, (start + i, r, u)))
                            differ[name] = (n + 1, first)
            if len(written) == 1:
                h = "{" + heads[0]
                text = h + ("}\n" + h).join(cols[written[0]]) + "}\n"
            else:
                text = "".join(
                    "{" + ",".join(map(str.__add__, heads, row)) + "}\n" for row in zip(*(cols[n] for n in written))
                )
            z.write(text.encode())
            digest.update(text.encode())
    for name, e in unprintable.items():
        warn(label, f"uproot's value of {name} has another shape: {e}")
    for name, (n, (i, r, u)) in differ.items():
        warn(label, f"{name}: {n} entries differ, first {i}: ROOT {r[:200]} uproot {u[:200]}")
    agree = len([n for n in arrays if n in by_root and n not in differ and n not in unprintable])
    print(f"{label}: {entries} entries, {len(written)} of {len(names)} fields, {agree} equal in ROOT and uproot", flush=True)
    return entries, digest.hexdigest()


def main(indir, outdir):
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    if not ROOT.gInterpreter.Declare(CPP):
        raise SystemExit("cannot compile")
    global PLAIN, COLLECTION, RECORD, VARIANT
    E = ROOT.ENTupleStructure
    PLAIN, COLLECTION, RECORD, VARIANT = (int(v) for v in (E.kPlain, E.kCollection, E.kRecord, E.kVariant))
    indir, outdir = os.path.abspath(indir), os.path.abspath(outdir)
    os.makedirs(outdir, exist_ok=True)
    manifest = []
    for file in sorted(os.listdir(indir)):
        if not file.endswith(".root"):
            continue
        path = os.path.join(indir, file)
        with uproot.open(path) as f:
            for key, cls in f.classnames(recursive=True, cycle=False).items():
                if cls != "ROOT::RNTuple":
                    continue
                jsonl = f"{file[:-5]}__{key.replace('/', '_')}.jsonl.gz"
                entries, digest = dump_ntuple(ROOT, path, key, f[key], os.path.join(outdir, jsonl))
                manifest.append({"file": file, "ntuple": key, "jsonl": jsonl, "entries": entries, "sha256": digest})
    with open(os.path.join(outdir, "manifest.json"), "w") as m:
        json.dump(manifest, m, indent=1)
        m.write("\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
