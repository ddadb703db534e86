// Makes RNTuple files of unusual structure with ROOT, and prints what ROOT reads from them (exact JSON Lines).
// Built and run by special.sh:  special OUTDIR [good]
#include "types_common.hxx"
#include "special.hxx"

#include <ROOT/RNTuple.hxx>
#include <ROOT/RNTupleAttrReading.hxx>
#include <ROOT/RNTupleAttrWriting.hxx>
#include <TDirectory.h>
#include <TH1.h>
#include <TNamed.h>

using CT = ROOT::ENTupleColumnType;

template <class F> void visit(F &f, SPoint &o) { f("a", o.a); f("b", o.b); f("s", o.s); }
template <class F> void visit(F &f, PtRec &o) { f("fX", o.fX); f("fId", o.fId); }

// Values of streamed objects are not printed, but they must be made
template <>
struct Tr<SStreamed> {
   static void gen(SStreamed &v, Ctx &c)
   {
      Tr<int>::gen(v.n, c);
      v.d = v.n / 3.0;
      Tr<std::string>::gen(v.s, c);
      v.v.assign(v.s.size() % 5, short(v.n));
   }
   static void print(std::string &o, const SStreamed &) { o += "null"; }
};
template <>
struct Tr<PtSoA> {
   static void gen(PtSoA &v, Ctx &c)
   {
      auto n = c.size();
      v.fX.resize(n);
      v.fId.resize(n);
      for (std::size_t i = 0; i < n; i++) {
         v.fX[i] = float(c.rnd32() % 1000) / 8;
         v.fId[i] = int(c.rnd32());
      }
   }
   static void print(std::string &o, const PtSoA &) { o += "null"; }
};

// Memory layout of the untyped record to which a member is added later
struct URec {
   std::int32_t x = 0;
   double y = 0;
   float late = 0;
};
struct URecShort {
   std::int32_t x = 0;
   double y = 0;
};
template <class F> void visit(F &f, URecShort &o) { f("x", o.x); f("y", o.y); }
template <class F> void visit(F &f, URec &o) { f("x", o.x); f("y", o.y); f("late", o.late); }

static std::string gDir;
static Manifest gManifest;
using How = std::map<std::string, std::function<PrintFunc(ROOT::RNTupleReader &)>>;

static void expect(const std::string &file, const std::string &base, const std::string &ntuple, int compression,
                   const std::string &layout, const How &how)
{
   auto reader = ROOT::RNTupleReader::Open(ntuple, gDir + "/" + file);
   auto n = writeJSONL(*reader, how, gDir + "/" + base + ".jsonl");
   gManifest.Add(file, base + ".jsonl", ntuple, n, compression, layout);
}

static How join(std::initializer_list<const Registry *> rs)
{
   How h;
   for (auto r : rs)
      for (auto &i : r->items)
         h[i.name] = i.printer;
   return h;
}

static ROOT::RFieldBase &mutableField(ROOT::RNTupleWriter &w, const std::string &name)
{
   return const_cast<ROOT::RFieldBase &>(w.GetModel().GetConstField(name));
}

