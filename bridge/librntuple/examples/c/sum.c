// Sum prints how many events of a file have two muons, one of them above 20 GeV, and the sum of their numbers:
//
//	cc -o sum sum.c -lrntuple && ./sum dimuon.root
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rntuple.h"

static void check(int code, char** error) {
  if (code == RNTUPLE_OK) return;
  fprintf(stderr, "error %d: %s\n", code, *error);
  rntuple_free(*error);
  exit(1);
}

int main(int n, char** args) {
  const char* path = n > 1 ? args[1] : "dimuon.root";
  char* error;
  int64_t dataset;
  check(rntuple_open(&path, 1, NULL, NULL, &dataset, &error), &error);

  struct ArrowArrayStream stream;
  const char* options = "{\"fields\": [\"event\"], \"where\": \"nMuon == 2 && any(Muon_pt, # > 20)\"}";
  check(rntuple_stream(dataset, options, NULL, &stream, &error), &error);
  check(rntuple_close(dataset, &error), &error);  // the stream stays valid

  int64_t entries = 0;
  uint64_t sum = 0;
  for (;;) {
    struct ArrowArray batch;
    if (stream.get_next(&stream, &batch) != 0) {
      fprintf(stderr, "%s\n", stream.get_last_error(&stream));
      return 1;
    }
    if (batch.release == NULL) break;  // the end
    // A batch is a struct with a child for each field. The buffers of numbers are their validity, NULL if all are
    // valid, and their values; get_schema tells the types.
    const struct ArrowArray* event = batch.children[0];
    const uint64_t* values = (const uint64_t*)event->buffers[1] + event->offset;
    for (int64_t i = 0; i < event->length; i++) sum += values[i];
    entries += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  printf("%" PRId64 " entries, sum %" PRIu64 "\n", entries, sum);
}
