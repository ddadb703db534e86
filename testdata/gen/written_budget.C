// Has ROOT write with little memory for pages, and report the pages of files. Built and run by written_budget.sh.
#include <ROOT/RNTupleDescriptor.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

static std::uint64_t state;

// Knuth's MMIX constants
static std::uint32_t random32()
{
   state = state * 6364136223846793005ull + 1442695040888963407ull;
   return state >> 32;
}

using Fillers = std::vector<std::function<void()>>;

template <typename T>
static void number(ROOT::RNTupleModel &model, Fillers &fill, const std::string &name)
{
   auto v = model.MakeField<T>(name);
   fill.push_back([v] { *v = T(random32() % 1000); });
}

template <typename T>
static void items(ROOT::RNTupleModel &model, Fillers &fill, const std::string &name, unsigned most, unsigned rare)
{
   auto v = model.MakeField<std::vector<T>>(name);
   fill.push_back([v, most, rare] {
      v->resize(random32() % rare == 0 ? random32() % (most + 1) : 0);
      for (auto &&e : *v)
         e = T(random32() % 1000);
   });
}

static void write(const std::string &path, const std::string &kind, int compression, long cluster, long unzipped,
                  long budget, long page, long entries)
{
   state = 20261121;
   auto model = ROOT::RNTupleModel::Create();
   Fillers fill;
   if (kind == "wide") {
      for (int i = 0; i < 200; i++) {
         auto n = std::to_string(i);
         number<double>(*model, fill, "d" + n);
         number<float>(*model, fill, "f" + n);
         number<std::int16_t>(*model, fill, "s" + n);
         number<bool>(*model, fill, "b" + n);
         number<std::int64_t>(*model, fill, "l" + n);
      }
   } else {
      number<std::uint64_t>(*model, fill, "event");
      items<float>(*model, fill, "many", 40, 1);
      items<double>(*model, fill, "some", 5, 1);
      items<std::int32_t>(*model, fill, "rare", 3000, 100);
      items<bool>(*model, fill, "flags", 3, 2);
      number<bool>(*model, fill, "flag");
      auto text = model->MakeField<std::string>("text");
      fill.push_back([text] { text->assign(random32() % 20, 'x'); });
      auto nested = model->MakeField<std::vector<std::vector<std::int8_t>>>("nested");
      fill.push_back([nested] {
         nested->resize(random32() % 4);
         for (auto &v : *nested)
            v.assign(random32() % 10, 7);
      });
      auto fixed = model->MakeField<std::array<std::int16_t, 7>>("fixed");
      fill.push_back([fixed] { fixed->fill(random32() % 1000); });
   }
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(compression);
   opt.SetApproxZippedClusterSize(cluster);
   if (page)
      opt.SetMaxUnzippedPageSize(page);
   if (unzipped)
      opt.SetMaxUnzippedClusterSize(unzipped);
   opt.SetPageBufferBudget(budget);
   opt.SetEnableSamePageMerging(false); // depends on the unused bits of a page of bools, and clusters on it
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "events", path, opt);
   for (long i = 0; i < entries; i++) {
      for (auto &f : fill)
         f();
      writer->Fill();
   }
}

static std::string pagesOf(const std::string &path)
{
   auto reader = ROOT::RNTupleReader::Open("events", path);
   const auto &desc = reader->GetDescriptor();
   std::ostringstream out;
   for (std::size_t c = 0; c < desc.GetNClusters(); c++) {
      const auto &cluster = desc.GetClusterDescriptor(c);
      out << (c ? ",[" : "[");
      for (std::size_t i = 0; i < desc.GetNPhysicalColumns(); i++) {
         out << (i ? ",[" : "[");
         const char *sep = "";
         for (const auto &p : cluster.GetPageRange(i).GetPageInfos()) {
            out << sep << p.GetNElements();
            sep = ",";
         }
         out << "]";
      }
      out << "]";
   }
   return "[" + out.str() + "]";
}

int main(int argc, char **argv)
{
   std::string command = argc > 1 ? argv[1] : "";
   if (command == "write" && argc == 10) {
      write(argv[2], argv[3], std::stoi(argv[4]), std::stol(argv[5]), std::stol(argv[6]), std::stol(argv[7]),
            std::stol(argv[8]), std::stol(argv[9]));
   } else if (command == "pages") {
      for (int i = 2; i < argc; i++)
         std::cout << pagesOf(argv[i]) << "\n";
   } else {
      std::cerr << "usage: see written_budget.sh\n";
      return 2;
   }
}
