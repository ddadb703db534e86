// Shared by types.C and special.C: deterministic value generator, exact JSON printer, registry of fields.
#ifndef GORNTUPLE_TYPES_COMMON_HXX
#define GORNTUPLE_TYPES_COMMON_HXX

#include <ROOT/RColumnElementBase.hxx>
#include <ROOT/REntry.hxx>
#include <ROOT/RField.hxx>
#include <ROOT/RFieldBase.hxx>
#include <ROOT/RNTupleDescriptor.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RRawPtrWriteEntry.hxx>
#include <ROOT/RVec.hxx>
#include <TError.h>
#include <TFile.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

// ---------------------------------------------------------------------------------------------------------------------
// Generation context: one per top-level field, lives for one file.

struct Ctx {
   std::uint64_t state = 1;
   std::uint64_t scalars = 0; // counts scalars made so far
   std::uint64_t sizes = 0;   // counts container sizes made so far
   std::uint64_t tags = 0;    // counts optional/variant decisions
   int depth = 0;             // container nesting
   int entry = 0;
   bool small = false;        // "good" mode
   std::size_t longString = 0;
   bool hasRange = false;
   double lo = 0, hi = 0;

   explicit Ctx(const std::string &name)
   {
      std::uint64_t h = 1469598103934665603ull;
      for (unsigned char c : name)
         h = (h ^ c) * 1099511628211ull;
      state = h;
   }
   // Knuth's MMIX constants; the high half is used
   std::uint32_t rnd32()
   {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      return std::uint32_t(state >> 32);
   }
   std::uint64_t rnd64()
   {
      std::uint64_t a = rnd32();
      return (a << 32) | rnd32();
   }
   std::size_t size()
   {
      static const int top[] = {0, 1, 3, 0, 7, 2, 5, 1, 0, 0, 12, 4};
      static const int topBig[] = {0, 1, 3, 0, 9, 2, 5, 1, 0, 0, 40, 4, 1, 0, 17};
      if (depth == 0) {
         auto k = sizes++;
         return small ? top[k % 12] : topBig[k % 15];
      }
      return rnd32() % (depth == 1 ? 4 : 3);
   }
   // true: present / engaged
   bool engaged()
   {
      auto k = tags++;
      if (k < 3)
         return k > 0;
      return rnd32() % 3 != 0;
   }
};

// Pick number k of a table first, then random values, then the table again
template <class T, std::size_t N>
bool fromTable(Ctx &c, const T (&table)[N], T &out)
{
   auto k = c.scalars++ % (3 * N);
   if (k < N) {
      out = table[k];
      return true;
   }
   return false;
}

inline void hexOut(std::string &o, std::uint64_t v, int digits)
{
   char buf[32];
   std::snprintf(buf, sizeof buf, digits == 8 ? "\"0x%08llx\"" : "\"0x%016llx\"", (unsigned long long)v);
   o += buf;
}

inline int utf8Len(const unsigned char *p, std::size_t n)
{
   unsigned char b = p[0];
   if (b < 0x80)
      return 1;
   auto cont = [&](std::size_t i, unsigned lo, unsigned hi) { return i < n && p[i] >= lo && p[i] <= hi; };
   if (b >= 0xC2 && b <= 0xDF)
      return cont(1, 0x80, 0xBF) ? 2 : 0;
   if (b >= 0xE0 && b <= 0xEF) {
      unsigned lo = b == 0xE0 ? 0xA0 : 0x80, hi = b == 0xED ? 0x9F : 0xBF;
      return cont(1, lo, hi) && cont(2, 0x80, 0xBF) ? 3 : 0;
   }
   if (b >= 0xF0 && b <= 0xF4) {
      unsigned lo = b == 0xF0 ? 0x90 : 0x80, hi = b == 0xF4 ? 0x8F : 0xBF;
      return cont(1, lo, hi) && cont(2, 0x80, 0xBF) && cont(3, 0x80, 0xBF) ? 4 : 0;
   }
   return 0;
}

