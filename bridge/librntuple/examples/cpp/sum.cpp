// Sum prints how many events of a file have two muons, one of them above 20 GeV, and the sum of their numbers:
//
//	c++ -std=c++17 -o sum sum.cpp -lrntuple && ./sum dimuon.root
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "rntuple.h"

// An Owned is one of Arrow's structs, which is released at the end of its scope.
template <class T>
struct Owned : T {
  Owned() : T{} {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (this->release) this->release(this);
  }
};

class Dataset {
 public:
  explicit Dataset(const std::string& path) {
    const char* paths[] = {path.c_str()};
    char* error;
    check(rntuple_open(paths, 1, nullptr, nullptr, &handle, &error), &error);
  }
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  ~Dataset() { rntuple_close(handle, nullptr); }

  void read(const std::string& options, Owned<ArrowArrayStream>& stream) const {
    char* error;
    check(rntuple_stream(handle, options.c_str(), nullptr, &stream, &error), &error);
  }

 private:
  static void check(int code, char** error) {
    if (code == RNTUPLE_OK) return;
    std::string text = *error;
    rntuple_free(*error);
    throw std::runtime_error(text);
  }

  int64_t handle = 0;
};

int main(int n, char** args) try {
  Dataset dataset(n > 1 ? args[1] : "dimuon.root");
  Owned<ArrowArrayStream> stream;
  dataset.read(R"json({"fields": ["event"], "where": "nMuon == 2 && any(Muon_pt, # > 20)"})json", stream);
  int64_t entries = 0;
  uint64_t sum = 0;
  for (;;) {
    Owned<ArrowArray> batch;
    if (stream.get_next(&stream, &batch) != 0) throw std::runtime_error(stream.get_last_error(&stream));
    if (!batch.release) break;  // the end
    const ArrowArray& event = *batch.children[0];
    auto values = static_cast<const uint64_t*>(event.buffers[1]) + event.offset;
    for (int64_t i = 0; i < event.length; i++) sum += values[i];
    entries += batch.length;
  }
  std::cout << entries << " entries, sum " << sum << "\n";
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
