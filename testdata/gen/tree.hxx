// Classes in the trees of tree.C; rootcling makes their dictionaries (tree_linkdef.h).
#ifndef GORNTUPLE_TREE_HXX
#define GORNTUPLE_TREE_HXX

#include <TClonesArray.h>
#include <TLorentzVector.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TObject.h>
#include <TString.h>

#include <array>
#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

enum EvColor { kRed3, kGreen3, kBlue3 = 7 };

// A plain class without a version
struct EvPoint {
   float x = 0;
   float y = 0;
};

// Bases, members of several kinds
struct EvBase {
   int fBase = 0;
   virtual ~EvBase() {}
   ClassDef(EvBase, 3)
};

struct EvHit : EvBase {
   double fEnergy = 0; // deposited energy
   short fLayer = 0;
   EvPoint fPoint;
   ClassDefOverride(EvHit, 2)
};

// An event
struct EvEvent : EvBase {
   bool fFlag = false;
   char fChar = 0;
   unsigned char fUChar = 0;
   unsigned short fUShort = 0;
   unsigned int fUInt = 0;
   long fLong = 0;
   unsigned long fULong = 0;
   Long64_t fLong64 = 0;
   ULong64_t fULong64 = 0;
   float fFloat = 0; // a number
   EvColor fColor = kRed3;
   int fFixed[3] = {};
   float fMatrix[2][3] = {};
   std::array<short, 4> fArray = {};
   std::string fString;
   EvPoint fPoint;
   EvHit fHit;
   std::vector<int> fInts;
   std::vector<bool> fBools;
   std::vector<std::string> fStrings;
   std::vector<std::vector<float>> fJagged;
   std::vector<EvPoint> fPoints;
   std::vector<EvHit> fHits;
   int fSkipped = 5; //!
   ClassDefOverride(EvEvent, 4)
};

// Members that need a range, or that no RNTuple has
struct EvPacked {
   Double32_t fD32 = 0;
   Double32_t fD32Range = 0; //[0,10,12]
   Double32_t fD32Bits = 0;  //[0,0,10]
   Float16_t fF16 = 0;
   Float16_t fF16Range = 0; //[-1,1,9]
   Float16_t fF16Bits = 0;  //[0,0,8]
   ClassDefNV(EvPacked, 1)
};

struct EvText {
   TString fText;
   std::map<int, std::string> fMap;
   std::set<short> fSet;
   std::pair<int, float> fPair;
   ClassDefNV(EvText, 1)
};

struct EvPointing {
   int fN = 0;
   double *fVar = nullptr; //[fN]
   EvPointing() {}
   EvPointing(const EvPointing &) = delete;
   ~EvPointing() { delete[] fVar; }
   ClassDefNV(EvPointing, 1)
};

// An item of a TClonesArray
struct EvTrack : TObject {
   float fPt = 0;
   int fCharge = 0;
   EvPoint fVertex;
   ClassDefOverride(EvTrack, 1)
};

#endif
