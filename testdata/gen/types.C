// Makes RNTuple files with ROOT, reads them back with ROOT and prints what ROOT read (exact JSON Lines).
// Built and run by types.sh:  types OUTDIR [good]
//
// Not here, because ROOT 6.40.00 refuses it (message in quotes):
//  - std::optional<T> as a member of a class: the dictionary spells it "optional<T>", which RFieldBase::Create does not
//    normalise ("optional<Simple> is not supported"); top level and below templates is fine
//  - std::list, deque, forward_list, valarray, span, complex, shared_ptr, monostate (also inside variants), string_view,
//    wstring ("list<std::int32_t> is not supported"), sets and maps with a comparison of their own ("the type list for std::map
//    must have exactly two elements"), std::variant<>, std::tuple<> ("invalid empty type list provided as template argument")
//  - long double, wchar_t, char16_t, __int128, Float16_t, T* ("unknown type: long double")
//  - RNTupleCardinality as a field of its own ("Cardinality fields must only be used for reading"); projected is fine
//  - Real32Quant values outside of the range, and NaN
//  - vector<double> and vector<Double32_t> as members of classes of one dictionary (the dictionary does not compile)
#include <ROOT/RNTupleInspector.hxx>
#include <filesystem>
#include "types_common.hxx"
#include "types.hxx"

template <class F> void visit(F &f, Simple &o) { f("a", o.a); f("b", o.b); f("s", o.s); }
template <class F> void visit(F &, Empty &) {}
template <class F> void visit(F &f, OfEmpty &o) { f(":_0", static_cast<Empty &>(o)); f("x", o.x); }
template <class F> void visit(F &f, HasEmpty &o) { f("e", o.e); f("x", o.x); }
template <class F> void visit(F &f, BaseA &o) { f("ia", o.ia); f("fa", o.fa); }
template <class F> void visit(F &f, BaseB &o) { f("vb", o.vb); }
template <class F> void visit(F &f, Mid &o) { f(":_0", static_cast<BaseA &>(o)); f("m", o.m); }
template <class F>
void visit(F &f, Derived &o)
{
   f(":_0", static_cast<Mid &>(o));
   f(":_1", static_cast<BaseB &>(o));
   f("d", o.d);
   f("vs", o.vs);
}
template <class F>
void visit(F &f, Nested &o)
{
   f("one", o.one);
   f("many", o.many);
   f("arr", o.arr);
   f("deep", o.deep);
}
template <class F> void visit(F &f, WithD32 &o) { f("x", o.x); f("v", o.v); f("y", o.y); }
template <class F> void visit(F &f, WithTransient &o) { f("a", o.a); f("b", o.b); }
template <class F> void visit(F &f, WithEnum &o) { f("e", o.e); f("u", o.u); f("v", o.v); f("i", o.i); }
template <class F, class T, std::size_t N> void visit(F &f, Tpl<T, N> &o) { f("v", o.v); f("a", o.a); }
template <class F>
void visit(F &f, CArrays &o)
{
   f("a", o.a);
   f("m", o.m);
   f("s", o.s);
   f("t", o.t);
   f("b", o.b);
   f("e", o.e);
   f("w", o.w);
   f("q", o.q);
}
template <class F> void visit(F &f, Versioned &o) { f("x", o.x); f("y", o.y); }
namespace geo {
template <class F> void visit(F &f, Point &o) { f("x", o.x); f("y", o.y); }
template <class F> void visit(F &f, Line &o) { f("from", o.from); f("to", o.to); f("c", o.c); f("marks", o.marks); }
} // namespace geo
template <class F>
void visit(F &f, Spell &o)
{
   f("b0", o.b0);
   f("b1", o.b1);
   f("c0", o.c0);
   f("c1", o.c1);
   f("c2", o.c2);
   f("s0", o.s0);
   f("s1", o.s1);
   f("u0", o.u0);
   f("l0", o.l0);
   f("l1", o.l1);
   f("l2", o.l2);
   f("l3", o.l3);
   f("z", o.z);
   f("L", o.L);
   f("U", o.U);
   f("I", o.I);
   f("F", o.F);
   f("D", o.D);
   f("y", o.y);
}
template <class F> void visit(F &f, Thrower &o) { f("a", o.a); f("s", o.s); }
template <class F>
void visit(F &f, Mixed &o)
{
   f("var", o.var);
   f("m", o.m);
   f("um", o.um);
   f("st", o.st);
   f("p", o.p);
   f("t", o.t);
   f("up", o.up);
   f("bits", o.bits);
   f("rv", o.rv);
   f("vb", o.vb);
   f("at", o.at);
   f("aa", o.aa);
}
template <class F> void visit(F &f, UInner &o) { f("k", o.k); f("s", o.s); }
template <class F> void visit(F &f, URecord &o) { f("a", o.a); f("b", o.b); f("v", o.v); f("inner", o.inner); }

