// Has ROOT write made-up events, to compare sizes. Built and run by written_size.sh.
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

static std::uint64_t state = 20261121;

// Uniform in [0, 1): Knuth's MMIX constants
static double uniform()
{
   state = state * 6364136223846793005ull + 1442695040888963407ull;
   return double(state >> 11) / double(1ull << 53);
}

static double gauss()
{
   double sum = -6;
   for (int i = 0; i < 12; i++)
      sum += uniform();
   return sum;
}

int main(int argc, char **argv)
{
   if (argc < 4) {
      std::cerr << "usage: written_size OUT.root COMPRESSION ENTRIES [CLUSTERBYTES]\n";
      return 2;
   }
   auto model = ROOT::RNTupleModel::Create();
   auto event = model->MakeField<std::uint64_t>("event");
   auto run = model->MakeField<std::int32_t>("run");
   auto flag = model->MakeField<bool>("flag");
   auto x = model->MakeField<double>("x");           // random bits, incompressible
   auto mass = model->MakeField<double>("mass");     // rounded
   auto charge = model->MakeField<std::int8_t>("charge");
   auto status = model->MakeField<std::int32_t>("status");
   auto pt = model->MakeField<std::vector<float>>("pt");
   auto id = model->MakeField<std::vector<std::int32_t>>("id");
   auto trigger = model->MakeField<std::string>("trigger");
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(std::stoi(argv[2]));
   if (argc > 4)
      opt.SetApproxZippedClusterSize(std::stoul(argv[4]));
   auto entries = std::stoul(argv[3]);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "events", argv[1], opt);
   static const char *const triggers[] = {"", "mu20", "mu20,e26", "e26", "jet400"};
   double seconds = 0; // of ROOT's own
   for (std::size_t i = 0; i < entries; i++) {
      *event = 1000 + i;
      *run = 320000 + int(i / 40000);
      *flag = uniform() < 0.2;
      *x = uniform();
      *mass = std::round(1000 * (91.2 + 2.5 * gauss())) / 1000;
      *charge = uniform() < 0.5 ? -1 : 1;
      *status = int(100 * uniform() * uniform());
      pt->clear();
      id->clear();
      for (int k = int(6 * uniform() * uniform() + 0.5); k > 0; k--) {
         pt->push_back(float(-20 * std::log(1 - uniform())));
         id->push_back(uniform() < 0.9 ? 13 : -int(1000 * uniform()));
      }
      *trigger = triggers[int(5 * uniform() * uniform())];
      auto begin = std::chrono::steady_clock::now();
      writer->Fill();
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
   }
   auto begin = std::chrono::steady_clock::now();
   writer.reset();
   std::cout << seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() << "\n";
}
