// Classes of objects.C that ROOT's streamers write; rootcling makes their dictionaries (objects_linkdef.h).
#ifndef GORNTUPLE_OBJECTS_HXX
#define GORNTUPLE_OBJECTS_HXX

#include "special.hxx"

#include <TLorentzVector.h>
#include <TNamed.h>
#include <TObject.h>
#include <TString.h>

#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

enum OColor { kOff, kOn = 7 };

struct OBase {
   int base = 0;
   virtual ~OBase() {}
   ClassDef(OBase, 3)
};

struct ODerived : OBase {
   short more = 0;
   ClassDefOverride(ODerived, 1)
};

// Members of all basic types
struct OBasic {
   bool fBool = false;
   char fChar = 0;
   signed char fSChar = 0;
   unsigned char fUChar = 0;
   short fShort = 0;
   unsigned short fUShort = 0;
   int fInt = 0;
   unsigned int fUInt = 0;
   long fLong = 0;
   unsigned long fULong = 0;
   Long64_t fLong64 = 0;
   ULong64_t fULong64 = 0;
   float fFloat = 0;
   double fDouble = 0;
   OColor fEnum = kOff;
   Double32_t fD32 = 0;
   Double32_t fD32Range = 0; //[0,10,12]
   Double32_t fD32Bits = 0;  //[0,0,10]
   Float16_t fF16 = 0;
   Float16_t fF16Range = 0; //[-1,1,9]
   Float16_t fF16Bits = 0;  //[0,0,8]
   int fFixed[3] = {};
   float fMatrix[2][3] = {};
   int fN = 0;
   double *fVar = nullptr;    //[fN]
   char *fChars = nullptr;
   OBasic() {}
   OBasic(const OBasic &) = delete;
   ~OBasic()
   {
      delete[] fVar;
      delete[] fChars;
   }
   ClassDefNV(OBasic, 1)
};

// A class without a version
struct OPoint : SPoint {
   double z = 0;
};

// Containers of the standard library
struct OStd {
   std::string fString;
   std::vector<int> fInts;
   std::vector<bool> fBools;
   std::vector<std::string> fStrings;
   std::vector<std::vector<float>> fJagged;
   std::vector<std::vector<SPoint>> fJaggedPoints;
   std::vector<SPoint> fPoints;
   std::vector<ODerived> fDerived;
   std::vector<OPoint> fForeign;
   OPoint fOne; // ROOT stores no streamer information about classes that are only stored member by member
   std::vector<OBase *> fPointers;
   std::list<double> fList;
   std::deque<short> fDeque;
   std::set<int> fSet;
   std::map<int, std::string> fMap;
   std::map<std::string, SPoint> fMapPoint;
   std::map<std::string, std::vector<int>> fMapVector;
   std::unordered_map<int, double> fUnordered;
   std::vector<std::map<int, float>> fMaps;
   std::vector<std::pair<int, float>> fPairs;
   std::pair<int, std::string> fPair;
   std::bitset<10> fBits;
   std::unique_ptr<SPoint> fUnique;
   ClassDefNV(OStd, 2)
};

// Base classes, members that are objects, pointers
struct OTree : OBase, TNamed {
   TString fText;
   SPoint fPoint;
   SPoint fPoints[2];
   TLorentzVector fMomentum;
   std::vector<TLorentzVector> fMomenta;
   TObject fObject;
   SPoint *fNull = nullptr;
   OBase *fAny = nullptr;   // an OBase or ODerived
   OBase *fSame = nullptr;  // the same object again
   TObject *fTObject = nullptr; // a TNamed or a TLorentzVector
   OTree *fNext = nullptr;  // of the same class
   SPoint *fHere;           //-> never null
   SPoint *fPair[2] = {};
   TString fTexts[2];
   TNamed fNames[2];
   std::vector<int> fVectors[2];
   void Forget()
   {
      fAny = fSame = nullptr;
      if (fNext)
         fNext->Forget();
   }
   OTree() : fHere(new SPoint) {}
   OTree(const OTree &) = delete;
   ~OTree() override
   {
      delete fHere;
      delete fPair[0];
      delete fPair[1];
      delete fAny;
      delete fTObject;
      delete fNext;
   }
   ClassDefOverride(OTree, 1)
};

// An ordinary class with a streamed member
struct OHolder {
   int id = 0;
   SStreamed obj;
   std::vector<SStreamed> objs;
};

#endif
