// Has ROOT write fields of many types, and read each of them as each of many types. Prints a line of JSON for each pair:
// why ROOT refuses it, or the values of all entries, some of which may be errors. Built and run by evolve.sh.
#include "evolve.hxx"

#include <ROOT/RError.hxx>
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TError.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>

using Field = ROOT::RFieldBase;

static const int entries = 5;

struct OnDisk {
   std::string type;
   std::function<void(void *, int)> set; // to the value of an entry
};
static std::vector<OnDisk> disk;

template <typename T>
static void on(const char *type, std::function<void(T &, int)> set)
{
   disk.push_back({type, [set](void *p, int entry) { set(*static_cast<T *>(p), entry); }});
}

template <typename T>
static T number(int entry)
{
   using L = std::numeric_limits<T>;
   const T all[entries] = {T(1), T(0), T(100), L::max(), L::lowest()};
   return all[entry];
}

template <typename T>
static void onNumber(const char *type)
{
   on<T>(type, [](T &x, int k) { x = number<T>(k); });
}

static std::vector<std::int32_t> items(int entry)
{
   static const std::vector<std::int32_t> all[entries] = {{1}, {}, {5, 100, 7}, {-3, 300}, {70000}};
   return all[entry];
}

template <typename T>
static void onSequence(const char *type)
{
   on<T>(type, [](T &x, int k) {
      auto v = items(k);
      x = T(v.begin(), v.end());
   });
}

template <typename T>
static void onPairs(const char *type)
{
   on<T>(type, [](T &x, int k) {
      x.clear();
      for (auto i : items(k))
         x.insert(x.end(), {i, i + 1});
   });
}

using I = std::int32_t;

static void makeDisk()
{
   onNumber<bool>("bool");
   onNumber<char>("char");
   on<std::byte>("std::byte", [](std::byte &x, int k) { x = std::byte(number<std::uint8_t>(k)); });
   onNumber<std::int8_t>("std::int8_t");
   onNumber<std::uint8_t>("std::uint8_t");
   onNumber<std::int16_t>("std::int16_t");
   onNumber<std::uint16_t>("std::uint16_t");
   onNumber<std::int32_t>("std::int32_t");
   onNumber<std::uint32_t>("std::uint32_t");
   onNumber<std::int64_t>("std::int64_t");
   onNumber<std::uint64_t>("std::uint64_t");
   on<EvolveA>("EvolveA", [](EvolveA &x, int k) { x = EvolveA(number<std::int16_t>(k)); });
   onNumber<float>("float");
   onNumber<double>("double");
   on<double>("Double32_t", [](double &x, int k) { x = number<float>(k); });
   on<std::string>("std::string", [](std::string &x, int k) { x = std::string(k, 'a'); });
   on<std::atomic<I>>("std::atomic<std::int32_t>", [](std::atomic<I> &x, int k) { x = number<I>(k); });
   onSequence<std::vector<I>>("std::vector<std::int32_t>");
   onSequence<ROOT::RVec<I>>("ROOT::VecOps::RVec<std::int32_t>");
   onSequence<std::set<I>>("std::set<std::int32_t>");
   onSequence<std::multiset<I>>("std::multiset<std::int32_t>");
   onSequence<std::unordered_set<I>>("std::unordered_set<std::int32_t>");
   onSequence<std::unordered_multiset<I>>("std::unordered_multiset<std::int32_t>");
   onSequence<std::vector<float>>("std::vector<float>");
   onSequence<std::vector<char>>("std::vector<char>");
   on<std::vector<std::vector<I>>>("std::vector<std::vector<std::int32_t>>",
                                   [](std::vector<std::vector<I>> &x, int k) { x = {{}, items(k), {1, 2}}; });
   on<std::array<I, 3>>("std::array<std::int32_t,3>", [](std::array<I, 3> &x, int k) { x = {1, number<I>(k), 2}; });
   on<std::bitset<8>>("std::bitset<8>", [](std::bitset<8> &x, int k) { x = 37 * k; });
   on<std::optional<I>>("std::optional<std::int32_t>", [](std::optional<I> &x, int k) {
      x = k == 1 ? std::nullopt : std::optional<I>(number<I>(k));
   });
   on<std::unique_ptr<I>>("std::unique_ptr<std::int32_t>",
                          [](std::unique_ptr<I> &x, int k) { x = k == 1 ? nullptr : std::make_unique<I>(number<I>(k)); });
   on<std::pair<I, I>>("std::pair<std::int32_t,std::int32_t>", [](std::pair<I, I> &x, int k) { x = {number<I>(k), 5}; });
   on<std::tuple<I, I>>("std::tuple<std::int32_t,std::int32_t>",
                        [](std::tuple<I, I> &x, int k) { x = {5, number<I>(k)}; });
   onPairs<std::map<I, I>>("std::map<std::int32_t,std::int32_t>");
   onPairs<std::unordered_map<I, I>>("std::unordered_map<std::int32_t,std::int32_t>");
   onPairs<std::multimap<I, I>>("std::multimap<std::int32_t,std::int32_t>");
   onPairs<std::vector<std::pair<I, I>>>("std::vector<std::pair<std::int32_t,std::int32_t>>");
   onPairs<std::set<std::pair<I, I>>>("std::set<std::pair<std::int32_t,std::int32_t>>");
   on<std::variant<I, std::string>>("std::variant<std::int32_t,std::string>",
                                    [](std::variant<I, std::string> &x, int k) { x = number<I>(k); });
   on<Evolve>("Evolve", [](Evolve &x, int k) { x.a = number<I>(k), x.b = 2; });
}

