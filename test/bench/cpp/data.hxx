// The entries of the data sets F, J and S: their fields, in the order of the files, and how their values are made.
// bench/data has the same as Go structs.
#pragma once

#include <ROOT/RVec.hxx>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

// A B meson that decays to three hadrons, as of LHCb: flat, mostly double.
#define F_HADRON(X, H)                                                                                            \
   X(double, H##_PX) X(double, H##_PY) X(double, H##_PZ) X(double, H##_ProbK) X(double, H##_ProbPi)               \
   X(std::int32_t, H##_Charge) X(double, H##_IPChi2) X(std::int32_t, H##_isMuon)
#define F_FIELDS(X) \
   X(double, B_FlightDistance) X(double, B_VertexChi2) F_HADRON(X, H1) F_HADRON(X, H2) F_HADRON(X, H3)

// A collision event, in the manner of CMS's NanoAOD.
#define J_FIELDS(X)                                                                                               \
   X(std::uint32_t, Run) X(std::uint32_t, LuminosityBlock) X(std::uint64_t, Event)                                \
   X(std::int32_t, PV_npvs) X(float, PV_z) X(float, MET_pt) X(float, MET_phi) X(float, MET_sumEt) X(float, Rho)   \
   X(float, GenWeight)                                                                                            \
   X(bool, HLT_00) X(bool, HLT_01) X(bool, HLT_02) X(bool, HLT_03) X(bool, HLT_04) X(bool, HLT_05)                \
   X(bool, HLT_06) X(bool, HLT_07) X(bool, HLT_08) X(bool, HLT_09) X(bool, HLT_10) X(bool, HLT_11)                \
   X(bool, HLT_12) X(bool, HLT_13) X(bool, HLT_14) X(bool, HLT_15) X(bool, HLT_16) X(bool, HLT_17)                \
   X(bool, HLT_18) X(bool, HLT_19)                                                                                \
   X(ROOT::RVec<float>, Muon_pt) X(ROOT::RVec<float>, Muon_eta) X(ROOT::RVec<float>, Muon_phi)                    \
   X(ROOT::RVec<float>, Muon_mass) X(ROOT::RVec<std::int32_t>, Muon_charge) X(ROOT::RVec<float>, Muon_dxy)        \
   X(ROOT::RVec<float>, Muon_dz) X(ROOT::RVec<float>, Muon_iso) X(ROOT::RVec<std::int32_t>, Muon_nStations)       \
   X(ROOT::RVec<std::int32_t>, Muon_id)                                                                           \
   X(ROOT::RVec<float>, Electron_pt) X(ROOT::RVec<float>, Electron_eta) X(ROOT::RVec<float>, Electron_phi)        \
   X(ROOT::RVec<float>, Electron_mass) X(ROOT::RVec<std::int32_t>, Electron_charge)                               \
   X(ROOT::RVec<float>, Electron_dxy) X(ROOT::RVec<float>, Electron_dz) X(ROOT::RVec<float>, Electron_iso)        \
   X(ROOT::RVec<std::int32_t>, Electron_id)                                                                       \
   X(ROOT::RVec<float>, Jet_pt) X(ROOT::RVec<float>, Jet_eta) X(ROOT::RVec<float>, Jet_phi)                       \
   X(ROOT::RVec<float>, Jet_mass) X(ROOT::RVec<float>, Jet_area) X(ROOT::RVec<float>, Jet_btag)                   \
   X(ROOT::RVec<float>, Jet_chHEF) X(ROOT::RVec<float>, Jet_neHEF) X(ROOT::RVec<float>, Jet_muEF)                 \
   X(ROOT::RVec<std::int32_t>, Jet_id) X(ROOT::RVec<std::int32_t>, Jet_nConstituents)

using CountMap = std::map<std::string, std::int32_t>; // macro arguments have no commas

// Strings and nested things.
#define S_FIELDS(X)                                                                                               \
   X(std::string, ID) X(std::vector<std::string>, Tags) X(std::vector<std::vector<float>>, Hits)                  \
   X(std::optional<double>, Weight) X(CountMap, Counts)

// An RVec that ROOT reads into must not begin with its small inline buffer: ROOT 6.40 passes that to free when it needs
// a larger one. This one begins as a view of nothing.
template <typename T>
struct Empty {
   static T Make() { return T{}; }
};
template <typename T>
struct Empty<ROOT::RVec<T>> {
   static ROOT::RVec<T> Make() { return ROOT::RVec<T>(static_cast<T *>(nullptr), 0); }
};

#define MEMBER(Type, Name) Type Name = Empty<Type>::Make();
struct F { F_FIELDS(MEMBER) };
struct J { J_FIELDS(MEMBER) };
struct S { S_FIELDS(MEMBER) };
#undef MEMBER

// Random is splitmix64, so that the data do not depend on a library.
class Random {
   std::uint64_t fState;

public:
   explicit Random(std::uint64_t seed) : fState(seed) {}

   std::uint64_t Bits()
   {
      auto z = fState += 0x9e3779b97f4a7c15;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      return z ^ (z >> 31);
   }
   double Uniform() { return (Bits() >> 11) * 0x1p-53; } // 0 included, 1 excluded
   double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
   bool Chance(double p) { return Uniform() < p; }
   int Integer(int n) { return static_cast<int>(Uniform() * n); }
   double Exp(double mean) { return -mean * std::log(1 - Uniform()); }
   double Gauss(double sigma)
   {
      const double radius = sigma * std::sqrt(-2 * std::log(1 - Uniform()));
      return radius * std::cos(6.283185307179586 * Uniform());
   }
   int Poisson(double mean)
   {
      int n = 0;
      for (auto p = Uniform(), limit = std::exp(-mean); p > limit; p *= Uniform())
         ++n;
      return n;
   }
};

// Truncate keeps the upper bits of the mantissa, as NanoAOD does.
inline float Truncate(double x, int bits)
{
   auto f = static_cast<float>(x);
   std::uint32_t u;
   std::memcpy(&u, &f, 4);
   u &= ~std::uint32_t{0} << (23 - bits);
   std::memcpy(&f, &u, 4);
   return f;
}

inline void Generate(F &f, Random &r, std::uint64_t)
{
   // Reconstruction works in double and stores what it is sure of as float.
   auto single = [](double x) { return static_cast<double>(static_cast<float>(x)); };
   f.B_FlightDistance = single(r.Exp(8));
   f.B_VertexChi2 = single(r.Exp(3));
#define HADRON(H)                                      \
   {                                                   \
      const double pt = 100 + r.Exp(2000);             \
      const double phi = r.Uniform(-3.14159, 3.14159); \
      f.H##_PX = single(pt * std::cos(phi));           \
      f.H##_PY = single(pt * std::sin(phi));           \
      f.H##_PZ = single(pt * std::sinh(r.Uniform(2, 4.5))); \
      const double k = r.Uniform();                    \
      f.H##_ProbK = single(k * k);                     \
      f.H##_ProbPi = single((1 - k) * r.Uniform());    \
      f.H##_Charge = r.Chance(0.5) ? 1 : -1;           \
      f.H##_IPChi2 = single(std::exp(r.Gauss(2) + 4)); \
      f.H##_isMuon = r.Chance(0.02);                   \
   }
   HADRON(H1) HADRON(H2) HADRON(H3)
#undef HADRON
}

inline void Generate(J &j, Random &r, std::uint64_t entry)
{
   j.Run = 356000 + entry / 100000;
   j.LuminosityBlock = 1 + entry % 100000 / 500;
   j.Event = 1000003 * (entry / 500) + 7 * (entry % 500) + r.Integer(7);
   j.PV_npvs = 1 + r.Poisson(30);
   j.PV_z = Truncate(r.Gauss(3.5), 12);
   j.MET_pt = Truncate(r.Exp(30), 10);
   j.MET_phi = Truncate(r.Uniform(-3.14159, 3.14159), 10);
   j.MET_sumEt = Truncate(800 + r.Exp(400), 10);
   j.Rho = Truncate(20 + r.Gauss(5), 10);
   j.GenWeight = 1;

   double p = 0.5; // of the triggers; each fires less often than the one before
#define TRIGGER(N)            \
   j.HLT_##N = r.Chance(p);   \
   p *= 0.75;
   TRIGGER(00) TRIGGER(01) TRIGGER(02) TRIGGER(03) TRIGGER(04) TRIGGER(05) TRIGGER(06) TRIGGER(07) TRIGGER(08)
   TRIGGER(09) TRIGGER(10) TRIGGER(11) TRIGGER(12) TRIGGER(13) TRIGGER(14) TRIGGER(15) TRIGGER(16) TRIGGER(17)
   TRIGGER(18) TRIGGER(19)
#undef TRIGGER

   // What every collection has; pt falls within an event.
   auto kinematics = [&](int n, double mean, auto &pt, auto &eta, auto &phi) {
      pt.clear(), eta.clear(), phi.clear();
      for (int i = 0; i < n; ++i) {
         pt.push_back(Truncate(3 + r.Exp(mean), 10));
         eta.push_back(Truncate(r.Uniform(-2.5, 2.5), 10));
         phi.push_back(Truncate(r.Uniform(-3.14159, 3.14159), 10));
      }
      std::sort(pt.begin(), pt.end(), [](float a, float b) { return a > b; });
   };
   auto fill = [](auto &v, int n, auto &&value) {
      v.clear();
      for (int i = 0; i < n; ++i)
         v.push_back(value());
   };

   const int muons = r.Poisson(1.6);
   kinematics(muons, 25, j.Muon_pt, j.Muon_eta, j.Muon_phi);
   fill(j.Muon_mass, muons, [] { return 0.105712890625f; });
   fill(j.Muon_charge, muons, [&] { return r.Chance(0.5) ? 1 : -1; });
   fill(j.Muon_dxy, muons, [&] { return Truncate(r.Gauss(0.01), 10); });
   fill(j.Muon_dz, muons, [&] { return Truncate(r.Gauss(0.03), 10); });
   fill(j.Muon_iso, muons, [&] { return r.Chance(0.4) ? 0.f : Truncate(r.Exp(0.2), 8); });
   fill(j.Muon_nStations, muons, [&] { return r.Integer(5); });
   fill(j.Muon_id, muons, [&] { return r.Integer(4); });

   const int electrons = r.Poisson(1.2);
   kinematics(electrons, 20, j.Electron_pt, j.Electron_eta, j.Electron_phi);
   fill(j.Electron_mass, electrons, [&] { return Truncate(r.Gauss(0.01), 6); });
   fill(j.Electron_charge, electrons, [&] { return r.Chance(0.5) ? 1 : -1; });
   fill(j.Electron_dxy, electrons, [&] { return Truncate(r.Gauss(0.02), 10); });
   fill(j.Electron_dz, electrons, [&] { return Truncate(r.Gauss(0.05), 10); });
   fill(j.Electron_iso, electrons, [&] { return Truncate(r.Exp(0.3), 8); });
   fill(j.Electron_id, electrons, [&] { return r.Integer(5); });

   const int jets = r.Poisson(3.6);
   kinematics(jets, 40, j.Jet_pt, j.Jet_eta, j.Jet_phi);
   fill(j.Jet_mass, jets, [&] { return Truncate(3 + r.Exp(5), 10); });
   fill(j.Jet_area, jets, [&] { return Truncate(0.5 + r.Gauss(0.03), 10); });
   fill(j.Jet_btag, jets, [&] { return Truncate(r.Uniform() * r.Uniform(), 10); });
   fill(j.Jet_chHEF, jets, [&] { return Truncate(r.Uniform(), 6); });
   fill(j.Jet_neHEF, jets, [&] { return Truncate(r.Uniform() * r.Uniform(), 6); });
   fill(j.Jet_muEF, jets, [&] { return r.Chance(0.8) ? 0.f : Truncate(r.Uniform(), 6); });
   fill(j.Jet_id, jets, [&] { return r.Chance(0.9) ? 6 : 2; });
   fill(j.Jet_nConstituents, jets, [&] { return 3 + r.Poisson(15); });
}

inline void Generate(S &s, Random &r, std::uint64_t entry)
{
   static const std::string words[] = {"calibrated", "cosmic",  "prompt",  "noisy",    "tracker-hit", "muon",
                                       "ecal",       "hcal",    "good",    "overflow", "delayed",     "pileup",
                                       "beam-halo",  "trigger", "unknown", "saturated"};
   s.ID = "run-" + std::to_string(356000 + entry / 100000) + "/event-" + std::to_string(entry);
   s.Tags.clear();
   for (int i = r.Poisson(3); i > 0; --i)
      s.Tags.push_back(words[r.Integer(16)]);
   s.Hits.resize(r.Poisson(3));
   for (auto &hits : s.Hits) {
      hits.clear();
      for (int i = r.Poisson(5); i > 0; --i)
         hits.push_back(Truncate(r.Exp(10), 12));
   }
   s.Weight = r.Chance(0.5) ? std::optional<double>(r.Gauss(1)) : std::nullopt;
   s.Counts.clear();
   for (int i = r.Poisson(3); i > 0; --i)
      s.Counts[words[r.Integer(16)]] = r.Poisson(10);
}