// Unscoped enums: declared values only
template <>
struct Tr<EUnscoped> {
   static void gen(EUnscoped &v, Ctx &c)
   {
      static const EUnscoped t[] = {kUnscoped0, kUnscoped255, kUnscoped7, kUnscoped1};
      v = t[c.scalars++ % 4];
   }
   static void print(std::string &o, EUnscoped v) { o += std::to_string(unsigned(v)); }
};
template <>
struct Tr<ENegative> {
   static void gen(ENegative &v, Ctx &c)
   {
      static const ENegative t[] = {kNegM5, kNeg0, kNeg3};
      v = t[c.scalars++ % 3];
   }
   static void print(std::string &o, ENegative v) { o += std::to_string(int(v)); }
};

static std::string two(int n)
{
   return (n < 10 ? "0" : "") + std::to_string(n);
}

static std::pair<double, double> quantRange(int bits)
{
   static const std::pair<double, double> r[] = {{-1, 1}, {0, 1000}, {-3.5, 12.25}, {1e-3, 2e-3}, {-1e30, 1e20}};
   return r[bits % 5];
}

template <class T>
static void addReals(Registry &r, const std::string &name, bool all)
{
   r.AddAll<T>(name);
   for (int b = 10; b <= 31; b++)
      if (all || b % 2 == 0 || b == 31)
         r.Add<T>(name + "__Real32Trunc" + two(b), [b](ROOT::RField<T> &f) { f.SetTruncated(b); });
   for (int b = 1; b <= 32; b++)
      if (all || b % 2 == 1 || b == 8 || b == 32) {
         auto range = quantRange(b);
         // float fields take the range as floats; the generator must stay within that
         std::pair<T, T> tr(T(range.first), T(range.second));
         auto &it = r.Add<T>(name + "__Real32Quant" + two(b), [b, tr](ROOT::RField<T> &f) { f.SetQuantized(b, tr); });
         it.ctx->hasRange = true;
         it.ctx->lo = tr.first;
         it.ctx->hi = tr.second;
      }
}

static FieldPtr untypedRecord(const std::string &name)
{
   std::vector<FieldPtr> inner;
   inner.emplace_back(std::make_unique<ROOT::RField<std::int32_t>>("k"));
   inner.emplace_back(std::make_unique<ROOT::RField<std::string>>("s"));
   std::vector<FieldPtr> items;
   items.emplace_back(std::make_unique<ROOT::RField<std::int8_t>>("a"));
   items.emplace_back(std::make_unique<ROOT::RField<double>>("b"));
   items.emplace_back(std::make_unique<ROOT::RField<std::vector<std::int32_t>>>("v"));
   items.emplace_back(std::make_unique<ROOT::RRecordField>("inner", std::move(inner)));
   return std::make_unique<ROOT::RRecordField>(name, std::move(items));
}

