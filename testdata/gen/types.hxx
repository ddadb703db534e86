// User classes and enums of types.C; rootcling makes their dictionaries (types_linkdef.h).
#ifndef GORNTUPLE_TYPES_HXX
#define GORNTUPLE_TYPES_HXX

#include <Rtypes.h>
#include <ROOT/RVec.hxx>
#include <RtypesCore.h>

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

enum class EI8 : std::int8_t { kMin = -128, kZero = 0, kMax = 127 };
enum class EU8 : std::uint8_t { kA, kB, kC };
enum class EI16 : std::int16_t { kA, kB, kC };
enum class EU16 : std::uint16_t { kA, kB, kC };
enum class EI32 : std::int32_t { kA, kB, kC };
enum class EU32 : std::uint32_t { kA, kB, kC };
enum class EI64 : std::int64_t { kA, kB, kC };
enum class EU64 : std::uint64_t { kA, kB, kC };
enum EUnscoped { kUnscoped0 = 0, kUnscoped1 = 1, kUnscoped7 = 7, kUnscoped255 = 255 };
enum ENegative { kNegM5 = -5, kNeg0 = 0, kNeg3 = 3 };
enum EUnscopedFixed : unsigned short { kFixed0, kFixed1 };

struct Simple {
   int a = 0;
   float b = 0;
   std::string s;
};

struct Empty {};

struct OfEmpty : Empty {
   int x = 0;
};

struct HasEmpty {
   Empty e;
   int x = 0;
};

struct BaseA {
   int ia = 0;
   float fa = 0;
};
struct BaseB {
   std::vector<float> vb; // not double: one dictionary cannot have vector<double> and vector<Double32_t>
};
struct Mid : BaseA {
   std::string m;
};
struct Derived : Mid, BaseB {
   std::int64_t d = 0;
   std::vector<Simple> vs;
};

struct Nested {
   Simple one;
   std::vector<Simple> many;
   std::array<Simple, 2> arr;
   std::vector<std::vector<Simple>> deep;
};

struct WithD32 {
   Double32_t x = 0;
   std::vector<Double32_t> v;
   double y = 0;
};

struct WithTransient {
   int a = 0;
   int t = 42; //!
   float b = 0;
};

struct WithEnum {
   enum class Inner : std::int16_t { kX, kY };
   EU8 e = EU8::kA;
   EUnscoped u = kUnscoped0;
   std::vector<EI32> v;
   Inner i = Inner::kX;
};

template <typename T, std::size_t N>
struct Tpl {
   T v{};
   std::array<T, N> a{};
};

struct CArrays {
   int a[3] = {};
   double m[2][3] = {};
   Simple s[2];
   std::string t[2];
   bool b[2][2] = {};
   EU8 e[2] = {};
   std::vector<int> w[2];
   float q[2][3][2] = {};
};

struct Versioned {
   int x = 0;
   double y = 0;
   ClassDefNV(Versioned, 3)
};

namespace geo {
enum class Colour : unsigned char { kRed, kGreen };
struct Point {
   double x = 0, y = 0;
};
struct Line {
   Point from, to;
   Colour c = Colour::kRed;
   std::map<std::string, Point> marks;
};
} // namespace geo

struct Spell {
   bool b0 = false;
   Bool_t b1 = false;
   char c0 = 0;
   signed char c1 = 0;
   unsigned char c2 = 0;
   short s0 = 0;
   unsigned short int s1 = 0;
   unsigned u0 = 0;
   long l0 = 0;
   unsigned long l1 = 0;
   long long l2 = 0;
   unsigned long long l3 = 0;
   std::size_t z = 0;
   Long64_t L = 0;
   ULong64_t U = 0;
   Int_t I = 0;
   Float_t F = 0;
   Double_t D = 0;
   std::byte y{};
};

struct Bomb; // see types_common.hxx
// An alternative that can leave a variant valueless
struct Thrower {
   int a = 0;
   std::string s;
   Thrower() = default;
   explicit Thrower(const Bomb &) { throw 1; }
};

struct Mixed {
   std::variant<int, std::string> var;
   std::map<std::string, std::vector<int>> m;
   std::unordered_map<int, float> um;
   std::set<int> st;
   std::pair<int, std::string> p;
   std::tuple<int, float, std::string> t;
   std::unique_ptr<Simple> up;
   std::bitset<10> bits;
   ROOT::RVec<float> rv;
   std::vector<bool> vb;
   std::atomic<int> at{0};
   std::array<std::array<int, 2>, 3> aa{};
};

// Never written as a class: the memory layout of the untyped records in types.C
struct UInner {
   std::int32_t k = 0;
   std::string s;
};
struct URecord {
   std::int8_t a = 0;
   double b = 0;
   std::vector<std::int32_t> v;
   UInner inner;
};

#endif