inline void stringOut(std::string &o, const std::string &s)
{
   auto p = reinterpret_cast<const unsigned char *>(s.data());
   std::size_t n = s.size();
   char buf[16];
   o += '"';
   for (std::size_t i = 0; i < n;) {
      unsigned char b = p[i];
      if (b == '"' || b == '\\') {
         o += '\\';
         o += char(b);
         i++;
      } else if (b != 0 && std::strchr("\b\t\n\f\r", b)) {
         o += '\\';
         o += "btn?fr"[b - '\b'];
         i++;
      } else if (b < 0x20) {
         std::snprintf(buf, sizeof buf, "\\u%04x", b);
         o += buf;
         i++;
      } else if (int l = utf8Len(p + i, n - i)) {
         o.append(s, i, l);
         i += l;
      } else {
         std::snprintf(buf, sizeof buf, "\\udc%02x", b);
         o += buf;
         i++;
      }
   }
   o += '"';
}

// ---------------------------------------------------------------------------------------------------------------------
// Tr<T>: gen(T&, Ctx&) makes the next value, print(std::string&, const T&) appends exact JSON.
// Classes: a free function  template <class F> void visit(F &&f, Class &o)  calls f(name, member) in stored order.

struct GenVisitor {
   Ctx &c;
   template <class M>
   void operator()(const char *, M &m);
};

struct PrintVisitor {
   std::string &o;
   bool first = true;
   template <class M>
   void operator()(const char *name, M &m);
};

// The general case: classes
template <class T, class = void>
struct Tr {
   static_assert(std::is_class_v<T>, "no Tr for this type");
   static void gen(T &v, Ctx &c)
   {
      GenVisitor g{c};
      visit(g, v);
   }
   static void print(std::string &o, const T &v)
   {
      o += '{';
      PrintVisitor p{o};
      visit(p, const_cast<T &>(v));
      o += '}';
   }
};

template <class M>
void GenVisitor::operator()(const char *, M &m)
{
   Tr<M>::gen(m, c);
}
template <class M>
void PrintVisitor::operator()(const char *name, M &m)
{
   if (!first)
      o += ',';
   first = false;
   stringOut(o, name);
   o += ':';
   Tr<M>::print(o, m);
}

template <>
struct Tr<bool> {
   static void gen(bool &v, Ctx &c)
   {
      static const bool t[] = {false, true, true, false};
      if (!fromTable(c, t, v))
         v = c.rnd32() & 1;
   }
   static void print(std::string &o, bool v) { o += v ? "true" : "false"; }
};

template <class T>
struct Tr<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
   static void gen(T &v, Ctx &c)
   {
      using L = std::numeric_limits<T>;
      static const T t[] = {L::min(), L::max(), T(0), T(-1), T(1), T(L::max() / 2), T(L::min() + 1), T(100)};
      if (!fromTable(c, t, v))
         v = T(c.rnd64());
   }
   static void print(std::string &o, T v)
   {
      if constexpr (std::is_signed_v<T>)
         o += std::to_string((long long)v);
      else
         o += std::to_string((unsigned long long)v);
   }
};

template <>
struct Tr<std::byte> {
   static void gen(std::byte &v, Ctx &c)
   {
      std::uint8_t u;
      Tr<std::uint8_t>::gen(u, c);
      v = std::byte(u);
   }
   static void print(std::string &o, std::byte v) { o += std::to_string(unsigned(v)); }
};

template <class T>
struct Tr<T, std::enable_if_t<std::is_enum_v<T> && !std::is_same_v<T, std::byte>>> {
   using U = std::underlying_type_t<T>;
   static void gen(T &v, Ctx &c)
   {
      U u;
      Tr<U>::gen(u, c);
      v = T(u);
   }
   static void print(std::string &o, T v) { Tr<U>::print(o, U(v)); }
};

template <class R, class B>
inline R inRange(Ctx &c)
{
   auto k = c.scalars++ % 9;
   double x;
   switch (k) {
   case 0: x = c.lo; break;
   case 1: x = c.hi; break;
   case 2: x = c.lo + (c.hi - c.lo) / 2; break;
   case 3: x = c.lo + (c.hi - c.lo) / 3; break;
   default: x = c.lo + (c.hi - c.lo) * (double(c.rnd32()) / 4294967295.0);
   }
   R r = R(x);
   if (r < R(c.lo))
      r = R(c.lo);
   if (r > R(c.hi))
      r = R(c.hi);
   return r;
}