// Types to read as that are not among those on disk.
static const char *const others[] = {
   "EvolveB",
   "std::atomic<std::int8_t>",
   "std::atomic<double>",
   "std::vector<std::int8_t>",
   "std::vector<std::uint64_t>",
   "std::vector<bool>",
   "std::vector<double>",
   "std::vector<std::string>",
   "std::vector<std::optional<std::int8_t>>",
   "std::vector<std::vector<std::int8_t>>",
   "ROOT::VecOps::RVec<std::int16_t>",
   "std::set<std::int64_t>",
   "std::set<std::int8_t>",
   "std::array<std::int8_t,3>",
   "std::array<std::int32_t,2>",
   "std::array<std::int32_t,4>",
   "std::array<float,3>",
   "std::bitset<9>",
   "std::optional<std::int8_t>",
   "std::optional<double>",
   "std::optional<std::string>",
   "std::optional<std::vector<std::int64_t>>",
   "std::unique_ptr<std::int64_t>",
   "std::pair<std::int8_t,std::int64_t>",
   "std::tuple<std::int8_t,std::int64_t>",
   "std::tuple<std::int32_t,std::int32_t,std::int32_t>",
   "std::map<std::int8_t,std::int64_t>",
   "std::vector<std::tuple<std::int8_t,std::int64_t>>",
   "std::variant<std::int64_t,std::string>",
};

static std::string quoted(const std::string &s)
{
   std::string out = "\"";
   for (char c : s) {
      if (c == '"' || c == '\\')
         out += '\\';
      out += c < ' ' ? ' ' : c;
   }
   return out + "\"";
}

static std::string digits(double v)
{
   char buffer[40];
   std::snprintf(buffer, sizeof buffer, "%.17g", v);
   return buffer;
}

static bool starts(const std::string &s, const char *prefix) { return s.rfind(prefix, 0) == 0; }

