// What RDataFrame does for the benchmarks, with compiled code.
#pragma once

#include <ROOT/RDataFrame.hxx>
#include <ROOT/RSnapshotOptions.hxx>
#include <ROOT/RVec.hxx>
#include <TROOT.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using Sums = std::vector<std::uint64_t>;

// The pt of the jets of events with two jets above 30 and a muon above 20, in 100 bins of 2 GeV, the first and the last
// one for less and for more.
inline Sums Histogram(const std::string &file, int threads)
{
   if (threads > 1)
      ROOT::EnableImplicitMT(threads);
   using Floats = ROOT::RVec<float>;
   auto histogram = ROOT::RDataFrame("Events", file)
                       .Filter(
                          [](const Floats &jets, const Floats &muons) {
                             auto above = [](float min) { return [min](float pt) { return pt > min; }; };
                             return std::count_if(jets.begin(), jets.end(), above(30)) >= 2 &&
                                    std::any_of(muons.begin(), muons.end(), above(20));
                          },
                          {"Jet_pt", "Muon_pt"})
                       .Histo1D<Floats>({"", "", 100, 0, 200}, "Jet_pt");
   Sums bins;
   for (int i = 0; i < 102; ++i)
      bins.push_back(histogram->GetBinContent(i));
   return bins;
}

// Skim writes the entries with a MET_pt above a limit.
inline void Skim(const std::string &file, const std::string &output, int threads, int compression, float met)
{
   if (threads > 1)
      ROOT::EnableImplicitMT(threads);
   ROOT::RDF::RSnapshotOptions options;
   options.fOutputFormat = ROOT::RDF::ESnapshotOutputFormat::kRNTuple;
   options.fCompressionAlgorithm = static_cast<ROOT::RCompressionSetting::EAlgorithm::EValues>(compression / 100);
   options.fCompressionLevel = compression % 100;
   ROOT::RDataFrame("Events", file)
      .Filter([met](float x) { return x > met; }, {"MET_pt"})
      .Snapshot("Events", output, "", options);
}