// (a) Fields added while writing: at entry 5 (inside a cluster), 11 (inside a later one), 14 (at a cluster's start)
// toRecord: at entry 11 the untyped record gets a member, too. ROOT 6.40.00 does that correctly only without buffered
// writing (root-project/root issue 22538: otherwise the new field becomes a top-level field).
static void lateExtension(const std::string &base, int compression, bool groups, bool toRecord)
{
   Registry r0, r5, r11, r14;
   for (auto r : {&r0, &r5, &r11, &r14})
      r->small = true;
   r0.Add<std::int32_t>("base");
   r0.Add<std::vector<SPoint>>("basevec");
   {
      auto &i = r0.Add<URec>("urec", [] {
         std::vector<FieldPtr> items;
         items.emplace_back(std::make_unique<ROOT::RField<std::int32_t>>("x"));
         items.emplace_back(std::make_unique<ROOT::RField<double>>("y"));
         return FieldPtr(std::make_unique<ROOT::RRecordField>("urec", std::move(items)));
      });
      i.printer = [toRecord](ROOT::RNTupleReader &rd) {
         return toRecord ? openVoidView<URec>(rd, "urec") : openVoidView<URecShort>(rd, "urec");
      };
   }
   r5.Add<std::int32_t>("late_scalar");
   r5.Add<bool>("late_bool");
   r5.Add<std::array<std::int32_t, 3>>("late_array");
   r5.Add<std::bitset<10>>("late_bitset");
   r5.Add<std::vector<float>>("late_vec");
   r5.Add<std::optional<std::int32_t>>("late_opt");
   r5.Add<std::string>("late_string");
   r5.Add<std::variant<std::int32_t, std::string>>("late_variant");
   r5.Add<SPoint>("late_class");
   r5.Add<std::atomic<std::int16_t>>("late_atomic");
   r5.Add<std::vector<bool>>("late_vec_bool");
   r5.AddProjected<std::int32_t>("late_proj_a", {{"late_proj_a", "late_class.a"}});
   r5.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("late_card_basevec", {{"late_card_basevec", "basevec"}});
   r5.AddProjected<ROOT::RNTupleCardinality<std::uint64_t>>("late_card_vec", {{"late_card_vec", "late_vec"}});
   r11.Add<std::uint8_t>("later_uint8");
   r11.Add<std::vector<std::string>>("later_vec_string");
   r11.Add<std::array<SPoint, 2>>("later_array_class");
   r11.Add<std::map<std::string, std::int32_t>>("later_map");
   r11.Add<std::array<std::vector<std::int32_t>, 2>>("later_array_vec");
   r11.Add<std::pair<double, std::string>>("later_pair");
   r11.Add<std::array<std::bitset<3>, 2>>("later_array_bitset");
   r11.AddProjected<std::vector<std::string>>("later_proj_s",
                                              {{"later_proj_s", "basevec"}, {"later_proj_s._0", "basevec._0.s"}});
   r14.Add<std::int64_t>("last_int64");
   r14.Add<double>("last_Real32Trunc20", [](ROOT::RField<double> &f) { f.SetTruncated(20); });
   {
      auto &i = r14.Add<float>("last_Real32Quant9", [](ROOT::RField<float> &f) { f.SetQuantized(9, {1.f, 2.f}); });
      i.ctx->hasRange = true;
      i.ctx->lo = 1;
      i.ctx->hi = 2;
   }

   std::vector<Registry *> active{&r0};
   auto model = ROOT::RNTupleModel::CreateBare();
   r0.AddTo(*model);
   for (auto r : {&r0, &r5, &r11, &r14})
      r->Reset();
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(compression);
   opt.SetInitialUnzippedPageSize(32);
   opt.SetMaxUnzippedPageSize(96);
   opt.SetUseBufferedWrite(!toRecord);
   auto file = base + ".root";
   {
      auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "late", gDir + "/" + file, opt);
      std::unique_ptr<ROOT::Detail::RRawPtrWriteEntry> entry;
      auto bind = [&] {
         entry = writer->CreateRawPtrWriteEntry();
         for (auto r : active)
            r->Bind(*writer, *entry);
      };
      auto extend = [&](Registry &r, bool member) {
         auto up = writer->CreateModelUpdater();
         up->BeginUpdate();
         for (auto &i : r.items)
            if (!i.projected)
               up->AddField(i.make());
         if (member)
            up->AddField(std::make_unique<ROOT::RField<float>>("late"), "urec");
         for (auto &i : r.items)
            if (i.projected)
               up->AddProjectedField(i.make(), i.mapping).ThrowOnError();
         up->CommitUpdate();
         active.push_back(&r);
         bind();
      };
      bind();
      for (int i = 0; i < 20; i++) {
         if (i == 3 || i == 9 || i == 14 || i == 17)
            writer->CommitCluster(groups && (i == 3 || i == 14));
         if (i == 5)
            extend(r5, false);
         if (i == 11)
            extend(r11, toRecord);
         if (i == 14)
            extend(r14, false);
         for (auto r : active)
            r->Gen(i);
         writer->Fill(*entry);
      }
   }
   expect(file, base, "late", compression, "late extension", join({&r0, &r5, &r11, &r14}));
   auto reader = ROOT::RNTupleReader::Open("late", gDir + "/" + file);
   checkWritten(*reader, r0);
   checkWritten(*reader, r5, 5);
   checkWritten(*reader, r11, 11);
   checkWritten(*reader, r14, 14);
}

