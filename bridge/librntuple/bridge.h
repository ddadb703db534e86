// What the Go and the C side of the library share.
#ifndef BRIDGE_H
#define BRIDGE_H

#include <stdlib.h>

#include "rntuple.h"

#define RNTUPLE_VERSION "0.1.0"

// Arrow recommends that buffers be aligned to 64 bytes.
enum { ALIGNMENT = 64 };

// A batch is the memory in C of a record batch that Go exports: its arrays, in the order of a walk from the top
// down, the pointers of these, and small buffers.
struct batch {
  void* memory;
  long arrays;     // that are not released, counted atomically
  uintptr_t pins;  // a handle of Go, for the other buffers, or 0
  struct ArrowArray* nodes;
  const void** pointers;
  char* bytes;
};

struct batch* bridge_batch(size_t arrays, size_t pointers, size_t bytes);
void bridge_finish(struct batch* b, uintptr_t pins, struct ArrowArray* out);
long bridge_live(void);
int bridge_poll(struct rntuple_watch* watch, int64_t done, int64_t total);

#endif
