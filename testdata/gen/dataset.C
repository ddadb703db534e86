// Has ROOT's RNTupleProcessor read files that belong together. Built and run by dataset.sh.
#include <ROOT/RNTupleProcessor.hxx>
#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using ROOT::Experimental::RNTupleOpenSpec;
using ROOT::Experimental::RNTupleProcessor;

static std::vector<std::string> split(const std::string &text, char by)
{
   std::vector<std::string> parts;
   std::istringstream in(text);
   for (std::string part; std::getline(in, part, by);)
      parts.push_back(part);
   return parts;
}

// The RNTuples named "set" in files whose paths are joined by commas, as one
static std::unique_ptr<RNTupleProcessor> chain(const std::string &paths, const std::string &name)
{
   std::vector<RNTupleOpenSpec> specs;
   for (auto &path : split(paths, ','))
      specs.emplace_back("set", path);
   if (specs.size() == 1)
      return RNTupleProcessor::Create(specs[0], name);
   return RNTupleProcessor::CreateChain(specs, name);
}

template <typename Pointer>
static void number(const Pointer &p)
{
   if (p.HasValue())
      std::cout << ' ' << *p;
   else
      std::cout << " -";
}

template <typename Pointer>
static void list(const Pointer &p)
{
   if (!p.HasValue()) {
      std::cout << " -";
      return;
   }
   std::cout << " [";
   for (auto v : *p)
      std::cout << v << ';';
   std::cout << ']';
}

int main(int argc, char **argv)
{
   std::string primary(argv[1]), aux(argc > 2 ? argv[2] : "");
   auto all = chain(primary, "primary");
   if (!aux.empty()) {
      std::vector<std::string> fields = argc > 3 ? split(argv[3], ',') : std::vector<std::string>{};
      all = RNTupleProcessor::CreateJoin(std::move(all), chain(aux, "aux"), fields);
   }
   auto id = all->RequestField<std::int32_t>("id");
   auto adc = all->RequestField<std::vector<std::int16_t>>("adc");
   if (aux.empty()) {
      for (auto entry : *all) {
         std::cout << entry;
         number(id);
         list(adc);
         std::cout << '\n';
      }
      return 0;
   }
   auto weight = all->RequestField<double>("aux.weight");
   auto list2 = all->RequestField<std::vector<float>>("aux.list");
   for (auto entry : *all) {
      std::cout << entry;
      number(id);
      list(adc);
      number(weight);
      list(list2);
      std::cout << '\n';
   }
}
