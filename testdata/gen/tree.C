// Makes trees of every type of branch, and RNTuples of them with ROOT's importer. Built and run by tree.sh:
//
//    tree OUTDIR
//    tree show NTUPLE.root …
//
// Every branch is in a tree of its own, too, so that the importer's refusal of one does not hide the others:
// OUTDIR/NAME.root has the tree "tree", OUTDIR/imported/NAME.root what the importer made of it, and
// OUTDIR/imported/NAME.txt why it did not.
#include "tree.hxx"

#include <ROOT/RNTupleImporter.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <TBranch.h>
#include <TChain.h>
#include <TFile.h>
#include <TNtuple.h>
#include <TNtupleD.h>
#include <TROOT.h>
#include <TSystem.h>
#include <TTree.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>

static std::string out;
static std::uint64_t state;

static std::uint64_t rnd() // xorshift64*
{
   state ^= state >> 12;
   state ^= state << 25;
   state ^= state >> 27;
   return state * 2685821657736338717ull;
}
static int upTo(int n) { return int(rnd() % (n + 1)); }

// gen makes a value; entry e chooses the extreme ones.
template <class T> std::enable_if_t<std::is_integral_v<T>> gen(T &v, int e)
{
   switch (e) {
   case 0: v = 0; break;
   case 1: v = std::numeric_limits<T>::max(); break;
   case 2: v = std::numeric_limits<T>::min(); break;
   default: v = T(rnd());
   }
}
static void gen(bool &v, int) { v = rnd() % 2; }
static void gen(char &v, int) { v = char(' ' + upTo(90)); }
template <class T> std::enable_if_t<std::is_floating_point_v<T>> gen(T &v, int e)
{
   switch (e) {
   case 0: v = 0; break;
   case 1: v = std::numeric_limits<T>::max(); break;
   case 2: v = -std::numeric_limits<T>::infinity(); break;
   default: v = T((std::int64_t(rnd() >> 20) - (1ll << 43)) / 65536.0);
   }
}
static void gen(EvColor &v, int) { v = rnd() % 2 ? kGreen3 : kBlue3; }
static void gen(std::string &v, int e)
{
   v.clear();
   int n = e == 3 ? 300 : e % 10 == 4 ? 0 : upTo(12);
   for (int i = 0; i < n; i++)
      v += char('a' + upTo(25));
}
static void gen(TString &v, int e)
{
   std::string s;
   gen(s, e);
   v = s.c_str();
}
template <class T, std::size_t N> void gen(T (&v)[N], int e)
{
   for (auto &i : v)
      gen(i, e);
}
template <class T, std::size_t N> void gen(std::array<T, N> &v, int e)
{
   for (auto &i : v)
      gen(i, e);
}
template <std::size_t N> void gen(std::bitset<N> &v, int)
{
   for (std::size_t i = 0; i < N; i++)
      v[i] = rnd() % 2;
}
template <class A, class B> void gen(std::pair<A, B> &v, int e)
{
   gen(v.first, e);
   gen(v.second, e);
}
template <class T> struct sequence : std::false_type {};
template <class T> struct sequence<std::vector<T>> : std::true_type {};
template <class T> struct sequence<std::list<T>> : std::true_type {};
template <class T> struct sequence<std::deque<T>> : std::true_type {};
static void gen(EvPoint &v, int e);
static void gen(EvHit &v, int e);
static void gen(TLorentzVector &v, int);
static void gen(std::vector<bool> &v, int)
{
   v.clear();
   for (int n = upTo(5); n > 0; n--)
      v.push_back(rnd() % 2);
}
template <class T> std::enable_if_t<sequence<T>::value> gen(T &v, int e)
{
   v.clear();
   for (int n = e == 4 ? 40 : upTo(4); n > 0; n--) {
      v.emplace_back();
      gen(v.back(), 5 + e);
   }
}
template <class T> void gen(std::set<T> &v, int e)
{
   v.clear();
   for (int n = upTo(4); n > 0; n--) {
      T k;
      gen(k, 5 + e);
      v.insert(k);
   }
}
template <class M> void genMap(M &v, int e)
{
   v.clear();
   for (int n = upTo(4); n > 0; n--) {
      typename M::key_type k;
      typename M::mapped_type t;
      gen(k, 5 + e);
      gen(t, 5 + e);
      v.emplace(k, t);
   }
}
template <class K, class V> void gen(std::map<K, V> &v, int e) { genMap(v, e); }
template <class K, class V> void gen(std::unordered_map<K, V> &v, int e) { genMap(v, e); }
static void gen(EvPoint &v, int e) { gen(v.x, e); gen(v.y, e); }
static void gen(EvHit &v, int e) { gen(v.fBase, e); gen(v.fEnergy, e); gen(v.fLayer, e); gen(v.fPoint, e); }
static void gen(EvEvent &v, int e)
{
   gen(v.fBase, e); gen(v.fFlag, e); gen(v.fChar, e); gen(v.fUChar, e); gen(v.fUShort, e); gen(v.fUInt, e);
   gen(v.fLong, e); gen(v.fULong, e); gen(v.fLong64, e); gen(v.fULong64, e); gen(v.fFloat, e); gen(v.fColor, e);
   gen(v.fFixed, e); gen(v.fMatrix, e); gen(v.fArray, e); gen(v.fString, e); gen(v.fPoint, e); gen(v.fHit, e);
   gen(v.fInts, e); gen(v.fBools, e); gen(v.fStrings, e); gen(v.fJagged, e); gen(v.fPoints, e); gen(v.fHits, e);
}
static void gen(EvPacked &v, int)
{
   v.fD32 = upTo(1000) / 8.0; v.fD32Range = upTo(100) / 10.0; v.fD32Bits = upTo(1000) / 7.0;
   v.fF16 = upTo(1000) / 8.0; v.fF16Range = upTo(20) / 10.0 - 1; v.fF16Bits = upTo(1000) / 7.0;
}
static void gen(EvText &v, int e) { gen(v.fText, e); gen(v.fMap, e); gen(v.fSet, e); gen(v.fPair, e); }
static void gen(EvPointing &v, int e)
{
   delete[] v.fVar;
   v.fN = upTo(4);
   v.fVar = new double[v.fN];
   for (int i = 0; i < v.fN; i++)
      gen(v.fVar[i], 5 + e);
}
static void gen(TLorentzVector &v, int) { v.SetPxPyPzE(upTo(99), -upTo(99), upTo(99) / 8.0, upTo(99) * 2); }
static void gen(TObjString &v, int e)
{
   std::string s;
   gen(s, e);
   v.SetString(s.c_str());
}
static void gen(TNamed &v, int e)
{
   std::string s;
   gen(s, e);
   v.SetNameTitle(s.c_str(), "title");
}