template <>
struct Tr<float> {
   static void gen(float &v, Ctx &c)
   {
      if (c.hasRange) {
         v = inRange<float, std::uint32_t>(c);
         return;
      }
      static const std::uint32_t t[] = {
         0xff7fffff, 0x7f7fffff, 0x00000000, 0xbf800000, 0x80000000, 0x00000001, 0x807fffff, // min max 0 -1 -0 denormals
         0x7f800000, 0xff800000,                                                             // infinities
         0x7fc00000, 0xffc00000, 0x7f800001, 0xffa12345, 0x7fdeadbe, 0x7fbfffff,             // quiet/signalling NaNs
         0x00800000, 0x3f800000, 0x3f802000, 0x3f801000, 0x3f803000,                         // ties of binary16
         0x477fe000, 0x477ff000, 0x477fefff, 0x33800000, 0x33000000, 0x33000001, 0x387fe000, 0x40490fdb};
      std::uint32_t u;
      if (!fromTable(c, t, u)) {
         auto k = c.rnd32();
         if (k & 1) {
            u = c.rnd32(); // any bits
         } else {
            float f = float(double(std::int32_t(c.rnd32())) / (1 << 20));
            std::memcpy(&u, &f, 4);
         }
      }
      std::memcpy(&v, &u, 4);
   }
   static void print(std::string &o, const float &v)
   {
      std::uint32_t u;
      std::memcpy(&u, &v, 4);
      hexOut(o, u, 8);
   }
};

template <>
struct Tr<double> {
   static void gen(double &v, Ctx &c)
   {
      if (c.hasRange) {
         v = inRange<double, std::uint64_t>(c);
         return;
      }
      static const std::uint64_t t[] = {
         0xffefffffffffffff, 0x7fefffffffffffff, 0x0000000000000000, 0xbff0000000000000, 0x8000000000000000,
         0x0000000000000001, 0x800fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
         0xfff8000000000000, 0x7ff0000000000001, 0xfff4000000012345, 0x7ff8deadbeef1234, 0x7ff7ffffffffffff,
         0x0010000000000000, 0x3ff0000000000000, 0x3ff0000000000001, 0x3ff0000010000000, 0x3ff0000030000000,
         0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000,
         0x3690000000000001, 0x400921fb54442d18, 0x40effdffffffffff};
      std::uint64_t u;
      if (!fromTable(c, t, u)) {
         auto k = c.rnd32();
         if (k & 1) {
            u = c.rnd64();
         } else {
            double f = double(std::int64_t(c.rnd64())) / (1ll << 40);
            std::memcpy(&u, &f, 8);
         }
      }
      std::memcpy(&v, &u, 8);
   }
   static void print(std::string &o, const double &v)
   {
      std::uint64_t u;
      std::memcpy(&u, &v, 8);
      hexOut(o, u, 16);
   }
};

template <>
struct Tr<std::string> {
   static void gen(std::string &v, Ctx &c)
   {
      using namespace std::string_literals;
      static const std::string t[] = {""s,
                                      "a"s,
                                      "hello world"s,
                                      "\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e \xd0\x96\xe6\xbc\xa2"s,
                                      "nul\0byte\0"s,
                                      "\xff\xfe\x80"s,
                                      "q\"b\\n\n\r\t\x01\x1f\x7f/"s,
                                      "\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82"s,
                                      "\xef\xbf\xbd\xef\xbf\xbf\xe2\x80\xa8\xf4\x8f\xbf\xbf"s,
                                      ""s,
                                      "\0"s,
                                      "exactly-15-char"s,
                                      "sixteen-chars-ok"s};
      if (c.longString && c.depth == 0 && c.scalars == 5) {
         v.clear();
         while (v.size() < c.longString) {
            if (c.rnd32() % 4)
               v += "All work and no play makes \xc3\xa9 dull. ";
            else
               for (int i = 0; i < 16; i++)
                  v += char(c.rnd32());
         }
         v.resize(c.longString);
         c.longString = 0;
         return;
      }
      std::string r;
      auto k = c.scalars++ % (3 * 13);
      if (k < 13) {
         v = t[k];
         return;
      }
      auto n = c.rnd32() % 12;
      for (unsigned i = 0; i < n; i++)
         r += char('!' + c.rnd32() % 94);
      v = r;
   }
   static void print(std::string &o, const std::string &v) { stringOut(o, v); }
};

template <class C, class F>
void seqOut(std::string &o, const C &v, F &&one)
{
   o += '[';
   bool first = true;
   for (const auto &e : v) {
      if (!first)
         o += ',';
      first = false;
      one(e);
   }
   o += ']';
}

