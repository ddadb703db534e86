// What ROOT does for the benchmarks. It tells its version, or makes a file:
//
//    bench version
//    bench make F|J|S ENTRIES COMPRESSION FILE     an RNTuple of made-up entries
//    bench tree F|J ENTRIES COMPRESSION FILE       the same entries as a TTree
//    bench wide FIELDS CLUSTERS FILE               an RNTuple of many fields, an entry per cluster
//
// or serves one work, like the programs in other languages: for each line on standard input it does it once, and prints
// how long it took and what came out.
//
//    bench bulk|entries F|J|S FILE THREADS
//    bench views|random F FILE THREADS
//    bench dimuon|histogram J FILE THREADS
//    bench open wide FILE THREADS
//    bench write F|J FILE THREADS COMPRESSION OUTPUT
//    bench import F|J TREE THREADS COMPRESSION OUTPUT
//    bench skim-MET J FILE THREADS COMPRESSION OUTPUT    the entries with a MET_pt above MET
#include "data.hxx"
#include "dataframe.hxx"

#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleImporter.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <RVersion.h>
#include <TFile.h>
#include <TROOT.h>
#include <TTree.h>

#include <malloc.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>

// --- Sums: of the bits of all values, of the bytes of strings, and 2^32 times the number of items of collections.

constexpr std::uint64_t kItem = std::uint64_t{1} << 32;

inline std::uint64_t BitSum(double x)
{
   std::uint64_t u;
   std::memcpy(&u, &x, 8);
   return u;
}
inline std::uint64_t BitSum(float x)
{
   std::uint32_t u;
   std::memcpy(&u, &x, 4);
   return u;
}
inline std::uint64_t BitSum(std::int32_t x) { return static_cast<std::uint32_t>(x); }
inline std::uint64_t BitSum(std::uint32_t x) { return x; }
inline std::uint64_t BitSum(std::uint64_t x) { return x; }
inline std::uint64_t BitSum(bool x) { return x; }

// SumOf adds up an array of numbers; four sums, so that additions need not wait for each other.
template <typename T>
std::uint64_t SumOf(const T *x, std::size_t n)
{
   std::uint64_t a = 0, b = 0, c = 0, d = 0;
   std::size_t i = 0;
   for (; i + 4 <= n; i += 4) {
      a += BitSum(x[i]);
      b += BitSum(x[i + 1]);
      c += BitSum(x[i + 2]);
      d += BitSum(x[i + 3]);
   }
   for (; i < n; ++i)
      a += BitSum(x[i]);
   return a + b + c + d;
}

// An array of RVecs that were read in bulk: their items lie behind each other.
template <typename T>
std::uint64_t SumOf(const ROOT::RVec<T> *x, std::size_t n)
{
   const T *first = x[0].data();
   const std::size_t items = x[n - 1].data() + x[n - 1].size() - first;
   return SumOf(first, items) + kItem * items;
}

template <typename T>
std::uint64_t BitSum(const ROOT::RVec<T> &v)
{
   std::uint64_t sum = kItem * v.size();
   for (const auto &x : v)
      sum += BitSum(x);
   return sum;
}
inline std::uint64_t BitSum(const std::string &s)
{
   std::uint64_t sum = kItem * s.size();
   for (unsigned char c : s)
      sum += c;
   return sum;
}
template <typename T>
std::uint64_t BitSum(const std::vector<T> &v)
{
   std::uint64_t sum = kItem * v.size();
   for (const auto &x : v)
      sum += BitSum(x);
   return sum;
}
template <typename T>
std::uint64_t BitSum(const std::optional<T> &o)
{
   return o ? kItem + BitSum(*o) : 0;
}
inline std::uint64_t BitSum(const CountMap &m)
{
   std::uint64_t sum = kItem * m.size();
   for (const auto &[key, value] : m)
      sum += BitSum(key) + BitSum(value);
   return sum;
}

// --- The fields of a type of entries.