static void import(const std::string &name, const std::string &tree = "tree")
{
   std::string to = out + "/imported/" + name;
   if (name == "others") // a file for each tree
      to += "_" + tree.substr(tree.rfind('/') + 1);
   try {
      auto i = ROOT::Experimental::RNTupleImporter::Create(out + "/" + name + ".root", tree, to + ".root");
      i->SetIsQuiet(true);
      i->SetConvertDotsInBranchNames(true);
      i->Import();
   } catch (const std::exception &e) {
      gSystem->Unlink((to + ".root").c_str());
      std::ofstream(to + ".txt") << e.what() << "\n";
   }
}

// How a file is written
struct Layout {
   int compression = 505;
   int entries = 60;
   int basket = 32000;
   int split = 99;
   long autoFlush = 0; // entries; 0: the default
   bool offsets = true;
   bool imported = true;
};

using Setup = std::function<std::function<void(int)>(TTree &, const Layout &)>;

static void write(const std::string &name, const Setup &setup, Layout l = {})
{
   state = 88172645463325252ull;
   {
      TFile f((out + "/" + name + ".root").c_str(), "RECREATE", "", l.compression);
      TTree t("tree", ("the tree " + name).c_str());
      if (l.autoFlush)
         t.SetAutoFlush(l.autoFlush);
      if (!l.offsets) {
         ROOT::TIOFeatures features;
         features.Set(ROOT::Experimental::EIOFeatures::kGenerateOffsetMap);
         t.SetIOFeatures(features);
      }
      auto fill = setup(t, l);
      for (int e = 0; e < l.entries; e++) {
         fill(e);
         t.Fill();
      }
      t.Write();
   }
   if (l.imported)
      import(name);
}

