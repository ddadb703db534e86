// Makes an RNTuple of objects that ROOT's streamers write, and what ROOT reads from it (exact JSON lines). Built and run
// by objects.sh:  objects OUTDIR
//
// Objects are printed with all members, base classes as members named by their class.
#include "types_common.hxx"
#include "objects.hxx"

#include <TH1.h>
#include <TObjString.h>

template <class F> void visit(F &f, SPoint &o) { f("a", o.a); f("b", o.b); f("s", o.s); }
template <class F> void visit(F &f, SStreamed &o) { f("n", o.n); f("d", o.d); f("s", o.s); f("v", o.v); }
template <class F> void visit(F &f, OHolder &o) { f("id", o.id); f("obj", o.obj); f("objs", o.objs); }
template <class F> void visit(F &f, OBase &o) { f("base", o.base); }
template <class F> void visit(F &f, ODerived &o) { f("OBase", static_cast<OBase &>(o)); f("more", o.more); }
template <class F> void visit(F &f, OPoint &o) { f("SPoint", static_cast<SPoint &>(o)); f("z", o.z); }
template <class F> void visit(F &f, OStd &o)
{
   f("fString", o.fString); f("fInts", o.fInts); f("fBools", o.fBools); f("fStrings", o.fStrings);
   f("fJagged", o.fJagged); f("fJaggedPoints", o.fJaggedPoints); f("fPoints", o.fPoints);
   f("fDerived", o.fDerived); f("fForeign", o.fForeign); f("fOne", o.fOne); f("fPointers", o.fPointers);
   f("fList", o.fList); f("fDeque", o.fDeque); f("fSet", o.fSet); f("fMap", o.fMap); f("fMapPoint", o.fMapPoint);
   f("fMapVector", o.fMapVector); f("fUnordered", o.fUnordered); f("fMaps", o.fMaps); f("fPairs", o.fPairs);
   f("fPair", o.fPair); f("fBits", o.fBits); f("fUnique", o.fUnique);
}

// By key, so that unordered maps are printed in a defined order
template <>
struct Tr<std::unordered_map<int, double>> {
   using M = std::unordered_map<int, double>;
   static void gen(M &v, Ctx &c) { TrMap<M, int, double, true>::gen(v, c); }
   static void print(std::string &o, const M &v) { Tr<std::map<int, double>>::print(o, {v.begin(), v.end()}); }
};
template <class T> struct Tr<std::list<T>> : TrSeq<std::list<T>, T> {
   static void gen(std::list<T> &v, Ctx &c)
   {
      v.resize(c.size());
      for (auto &e : v)
         Tr<T>::gen(e, c);
   }
};
template <class T> struct Tr<std::deque<T>> : TrSeq<std::deque<T>, T> {};

template <>
struct Tr<OBase *> {
   static void gen(OBase *&v, Ctx &c)
   {
      delete v;
      v = nullptr;
      if (!c.engaged())
         return;
      auto d = c.rnd32() % 2 ? new ODerived : nullptr;
      v = d ? d : new OBase;
      Tr<int>::gen(v->base, c);
      if (d)
         Tr<short>::gen(d->more, c);
   }
   static void print(std::string &o, OBase *v)
   {
      if (!v) {
         o += "null";
         return;
      }
      auto base = "\"base\":" + std::to_string(v->base);
      if (auto d = dynamic_cast<ODerived *>(v))
         o += "{\"OBase\":{" + base + "},\"more\":" + std::to_string(d->more) + "}";
      else
         o += "{" + base + "}";
   }
};