// A small ordinary registry
static void fewFields(Registry &r)
{
   r.small = true;
   r.Add<std::int32_t>("i");
   r.Add<std::vector<double>>("v");
   r.Add<std::string>("s");
}

static void fill(ROOT::RNTupleWriter &w, Registry &r, int n, int cluster = 0, int first = 0)
{
   auto entry = w.CreateRawPtrWriteEntry();
   r.Bind(w, *entry);
   for (int i = 0; i < n; i++) {
      if (cluster && i && i % cluster == 0)
         w.CommitCluster();
      r.Gen(first + i);
      w.Fill(*entry);
   }
}

// (b) Several RNTuples in directories of a TFile, among other keys; one name twice
static void directories()
{
   const std::string file = "special_dirs.root";
   Registry r;
   fewFields(r);
   auto f = std::unique_ptr<TFile>(TFile::Open((gDir + "/" + file).c_str(), "RECREATE", "a title", 101));
   auto put = [&](TDirectory &d, const char *name, int n, int setting) {
      auto m = ROOT::RNTupleModel::CreateBare();
      r.AddTo(*m);
      ROOT::RNTupleWriteOptions opt;
      opt.SetCompression(setting);
      auto w = ROOT::RNTupleWriter::Append(std::move(m), name, d, opt);
      fill(*w, r, n, 4);
   };
   TNamed named("named", "not an RNTuple");
   f->WriteObject(&named, "named");
   r.Reset();
   put(*f, "top", 5, 505); // cycle 1
   TH1D h("h", "histogram", 3, 0, 1);
   h.SetDirectory(nullptr);
   f->WriteObject(&h, "h");
   auto dir = f->mkdir("dir", "directory");
   auto sub = dir->mkdir("sub");
   put(*sub, "ntuple", 7, 101);
   put(*dir, "other", 3, 0);
   put(*f, "top", 9, 404); // cycle 2
   put(*dir, "top", 2, 505);
   f->WriteObject(&named, "ntuple");
   f->Write();
   f.reset();

   How how = join({&r});
   expect(file, "special_dirs_sub", "dir/sub/ntuple", 101, "directories", how);
   expect(file, "special_dirs_other", "dir/other", 0, "directories", how);
   expect(file, "special_dirs_dirtop", "dir/top", 505, "directories", how);
   expect(file, "special_dirs_top", "top", 404, "directories", how);
   auto g = std::unique_ptr<TFile>(TFile::Open((gDir + "/" + file).c_str()));
   for (int cycle : {1, 2}) {
      auto name = "top;" + std::to_string(cycle);
      auto anchor = std::unique_ptr<ROOT::RNTuple>(g->Get<ROOT::RNTuple>(name.c_str()));
      if (!anchor)
         throw std::runtime_error("no " + name);
      auto reader = ROOT::RNTupleReader::Open(*anchor);
      auto base = "special_dirs_top_" + std::to_string(cycle);
      auto n = writeJSONL(*reader, how, gDir + "/" + base + ".jsonl");
      gManifest.Add(file, base + ".jsonl", name, n, cycle == 1 ? 505 : 404, "directories");
   }
}

// (c) A small maximum key size: pages and envelopes are split into chunks
// (ROOT crashes if the list of chunks, 8 bytes each, does not fit into the first chunk.)
static void chunks(const std::string &base, int compression, std::uint64_t maxKey)
{
   Registry r;
   fewFields(r);
   r.Add<std::vector<std::uint8_t>>("bytes");
   for (int i = 0; i < 12; i++)
      r.Add<double>("a_rather_long_field_name_which_makes_the_header_larger_" + std::to_string(i));
   r.Reset();
   auto model = ROOT::RNTupleModel::CreateBare();
   r.AddTo(*model);
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(compression);
   opt.SetMaxUnzippedPageSize(8192);
   ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(opt, maxKey);
   auto file = base + ".root";
   {
      auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "chunks", gDir + "/" + file, opt);
      auto entry = w->CreateRawPtrWriteEntry();
      r.Bind(*w, *entry);
      Ctx c("bytes");
      std::vector<std::size_t> sizes;
      // stored sizes around maxKey (8 bytes of checksum follow the page), and multiples of it
      for (int d = -20; d <= 12; d++)
         sizes.push_back(maxKey + d);
      for (int k : {2, 3, 7})
         sizes.push_back(k * maxKey + k);
      for (std::size_t i = 0; i < sizes.size(); i++) {
         r.Gen(i);
         for (auto &it : r.items)
            if (it.name == "bytes") {
               auto &v = *static_cast<std::vector<std::uint8_t> *>(it.value());
               v.resize(sizes[i]);
               for (auto &b : v)
                  b = c.rnd32(); // incompressible
            }
         w->Fill(*entry);
         w->FlushColumns();
         if (i == 20)
            w->CommitCluster();
      }
   }
   expect(file, base, "chunks", compression, "max key size " + std::to_string(maxKey), join({&r}));
}