// A branch of an object
template <class T> Setup object(const std::string &branch = "b")
{
   return [branch](TTree &t, const Layout &l) -> std::function<void(int)> {
      auto v = std::make_shared<T>();
      t.Branch(branch.c_str(), v.get(), l.basket, l.split);
      return [v](int e) { gen(*v, e); };
   };
}

// A branch of leaves, which gen fills
template <class T> Setup leaf(const std::string &leaves)
{
   return [leaves](TTree &t, const Layout &l) -> std::function<void(int)> {
      struct Box {
         T value;
      };
      auto v = std::make_shared<Box>();
      t.Branch("b", &v->value, leaves.c_str(), l.basket);
      return [v](int e) { gen(v->value, e); };
   };
}

struct Leaves { // without padding, which leaves do not know
   double c;
   int a;
   int b[2];
};
static void gen(Leaves &v, int e) { gen(v.a, e); gen(v.b, e); gen(v.c, e); }

struct Mixed {
   double d;
   float f;
   short s;
   char c;
   unsigned char u;
};
static void gen(Mixed &v, int e) { gen(v.d, e); gen(v.f, e); gen(v.s, e); gen(v.c, e); gen(v.u, e); }

struct Chars {
   char text[400];
};
static void gen(Chars &v, int e)
{
   std::string s;
   gen(s, e);
   std::strcpy(v.text, s.c_str());
}

// Packed numbers that are exact in few bits
struct Small {
   double d;
};
static void gen(Small &v, int) { v.d = upTo(80) / 8.0; }
struct SmallF {
   float f;
};
static void gen(SmallF &v, int) { v.f = upTo(80) / 8.0; }

// Counters and their arrays, and what lies between
static std::function<void(int)> counted(TTree &t, const Layout &l)
{
   struct V {
      int n;
      unsigned int m;
      unsigned short run;
      float pt[50];
      double grid[50][3];
      int id[50];
      bool good[50];
      UChar_t q[50];
      float fixed[3];
   };
   auto v = std::make_shared<V>();
   auto b = [&](const char *name, void *at, const char *leaves, const char *title) { t.Branch(name, at, leaves, l.basket)->SetTitle(title); };
   b("run", &v->run, "run/s", "the number of the run");
   t.Branch("nJet", &v->n, "nJet/I", l.basket);
   t.Branch("Jet_pt", v->pt, "Jet_pt[nJet]/F", l.basket);
   b("Jet_good", v->good, "Jet_good[nJet]/O", "whether it is good");
   t.Branch("nA", &v->m, "nA/i", l.basket);
   t.Branch("A_q", v->q, "A_q[nA]/b", l.basket);
   t.Branch("A_id", v->id, "A_id[nA]/I", l.basket);
   t.Branch("fixed", v->fixed, "fixed[3]/F", l.basket);
   return [v](int e) {
      gen(v->run, e);
      v->n = e == 7 ? 50 : upTo(4);
      v->m = upTo(3);
      gen(v->pt, 5 + e); gen(v->good, e); gen(v->q, e); gen(v->id, e); gen(v->fixed, e);
   };
}

static Setup countedGrid(bool fixed)
{
   return [fixed](TTree &t, const Layout &l) -> std::function<void(int)> {
      struct V {
         int n;
         float g[20][3];
         short h[20][2][2];
      };
      auto v = std::make_shared<V>();
      t.Branch("n", &v->n, "n/I", l.basket);
      t.Branch("g", v->g, "g[n][3]/F", l.basket);
      if (fixed)
         t.Branch("h", v->h, "h[n][2][2]/S", l.basket);
      return [v](int e) { v->n = upTo(5); gen(v->g, 5 + e); gen(v->h, e); };
   };
}