template <>
struct Tr<TNamed> {
   static void gen(TNamed &v, Ctx &c)
   {
      std::string s;
      Tr<std::string>::gen(s, c);
      v.SetName(s.c_str());
      v.SetTitle((s + " title").c_str());
   }
   static void print(std::string &o, const TNamed &v)
   {
      o += "{\"name\":";
      stringOut(o, v.GetName());
      o += ",\"title\":";
      stringOut(o, v.GetTitle());
      o += '}';
   }
};
template <>
struct Tr<TLorentzVector> {
   static void gen(TLorentzVector &v, Ctx &c)
   {
      double x[4];
      Tr<double[4]>::gen(x, c);
      v.SetXYZT(x[0], x[1], x[2], x[3]);
   }
   static void print(std::string &o, const TLorentzVector &v)
   {
      double x[] = {v.X(), v.Y(), v.Z(), v.T()};
      Tr<double[4]>::print(o, x);
   }
};

template <>
struct Tr<OBasic> {
   static double within(Ctx &c, double lo, double hi) { return lo + (hi - lo) * c.rnd32() / 4294967296.; }
   static void gen(OBasic &v, Ctx &c)
   {
#define GEN(m) Tr<std::decay_t<decltype(v.m)>>::gen(v.m, c)
      GEN(fBool); GEN(fChar); GEN(fSChar); GEN(fUChar); GEN(fShort); GEN(fUShort); GEN(fInt); GEN(fUInt);
      GEN(fLong); GEN(fULong); GEN(fLong64); GEN(fULong64); GEN(fFloat); GEN(fDouble);
#undef GEN
      v.fEnum = c.rnd32() % 2 ? kOn : kOff;
      v.fD32 = within(c, -1e5, 1e5);
      v.fD32Range = within(c, 0, 10);
      v.fD32Bits = within(c, -100, 100);
      v.fF16 = within(c, -100, 100);
      v.fF16Range = within(c, -1, 1);
      v.fF16Bits = within(c, -100, 100);
      Tr<int[3]>::gen(v.fFixed, c);
      Tr<float[2][3]>::gen(v.fMatrix, c);
      delete[] v.fVar;
      v.fN = c.size();
      v.fVar = v.fN ? new double[v.fN] : nullptr;
      for (int i = 0; i < v.fN; i++)
         Tr<double>::gen(v.fVar[i], c);
      delete[] v.fChars;
      v.fChars = c.engaged() ? new char[7]{'h', 'e', 'l', 'l', 'o', char('0' + v.fN % 10), 0} : nullptr;
   }
   static void print(std::string &o, const OBasic &v)
   {
      const char *sep = "{";
#define PUT(m) o += sep, o += "\"" #m "\":", sep = ","; Tr<std::decay_t<decltype(v.m)>>::print(o, v.m)
#define PUT_ARRAY(m, T) o += ",\"" #m "\":"; Tr<T>::print(o, v.m)
      PUT(fBool); PUT(fChar); PUT(fSChar); PUT(fUChar); PUT(fShort); PUT(fUShort); PUT(fInt); PUT(fUInt);
      PUT(fLong); PUT(fULong); PUT(fLong64); PUT(fULong64); PUT(fFloat); PUT(fDouble); PUT(fEnum);
      PUT(fD32); PUT(fD32Range); PUT(fD32Bits); PUT(fF16); PUT(fF16Range); PUT(fF16Bits);
      PUT_ARRAY(fFixed, int[3]);
      PUT_ARRAY(fMatrix, float[2][3]);
      PUT(fN);
      o += ",\"fVar\":";
      Tr<std::vector<double>>::print(o, std::vector<double>(v.fVar, v.fVar + v.fN));
      o += ",\"fChars\":";
      stringOut(o, v.fChars ? v.fChars : "");
      o += '}';
#undef PUT
#undef PUT_ARRAY
   }
};

