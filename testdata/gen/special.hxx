// User classes of special.C; rootcling makes their dictionaries (special_linkdef.h).
#ifndef GORNTUPLE_SPECIAL_HXX
#define GORNTUPLE_SPECIAL_HXX

#include <ROOT/RVec.hxx>
#include <Rtypes.h>

#include <cstdint>
#include <string>
#include <vector>

struct SPoint {
   int a = 0;
   float b = 0;
   std::string s;
};

// Written with the ROOT streamer (role 4)
struct SStreamed {
   int n = 0;
   double d = 0;
   std::string s;
   std::vector<short> v;
};

// SoA: in memory a struct of RVecs, on disk a collection of the record
struct PtRec {
   float fX = 0;
   std::int32_t fId = 0;
   ClassDefNV(PtRec, 2)
};
struct PtSoA {
   ROOT::RVec<float> fX;
   ROOT::RVec<std::int32_t> fId;
   ClassDefNV(PtSoA, 2)
};

#endif
