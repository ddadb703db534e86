// Writes testdata/dimuon.root: a simulated NanoAOD-like dimuon sample, ntuple "Events".
//
//   root -l -b -q 'testdata/gen/dimuon.C("testdata/dimuon.root")'
//
// The muon fields have the names, types and layout of CMS Open Data converted by ROOT's RNTupleImporter
// (Run2012BC_DoubleMuParked_Muons): an untyped collection "_collection0" of records, and projections of it,
// Muon_pt, Muon_eta, Muon_phi, Muon_mass, Muon_charge (ROOT::VecOps::RVec) and nMuon (ROOT::RNTupleCardinality).
// Nothing in it is data: resonances, a falling continuum and uncorrelated muons from a random generator with a
// fixed seed, smeared with a detector-like resolution.

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TRandom3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gen {

constexpr double kMuonMass = 0.1056583745;
constexpr double kEtaMax = 2.4;
constexpr double kPi = 3.14159265358979323846;

// The in-memory record of _collection0._0.
struct Muon {
   float pt, eta, phi, mass;
   std::int32_t charge;
};
static_assert(sizeof(Muon) == 20);

struct Resonance {
   double weight, mass, width; // relative weight; GeV
};
const Resonance kResonances[] = {
   {0.012, 0.7753, 0.1474},   // rho
   {0.012, 0.7827, 0.0087},   // omega
   {0.016, 1.0195, 0.0042},   // phi
   {0.180, 3.0969, 9.3e-5},   // J/psi
   {0.018, 3.6861, 2.9e-4},   // psi(2S)
   {0.070, 9.4604, 5.4e-5},   // Upsilon(1S)
   {0.024, 10.0234, 3.2e-5},  // Upsilon(2S)
   {0.016, 10.3551, 2.0e-5},  // Upsilon(3S)
   {0.190, 91.1876, 2.4952},  // Z
};

// Rounds to the given number of mantissa bits, towards zero where rounding up would exceed the limit.
float Round(double x, int bits, double limit)
{
   float f = static_cast<float>(x);
   std::uint32_t u;
   std::memcpy(&u, &f, 4);
   const std::uint32_t drop = 23 - bits;
   const std::uint32_t mask = ~((1u << drop) - 1);
   std::uint32_t up = (u + (1u << (drop - 1))) & mask;
   std::memcpy(&f, &up, 4);
   if (std::fabs(f) > limit) {
      u &= mask;
      std::memcpy(&f, &u, 4);
   }
   return f;
}

class Generator {
   TRandom3 fRandom;

   // x/(1+(x/p0)^2)^n by inverting its cumulative function
   double BosonPt(double p0, double n) { return p0 * std::sqrt(std::pow(1 - fRandom.Rndm(), 1 / (1 - n)) - 1); }

   double Continuum()
   {
      // dN/dm ~ 1/m^2 (1/m^3 above 60 GeV), suppressed by the trigger at low mass; sampled in ln m
      const double lo = std::log(0.23), hi = std::log(290.);
      while (true) {
         const double m = std::exp(fRandom.Uniform(lo, hi));
         double f = (1 - std::exp(-m * m / 9.)) / m + 0.02 * std::exp(-m / 0.8);
         if (m > 60)
            f *= 60 / m;
         if (fRandom.Rndm() * 0.26 < f)
            return m;
      }
   }

   double PairMass()
   {
      double x = fRandom.Rndm();
      for (const auto &r : kResonances) {
         if (x < r.weight) {
            double m;
            do {
               m = fRandom.BreitWigner(r.mass, r.width);
            } while (m < 0.25 || std::fabs(m - r.mass) > 15 * r.width);
            return m;
         }
         x -= r.weight;
      }
      return Continuum();
   }

   Muon Measure(double px, double py, double pz, int charge)
   {
      const double pt0 = std::hypot(px, py);
      const double eta = std::asinh(pz / pt0) + fRandom.Gaus(0, 2e-4);
      double phi = std::atan2(py, px) + fRandom.Gaus(0, 2e-4);
      if (phi > kPi)
         phi -= 2 * kPi;
      if (phi < -kPi)
         phi += 2 * kPi;
      // 1.3 % on both momenta is 0.9 % on the mass
      const double pt = pt0 * (1 + (0.013 + 0.002 * eta * eta / 4) * fRandom.Gaus());
      return Muon{Round(pt, 12, 1e9), Round(eta, 13, kEtaMax), Round(phi, 13, kPi), static_cast<float>(kMuonMass), charge};
   }

   bool Accept(const Muon &m, double ptMin) { return m.pt > ptMin && std::fabs(m.eta) < kEtaMax; }

public:
   explicit Generator(unsigned seed) : fRandom(seed) {}
   TRandom3 &Random() { return fRandom; }

   // A pair of muons from the decay of one particle.
   void AddPair(std::vector<Muon> &out)
   {
      const double m = PairMass();
      const double q = std::sqrt(std::max(0., m * m / 4 - kMuonMass * kMuonMass));
      while (true) {
         const double pt = m > 40 ? BosonPt(9, 2.2) : BosonPt(6 + 0.3 * m, 2.8);
         const double y = fRandom.Gaus(0, m > 40 ? 1.3 : 1.5);
         const double phi = fRandom.Uniform(-kPi, kPi);
         const double mt = std::hypot(m, pt);
         const double P[4] = {pt * std::cos(phi), pt * std::sin(phi), mt * std::sinh(y), mt * std::cosh(y)};
         double d[3];
         fRandom.Sphere(d[0], d[1], d[2], q);
         // boost (E, +-d) from the rest frame
         const double Pd = P[0] * d[0] + P[1] * d[1] + P[2] * d[2];
         Muon mu[2];
         const int c = fRandom.Rndm() < 0.5 ? 1 : -1;
         for (int i = 0; i < 2; ++i) {
            const double s = i ? -1 : 1;
            const double k = (s * Pd / (P[3] + m) + m / 2) / m;
            mu[i] = Measure(s * d[0] + k * P[0], s * d[1] + k * P[1], s * d[2] + k * P[2], i ? -c : c);
         }
         if (!Accept(mu[0], 3) || !Accept(mu[1], 3) || std::max(mu[0].pt, mu[1].pt) < 5)
            continue;
         out.push_back(mu[0]);
         out.push_back(mu[1]);
         return;
      }
   }

   // A muon of its own, as from heavy flavour.
   void AddSingle(std::vector<Muon> &out)
   {
      while (true) {
         const double pt = 3 + BosonPt(5, 2.4);
         const double eta = fRandom.Uniform(-kEtaMax, kEtaMax);
         const double phi = fRandom.Uniform(-kPi, kPi);
         const auto mu = Measure(pt * std::cos(phi), pt * std::sin(phi), pt * std::sinh(eta), fRandom.Rndm() < 0.5 ? 1 : -1);
         if (!Accept(mu, 3))
            continue;
         out.push_back(mu);
         return;
      }
   }

   void Event(std::vector<Muon> &out)
   {
      out.clear();
      const double x = fRandom.Rndm();
      if (x < 0.02) {
         // no muons
      } else if (x < 0.08) {
         AddSingle(out);
      } else if (x < 0.24) {
         AddSingle(out);
         AddSingle(out);
      } else {
         AddPair(out);
         if (x > 0.985)
            AddPair(out);
         else if (x > 0.93)
            AddSingle(out);
      }
      std::stable_sort(out.begin(), out.end(), [](const Muon &a, const Muon &b) { return a.pt > b.pt; });
   }
};

} // namespace gen