static Setup clones(int split)
{
   return [split](TTree &t, const Layout &l) -> std::function<void(int)> {
      auto a = std::make_shared<TClonesArray *>(new TClonesArray("EvTrack", 10)); // the branch keeps the pointer's address
      t.Branch("b", a.get(), l.basket, split);
      return [a](int e) {
         (*a)->Clear();
         for (int n = upTo(4), i = 0; i < n; i++) {
            auto k = static_cast<EvTrack *>((*a)->ConstructedAt(i));
            gen(k->fPt, 5 + e); gen(k->fCharge, e); gen(k->fVertex, 5 + e);
         }
      };
   };
}

// Saves a tree while some of its baskets are in memory only.
static void midFill()
{
   state = 88172645463325252ull;
   std::string path = out + "/midfill.root";
   TFile f((out + "/midfill_whole.root").c_str(), "RECREATE");
   TTree t("tree", "saved while it is filled");
   t.SetAutoFlush(0);
   auto fill = counted(t, Layout{});
   auto s = std::make_shared<std::string>();
   auto v = std::make_shared<std::vector<float>>();
   t.Branch("s", s.get());
   t.Branch("v", v.get());
   for (int e = 0; e < 90; e++) {
      fill(e);
      gen(*s, e);
      gen(*v, e);
      t.Fill();
      if (e == 29)
         t.FlushBaskets();
      if (e == 59) {
         t.AutoSave("SaveSelf");
         f.Flush();
         gSystem->CopyFile((out + "/midfill_whole.root").c_str(), path.c_str(), true);
      }
   }
   t.Write();
   f.Close();
   import("midfill");
   import("midfill_whole");
}

// Trees of other kinds, in folders, and several cycles
static void others()
{
   TFile f((out + "/others.root").c_str(), "RECREATE");
   int i = 0;
   {
      TTree t("tree", "the first cycle");
      t.Branch("old", &i);
      t.Fill();
      t.Write();
   }
   {
      TTree t("tree", "the second cycle");
      t.Branch("i", &i);
      for (i = 0; i < 50; i++)
         t.Fill();
      t.BuildIndex("i");
      t.SetAlias("twice", "2*i");
      t.GetUserInfo()->Add(new TObjString("for the user"));
      t.AddFriend("narrow", "others.root");
      t.Write();
   }
   TNtuple narrow("narrow", "numbers", "a:b:c");
   TNtupleD wide("wide", "wide numbers", "a:b");
   for (i = 0; i < 20; i++) {
      narrow.Fill(i, 2 * i, -i);
      wide.Fill(i / 3.0, i);
   }
   narrow.Write();
   wide.Write();
   f.mkdir("dir")->mkdir("sub")->cd();
   TTree deep("deep", "in a folder");
   deep.Branch("i", &i);
   deep.Fill();
   deep.Write();
}

// Files of a chain. The branches of the last one differ.
static void chain()
{
   for (int n = 0; n < 4; n++) {
      TFile f((out + "/chain" + std::to_string(n) + ".root").c_str(), "RECREATE");
      TTree t("tree", "a part");
      int i = 0, size = 0;
      float x[5] = {}, y = 0;
      t.Branch("i", &i);
      t.Branch("size", &size);
      t.Branch("x", x, "x[size]/F");
      if (n == 3)
         t.Branch("y", &i);
      else
         t.Branch("y", &y);
      for (int e = 0; e < 10 * n; e++) {
         i = 100 * n + e;
         size = e % 5;
         x[0] = e;
         y = e / 4.0;
         t.Fill();
      }
      t.Write();
   }
   TChain c("tree");
   for (int n = 0; n < 3; n++)
      c.Add((out + "/chain" + std::to_string(n) + ".root").c_str());
   auto i = ROOT::Experimental::RNTupleImporter::Create(&c, out + "/imported/chain.root");
   i->SetIsQuiet(true);
   i->Import();
}