inline void sortedOut(std::string &o, std::vector<std::string> parts)
{
   std::sort(parts.begin(), parts.end());
   seqOut(o, parts, [&](const std::string &s) { o += s; });
}

template <class V, class T>
struct TrSeq {
   static void gen(V &v, Ctx &c)
   {
      auto n = c.size();
      v.clear();
      v.resize(n);
      c.depth++;
      for (std::size_t i = 0; i < n; i++)
         Tr<T>::gen(v[i], c);
      c.depth--;
   }
   static void print(std::string &o, const V &v)
   {
      seqOut(o, v, [&](const T &e) { Tr<T>::print(o, e); });
   }
};
template <class T>
struct Tr<std::vector<T>> : TrSeq<std::vector<T>, T> {};
template <class T>
struct Tr<ROOT::VecOps::RVec<T>> : TrSeq<ROOT::VecOps::RVec<T>, T> {};

template <class V>
struct TrBoolSeq {
   static void gen(V &v, Ctx &c)
   {
      auto n = c.size() * 3;
      v.clear();
      for (std::size_t i = 0; i < n; i++) {
         bool b;
         Tr<bool>::gen(b, c);
         v.push_back(b);
      }
   }
   static void print(std::string &o, const V &v)
   {
      seqOut(o, v, [&](bool e) { Tr<bool>::print(o, e); });
   }
};
template <>
struct Tr<std::vector<bool>> : TrBoolSeq<std::vector<bool>> {};

template <class T, std::size_t N>
struct Tr<std::array<T, N>> {
   static void gen(std::array<T, N> &v, Ctx &c)
   {
      c.depth++;
      for (auto &e : v)
         Tr<T>::gen(e, c);
      c.depth--;
   }
   static void print(std::string &o, const std::array<T, N> &v)
   {
      seqOut(o, v, [&](const T &e) { Tr<T>::print(o, e); });
   }
};
template <class T, std::size_t N>
struct Tr<T[N]> {
   static void gen(T (&v)[N], Ctx &c)
   {
      c.depth++;
      for (auto &e : v)
         Tr<T>::gen(e, c);
      c.depth--;
   }
   static void print(std::string &o, const T (&v)[N])
   {
      seqOut(o, v, [&](const T &e) { Tr<T>::print(o, e); });
   }
};

template <std::size_t N>
struct Tr<std::bitset<N>> {
   static void gen(std::bitset<N> &v, Ctx &c)
   {
      auto k = c.scalars++ % 12;
      v.reset();
      switch (k) {
      case 0: break;
      case 1: v.set(); break;
      case 2: v.set(0); break;
      case 3: v.set(N - 1); break;
      case 4:
         for (std::size_t i = 0; i < N; i += 2)
            v.set(i);
         break;
      default:
         for (std::size_t i = 0; i < N; i++)
            v.set(i, c.rnd32() & 1);
      }
   }
   static void print(std::string &o, const std::bitset<N> &v) { o += '"' + v.to_string() + '"'; }
};

template <class T>
struct Tr<std::atomic<T>> {
   static void gen(std::atomic<T> &v, Ctx &c)
   {
      T t;
      Tr<T>::gen(t, c);
      v.store(t);
   }
   static void print(std::string &o, const std::atomic<T> &v) { Tr<T>::print(o, v.load()); }
};

template <class T>
struct Tr<std::optional<T>> {
   static void gen(std::optional<T> &v, Ctx &c)
   {
      v.reset();
      if (!c.engaged())
         return;
      v.emplace();
      c.depth++;
      Tr<T>::gen(*v, c);
      c.depth--;
   }
   static void print(std::string &o, const std::optional<T> &v)
   {
      if (v)
         Tr<T>::print(o, *v);
      else
         o += "null";
   }
};
template <class T>
struct Tr<std::unique_ptr<T>> {
   static void gen(std::unique_ptr<T> &v, Ctx &c)
   {
      v.reset();
      if (!c.engaged())
         return;
      v = std::make_unique<T>();
      c.depth++;
      Tr<T>::gen(*v, c);
      c.depth--;
   }
   static void print(std::string &o, const std::unique_ptr<T> &v)
   {
      if (v)
         Tr<T>::print(o, *v);
      else
         o += "null";
   }
};

