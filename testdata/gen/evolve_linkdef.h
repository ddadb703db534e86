#ifdef __CLING__
#pragma link off all globals;
#pragma link off all classes;
#pragma link off all functions;

#pragma link C++ enum EvolveA;
#pragma link C++ enum EvolveB;
#pragma link C++ class Evolve+;
#pragma link C++ class std::pair<std::int32_t,std::int32_t>+;
#pragma link C++ class std::pair<std::int8_t,std::int64_t>+;
#pragma link C++ class std::set<std::int32_t>+;
#pragma link C++ class std::set<std::int64_t>+;
#pragma link C++ class std::set<std::int8_t>+;
#pragma link C++ class std::set<std::pair<std::int32_t,std::int32_t>>+;
#pragma link C++ class std::multiset<std::int32_t>+;
#pragma link C++ class std::unordered_set<std::int32_t>+;
#pragma link C++ class std::unordered_multiset<std::int32_t>+;
#pragma link C++ class std::map<std::int32_t,std::int32_t>+;
#pragma link C++ class std::map<std::int8_t,std::int64_t>+;
#pragma link C++ class std::unordered_map<std::int32_t,std::int32_t>+;
#pragma link C++ class std::multimap<std::int32_t,std::int32_t>+;
#endif