// (d) Linked attribute sets
static void attributes()
{
   const std::string file = "special_attributes.root";
   Registry r;
   fewFields(r);
   r.Reset();
   // messages of ROOT: the interface is experimental
   {
      auto f = std::unique_ptr<TFile>(TFile::Open((gDir + "/" + file).c_str(), "RECREATE", "", 505));
      auto m = ROOT::RNTupleModel::CreateBare();
      r.AddTo(*m);
      auto w = ROOT::RNTupleWriter::Append(std::move(m), "main", *f);
      auto m1 = ROOT::RNTupleModel::Create();
      auto pName = m1->MakeField<std::string>("name");
      auto pVec = m1->MakeField<std::vector<float>>("vec");
      auto m2 = ROOT::RNTupleModel::Create();
      auto pNum = m2->MakeField<std::int64_t>("num");
      auto a1 = w->CreateAttributeSet(std::move(m1), "first");
      auto a2 = w->CreateAttributeSet(std::move(m2), "second");
      auto entry = w->CreateRawPtrWriteEntry();
      r.Bind(*w, *entry);
      auto fillN = [&](int n, int first) {
         for (int i = 0; i < n; i++) {
            r.Gen(first + i);
            w->Fill(*entry);
         }
      };
      auto whole = a2->BeginRange();
      auto x = a1->BeginRange();
      fillN(3, 0);
      *pName = "zero to two";
      *pVec = {1.f, 2.5f};
      a1->CommitRange(std::move(x));
      auto y = a1->BeginRange(); // entries 3..6, committed after z
      fillN(2, 3);
      w->CommitCluster();
      auto z = a1->BeginRange();
      fillN(2, 5);
      *pName = "z: five and six \xc3\xa9";
      pVec->clear();
      a1->CommitRange(std::move(z));
      *pName = "y: three to six";
      *pVec = {-1.f};
      a1->CommitRange(std::move(y));
      auto e = a1->BeginRange();
      *pName = "empty range";
      a1->CommitRange(std::move(e));
      fillN(3, 7);
      *pNum = -42;
      a2->CommitRange(std::move(whole));
   }
   expect(file, "special_attributes", "main", 505, "attribute sets", join({&r}));
   auto reader = ROOT::RNTupleReader::Open("main", gDir + "/" + file);
   for (std::string set : {"first", "second"}) {
      auto as = reader->OpenAttributeSet(set);
      auto entry = as->CreateEntry();
      auto base = "special_attributes_" + set;
      std::ofstream out(gDir + "/" + base + ".jsonl", std::ios::binary);
      for (std::size_t i = 0; i < as->GetNEntries(); i++) {
         auto range = as->LoadEntry(i, *entry);
         std::string o = "{\"_rangeStart\":" + std::to_string(range.GetStart()) +
                         ",\"_rangeLen\":" + std::to_string(range.GetLength()) + ",\"_userData\":{";
         if (set == "first") {
            o += "\"name\":";
            Tr<std::string>::print(o, *entry->GetPtr<std::string>("name"));
            o += ",\"vec\":";
            Tr<std::vector<float>>::print(o, *entry->GetPtr<std::vector<float>>("vec"));
         } else {
            o += "\"num\":";
            Tr<std::int64_t>::print(o, *entry->GetPtr<std::int64_t>("num"));
         }
         out << o << "}}\n";
      }
      gManifest.Add(file, base + ".jsonl", "main", as->GetNEntries(), 505, "attribute set", set);
   }
}