static void fillRegistry(Registry &r, bool good)
{
   // Fundamental types, all encodings
   r.AddAll<bool>("bool");
   r.AddAll<char>("char");
   r.AddAll<std::byte>("byte");
   r.AddAll<std::int8_t>("int8");
   r.AddAll<std::uint8_t>("uint8");
   r.AddAll<std::int16_t>("int16");
   r.AddAll<std::uint16_t>("uint16");
   r.AddAll<std::int32_t>("int32");
   r.AddAll<std::uint32_t>("uint32");
   r.AddAll<std::int64_t>("int64");
   r.AddAll<std::uint64_t>("uint64");
   addReals<float>(r, "float", !good);
   addReals<double>(r, "double", !good);
   r.Add<double>("Double32", [](ROOT::RField<double> &f) { f.SetDouble32(); });
   r.AddSpelled<double>("Double32_spelled", "Double32_t");

   // Indices
   r.AddAll<std::string>("string");
   r.AddAll<std::vector<std::int32_t>>("vec_int32");
   r.AddAll<ROOT::RVec<float>>("rvec_float");
   r.AddAll<std::vector<bool>>("vec_bool");
   r.AddAll<std::optional<std::int32_t>>("opt_int32");
   r.AddAll<std::unique_ptr<std::int32_t>>("uptr_int32");
   r.AddAll<std::set<std::int32_t>>("set_int32");
   r.AddAll<std::map<std::string, std::int32_t>>("map_string_int32");

   // Sequences
   r.Add<std::vector<char>>("vec_char");
   r.Add<std::vector<std::byte>>("vec_byte");
   r.Add<std::vector<std::int8_t>>("vec_int8");
   r.Add<std::vector<std::uint8_t>>("vec_uint8");
   r.Add<std::vector<std::int16_t>>("vec_int16");
   r.Add<std::vector<std::uint16_t>>("vec_uint16");
   r.Add<std::vector<std::uint32_t>>("vec_uint32");
   r.Add<std::vector<std::int64_t>>("vec_int64");
   r.Add<std::vector<std::uint64_t>>("vec_uint64");
   r.Add<std::vector<float>>("vec_float");
   r.Add<std::vector<double>>("vec_double");
   r.AddSpelled<std::vector<double>>("vec_Double32", "std::vector<Double32_t>");
   r.AddSpelled<std::optional<double>>("opt_Double32", "std::optional<Double32_t>");
   r.AddSpelled<std::array<double, 2>>("array_Double32_2", "std::array<Double32_t,2>");
   r.Add<std::vector<std::string>>("vec_string");
   r.Add<std::vector<std::vector<std::int32_t>>>("vec_vec_int32");
   r.Add<std::vector<std::vector<std::vector<float>>>>("vec_vec_vec_float");
   r.Add<std::vector<std::vector<bool>>>("vec_vec_bool");
   r.Add<ROOT::RVec<std::int64_t>>("rvec_int64");
   r.Add<ROOT::RVec<bool>>("rvec_bool");
   r.Add<ROOT::RVec<std::string>>("rvec_string");
   r.Add<ROOT::RVec<ROOT::RVec<double>>>("rvec_rvec_double");
   r.Add<ROOT::RVec<std::vector<std::int16_t>>>("rvec_vec_int16");
   r.Add<std::array<std::int32_t, 1>>("array_int32_1");
   r.Add<std::array<float, 3>>("array_float_3");
   r.Add<std::array<bool, 5>>("array_bool_5");
   r.Add<std::array<std::uint8_t, 33>>("array_uint8_33");
   r.Add<std::array<std::string, 2>>("array_string_2");
   r.Add<std::array<std::array<std::int16_t, 3>, 2>>("array_array_int16");
   r.Add<std::array<std::vector<float>, 2>>("array_vec_float");
   r.Add<std::vector<std::array<std::int32_t, 2>>>("vec_array_int32");
   r.Add<std::array<std::array<std::vector<bool>, 2>, 2>>("array_array_vec_bool");
   r.Add<std::array<std::bitset<3>, 2>>("array_bitset3_2");
   r.Add<std::array<Simple, 2>>("array_Simple_2");
   r.AddSpelled<std::array<std::array<std::int32_t, 3>, 2>>("carray_int_2_3", "int[2][3]");

   // Parametrised encodings below containers
   r.Add<std::vector<float>>("vec_float__Real16", [](auto &f) {
      dynamic_cast<ROOT::RField<float> &>(*f.GetMutableSubfields()[0]).SetHalfPrecision();
   });
   r.Add<std::vector<float>>("vec_float__Real32Trunc13", [](auto &f) {
      dynamic_cast<ROOT::RField<float> &>(*f.GetMutableSubfields()[0]).SetTruncated(13);
   });
   r.Add<std::vector<double>>("vec_double__Real32Trunc23", [](auto &f) {
      dynamic_cast<ROOT::RField<double> &>(*f.GetMutableSubfields()[0]).SetTruncated(23);
   });
   {
      auto &a = r.Add<std::vector<float>>("vec_float__Real32Quant11", [](auto &f) {
         dynamic_cast<ROOT::RField<float> &>(*f.GetMutableSubfields()[0]).SetQuantized(11, {-2.f, 5.f});
      });
      a.ctx->hasRange = true;
      a.ctx->lo = -2;
      a.ctx->hi = 5;
   }
   {
      auto &a = r.Add<std::array<double, 3>>("array_double__Real32Quant19", [](auto &f) {
         dynamic_cast<ROOT::RField<double> &>(*f.GetMutableSubfields()[0]).SetQuantized(19, {-1., 10.});
      });
      a.ctx->hasRange = true;
      a.ctx->lo = -1;
      a.ctx->hi = 10;
   }
   r.Add<std::vector<std::vector<std::uint16_t>>>("vec_vec_uint16__SplitIndex32_Index32_UInt16", [](auto &f) {
      using CT = ROOT::ENTupleColumnType;
      f.SetColumnRepresentatives({{CT::kSplitIndex32}});
      f.GetMutableSubfields()[0]->SetColumnRepresentatives({{CT::kIndex32}});
      f.GetMutableSubfields()[0]->GetMutableSubfields()[0]->SetColumnRepresentatives({{CT::kUInt16}});
   });

   // Bits and wrappers
   r.Add<std::bitset<1>>("bitset_1");
   r.Add<std::bitset<8>>("bitset_8");
   r.Add<std::bitset<10>>("bitset_10");
   r.Add<std::bitset<64>>("bitset_64");
   r.Add<std::bitset<65>>("bitset_65");
   r.Add<std::bitset<137>>("bitset_137");
   r.Add<std::vector<std::bitset<10>>>("vec_bitset_10");
   r.Add<std::atomic<std::int32_t>>("atomic_int32");
   r.Add<std::atomic<bool>>("atomic_bool");
   r.Add<std::atomic<double>>("atomic_double");

   // Nullable
   r.Add<std::optional<bool>>("opt_bool");
   r.Add<std::optional<std::string>>("opt_string");
   r.Add<std::optional<std::vector<float>>>("opt_vec_float");
   r.Add<std::optional<Simple>>("opt_Simple");
   r.Add<std::optional<std::optional<std::int32_t>>>("opt_opt_int32");
   r.Add<std::vector<std::optional<double>>>("vec_opt_double");
   r.Add<std::optional<std::array<std::int16_t, 2>>>("opt_array_int16");
   r.Add<std::unique_ptr<std::string>>("uptr_string");
   r.Add<std::unique_ptr<Simple>>("uptr_Simple");
   r.Add<std::unique_ptr<std::vector<std::int32_t>>>("uptr_vec_int32");
   r.Add<std::vector<std::unique_ptr<std::int32_t>>>("vec_uptr_int32");
   r.Add<std::unique_ptr<std::unique_ptr<std::int32_t>>>("uptr_uptr_int32");

   // Variants
   r.Add<std::variant<std::int32_t, double>>("var_int32_double");
   r.Add<std::variant<std::string, Thrower>>("var_string_Thrower");
   r.Add<std::variant<std::uint8_t, std::string, std::vector<float>, Thrower>>("var_4");
   r.Add<std::variant<bool, std::array<std::int32_t, 2>, std::optional<std::int32_t>, std::vector<std::string>>>(
      "var_nested");
   r.Add<std::vector<std::variant<std::int32_t, std::string, Thrower>>>("vec_var");
   r.Add<std::variant<std::int32_t, std::variant<float, std::string>>>("var_var");
   r.Add<std::array<std::variant<std::int64_t, std::string>, 2>>("array_var");

   // Records of the standard library
   r.Add<std::pair<std::int32_t, float>>("pair_int32_float");
   r.Add<std::pair<std::string, std::vector<std::int32_t>>>("pair_string_vec");
   r.Add<std::vector<std::pair<std::int8_t, std::string>>>("vec_pair");
   r.Add<std::tuple<std::int32_t>>("tuple_1");
   r.Add<std::tuple<std::int8_t, std::string, double>>("tuple_3");
   r.Add<std::tuple<std::tuple<std::int32_t, bool>, std::vector<std::tuple<float, std::string>>>>("tuple_nested");
   r.Add<std::pair<Simple, std::tuple<std::int64_t, char>>>("pair_Simple_tuple");

   // Sets
   r.Add<std::set<std::string>>("set_string");
   r.Add<std::set<std::pair<std::int32_t, std::int32_t>>>("set_pair");
   r.Add<std::set<std::set<char>>>("set_set_char");
   r.Add<std::unordered_set<std::int32_t>>("uset_int32");
   r.Add<std::unordered_set<std::string>>("uset_string");
   r.Add<std::multiset<std::int32_t>>("mset_int32");
   r.Add<std::multiset<std::string>>("mset_string");
   r.Add<std::unordered_multiset<std::int32_t>>("umset_int32");
   r.Add<std::unordered_multiset<std::string>>("umset_string");

   // Maps
   r.Add<std::map<std::int32_t, double>>("map_int32_double");
   r.Add<std::map<std::string, std::vector<std::int32_t>>>("map_string_vec");
   r.Add<std::map<std::int32_t, std::map<std::string, float>>>("map_int32_map");
   r.Add<std::map<std::string, Simple>>("map_string_Simple");
   r.Add<std::map<char, bool>>("map_char_bool");
   r.Add<std::unordered_map<std::string, std::int32_t>>("umap_string_int32");
   r.Add<std::unordered_map<std::int32_t, std::string>>("umap_int32_string");
   r.Add<std::multimap<std::string, std::int32_t>>("mmap_string_int32");
   r.Add<std::multimap<std::int32_t, std::vector<float>>>("mmap_int32_vec");
   r.Add<std::unordered_multimap<std::string, std::int32_t>>("ummap_string_int32");
   r.Add<std::unordered_multimap<std::int32_t, std::string>>("ummap_int32_string");
   r.Add<std::vector<std::map<std::string, std::int32_t>>>("vec_map");

   // Enums
   r.Add<EI8>("EI8");
   r.Add<EU8>("EU8");
   r.Add<EI16>("EI16");
   r.Add<EU16>("EU16");
   r.Add<EI32>("EI32");
   r.Add<EU32>("EU32");
   r.Add<EI64>("EI64");
   r.Add<EU64>("EU64");
   r.Add<EUnscoped>("EUnscoped");
   r.Add<ENegative>("ENegative");
   r.Add<EUnscopedFixed>("EUnscopedFixed");
   r.Add<geo::Colour>("geo_Colour");
   r.Add<WithEnum::Inner>("WithEnum_Inner");
   r.Add<std::vector<EI16>>("vec_EI16");

   // Classes
   r.Add<Simple>("Simple");
   r.Add<Empty>("Empty");
   r.Add<OfEmpty>("OfEmpty");
   r.Add<HasEmpty>("HasEmpty");
   r.Add<Derived>("Derived");
   r.Add<Nested>("Nested");
   r.Add<WithD32>("WithD32");
   r.Add<WithTransient>("WithTransient");
   r.Add<WithEnum>("WithEnum");
   r.Add<Tpl<float, 2>>("Tpl_float_2");
   r.Add<Tpl<std::string, 3>>("Tpl_string_3");
   r.AddSpelled<Tpl<Long64_t, 3>>("Tpl_Long64_3", "Tpl<Long64_t,3>");
   r.Add<CArrays>("CArrays");
   r.Add<Versioned>("Versioned");
   r.Add<geo::Line>("geo_Line");
   r.Add<Spell>("Spell");
   r.Add<Mixed>("Mixed");
   r.Add<std::vector<Simple>>("vec_Simple");
   r.Add<std::vector<Derived>>("vec_Derived");
   r.Add<std::vector<Empty>>("vec_Empty");
   r.Add<ROOT::RVec<geo::Point>>("rvec_Point");
   r.Add<std::vector<CArrays>>("vec_CArrays");

   // Other spellings
   r.AddSpelled<std::int64_t>("spelled_long_long", "long long");
   r.AddSpelled<std::uint64_t>("spelled_size_t", "size_t");
   r.AddSpelled<std::int32_t>("spelled_const_int", "const int");
   r.AddSpelled<std::uint16_t>("spelled_unsigned_short_int", "unsigned short int");
   r.AddSpelled<std::vector<std::uint64_t>>("spelled_vec_size_t", "vector<size_t>");
   r.AddSpelled<std::map<std::string, std::int64_t>>("spelled_map", "const map<string, Long64_t>");
   r.AddSpelled<ROOT::RVec<double>>("spelled_RVec", "ROOT::RVec<Double_t>");

   // Untyped
   {
      auto &i = r.Add<URecord>("untyped_record", [] { return untypedRecord("untyped_record"); });
      i.printer = [](ROOT::RNTupleReader &rd) { return openVoidView<URecord>(rd, "untyped_record"); };
   }
   {
      auto &i = r.Add<std::vector<URecord>>("untyped_collection", [] {
         return FieldPtr(ROOT::RVectorField::CreateUntyped("untyped_collection", untypedRecord("_0")));
      });
      i.printer = [](ROOT::RNTupleReader &rd) {
         return openVoidView<std::vector<URecord>>(rd, "untyped_collection");
      };
   }
   {
      auto &i = r.Add<std::vector<float>>("untyped_collection_float", [] {
         return FieldPtr(ROOT::RVectorField::CreateUntyped("untyped_collection_float",
                                                           std::make_unique<ROOT::RField<float>>("_0")));
      });
      i.printer = [](ROOT::RNTupleReader &rd) {
         return openVoidView<std::vector<float>>(rd, "untyped_collection_float");
      };
   }

   // Projections
   r.AddProjected<std::int32_t>("proj_scalar", {{"proj_scalar", "Simple.a"}});
   r.AddProjected<std::string>("proj_string", {{"proj_string", "Simple.s"}});
   r.AddProjected<std::vector<float>>("proj_vec_b", {{"proj_vec_b", "vec_Simple"}, {"proj_vec_b._0", "vec_Simple._0.b"}});
   r.AddProjected<ROOT::RVec<std::string>>("proj_rvec_s",
                                           {{"proj_rvec_s", "vec_Simple"}, {"proj_rvec_s._0", "vec_Simple._0.s"}});
   r.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("card32_vec", {{"card32_vec", "vec_Simple"}});
   r.AddProjected<ROOT::RNTupleCardinality<std::uint64_t>>("card64_vec", {{"card64_vec", "vec_Simple"}});
   r.AddProjected<ROOT::RNTupleCardinality<std::uint64_t>>("card64_map", {{"card64_map", "map_string_vec"}});
   r.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("card32_opt", {{"card32_opt", "opt_string"}});
   r.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("card32_untyped", {{"card32_untyped", "untyped_collection"}});
   r.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("card32_Index32", {{"card32_Index32", "vec_int32__Index32"}});
   r.AddProjected<std::vector<ROOT::RNTupleCardinality<std::uint32_t>>>(
      "card32_inner", {{"card32_inner", "vec_vec_int32"}, {"card32_inner._0", "vec_vec_int32._0"}});
   r.AddProjected<float>("proj_float_Trunc10", {{"proj_float_Trunc10", "float__Real32Trunc10"}});
   r.AddProjected<float>("proj_float_Quant13", {{"proj_float_Quant13", "float__Real32Quant13"}});
}