void dimuon(const char *path = "testdata/dimuon.root", unsigned nEvents = 80000)
{
   using ROOT::RFieldBase;

   auto model = ROOT::RNTupleModel::CreateBare();
   model->MakeField<std::uint32_t>("run");
   model->MakeField<std::uint32_t>("luminosityBlock");
   model->MakeField<std::uint64_t>("event");
   model->MakeField<std::int32_t>("PV_npvs");
   model->MakeField<bool>("HLT_Mu17_Mu8");
   model->MakeField<bool>("HLT_IsoMu24");

   const std::vector<std::pair<std::string, std::string>> members{{"Muon_pt", "float"},
                                                                   {"Muon_eta", "float"},
                                                                   {"Muon_phi", "float"},
                                                                   {"Muon_mass", "float"},
                                                                   {"Muon_charge", "std::int32_t"}};
   std::vector<std::unique_ptr<RFieldBase>> items;
   for (const auto &[name, type] : members)
      items.emplace_back(RFieldBase::Create(name, type).Unwrap());
   model->AddField(
      ROOT::RVectorField::CreateUntyped("_collection0", std::make_unique<ROOT::RRecordField>("_0", std::move(items))));

   for (const auto &[name, type] : members) {
      const std::unordered_map<std::string, std::string> sources{{name, "_collection0"},
                                                                 {name + "._0", "_collection0._0." + name}};
      model->AddProjectedField(RFieldBase::Create(name, "ROOT::VecOps::RVec<" + type + ">").Unwrap(),
                               [&](const std::string &n) { return sources.at(n); });
   }
   model->AddProjectedField(RFieldBase::Create("nMuon", "ROOT::RNTupleCardinality<std::uint32_t>").Unwrap(),
                            [](const std::string &) { return std::string("_collection0"); });

   ROOT::RNTupleWriteOptions options;
   options.SetCompression(505);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path, options);

   std::uint32_t run = 0, lumi = 0;
   std::uint64_t event = 0;
   std::int32_t npvs = 0;
   bool hltDouble = false, hltSingle = false;
   std::vector<gen::Muon> muons;

   auto entry = writer->GetModel().CreateBareEntry();
   entry->BindRawPtr("run", &run);
   entry->BindRawPtr("luminosityBlock", &lumi);
   entry->BindRawPtr("event", &event);
   entry->BindRawPtr("PV_npvs", &npvs);
   entry->BindRawPtr("HLT_Mu17_Mu8", &hltDouble);
   entry->BindRawPtr("HLT_IsoMu24", &hltSingle);
   entry->BindRawPtr<void>("_collection0", &muons);

   gen::Generator generator(20120604);
   auto &rnd = generator.Random();
   run = 194050;
   lumi = 1;
   event = 1000;
   for (unsigned i = 0; i < nEvents; ++i) {
      if (i > 0 && i % 8000 == 0)
         writer->CommitCluster();
      if (i > 0 && i % 25000 == 0) {
         run += 1 + rnd.Integer(40);
         lumi = 1;
         event = 1000;
      } else if (rnd.Rndm() < 1. / 250) {
         ++lumi;
      }
      event += 1 + static_cast<std::uint64_t>(rnd.Exp(120));
      npvs = 1 + rnd.Poisson(14);
      generator.Event(muons);
      hltDouble = muons.size() >= 2 && muons[0].pt > 17 && muons[1].pt > 8 && rnd.Rndm() < 0.95;
      hltSingle = !muons.empty() && muons[0].pt > 24 && std::fabs(muons[0].eta) < 2.1 && rnd.Rndm() < 0.9;
      writer->Fill(*entry);
   }
}