struct Bomb {}; // a class constructible from Bomb throws there: makes variants valueless

template <class... Ts>
struct Tr<std::variant<Ts...>> {
   using V = std::variant<Ts...>;
   template <std::size_t I>
   static void genAt(V &v, Ctx &c, std::size_t which)
   {
      if constexpr (I < sizeof...(Ts)) {
         if (which == I) {
            v.template emplace<I>();
            c.depth++;
            Tr<std::variant_alternative_t<I, V>>::gen(std::get<I>(v), c);
            c.depth--;
            return;
         }
         genAt<I + 1>(v, c, which);
      }
   }
   template <std::size_t I>
   static bool explode(V &v)
   {
      if constexpr (I < sizeof...(Ts)) {
         if constexpr (std::is_constructible_v<std::variant_alternative_t<I, V>, Bomb>) {
            try {
               v.template emplace<I>(Bomb{});
            } catch (int) {
            }
            return v.valueless_by_exception();
         } else {
            return explode<I + 1>(v);
         }
      }
      return false;
   }
   static void gen(V &v, Ctx &c)
   {
      auto k = c.tags++;
      std::size_t which = k % (sizeof...(Ts) + 1);
      if (which == sizeof...(Ts)) {
         if (explode<0>(v))
            return;
         which = c.rnd32() % sizeof...(Ts);
      }
      genAt<0>(v, c, which);
   }
   static void print(std::string &o, const V &v)
   {
      // Some variants, those with a std::string for example, cannot become valueless according to the library, so that
      // valueless_by_exception() is always false; ROOT's reader makes them valueless nevertheless.
      if (v.valueless_by_exception() || v.index() >= sizeof...(Ts)) {
         o += "null";
         return;
      }
      std::visit([&](const auto &e) { Tr<std::decay_t<decltype(e)>>::print(o, e); }, v);
   }
};

template <class A, class B>
struct Tr<std::pair<A, B>> {
   static void gen(std::pair<A, B> &v, Ctx &c)
   {
      Tr<A>::gen(v.first, c);
      Tr<B>::gen(v.second, c);
   }
   static void print(std::string &o, const std::pair<A, B> &v)
   {
      o += '[';
      Tr<A>::print(o, v.first);
      o += ',';
      Tr<B>::print(o, v.second);
      o += ']';
   }
};
template <class... Ts>
struct Tr<std::tuple<Ts...>> {
   static void gen(std::tuple<Ts...> &v, Ctx &c)
   {
      std::apply([&](auto &...e) { (Tr<std::decay_t<decltype(e)>>::gen(e, c), ...); }, v);
   }
   static void print(std::string &o, const std::tuple<Ts...> &v)
   {
      o += '[';
      bool first = true;
      std::apply(
         [&](const auto &...e) {
            ((o += first ? "" : ",", first = false, Tr<std::decay_t<decltype(e)>>::print(o, e)), ...);
         },
         v);
      o += ']';
   }
};

template <class S, class T, bool Sorted>
struct TrSet {
   static void gen(S &v, Ctx &c)
   {
      auto n = c.size();
      v.clear();
      c.depth++;
      for (std::size_t i = 0; i < n; i++) {
         T t;
         Tr<T>::gen(t, c);
         v.insert(t);
         if (i % 3 == 0)
            v.insert(t); // a repeated element for the multi kinds
      }
      c.depth--;
   }
   static void print(std::string &o, const S &v)
   {
      if (Sorted) {
         std::vector<std::string> p;
         for (const auto &e : v) {
            p.emplace_back();
            Tr<T>::print(p.back(), e);
         }
         sortedOut(o, std::move(p));
      } else {
         seqOut(o, v, [&](const T &e) { Tr<T>::print(o, e); });
      }
   }
};
template <class T>
struct Tr<std::set<T>> : TrSet<std::set<T>, T, false> {};
template <class T>
struct Tr<std::multiset<T>> : TrSet<std::multiset<T>, T, false> {};
template <class T>
struct Tr<std::unordered_set<T>> : TrSet<std::unordered_set<T>, T, true> {};
template <class T>
struct Tr<std::unordered_multiset<T>> : TrSet<std::unordered_multiset<T>, T, true> {};