struct Plan {
   const char *comp;
   int setting;
   const char *layout;
   int entries;
};

static void writeOne(Registry &reg, const Plan &p, const std::string &path, bool good)
{
   std::string layout = p.layout;
   auto model = ROOT::RNTupleModel::CreateBare();
   model->SetDescription("all types, " + layout);
   reg.AddTo(*model);
   reg.Reset();
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(p.setting);
   std::set<int> clusters, groups, flush;
   if (layout == "many" || layout == "groups") {
      std::size_t size = layout == "many" ? (good ? 128 : 64) : 200;
      opt.SetInitialUnzippedPageSize(layout == "many" ? 32 : 64);
      opt.SetMaxUnzippedPageSize(size);
      if (good)
         clusters = {1, 9};
      else
         clusters = {1, 8, 9, 77, 150, 237};
      flush = {5};
      if (layout == "groups")
         groups = good ? std::set<int>{1} : std::set<int>{1, 9, 150};
   }
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "types", path, opt);
   auto entry = writer->CreateRawPtrWriteEntry();
   reg.Bind(*writer, *entry);
   for (int i = 0; i < p.entries; i++) {
      if (clusters.count(i))
         writer->CommitCluster(groups.count(i) > 0);
      if (flush.count(i))
         writer->FlushColumns();
      reg.Gen(i);
      writer->Fill(*entry);
   }
}