// (e) Identical pages are stored once
static void sharedPages()
{
   const std::string base = "special_samepage";
   Registry r;
   for (int i = 0; i < 20; i++) {
      auto name = "same_" + std::to_string(i);
      r.Add<std::int32_t>(name);
   }
   for (int i = 0; i < 4; i++) {
      r.Add<float>("f_" + std::to_string(i));
      r.Add<std::vector<std::int32_t>>("v_" + std::to_string(i));
   }
   r.small = true;
   r.Reset();
   for (auto &i : r.items)
      i.ctx->state = 99; // all generators alike
   auto model = ROOT::RNTupleModel::CreateBare();
   r.AddTo(*model);
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(505);
   opt.SetInitialUnzippedPageSize(64);
   opt.SetMaxUnzippedPageSize(64);
   {
      auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "same", gDir + "/" + base + ".root", opt);
      fill(*w, r, 50, 20);
   }
   expect(base + ".root", base, "same", 505, "same-page merging", join({&r}));
}

// The opposite: neither checksums nor merging of equal pages
static void noChecksums()
{
   const std::string base = "special_nochecksum";
   Registry r;
   fewFields(r);
   r.Add<std::vector<bool>>("b");
   r.Reset();
   auto model = ROOT::RNTupleModel::CreateBare();
   r.AddTo(*model);
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(505);
   opt.SetEnablePageChecksums(false);
   opt.SetInitialUnzippedPageSize(64);
   opt.SetMaxUnzippedPageSize(256);
   {
      auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "plain", gDir + "/" + base + ".root", opt);
      fill(*w, r, 50, 20);
   }
   expect(base + ".root", base, "plain", 505, "no page checksums", join({&r}));
}

// An array of length 0
static void zeroSized()
{
   const std::string base = "special_zero";
   Registry r;
   fewFields(r);
   r.Add<std::array<std::int32_t, 0>>("array_0");
   // not below a vector: ROOT divides by zero there
   r.Add<std::int32_t>("after");
   r.Reset();
   auto model = ROOT::RNTupleModel::CreateBare();
   r.AddTo(*model);
   {
      auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "zero", gDir + "/" + base + ".root");
      fill(*w, r, 6, 4);
   }
   expect(base + ".root", base, "zero", 505, "arrays without elements", join({&r}));
}

// (f) Fields written by the ROOT streamer (role 4); (g) SoA
static void streamerAndSoA()
{
   {
      const std::string base = "special_streamer";
      Registry r, hidden;
      fewFields(r);
      hidden.small = true;
      hidden.AddSpelled<SStreamed>("obj", "SStreamed");
      hidden.AddSpelled<std::vector<SStreamed>>("objs", "std::vector<SStreamed>");
      auto model = ROOT::RNTupleModel::CreateBare();
      r.AddTo(*model);
      hidden.AddTo(*model);
      r.Add<std::int32_t>("after");
      model->AddField(r.items.back().make());
      r.Reset();
      hidden.Reset();
      ROOT::RNTupleWriteOptions opt;
      opt.SetCompression(505);
      {
         auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "streamed", gDir + "/" + base + ".root", opt);
         auto entry = w->CreateRawPtrWriteEntry();
         r.Bind(*w, *entry);
         hidden.Bind(*w, *entry);
         for (int i = 0; i < 15; i++) {
            r.Gen(i);
            hidden.Gen(i);
            if (i == 7)
               w->CommitCluster();
            w->Fill(*entry);
         }
      }
      expect(base + ".root", base, "streamed", 505, "streamer field", join({&r}));
   }
   {
      const std::string base = "special_soa";
      Registry r, soa;
      fewFields(r);
      soa.small = true;
      soa.Add<PtSoA>("soa", [] { return FieldPtr(std::make_unique<ROOT::Experimental::RSoAField>("soa", "PtSoA")); });
      auto model = ROOT::RNTupleModel::CreateBare();
      r.AddTo(*model);
      soa.AddTo(*model);
      r.Reset();
      soa.Reset();
      ROOT::RNTupleWriteOptions opt;
      opt.SetCompression(505);
      {
         auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "soa", gDir + "/" + base + ".root", opt);
         auto entry = w->CreateRawPtrWriteEntry();
         r.Bind(*w, *entry);
         soa.Bind(*w, *entry);
         for (int i = 0; i < 15; i++) {
            r.Gen(i);
            soa.Gen(i);
            if (i == 7)
               w->CommitCluster();
            w->Fill(*entry);
         }
      }
      auto how = join({&r});
      how["soa"] = [](ROOT::RNTupleReader &rd) { return openView<std::vector<PtRec>>(rd, "soa"); };
      expect(base + ".root", base, "soa", 505, "SoA", how);
   }
}