// Fields<T>::ForEach calls f(name, pointer to member) for each.
template <typename T>
struct Fields;
#define VISIT(Type, Name) f(#Name, &Entry::Name);
#define FIELDS_OF(T)             \
   template <>                   \
   struct Fields<T> {            \
      template <typename Func>   \
      static void ForEach(Func f) \
      {                          \
         using Entry = T;        \
         T##_FIELDS(VISIT)       \
      }                          \
   };
FIELDS_OF(F)
FIELDS_OF(J)
FIELDS_OF(S)

void AddSums(const F &row, std::uint64_t *sums)
{
#define ADD(Type, Name) *sums++ += BitSum(row.Name);
   F_FIELDS(ADD)
}
void AddSums(const J &row, std::uint64_t *sums) { J_FIELDS(ADD) }
void AddSums(const S &row, std::uint64_t *sums) { S_FIELDS(ADD) }

template <typename T>
std::unique_ptr<ROOT::RNTupleModel> ModelOf()
{
   auto model = ROOT::RNTupleModel::CreateBare();
   Fields<T>::ForEach([&](const char *name, auto member) {
      model->MakeField<std::decay_t<decltype(std::declval<T>().*member)>>(name);
   });
   return model;
}

template <typename T>
void Bind(ROOT::REntry &entry, T &row)
{
   Fields<T>::ForEach([&](const char *name, auto member) { entry.BindRawPtr(name, &(row.*member)); });
}

// --- Threads

struct Cluster {
   ROOT::DescriptorId_t fId;
   std::uint64_t fFirst, fEntries;
};
using Clusters = std::vector<Cluster>;

Clusters ClustersOf(ROOT::RNTupleReader &reader)
{
   Clusters clusters;
   for (const auto &c : reader.GetDescriptor().GetClusterIterable())
      clusters.push_back({c.GetId(), c.GetFirstEntryIndex(), c.GetNEntries()});
   std::sort(clusters.begin(), clusters.end(), [](auto &a, auto &b) { return a.fFirst < b.fFirst; });
   return clusters;
}

// RunThreads runs f(0) … f(n-1) side by side.
void RunThreads(int n, const std::function<void(int)> &f)
{
   std::vector<std::thread> threads;
   for (int i = 1; i < n; ++i)
      threads.emplace_back(f, i);
   f(0);
   for (auto &t : threads)
      t.join();
}

// ReadSums deals the clusters of a file out to threads; each has a reader of its own, and adds to sums of its own.
// If there are fewer clusters than threads, ROOT's implicit multi-threading decompresses pages in parallel.
Sums ReadSums(const std::string &file, int threads, std::size_t nSums,
              const std::function<void(ROOT::RNTupleReader &, const Clusters &, Sums &)> &read,
              const std::function<std::unique_ptr<ROOT::RNTupleReader>()> &open = nullptr)
{
   auto openFile = [&] { return open ? open() : ROOT::RNTupleReader::Open("Events", file); };
   auto first = openFile();
   const auto clusters = ClustersOf(*first);
   if (threads > 1 && clusters.size() < static_cast<std::size_t>(threads)) {
      ROOT::EnableImplicitMT(threads);
      threads = 1;
      first = openFile();
   }
   std::vector<Sums> parts(threads, Sums(nSums));
   RunThreads(threads, [&](int t) {
      const auto begin = clusters.size() * t / threads, end = clusters.size() * (t + 1) / threads;
      auto own = t == 0 ? std::move(first) : openFile();
      read(*own, Clusters(clusters.begin() + begin, clusters.begin() + end), parts[t]);
   });
   for (int t = 1; t < threads; ++t)
      for (std::size_t i = 0; i < nSums; ++i)
         parts[0][i] += parts[t][i];
   return parts[0];
}

template <typename T>
std::size_t NumFields()
{
   std::size_t n = 0;
   Fields<T>::ForEach([&](auto, auto) { ++n; });
   return n;
}

// --- Reading

// Columns that are read in bulk, so many entries at a time that they stay in the cache.
constexpr std::uint64_t kBulk = 1 << 14;