template <>
struct Tr<OTree> {
   static void gen(OTree &v, Ctx &c) { gen(v, c, 0); }
   static void gen(OTree &v, Ctx &c, int depth)
   {
      Tr<int>::gen(v.base, c);
      Tr<TNamed>::gen(v, c);
      std::string s;
      Tr<std::string>::gen(s, c);
      v.fText = s.c_str();
      Tr<SPoint>::gen(v.fPoint, c);
      Tr<SPoint[2]>::gen(v.fPoints, c);
      Tr<TLorentzVector>::gen(v.fMomentum, c);
      Tr<std::vector<TLorentzVector>>::gen(v.fMomenta, c);
      v.fObject.SetUniqueID(c.rnd32() % 1000);
      Tr<OBase *>::gen(v.fAny, c);
      v.fSame = v.fAny;
      delete v.fTObject;
      v.fTObject = nullptr;
      switch (c.rnd32() % 3) {
      case 0: Tr<TNamed>::gen(*static_cast<TNamed *>(v.fTObject = new TNamed), c); break;
      case 1: Tr<TLorentzVector>::gen(*static_cast<TLorentzVector *>(v.fTObject = new TLorentzVector), c);
      }
      delete v.fNext;
      v.fNext = nullptr;
      if (depth < 3 && c.engaged())
         gen(*(v.fNext = new OTree), c, depth + 1);
      Tr<SPoint>::gen(*v.fHere, c);
      for (auto &p : v.fPair) {
         delete p;
         p = c.engaged() ? new SPoint : nullptr;
         if (p)
            Tr<SPoint>::gen(*p, c);
      }
      for (auto &t : v.fTexts) {
         Tr<std::string>::gen(s, c);
         t = s.c_str();
      }
      Tr<TNamed[2]>::gen(v.fNames, c);
      Tr<std::vector<int>[2]>::gen(v.fVectors, c);
   }
   static void print(std::string &o, const OTree &v)
   {
      auto key = [&](const char *k) { o += std::string(",\"") + k + "\":"; };
      o += "{\"OBase\":{\"base\":" + std::to_string(v.base) + "}";
      key("TNamed"); Tr<TNamed>::print(o, v);
      key("fText"); stringOut(o, v.fText.Data());
      key("fPoint"); Tr<SPoint>::print(o, v.fPoint);
      key("fPoints"); Tr<SPoint[2]>::print(o, v.fPoints);
      key("fMomentum"); Tr<TLorentzVector>::print(o, v.fMomentum);
      key("fMomenta"); Tr<std::vector<TLorentzVector>>::print(o, v.fMomenta);
      key("fObject"); o += std::to_string(v.fObject.GetUniqueID());
      key("fNull"); o += v.fNull ? "?" : "null";
      key("fAny"); Tr<OBase *>::print(o, v.fAny);
      key("fSame"); o += v.fSame == v.fAny ? "" : "?"; Tr<OBase *>::print(o, v.fSame);
      key("fTObject");
      if (auto p = dynamic_cast<TLorentzVector *>(v.fTObject))
         Tr<TLorentzVector>::print(o, *p);
      else if (v.fTObject)
         Tr<TNamed>::print(o, dynamic_cast<TNamed &>(*v.fTObject));
      else
         o += "null";
      key("fNext");
      if (v.fNext)
         print(o, *v.fNext);
      else
         o += "null";
      key("fHere"); Tr<SPoint>::print(o, *v.fHere);
      key("fPair");
      seqOut(o, v.fPair, [&](const SPoint *p) {
         if (p)
            Tr<SPoint>::print(o, *p);
         else
            o += "null";
      });
      key("fTexts"); seqOut(o, v.fTexts, [&](const TString &t) { stringOut(o, t.Data()); });
      key("fNames"); Tr<TNamed[2]>::print(o, v.fNames);
      key("fVectors"); Tr<std::vector<int>[2]>::print(o, v.fVectors);
      o += '}';
   }
};