// What ROOT reports about the columns: a line each, after a line with the settings
static void writeFacts(const std::string &path, const std::string &to)
{
   auto inspector = ROOT::Experimental::RNTupleInspector::Create("types", path);
   const auto &desc = inspector->GetDescriptor();
   std::ofstream out(to);
   out << "compression " << (desc.GetNClusters() ? *inspector->GetCompressionSettings() : 0) << "\n";
   for (const auto &f : desc.GetFieldIterable(desc.GetFieldZeroId()))
      for (const auto &c : desc.GetColumnIterable(f.GetId()))
         if (!c.IsAliasColumn()) {
            const auto &info = inspector->GetColumnInspector(c.GetPhysicalId());
            out << f.GetFieldName() << " " << ROOT::Internal::RColumnElementBase::GetColumnTypeName(c.GetType()) << " "
                << c.GetBitsOnStorage() << " " << info.GetNElements() << "\n";
         }
}

// Reads files of another program: OUTDIR/NAME.root to NAME.jsonl and NAME.facts
static void readAll(const std::string &dir)
{
   Registry reg;
   fillRegistry(reg, false);
   auto how = printersOf(reg);
   for (const auto &e : std::filesystem::directory_iterator(dir)) {
      if (e.path().extension() != ".root")
         continue;
      auto base = dir + "/" + e.path().stem().string();
      auto reader = ROOT::RNTupleReader::Open("types", e.path().string());
      writeJSONL(*reader, how, base + ".jsonl");
      writeFacts(e.path().string(), base + ".facts");
      std::cerr << base << std::endl;
   }
}