struct BulkColumn {
   virtual ~BulkColumn() = default;
   virtual std::uint64_t Read(const Cluster &c) = 0;
};
template <typename T>
struct BulkColumnOf : BulkColumn {
   ROOT::RNTupleView<T> fView;
   ROOT::RFieldBase::RBulkValues fBulk;

   BulkColumnOf(ROOT::RNTupleReader &reader, const char *name)
      : fView(reader.GetView<T>(name)), fBulk(fView.CreateBulk())
   {
   }
   std::uint64_t Read(const Cluster &c) final
   {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < c.fEntries; i += kBulk) {
         const auto n = std::min(kBulk, c.fEntries - i);
         sum += SumOf(static_cast<const T *>(fBulk.ReadBulk(ROOT::RNTupleLocalIndex(c.fId, i), nullptr, n)), n);
      }
      return sum;
   }
};

template <typename T>
Sums Bulk(const std::string &file, int threads)
{
   return ReadSums(file, threads, NumFields<T>(), [](auto &reader, const Clusters &clusters, Sums &sums) {
      std::vector<std::unique_ptr<BulkColumn>> columns;
      Fields<T>::ForEach([&](const char *name, auto member) {
         using Value = std::decay_t<decltype(std::declval<T>().*member)>;
         columns.push_back(std::make_unique<BulkColumnOf<Value>>(reader, name));
      });
      for (const auto &c : clusters)
         for (std::size_t i = 0; i < columns.size(); ++i)
            sums[i] += columns[i]->Read(c);
   });
}

template <typename T>
Sums Entries(const std::string &file, int threads)
{
   return ReadSums(
      file, threads, NumFields<T>(),
      [](auto &reader, const Clusters &clusters, Sums &sums) {
         T row;
         auto entry = reader.GetModel().CreateBareEntry();
         Bind(*entry, row);
         Sums local(sums.size());
         for (const auto &c : clusters)
            for (auto i = c.fFirst; i < c.fFirst + c.fEntries; ++i) {
               reader.LoadEntry(i, *entry);
               AddSums(row, local.data());
            }
         sums = local;
      },
      [&] { return ROOT::RNTupleReader::Open(ModelOf<T>(), "Events", file); });
}

Sums Views(const std::string &file, int threads)
{
   return ReadSums(file, threads, 4, [](auto &reader, const Clusters &clusters, Sums &sums) {
      auto px = reader.template GetDirectAccessView<double>("H1_PX");
      auto py = reader.template GetDirectAccessView<double>("H1_PY");
      auto pz = reader.template GetDirectAccessView<double>("H1_PZ");
      auto k = reader.template GetDirectAccessView<double>("H1_ProbK");
      std::uint64_t x = 0, y = 0, z = 0, p = 0;
      for (const auto &c : clusters)
         for (auto i = c.fFirst; i < c.fFirst + c.fEntries; ++i) {
            x += BitSum(px(i));
            y += BitSum(py(i));
            z += BitSum(pz(i));
            p += BitSum(k(i));
         }
      sums = {x, y, z, p};
   });
}

// The mass of the first two muons of each event, if they have opposite charge, in 100 bins of 2 GeV and one for more.
Sums Dimuon(const std::string &file, int threads)
{
   return ReadSums(file, threads, 101, [](auto &reader, const Clusters &clusters, Sums &bins) {
      auto ptView = reader.template GetView<ROOT::RVec<float>>("Muon_pt");
      auto etaView = reader.template GetView<ROOT::RVec<float>>("Muon_eta");
      auto phiView = reader.template GetView<ROOT::RVec<float>>("Muon_phi");
      auto chargeView = reader.template GetView<ROOT::RVec<std::int32_t>>("Muon_charge");
      for (const auto &c : clusters)
         for (auto i = c.fFirst; i < c.fFirst + c.fEntries; ++i) {
            const auto &charge = chargeView(i);
            if (charge.size() < 2 || charge[0] == charge[1])
               continue;
            const auto &pt = ptView(i), &eta = etaView(i), &phi = phiView(i);
            const double angles = std::cosh(double(eta[0]) - double(eta[1])) - std::cos(double(phi[0]) - double(phi[1]));
            const double mass = std::sqrt(2 * double(pt[0]) * double(pt[1]) * angles);
            ++bins[mass < 200 ? static_cast<int>(mass / 2) : 100];
         }
   });
}