// Prints what ROOT reads from RNTuples, in lines of the file's name and an entry.
static void show(const std::string &path)
{
   try {
      auto reader = ROOT::RNTupleReader::Open("tree", path);
      for (auto e : *reader) {
         std::ostringstream text;
         reader->Show(e, text);
         std::string line = text.str();
         for (auto &c : line)
            c = c == '\n' ? ' ' : c;
         std::cout << gSystem->BaseName(path.c_str()) << " " << e << " " << line << "\n";
      }
   } catch (const std::exception &e) {
      std::string line = e.what();
      std::cout << gSystem->BaseName(path.c_str()) << " error " << line.substr(0, line.find('\n')) << "\n";
   }
}

int main(int argc, char **argv)
{
   if (std::string(argv[1]) == "show") {
      for (int i = 2; i < argc; i++)
         show(argv[i]);
      return 0;
   }
   out = argv[1];
   gSystem->mkdir((out + "/imported").c_str(), true);
   gErrorIgnoreLevel = kError;

   write("leaf_O", leaf<bool>("b/O"));
   write("leaf_B", leaf<signed char>("b/B"));
   write("leaf_b", leaf<unsigned char>("b/b"));
   write("leaf_S", leaf<short>("b/S"));
   write("leaf_s", leaf<unsigned short>("b/s"));
   write("leaf_I", leaf<int>("b/I"));
   write("leaf_i", leaf<unsigned int>("b/i"));
   write("leaf_L", leaf<Long64_t>("b/L"));
   write("leaf_l", leaf<ULong64_t>("b/l"));
   write("leaf_G", leaf<long>("b/G"));
   write("leaf_g", leaf<unsigned long>("b/g"));
   write("leaf_F", leaf<float>("b/F"));
   write("leaf_D", leaf<double>("b/D"));
   write("leaf_f", leaf<SmallF>("b/f"));
   write("leaf_f_range", leaf<SmallF>("b/f[0,10,12]"));
   write("leaf_f_bits", leaf<SmallF>("b/f[0,0,10]"));
   write("leaf_d", leaf<Small>("b/d"));
   write("leaf_d_range", leaf<Small>("b/d[0,10,14]"));
   write("leaf_d_bits", leaf<Small>("b/d[0,0,10]"));
   write("leaf_d_wide", leaf<Small>("b/d[-10,30]"));
   write("leaf_C", leaf<Chars>("b/C"));
   write("leaf_other_name", leaf<int>("other/I"));
   write("leaf_array", leaf<int[3]>("b[3]/I"));
   write("leaf_array_one", leaf<int[1]>("b[1]/I"));
   write("leaf_array_two", leaf<float[2][3]>("b[2][3]/F"));
   write("leaf_array_bool", leaf<bool[5]>("b[5]/O"));
   write("leaf_array_char", leaf<char[4]>("b[4]/B"));
   write("leaf_array_G", leaf<long[2]>("b[2]/G"));
   write("leaf_list", leaf<Leaves>("c/D:a/I:b[2]/I"));
   write("leaf_list_mixed", leaf<Mixed>("d/D:f/F:s/S:c/B:u/b"));
   write("counted", counted);
   Layout grid;
   grid.imported = false; // the importer's buffer is too small for a[n][3]
   write("counted_grid", countedGrid(false), grid);
   write("counted_grids", countedGrid(true), grid);
   write("leaf_dot", [](TTree &t, const Layout &) -> std::function<void(int)> {
      auto v = std::make_shared<float>();
      t.Branch("a.b", v.get());
      return [v](int e) { gen(*v, e); };
   });

   write("string", object<std::string>());
   write("tstring", object<TString>());
   write("vector_bool", object<std::vector<bool>>());
   write("vector_char", object<std::vector<char>>());
   write("vector_uchar", object<std::vector<unsigned char>>());
   write("vector_short", object<std::vector<short>>());
   write("vector_ushort", object<std::vector<unsigned short>>());
   write("vector_int", object<std::vector<int>>());
   write("vector_uint", object<std::vector<unsigned int>>());
   write("vector_long", object<std::vector<long>>());
   write("vector_ulong", object<std::vector<unsigned long>>());
   write("vector_long64", object<std::vector<Long64_t>>());
   write("vector_ulong64", object<std::vector<ULong64_t>>());
   write("vector_float", object<std::vector<float>>());
   write("vector_double", object<std::vector<double>>());
   write("vector_string", object<std::vector<std::string>>());
   write("vector_vector_float", object<std::vector<std::vector<float>>>());
   write("vector_vector_int", object<std::vector<std::vector<int>>>());
   write("vector_vector_double", object<std::vector<std::vector<double>>>());
   write("vector_vector_bool", object<std::vector<std::vector<bool>>>());
   write("vector_vector_string", object<std::vector<std::vector<std::string>>>());
   write("vector_vector_vector", object<std::vector<std::vector<std::vector<short>>>>());
   write("vector_vector_point", object<std::vector<std::vector<EvPoint>>>());
   write("vector_array", object<std::vector<std::array<float, 2>>>());
   write("vector_pair", object<std::vector<std::pair<int, float>>>());
   write("vector_lorentz", object<std::vector<TLorentzVector>>());
   write("list_double", object<std::list<double>>());
   write("deque_short", object<std::deque<short>>());
   write("set_short", object<std::set<short>>());
   write("set_string", object<std::set<std::string>>());
   write("map_int_string", object<std::map<int, std::string>>());
   write("map_int_float", object<std::map<int, float>>());
   write("map_string_vector", object<std::map<std::string, std::vector<int>>>());
   write("map_int_point", object<std::map<int, EvPoint>>());
   write("map_unordered", object<std::unordered_map<int, double>>());
   write("pair", object<std::pair<int, float>>());
   write("vector_double32", object<std::vector<Double32_t>>());
   write("vector_color", object<std::vector<EvColor>>());
   write("vector_event", object<std::vector<EvEvent>>());
   write("vector_text", object<std::vector<EvText>>());
   write("array", object<std::array<float, 3>>());
   write("bitset", object<std::bitset<10>>());

   for (int split : {0, 1, 2, 99}) {
      Layout l;
      l.split = split;
      std::string s = "_split" + std::to_string(split);
      write("point" + s, object<EvPoint>(), l);
      write("hit" + s, object<EvHit>(), l);
      write("event" + s, object<EvEvent>(), l);
      write("event_dot" + s, object<EvEvent>("b."), l);
      write("vector_point" + s, object<std::vector<EvPoint>>(), l);
      write("vector_hit" + s, object<std::vector<EvHit>>(), l);
      write("packed" + s, object<EvPacked>(), l);
      write("text" + s, object<EvText>(), l);
      write("pointing" + s, object<EvPointing>(), l);
      write("lorentz" + s, object<TLorentzVector>(), l);
      write("objstring" + s, object<TObjString>(), l);
      write("named" + s, object<TNamed>(), l);
      write("clones" + s, clones(split), l);
   }

   // Layouts of baskets
   Setup all = [](TTree &t, const Layout &l) -> std::function<void(int)> {
      auto a = counted(t, l), b = object<std::vector<float>>("v")(t, l), c = object<std::string>("s")(t, l),
           d = object<std::vector<std::vector<float>>>("vv")(t, l), e = object<std::vector<EvHit>>("hits")(t, l);
      return [=](int i) { a(i); b(i); c(i); d(i); e(i); };
   };
   for (int compression : {0, 101, 109, 207, 401, 404, 505, 509}) {
      Layout l;
      l.compression = compression;
      l.entries = 500;
      l.basket = 2000;
      write("baskets_" + std::to_string(compression), all, l);
   }
   Layout l;
   l.entries = 300;
   l.basket = 600;
   write("baskets_small", all, l);
   l.autoFlush = 37;
   write("baskets_flush", all, l);
   l.offsets = false;
   write("baskets_no_offsets", all, l);
   l.entries = 0;
   write("empty", all, l);
   write("nothing", [](TTree &, const Layout &) { return [](int) {}; }, l);
   midFill();
   others();
   chain();
   for (std::string t : {"tree", "narrow", "wide", "dir/sub/deep"})
      import("others", t);
}