// (h) Many columns
static void wide()
{
   const std::string base = "special_wide";
   auto model = ROOT::RNTupleModel::CreateBare();
   const int n = 10000;
   for (int i = 0; i < n; i++)
      model->AddField(std::make_unique<ROOT::RField<float>>("f" + std::to_string(i)));
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(505);
   {
      auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "wide", gDir + "/" + base + ".root", opt);
      auto entry = w->CreateRawPtrWriteEntry();
      std::vector<float> v(n);
      for (int i = 0; i < n; i++)
         entry->BindRawPtr(w->GetModel().GetToken("f" + std::to_string(i)), &v[i]);
      for (int e = 0; e < 3; e++) {
         for (int i = 0; i < n; i++)
            v[i] = float(i + e * n);
         w->Fill(*entry);
      }
   }
   gManifest.Add(base + ".root", "", "wide", 3, 505, "f<i> holds i + 10000*entry");
}

// (i) Several representations of a column, another one in each cluster
static void multiRep(const std::string &base, int compression, bool late)
{
   Registry r;
   r.small = true;
   struct Sw {
      std::string field;
      int n;
   };
   std::vector<Sw> sw;
   using Reps = ROOT::RFieldBase::RColumnRepresentations::Selection_t;
   auto add = [&](auto *tag, const std::string &name, const Reps &reps) {
      using T = std::remove_pointer_t<decltype(tag)>;
      r.Add<T>(name, [reps](ROOT::RField<T> &f) { f.SetColumnRepresentatives(reps); });
      sw.push_back({name, int(reps.size())});
   };
   add((std::int32_t *)nullptr, "i32", {{CT::kSplitInt32}, {CT::kInt32}});
   add((std::uint64_t *)nullptr, "u64", {{CT::kUInt64}, {CT::kSplitUInt64}});
   add((float *)nullptr, "f", {{CT::kReal32}, {CT::kReal16}, {CT::kSplitReal32}});
   r.Add<float>("f_trunc", [](ROOT::RField<float> &f) {
      f.SetTruncated(20);
      f.SetColumnRepresentatives({{CT::kReal32Trunc}, {CT::kSplitReal32}});
   });
   sw.push_back({"f_trunc", 2});
   {
      auto &it = r.Add<double>("d_quant", [](ROOT::RField<double> &f) {
         f.SetQuantized(14, {-1., 1.});
            // Quant and Trunc must come first: ROOT 6.40 takes bit width and range of every representation from the
         // first column when reading (with others first: an assertion, or wrong values)
         f.SetColumnRepresentatives({{CT::kReal32Quant}, {CT::kReal64}, {CT::kReal32}});
      });
      it.ctx->hasRange = true;
      it.ctx->lo = -1;
      it.ctx->hi = 1;
   }
   sw.push_back({"d_quant", 3});
   add((std::string *)nullptr, "str", {{CT::kIndex32, CT::kChar}, {CT::kSplitIndex64, CT::kChar}});
   add((std::vector<float> *)nullptr, "vec",
       {{CT::kIndex32}, {CT::kSplitIndex64}, {CT::kIndex64}, {CT::kSplitIndex32}});
   add((std::optional<std::int32_t> *)nullptr, "opt", {{CT::kIndex32}, {CT::kSplitIndex64}});
   r.Add<std::vector<std::int16_t>>("vec_inner", [](auto &f) {
      f.GetMutableSubfields()[0]->SetColumnRepresentatives({{CT::kSplitInt16}, {CT::kInt16}});
   });
   sw.push_back({"vec_inner._0", 2});
   r.Add<std::array<float, 3>>("arr", [](auto &f) {
      f.GetMutableSubfields()[0]->SetColumnRepresentatives({{CT::kSplitReal32}, {CT::kReal16}});
   });
   sw.push_back({"arr._0", 2});
   r.Add<std::vector<std::optional<std::string>>>("vec_opt_string", [](auto &f) {
      auto *o = f.GetMutableSubfields()[0];
      o->SetColumnRepresentatives({{CT::kSplitIndex64}, {CT::kIndex32}});
      o->GetMutableSubfields()[0]->SetColumnRepresentatives(
         {{CT::kIndex64, CT::kChar}, {CT::kSplitIndex32, CT::kChar}, {CT::kIndex32, CT::kChar}});
   });
   sw.push_back({"vec_opt_string._0", 2});
   sw.push_back({"vec_opt_string._0._0", 3});
   Registry first;
   first.small = true;
   first.Add<std::int32_t>("first");
   first.Reset();
   Registry proj;
   proj.AddProjected<float>("proj_f", {{"proj_f", "f"}});
   proj.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("card_vec", {{"card_vec", "vec"}});
   r.Reset();
   auto model = ROOT::RNTupleModel::CreateBare();
   first.AddTo(*model);
   if (!late)
      r.AddTo(*model);
   // Fields of `first` and `r` come before the projections in the schema
   if (!late)
      proj.AddTo(*model);
   ROOT::RNTupleWriteOptions opt;
   opt.SetCompression(compression);
   opt.SetInitialUnzippedPageSize(16);
   opt.SetMaxUnzippedPageSize(64);
   auto file = base + ".root";
   {
      auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "multi", gDir + "/" + file, opt);
      auto entry = w->CreateRawPtrWriteEntry();
      first.Bind(*w, *entry);
      if (!late)
         r.Bind(*w, *entry);
      bool have = !late;
      int cluster = 0;
      for (int i = 0; i < 40; i++) {
         if (i && i % 6 == 0) {
            w->CommitCluster(i == 12);
            cluster++;
            if (have)
               for (auto &s : sw)
                  ROOT::Internal::RFieldRepresentationModifier::SetPrimaryColumnRepresentation(mutableField(*w, s.field),
                                                                                               cluster % s.n);
         }
         if (late && i == 8) {
            auto up = w->CreateModelUpdater();
            up->BeginUpdate();
            for (auto &it : r.items)
               up->AddField(it.make());
            up->CommitUpdate();
            entry = w->CreateRawPtrWriteEntry();
            first.Bind(*w, *entry);
            r.Bind(*w, *entry);
            have = true;
         }
         first.Gen(i);
         if (have)
            r.Gen(i);
         w->Fill(*entry);
      }
   }
   expect(file, base, "multi", compression, late ? "late multiple representations" : "multiple representations",
          join({&first, &r, &proj}));
   checkWritten(*ROOT::RNTupleReader::Open("multi", gDir + "/" + file), r, late ? 8 : 0);
}