Sums RandomAccess(const std::string &file)
{
   auto reader = ROOT::RNTupleReader::Open("Events", file);
   auto view = reader->GetView<double>("H1_PX");
   const auto n = reader->GetNEntries();
   Random random(1);
   std::uint64_t sum = 0;
   for (int i = 0; i < 10000; ++i)
      sum += BitSum(view(random.Bits() % n));
   return {sum};
}

// Opens a file, and reads one value from the middle.
Sums Open(const std::string &file)
{
   auto reader = ROOT::RNTupleReader::Open("Events", file);
   auto view = reader->GetView<float>("f0");
   const auto n = reader->GetNEntries();
   return {n, BitSum(view(n / 2))};
}

// --- Writing

ROOT::RNTupleWriteOptions WriteOptions(int compression)
{
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(compression);
   return options;
}

// All values of a field, and how entry i gets its own.
template <typename T>
struct Column {
   std::vector<T> fValues;

   void Add(const T &x) { fValues.push_back(x); }
   void Get(std::size_t i, T &x) const { x = fValues[i]; }
};
template <>
struct Column<bool> {
   std::vector<char> fValues;

   void Add(bool x) { fValues.push_back(x); }
   void Get(std::size_t i, bool &x) const { x = fValues[i]; }
};
template <typename T>
struct Column<ROOT::RVec<T>> {
   std::vector<T> fItems;
   std::vector<std::size_t> fOffsets{0};

   void Add(const ROOT::RVec<T> &v)
   {
      fItems.insert(fItems.end(), v.begin(), v.end());
      fOffsets.push_back(fItems.size());
   }
   // without a copy: the RVec is a view
   void Get(std::size_t i, ROOT::RVec<T> &v) const
   {
      v = ROOT::RVec<T>(const_cast<T *>(fItems.data()) + fOffsets[i], fOffsets[i + 1] - fOffsets[i]);
   }
};