template <>
struct Tr<TH1D> {
   static void gen(TH1D &v, Ctx &c)
   {
      v.SetDirectory(nullptr);
      v.SetName("h");
      v.SetTitle(("histogram " + std::to_string(c.entry)).c_str());
      v.SetBins(5, -1, c.entry + 1);
      for (int i = 0; i < 7; i++)
         v.SetBinContent(i, c.rnd32() % 1000 / 8.);
      v.SetEntries(c.entry);
   }
   static void print(std::string &o, const TH1D &v)
   {
      o += '[';
      stringOut(o, v.GetTitle());
      for (double x : {v.GetXaxis()->GetXmin(), v.GetXaxis()->GetXmax(), v.GetEntries()}) {
         o += ',';
         Tr<double>::print(o, x);
      }
      for (int i = 0; i < 7; i++) {
         o += ',';
         Tr<double>::print(o, v.GetBinContent(i));
      }
      o += ']';
   }
};
template <>
struct Tr<TObjString> {
   static void gen(TObjString &v, Ctx &c)
   {
      std::string s;
      Tr<std::string>::gen(s, c);
      v.SetString(s.c_str());
   }
   static void print(std::string &o, const TObjString &v) { stringOut(o, v.GetString().Data()); }
};

// By ROOT's type name; read into memory of the type of the file
template <class T>
static void add(Registry &r, const std::string &name, const std::string &type, bool explicitly = false)
{
   r.Add<T>(name, [=] {
      return explicitly ? FieldPtr(std::make_unique<ROOT::RStreamerField>(name, type))
                        : ROOT::RFieldBase::Create(name, type).Unwrap();
   });
   r.items.back().printer = [name](ROOT::RNTupleReader &rd) { return openVoidView<T>(rd, name); };
}

int main(int argc, char **argv)
{
   if (argc < 2) {
      std::cerr << "usage: objects OUTDIR\n";
      return 2;
   }
   std::string dir = argv[1];
   SetErrorHandler(strictHandler);
   try {
      Registry r;
      r.small = true;
      r.Add<std::int32_t>("plain");
      add<OBasic>(r, "basic", "OBasic");
      add<OStd>(r, "stds", "OStd");
      add<OTree>(r, "tree", "OTree");
      // ROOT deletes the objects of pointers before it reads again, but here two pointers share an object
      r.items.back().printer = [](ROOT::RNTupleReader &rd) -> PrintFunc {
         auto view = std::make_shared<ROOT::RNTupleView<void>>(rd.GetView<void>("tree"));
         return [view](std::string &o, std::uint64_t i) {
            (*view)(i);
            auto tree = view->GetValue().GetPtr<void>();
            Tr<OTree>::print(o, *static_cast<OTree *>(tree.get()));
            static_cast<OTree *>(tree.get())->Forget();
         };
      };
      add<OHolder>(r, "holder", "OHolder");
      add<TH1D>(r, "h", "TH1D", true);
      add<TNamed>(r, "named", "TNamed", true);
      add<TObjString>(r, "text", "TObjString", true);
      r.Reset();
      auto model = ROOT::RNTupleModel::CreateBare();
      r.AddTo(*model);
      ROOT::RNTupleWriteOptions opt;
      opt.SetCompression(505);
      auto file = dir + "/objects.root";
      {
         auto w = ROOT::RNTupleWriter::Recreate(std::move(model), "objects", file, opt);
         auto entry = w->CreateRawPtrWriteEntry();
         r.Bind(*w, *entry);
         for (int i = 0; i < 20; i++) {
            r.Gen(i);
            w->Fill(*entry);
         }
      }
      std::map<std::string, std::function<PrintFunc(ROOT::RNTupleReader &)>> how;
      for (auto &i : r.items)
         how[i.name] = i.printer;
      auto reader = ROOT::RNTupleReader::Open("objects", file);
      writeJSONL(*reader, how, dir + "/objects.jsonl");

      auto special = ROOT::RNTupleReader::Open("streamed", dir + "/special_streamer.root");
      how.clear();
      how["obj"] = [](ROOT::RNTupleReader &rd) { return openVoidView<SStreamed>(rd, "obj"); };
      how["objs"] = [](ROOT::RNTupleReader &rd) { return openVoidView<std::vector<SStreamed>>(rd, "objs"); };
      writeJSONL(*special, how, dir + "/objects_special.jsonl");
   } catch (const std::exception &e) {
      std::cerr << "objects: " << e.what() << std::endl;
      return 1;
   }
   return messageCount() ? 3 : 0;
}