template <class M, class K, class V, bool Sorted>
struct TrMap {
   static void gen(M &v, Ctx &c)
   {
      auto n = c.size();
      v.clear();
      c.depth++;
      for (std::size_t i = 0; i < n; i++) {
         std::pair<K, V> p;
         Tr<K>::gen(p.first, c);
         Tr<V>::gen(p.second, c);
         v.insert(p);
         if (i % 3 == 0) {
            Tr<V>::gen(p.second, c);
            v.insert(p); // a repeated key for the multi kinds
         }
      }
      c.depth--;
   }
   static void print(std::string &o, const M &v)
   {
      auto pairOut = [](std::string &q, const auto &e) {
         q += '[';
         Tr<K>::print(q, e.first);
         q += ',';
         Tr<V>::print(q, e.second);
         q += ']';
      };
      if (Sorted) {
         std::vector<std::string> p;
         for (const auto &e : v) {
            p.emplace_back();
            pairOut(p.back(), e);
         }
         sortedOut(o, std::move(p));
         return;
      }
      bool asObject = std::is_same_v<K, std::string>;
      for (const auto &e : v)
         if (v.count(e.first) > 1)
            asObject = false;
      if (!asObject) {
         seqOut(o, v, [&](const auto &e) { pairOut(o, e); });
         return;
      }
      o += '{';
      bool first = true;
      for (const auto &e : v) {
         if (!first)
            o += ',';
         first = false;
         Tr<K>::print(o, e.first);
         o += ':';
         Tr<V>::print(o, e.second);
      }
      o += '}';
   }
};
template <class K, class V>
struct Tr<std::map<K, V>> : TrMap<std::map<K, V>, K, V, false> {};
template <class K, class V>
struct Tr<std::multimap<K, V>> : TrMap<std::multimap<K, V>, K, V, false> {};
template <class K, class V>
struct Tr<std::unordered_map<K, V>> : TrMap<std::unordered_map<K, V>, K, V, true> {};
template <class K, class V>
struct Tr<std::unordered_multimap<K, V>> : TrMap<std::unordered_multimap<K, V>, K, V, true> {};

template <class T>
struct Tr<ROOT::RNTupleCardinality<T>> {
   static void print(std::string &o, const ROOT::RNTupleCardinality<T> &v) { o += std::to_string(T(v)); }
};

// ---------------------------------------------------------------------------------------------------------------------
// Registry

using FieldPtr = std::unique_ptr<ROOT::RFieldBase>;

// Access to the protected table of legal column representations
struct PeekField : ROOT::RFieldBase {
   static const RColumnRepresentations::Selection_t &Reps(const ROOT::RFieldBase &f)
   {
      return (f.*(&PeekField::GetColumnRepresentations))().GetSerializationTypes();
   }
};

// The printer of one field of an opened reader
using PrintFunc = std::function<void(std::string &, std::uint64_t)>;

struct Item {
   std::string name;
   bool projected = false;
   std::function<FieldPtr()> make;
   std::function<void()> reset;                                 // new value object and generator
   std::function<void *()> value;                               // address of the value to be written
   std::function<void(int)> gen;                                // next value
   std::function<void(std::string &)> show;                     // prints the value to be written
   std::function<PrintFunc(ROOT::RNTupleReader &)> printer;     // opens a view
   ROOT::RNTupleModel::FieldMappingFunc_t mapping;              // projected only
   std::shared_ptr<Ctx> ctx;
};

template <class T>
PrintFunc openView(ROOT::RNTupleReader &r, const std::string &name)
{
   auto view = std::make_shared<ROOT::RNTupleView<T>>(r.GetView<T>(name));
   return [view](std::string &o, std::uint64_t i) { Tr<T>::print(o, (*view)(i)); };
}

// For untyped fields: T has the same memory layout as ROOT's
template <class T>
PrintFunc openVoidView(ROOT::RNTupleReader &r, const std::string &name)
{
   auto view = std::make_shared<ROOT::RNTupleView<void>>(r.GetView<void>(name));
   return [view](std::string &o, std::uint64_t i) {
      (*view)(i);
      Tr<T>::print(o, *static_cast<const T *>(view->GetValue().template GetPtr<void>().get()));
   };
}

struct Registry {
   std::vector<Item> items;
   bool small = false;
   std::size_t longString = 0;