// Collections and records as lists, optional values as lists of length 0 or 1.
static std::string json(const Field::RValue &v)
{
   const Field &f = v.GetField();
   const auto &type = f.GetTypeName();
   const void *p = v.GetPtr<void>().get();
   auto is = [&](const char *name) { return type == name; };
   if (is("bool"))
      return *static_cast<const bool *>(p) ? "true" : "false";
   if (is("char") || is("std::int8_t"))
      return std::to_string(*static_cast<const std::int8_t *>(p));
   if (is("std::byte") || is("std::uint8_t"))
      return std::to_string(*static_cast<const std::uint8_t *>(p));
   if (is("std::int16_t"))
      return std::to_string(*static_cast<const std::int16_t *>(p));
   if (is("std::uint16_t"))
      return std::to_string(*static_cast<const std::uint16_t *>(p));
   if (is("std::int32_t"))
      return std::to_string(*static_cast<const std::int32_t *>(p));
   if (is("std::uint32_t"))
      return std::to_string(*static_cast<const std::uint32_t *>(p));
   if (is("std::int64_t"))
      return std::to_string(*static_cast<const std::int64_t *>(p));
   if (is("std::uint64_t"))
      return std::to_string(*static_cast<const std::uint64_t *>(p));
   if (is("float"))
      return digits(*static_cast<const float *>(p));
   if (is("double") || is("Double32_t"))
      return digits(*static_cast<const double *>(p));
   if (is("std::string"))
      return quoted(*static_cast<const std::string *>(p));
   std::string out;
   if (starts(type, "std::bitset")) {
      auto bits = *static_cast<const std::uint64_t *>(p);
      for (int i = 0, n = std::stoi(type.substr(12)); i < n; i++)
         out += std::string(i ? "," : "") + (bits >> i & 1 ? "true" : "false");
      return "[" + out + "]";
   }
   auto parts = f.SplitValue(v);
   if (starts(type, "std::atomic") || starts(type, "Evolve") && parts.size() == 1)
      return json(parts[0]);
   for (const auto &part : parts)
      out += (out.empty() ? "" : ",") + json(part);
   return "[" + out + "]";
}

int main(int argc, char **argv)
{
   if (argc != 2) {
      std::cerr << "usage: evolve OUT.root\n";
      return 2;
   }
   gErrorIgnoreLevel = kFatal;
   makeDisk();
   {
      auto model = ROOT::RNTupleModel::Create();
      for (std::size_t i = 0; i < disk.size(); i++)
         model->AddField(Field::Create("f" + std::to_string(i), disk[i].type).Unwrap());
      auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "evolve", argv[1]);
      auto entry = writer->CreateEntry();
      for (int k = 0; k < entries; k++) {
         for (std::size_t i = 0; i < disk.size(); i++)
            disk[i].set(entry->GetPtr<void>("f" + std::to_string(i)).get(), k);
         writer->Fill(*entry);
      }
   }
   std::vector<std::string> memory(std::begin(others), std::end(others));
   for (const auto &d : disk)
      memory.push_back(d.type);
   auto reader = ROOT::RNTupleReader::Open("evolve", argv[1]);
   for (std::size_t i = 0; i < disk.size(); i++) {
      auto name = "f" + std::to_string(i);
      for (const auto &type : memory) {
         std::cout << "{\"field\":" << quoted(name) << ",\"as\":" << quoted(type);
         try {
            if (starts(type, "Evolve") && type != "Evolve" && !starts(disk[i].type, "Evolve"))
               throw std::runtime_error("not tried: ROOT 6.40 aborts when reading an integer as an enum");
            auto field = Field::Create("x", type).Unwrap();
            auto value = field->CreateValue();
            auto view = reader->GetView(name, value.GetPtr<void>().get(), type);
            std::string values;
            for (int k = 0; k < entries; k++) {
               values += k ? "," : "";
               try {
                  view(k);
                  values += json(value);
               } catch (const std::exception &e) {
                  values += "{\"error\":" + quoted(e.what()) + "}";
               }
            }
            std::cout << ",\"values\":[" << values << "]}\n";
         } catch (const std::exception &e) {
            std::cout << ",\"refused\":" << quoted(e.what()) << "}\n";
         }
      }
   }
}
