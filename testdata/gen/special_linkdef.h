#ifdef __CLING__
#pragma link off all globals;
#pragma link off all classes;
#pragma link off all functions;
#pragma link C++ class SPoint+;
#pragma link C++ options=rntupleStreamerMode(true) class SStreamed+;
#pragma link C++ class PtRec+;
#pragma link C++ options=rntupleSoARecord(PtRec) class PtSoA+;
#endif
