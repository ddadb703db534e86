// User types of evolve.C; rootcling makes their dictionaries (evolve_linkdef.h).
#ifndef GORNTUPLE_EVOLVE_HXX
#define GORNTUPLE_EVOLVE_HXX

#include <ROOT/RVec.hxx>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

enum class EvolveA : std::int16_t { kZero };
enum class EvolveB : std::int8_t { kZero };

struct Evolve {
   std::int32_t a = 0;
   float b = 0;
};

#endif