int main(int argc, char **argv)
{
   if (argc < 2) {
      std::cerr << "usage: types OUTDIR [good | read]\n";
      return 2;
   }
   std::string dir = argv[1];
   bool good = argc > 2 && std::string(argv[2]) == "good";
   SetErrorHandler(strictHandler);
   // Of class Mixed, about TTree; RNTuple does write the members
   allowedMessages().push_back("variant<int,string> has no streamer or dictionary, data member \"var\" will not be saved");
   allowedMessages().push_back("atomic<int> has no streamer or dictionary, data member \"at\" will not be saved");

   if (argc > 2 && std::string(argv[2]) == "read") {
      try {
         readAll(dir);
      } catch (const std::exception &e) {
         std::cerr << "types: " << e.what() << std::endl;
         return 1;
      }
      return messageCount() ? 3 : 0;
   }

   std::vector<Plan> plans;
   static const std::pair<const char *, int> comps[] = {{"none", 0}, {"zlib", 101}, {"lzma", 201}, {"lz4", 404}, {"zstd", 505}};
   if (good) {
      plans = {{"none", 0, "one", 30},   {"zlib", 101, "groups", 12}, {"lzma", 201, "one", 14}, {"lz4", 404, "one", 14},
               {"zstd", 505, "many", 24}, {"cs", 301, "one", 12},      {"zstd", 505, "empty", 0}};
   } else {
      for (auto &c : comps) {
         plans.push_back({c.first, c.second, "one", 40});
         plans.push_back({c.first, c.second, "many", 300});
         plans.push_back({c.first, c.second, "groups", 300});
         plans.push_back({c.first, c.second, "empty", 0});
      }
      plans.push_back({"cs", 301, "one", 40});
   }

   Manifest manifest;
   try {
      Registry reg;
      reg.small = good;
      fillRegistry(reg, good);
      auto how = printersOf(reg);
      for (auto &p : plans) {
         std::string base = std::string("types_") + p.comp + "_" + p.layout;
         std::string path = dir + "/" + base + ".root";
         reg.longString = good ? 600 : (std::string(p.layout) == "one" ? 100000 : 5000);
         writeOne(reg, p, path, good);
         auto reader = ROOT::RNTupleReader::Open("types", path);
         auto n = writeJSONL(*reader, how, dir + "/" + base + ".jsonl");
         if (n != std::uint64_t(p.entries))
            throw std::runtime_error("wrong number of entries in " + path);
         checkWritten(*reader, reg);
         manifest.Add(base + ".root", base + ".jsonl", "types", n, p.setting, p.layout);
         std::cerr << base << std::endl;
      }
   } catch (const std::exception &e) {
      std::cerr << "types: " << e.what() << std::endl;
      return 1;
   }
   manifest.Write(dir + "/manifest.json");
   return messageCount() ? 3 : 0;
}