int main(int argc, char **argv)
{
   if (argc < 2) {
      std::cerr << "usage: special OUTDIR [good]\n";
      return 2;
   }
   gDir = argv[1];
   bool good = argc > 2 && std::string(argv[2]) == "good";
   SetErrorHandler(strictHandler);
   allowedMessages().push_back("RNTuple Attributes are experimental");
   allowedMessages().push_back("The SoA field is experimental");
   int failed = 0;
   auto step = [&](const char *name, const std::function<void()> &f) {
      try {
         f();
         std::cerr << name << std::endl;
      } catch (const std::exception &e) {
         std::cerr << "special: " << name << ": " << e.what() << std::endl;
         failed = 1;
      }
   };
   step("late", [] { lateExtension("special_late", 505, false, false); });
   step("late, none, groups", [] { lateExtension("special_late_none", 0, true, true); });
   step("directories", directories);
   step("chunks none", [] { chunks("special_chunks_none", 0, 640); });
   step("chunks zstd", [] { chunks("special_chunks_zstd", 505, 420); });
   step("attributes", attributes);
   step("same page", sharedPages);
   step("no checksums", noChecksums);
   step("zero", zeroSized);
   step("streamer, SoA", streamerAndSoA);
   if (!good)
      step("wide", wide);
   step("multi", [] { multiRep("special_multirep", 505, false); });
   step("multi none", [] { multiRep("special_multirep_none", 0, false); });
   step("multi late", [] { multiRep("special_multirep_late", 505, true); });
   gManifest.Write(gDir + "/special_manifest.json");
   return failed ? 1 : messageCount() ? 3 : 0;
}