#define COLUMN(Type, Name) Column<Type> Name;
#define ADD_TO_COLUMN(Type, Name) Name.Add(row.Name);
#define GET_FROM_COLUMN(Type, Name) Name.Get(i, row.Name);
template <typename T>
struct Columns;
#define COLUMNS_OF(T)                                                       \
   template <>                                                              \
   struct Columns<T> {                                                      \
      T##_FIELDS(COLUMN) void Add(const T &row) { T##_FIELDS(ADD_TO_COLUMN) } \
      void Get(std::size_t i, T &row) const { T##_FIELDS(GET_FROM_COLUMN) } \
   };
COLUMNS_OF(F)
COLUMNS_OF(J)

// Writer holds all entries in memory.
template <typename T>
class Writer {
   Columns<T> fColumns;
   std::size_t fEntries = 0;

   // fill calls fillEntry for the entries from begin to end, after setting row
   void Loop(std::size_t begin, std::size_t end, T &row, const std::function<void()> &fillEntry) const
   {
      for (auto i = begin; i < end; ++i) {
         fColumns.Get(i, row);
         fillEntry();
      }
   }

public:
   explicit Writer(const std::string &file)
   {
      auto reader = ROOT::RNTupleReader::Open(ModelOf<T>(), "Events", file);
      T row;
      auto entry = reader->GetModel().CreateBareEntry();
      Bind(*entry, row);
      fEntries = reader->GetNEntries();
      for (std::size_t i = 0; i < fEntries; ++i) {
         reader->LoadEntry(i, *entry);
         fColumns.Add(row);
      }
   }

   void Write(const std::string &output, int threads, int compression) const
   {
      const auto options = WriteOptions(compression);
      if (threads == 1) {
         T row;
         auto writer = ROOT::RNTupleWriter::Recreate(ModelOf<T>(), "Events", output, options);
         auto entry = writer->GetModel().CreateBareEntry();
         Bind(*entry, row);
         Loop(0, fEntries, row, [&] { writer->Fill(*entry); });
         return;
      }
      auto writer = ROOT::RNTupleParallelWriter::Recreate(ModelOf<T>(), "Events", output, options);
      RunThreads(threads, [&](int t) {
         T row;
         auto context = writer->CreateFillContext();
         auto entry = context->GetModel().CreateBareEntry();
         Bind(*entry, row);
         Loop(fEntries * t / threads, fEntries * (t + 1) / threads, row, [&] { context->Fill(*entry); });
      });
   }
};

// Import makes an RNTuple of a TTree, with one thread.
void Import(const std::string &file, int compression, const std::string &output)
{
   std::filesystem::remove(output); // the importer adds to files
   auto importer = ROOT::Experimental::RNTupleImporter::Create(file, "Events", output);
   importer->SetIsQuiet(true);
   importer->SetWriteOptions(WriteOptions(compression));
   importer->Import();
}

// --- Making files

template <typename T>
void Make(std::uint64_t entries, int compression, const std::string &file)
{
   auto writer = ROOT::RNTupleWriter::Recreate(ModelOf<T>(), "Events", file, WriteOptions(compression));
   T row;
   auto entry = writer->GetModel().CreateBareEntry();
   Bind(*entry, row);
   Random random(20240613);
   for (std::uint64_t i = 0; i < entries; ++i) {
      Generate(row, random, i);
      writer->Fill(*entry);
   }
}

// Branches of a TTree: numbers, and arrays whose length is another branch, nMuon for Muon_pt.
class Branches {
   TTree &fTree;
   std::map<std::string, std::int32_t> fCounts;
   std::vector<std::function<void()>> fCopies;

public:
   explicit Branches(TTree &tree) : fTree(tree) {}

   template <typename T>
   void Add(const std::string &name, T &value)
   {
      fTree.Branch(name.c_str(), &value);
   }
   template <typename T>
   void Add(const std::string &name, ROOT::RVec<T> &v)
   {
      const auto count = "n" + name.substr(0, name.find('_'));
      auto [it, isNew] = fCounts.try_emplace(count);
      if (isNew)
         fTree.Branch(count.c_str(), &it->second);
      static constexpr std::size_t kMax = 128;
      auto buffer = std::make_shared<std::vector<T>>(kMax);
      const char *type = std::is_same_v<T, float> ? "/F" : "/I";
      fTree.Branch(name.c_str(), buffer->data(), (name + "[" + count + "]" + type).c_str());
      fCopies.push_back([&v, buffer, n = &it->second] {
         *n = v.size();
         std::copy_n(v.begin(), std::min(v.size(), kMax), buffer->begin());
      });
   }
   void Fill()
   {
      for (auto &copy : fCopies)
         copy();
      fTree.Fill();
   }
};

template <typename T>
void MakeTree(std::uint64_t entries, int compression, const std::string &path)
{
   TFile file(path.c_str(), "RECREATE", "", compression);
   auto tree = new TTree("Events", ""); // the file owns it
   T row;
   Branches branches(*tree);
   Fields<T>::ForEach([&](const char *name, auto member) { branches.Add(name, row.*member); });
   Random random(20240613);
   for (std::uint64_t i = 0; i < entries; ++i) {
      Generate(row, random, i);
      branches.Fill();
   }
   file.Write();
}

void MakeWide(int fields, int clusters, const std::string &file)
{
   auto model = ROOT::RNTupleModel::CreateBare();
   for (int i = 0; i < fields; ++i)
      model->MakeField<float>("f" + std::to_string(i));
   auto options = WriteOptions(505);
   options.SetInitialUnzippedPageSize(4);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", file, options);
   std::vector<float> row(fields);
   auto entry = writer->GetModel().CreateBareEntry();
   for (int i = 0; i < fields; ++i)
      entry->BindRawPtr("f" + std::to_string(i), &row[i]);
   for (int c = 0; c < clusters; ++c) {
      for (int i = 0; i < fields; ++i)
         row[i] = c + i;
      writer->Fill(*entry);
      writer->CommitCluster();
   }
}

// --- The program

// Serve answers each line with one repetition of work.
void Serve(const std::function<Sums()> &work, const std::string &output = "")
{
   // What was needed to load data is not memory of the work: it is given back, and Linux resets the peak.
   malloc_trim(0);
   std::ofstream("/proc/self/clear_refs") << 5;
   for (std::string line; std::getline(std::cin, line);) {
      const auto start = std::chrono::steady_clock::now();
      const auto sums = work();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      std::cout << "{\"seconds\":" << took.count() << ",\"bytes\":"
                << (output.empty() ? 0 : std::filesystem::file_size(output)) << ",\"sums\":[";
      for (std::size_t i = 0; i < sums.size(); ++i)
         std::cout << (i ? "," : "") << sums[i];
      std::cout << "]}" << std::endl;
   }
}

template <typename T>
bool RunWork(const std::string &work, const std::vector<std::string> &args)
{
   const auto &file = args.at(2);
   if (work == "make") {
      Make<T>(std::stoull(file), std::stoi(args.at(3)), args.at(4));
      return true;
   }
   const int threads = std::stoi(args.at(3));
   if (work == "entries")
      Serve([&] { return Entries<T>(file, threads); });
   else if constexpr (std::is_same_v<T, S>)
      return false;
   else if (work == "tree")
      MakeTree<T>(std::stoull(file), std::stoi(args.at(3)), args.at(4));
   else if (work == "bulk")
      Serve([&] { return Bulk<T>(file, threads); });
   else if (work == "write") {
      const Writer<T> writer(file);
      const auto compression = std::stoi(args.at(4));
      const auto &output = args.at(5);
      Serve([&] { return writer.Write(output, threads, compression), Sums{}; }, output);
   } else
      return false;
   return true;
}

bool Run(const std::vector<std::string> &args)
{
   if (args == std::vector<std::string>{"version"}) {
      std::cout << ROOT_RELEASE << "\n";
      return true;
   }
   const auto &work = args.at(0), &data = args.at(1), &file = args.at(2);
   if (work == "wide")
      MakeWide(std::stoi(data), std::stoi(file), args.at(3));
   else if (work == "views")
      Serve([&] { return Views(file, std::stoi(args.at(3))); });
   else if (work == "dimuon")
      Serve([&] { return Dimuon(file, std::stoi(args.at(3))); });
   else if (work == "histogram")
      Serve([&] { return Histogram(file, std::stoi(args.at(3))); });
   else if (work.rfind("skim-", 0) == 0)
      Serve([&] {
         Skim(file, args.at(5), std::stoi(args.at(3)), std::stoi(args.at(4)), std::stof(work.substr(5)));
         return Sums{};
      }, args.at(5));
   else if (work == "import")
      Serve([&] { return Import(file, std::stoi(args.at(4)), args.at(5)), Sums{}; }, args.at(5));
   else if (work == "random")
      Serve([&] { return RandomAccess(file); });
   else if (work == "open")
      Serve([&] { return Open(file); });
   else if (data == "F")
      return RunWork<F>(work, args);
   else if (data == "J")
      return RunWork<J>(work, args);
   else if (data == "S")
      return RunWork<S>(work, args);
   else
      return false;
   return true;
}

int main(int argc, char **argv)
{
   ROOT::EnableThreadSafety();
   std::cout.precision(9);
   try {
      if (Run(std::vector<std::string>(argv + 1, argv + argc)))
         return 0;
      std::cerr << "unknown work\n";
   } catch (const std::exception &e) {
      std::cerr << e.what() << "\n";
   }
   return 1;
}