   template <class T>
   Item &Add(const std::string &name, std::function<FieldPtr()> make)
   {
      struct State {
         std::shared_ptr<Ctx> ctx;
         std::unique_ptr<T> value;
      };
      auto st = std::make_shared<State>();
      Item it;
      it.name = name;
      it.make = std::move(make);
      it.reset = [this, st, name] {
         // keep a range given by Range()
         auto fresh = std::make_shared<Ctx>(name);
         if (st->ctx) {
            fresh->hasRange = st->ctx->hasRange;
            fresh->lo = st->ctx->lo;
            fresh->hi = st->ctx->hi;
         }
         if (st->ctx)
            *st->ctx = *fresh;
         else
            st->ctx = fresh;
         st->ctx->small = small;
         st->ctx->longString = name == "string" ? longString : std::min<std::size_t>(longString, 5000);
         st->value = std::make_unique<T>();
      };
      it.reset();
      it.ctx = st->ctx;
      it.value = [st] { return static_cast<void *>(st->value.get()); };
      it.gen = [st](int entry) {
         st->ctx->entry = entry;
         Tr<T>::gen(*st->value, *st->ctx);
      };
      it.show = [st](std::string &o) { Tr<T>::print(o, *st->value); };
      it.printer = [name](ROOT::RNTupleReader &r) { return openView<T>(r, name); };
      items.push_back(std::move(it));
      return items.back();
   }
   template <class T>
   Item &Add(const std::string &name)
   {
      return Add<T>(name, [name] { return FieldPtr(std::make_unique<ROOT::RField<T>>(name)); });
   }
   template <class T>
   Item &Add(const std::string &name, std::function<void(ROOT::RField<T> &)> change)
   {
      return Add<T>(name, [name, change] {
         auto f = std::make_unique<ROOT::RField<T>>(name);
         change(*f);
         return FieldPtr(std::move(f));
      });
   }
   // By ROOT's type name
   template <class T>
   Item &AddSpelled(const std::string &name, const std::string &type)
   {
      return Add<T>(name, [name, type] { return ROOT::RFieldBase::Create(name, type).Unwrap(); });
   }
   // The default encoding and every other legal one, except those which need parameters.
   template <class T>
   void AddAll(const std::string &name)
   {
      using CT = ROOT::ENTupleColumnType;
      Add<T>(name);
      ROOT::RField<T> f(name);
      for (const auto &rep : PeekField::Reps(f)) {
         if (rep.empty() || rep[0] == CT::kReal32Trunc || rep[0] == CT::kReal32Quant)
            continue;
         auto n = name + "__" + ROOT::Internal::RColumnElementBase::GetColumnTypeName(rep[0]);
         Add<T>(n, [rep](ROOT::RField<T> &g) { g.SetColumnRepresentatives({rep}); });
      }
   }
   template <class T>
   Item &AddProjected(const std::string &name, std::map<std::string, std::string> mapping)
   {
      Item it;
      it.name = name;
      it.projected = true;
      it.make = [name] { return FieldPtr(std::make_unique<ROOT::RField<T>>(name)); };
      it.reset = [] {};
      it.printer = [name](ROOT::RNTupleReader &r) { return openView<T>(r, name); };
      it.mapping = [mapping](const std::string &s) {
         auto i = mapping.find(s);
         return i == mapping.end() ? std::string() : i->second;
      };
      items.push_back(std::move(it));
      return items.back();
   }

   void AddTo(ROOT::RNTupleModel &m)
   {
      for (auto &i : items)
         if (!i.projected)
            m.AddField(i.make());
      for (auto &i : items)
         if (i.projected)
            m.AddProjectedField(i.make(), i.mapping).ThrowOnError();
   }
   void Reset()
   {
      for (auto &i : items)
         i.reset();
   }
   void Bind(ROOT::RNTupleWriter &w, ROOT::Detail::RRawPtrWriteEntry &e)
   {
      for (auto &i : items)
         if (!i.projected)
            e.BindRawPtr(w.GetModel().GetToken(i.name), i.value());
   }
   void Gen(int entry)
   {
      for (auto &i : items)
         if (!i.projected)
            i.gen(entry);
   }
};

// One line per entry, keys in the order of the descriptor's top-level fields
inline std::uint64_t
writeJSONL(ROOT::RNTupleReader &reader, const std::map<std::string, std::function<PrintFunc(ROOT::RNTupleReader &)>> &how,
           const std::string &path)
{
   std::vector<std::pair<std::string, PrintFunc>> cols;
   {
      const auto &desc = reader.GetDescriptor();
      std::vector<std::string> names;
      for (const auto &f : desc.GetTopLevelFields())
         names.push_back(f.GetFieldName());
      for (const auto &n : names) {
         auto h = how.find(n);
         if (h == how.end())
            continue; // left out on purpose (streamer fields)
         std::string key;
         stringOut(key, n);
         cols.emplace_back(key, h->second(reader));
      }
   }
   std::ofstream out(path, std::ios::binary);
   auto n = reader.GetNEntries();
   for (std::uint64_t i = 0; i < n; i++) {
      std::string line = "{";
      bool first = true;
      for (auto &c : cols) {
         if (!first)
            line += ',';
         first = false;
         line += c.first + ':';
         c.second(line, i);
      }
      line += "}\n";
      out << line;
   }
   out.flush();
   if (!out)
      throw std::runtime_error("cannot write " + path);
   return n;
}

inline std::map<std::string, std::function<PrintFunc(ROOT::RNTupleReader &)>> printersOf(const Registry &r)
{
   std::map<std::string, std::function<PrintFunc(ROOT::RNTupleReader &)>> how;
   for (auto &i : r.items)
      how[i.name] = i.printer;
   return how;
}

// To check the generator: with GEN_CHECK in the environment, names the fields that ROOT does not read back as they were
// written (all should be lossy ones). `first` is the entry where the fields begin.
inline void checkWritten(ROOT::RNTupleReader &reader, Registry &reg, int first = 0)
{
   if (!std::getenv("GEN_CHECK"))
      return;
   reg.Reset();
   std::map<std::string, std::string> diff;
   std::vector<PrintFunc> views;
   for (auto &i : reg.items)
      views.push_back(i.projected ? PrintFunc() : i.printer(reader));
   for (std::uint64_t e = first; e < reader.GetNEntries(); e++) {
      reg.Gen(e);
      for (std::size_t k = 0; k < views.size(); k++) {
         if (!views[k])
            continue;
         std::string a, b;
         reg.items[k].show(a);
         views[k](b, e);
         if (a != b && !diff.count(reg.items[k].name))
            diff[reg.items[k].name] = std::to_string(e) + ": wrote " + a.substr(0, 100) + " read " + b.substr(0, 100);
      }
   }
   for (auto &d : diff)
      std::cerr << "  differs: " << d.first << " " << d.second << std::endl;
}

// ---------------------------------------------------------------------------------------------------------------------
// manifest.json

struct Manifest {
   std::vector<std::string> rows;
   void Add(const std::string &file, const std::string &jsonl, const std::string &ntuple, std::uint64_t entries,
            int compression, const std::string &layout, const std::string &attrset = "")
   {
      std::string r = "{\"file\":";
      stringOut(r, file);
      r += ",\"jsonl\":";
      stringOut(r, jsonl.empty() ? "" : jsonl + ".gz");
      r += ",\"ntuple\":";
      stringOut(r, ntuple);
      r += ",\"entries\":" + std::to_string(entries) + ",\"compression\":" + std::to_string(compression) +
           ",\"layout\":";
      stringOut(r, layout);
      if (!attrset.empty()) {
         r += ",\"attrset\":";
         stringOut(r, attrset);
      }
      rows.push_back(r + "}");
   }
   void Write(const std::string &path)
   {
      std::ofstream out(path, std::ios::binary);
      out << "[\n";
      for (std::size_t i = 0; i < rows.size(); i++)
         out << rows[i] << (i + 1 < rows.size() ? ",\n" : "\n");
      out << "]\n";
   }
};

// Any message of ROOT (warning or above) ends the run, unless it is in `allowed`
inline std::vector<std::string> &allowedMessages()
{
   static std::vector<std::string> a;
   return a;
}
inline int &messageCount()
{
   static int n = 0;
   return n;
}
inline void strictHandler(int level, Bool_t, const char *location, const char *msg)
{
   if (level < kWarning)
      return;
   for (auto &a : allowedMessages())
      if (std::string(msg).find(a) != std::string::npos) {
         return;
      }
   std::cerr << "ROOT message at " << (location ? location : "?") << ": " << msg << std::endl;
   messageCount()++;
}

#endif
