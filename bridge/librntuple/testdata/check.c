/* Check tests librntuple as a host uses it:
 *
 *   check LIBRARY TESTDATA FOLDER URL CASE
 *   check LIBRARY TESTDATA FOLDER URL random SEED PROGRAMS
 *
 * TESTDATA is the folder of dimuon.root, FOLDER an empty one. URL serves TESTDATA, and lets requests wait for their
 * end while there is a file FOLDER/slow. Numbers of dimuon.root are uproot's. Compiled with -fsanitize=address, the
 * program fails also if memory stays.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../rntuple.h"

#define FUNCTIONS(F) F(version) F(api_version) F(free) F(open) F(close) F(list) F(describe) F(schema) F(stream) F(write) F(run)
#define DECLARE(name) static __typeof__(&rntuple_##name) name##_;
FUNCTIONS(DECLARE)

static char testdata[4096], folder[4096], url[4096], dimuon[5000];
static const char* library;

static void fail(int line, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "check.c:%d: ", line);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  _exit(1);
}

#define CHECK(is, ...)                          \
  do {                                          \
    if (!(is)) fail(__LINE__, __VA_ARGS__);     \
  } while (0)
#define EQUAL(got, want) \
  CHECK((int64_t)(got) == (int64_t)(want), "%s is %lld, not %lld", #got, (long long)(got), (long long)(want))

// expect checks the code of a call, and that only errors have a message.
static void expect(int line, const char* call, int got, int want, char** error) {
  if (got != want) fail(line, "%s returned %d, not %d: %s", call, got, want, *error ? *error : "no message");
  if ((got == RNTUPLE_OK) != (*error == NULL)) fail(line, "%s returned %d with the message %s", call, got, *error ? *error : "NULL");
  free_(*error);
  *error = NULL;
}
static __thread char* error;
#define CODE(want, call) (error = NULL, expect(__LINE__, #call, call, want, &error))
#define OK(call) CODE(RNTUPLE_OK, call)

static const char* in(const char* dir, const char* name) {
  static __thread char paths[8][9200];
  static __thread int next;
  char* path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", dir, name);
  return path;
}

// say returns options made as by printf.
static const char* say(const char* format, ...) {
  static __thread char texts[4][20000];
  static __thread int next;
  char* text = texts[next++ % 4];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof texts[0], format, args);
  va_end(args);
  return text;
}

static int64_t opened(const char* path) {
  int64_t d;
  OK(open_(&path, 1, NULL, NULL, &d, &error));
  return d;
}

static struct ArrowArrayStream streamed(int64_t d, const char* options) {
  struct ArrowArrayStream s;
  OK(stream_(d, options, NULL, &s, &error));
  return s;
}

static void has(int line, char* json, const char* part) {
  if (json == NULL || strstr(json, part) == NULL) fail(line, "%s lacks %s", json ? json : "NULL", part);
}
#define HAS(json, part) has(__LINE__, json, part)

static int64_t entries_of(const char* path) {
  int64_t d = opened(path);
  char* json;
  OK(describe_(d, NULL, &json, &error));
  OK(close_(d, &error));
  const char* at = strstr(json, "\"entries\":");
  CHECK(at != NULL, "%s has no entries", json);
  int64_t n = atoll(at + 10);
  free_(json);
  return n;
}

// item returns number i of an array of numbers or bools.
static double item(const char* format, const struct ArrowArray* a, int64_t i) {
  const void* data = a->buffers[1];
  i += a->offset;
  switch (format[0]) {
    case 'b': return ((const uint8_t*)data)[i / 8] >> i % 8 & 1;
    case 'C': return ((const uint8_t*)data)[i];
    case 'i': return ((const int32_t*)data)[i];
    case 'I': return ((const uint32_t*)data)[i];
    case 'l': return ((const int64_t*)data)[i];
    case 'L': return ((const uint64_t*)data)[i];
    case 'f': return ((const float*)data)[i];
    case 'g': return ((const double*)data)[i];
  }
  fail(__LINE__, "the format is %s", format);
  return 0;
}

struct sum {
  int64_t entries, items, batches;
  double values;
};

// add_array adds the numbers of an array, or of the lists in it.
static void add_array(const struct ArrowSchema* schema, const struct ArrowArray* a, struct sum* s) {
  if (strcmp(schema->format, "+L") != 0) {
    s->items += a->length;
    for (int64_t i = 0; i < a->length; i++) s->values += item(schema->format, a, i);
    return;
  }
  const int64_t* offsets = (const int64_t*)a->buffers[1] + a->offset;
  s->items += offsets[a->length] - offsets[0];
  for (int64_t i = offsets[0]; i < offsets[a->length]; i++)
    s->values += item(schema->children[0]->format, a->children[0], i);
}

// sum_of reads a stream to its end, and releases it. Its first field is summed.
static struct sum sum_of(struct ArrowArrayStream* stream) {
  struct sum s = {0};
  struct ArrowSchema schema;
  EQUAL(stream->get_schema(stream, &schema), 0);
  CHECK(strcmp(schema.format, "+s") == 0, "a record has the format %s", schema.format);
  for (;;) {
    struct ArrowArray a;
    int code = stream->get_next(stream, &a);
    CHECK(code == 0, "get_next returned %d: %s", code, stream->get_last_error(stream));
    if (a.release == NULL) break;
    EQUAL(a.n_children, schema.n_children);
    s.batches++;
    s.entries += a.length;
    if (a.n_children > 0) add_array(schema.children[0], a.children[0], &s);
    a.release(&a);
  }
  struct ArrowArray more;
  EQUAL(stream->get_next(stream, &more), 0);
  CHECK(more.release == NULL, "there is a batch behind the end");
  schema.release(&schema);
  stream->release(stream);
  CHECK(stream->release == NULL, "the stream is not marked as released");
  return s;
}

static struct sum query(int64_t d, const char* options) {
  struct ArrowArrayStream s = streamed(d, options);
  return sum_of(&s);
}

// slow lets requests to the server wait from now on, or not.
static void slow(int on) {
  if (on) {
    fclose(fopen(in(folder, "slow"), "w"));
  } else {
    unlink(in(folder, "slow"));
  }
}

static void check_arguments(void) {
  int64_t d = 1;
  char* json = (char*)"";
  struct ArrowSchema schema;
  struct ArrowArrayStream stream;
  const char* paths[] = {dimuon, NULL};
  EQUAL(api_version_(), RNTUPLE_API_VERSION);
  CHECK(strcmp(version_(), "0.1.0") >= 0, "the version is %s", version_());
  free_(NULL);

  CODE(RNTUPLE_ARGUMENT, open_(NULL, 0, NULL, NULL, &d, &error));
  EQUAL(d, 0);
  CODE(RNTUPLE_ARGUMENT, open_(paths, 0, NULL, NULL, &d, &error));
  CODE(RNTUPLE_ARGUMENT, open_(paths, 2, NULL, NULL, &d, &error));
  CODE(RNTUPLE_ARGUMENT, open_(paths, 1, NULL, NULL, NULL, &error));
  CODE(RNTUPLE_ARGUMENT, list_(NULL, NULL, NULL, &json, &error));
  CHECK(json == NULL, "a failed call leaves a text");
  CODE(RNTUPLE_ARGUMENT, list_(dimuon, NULL, NULL, NULL, &error));
  CODE(RNTUPLE_ARGUMENT, run_(NULL, NULL, NULL, &json, &error));
  CODE(RNTUPLE_ARGUMENT, run_("verify", NULL, NULL, NULL, &error));
  CODE(RNTUPLE_ARGUMENT, run_("explode", NULL, NULL, &json, &error));
  CODE(RNTUPLE_ARGUMENT, run_("verify", NULL, NULL, &json, &error));
  CODE(RNTUPLE_ARGUMENT, write_("x.root", NULL, NULL, NULL, &d, &error));
  const int64_t wrong[] = {0, -1, 12345, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 5; i++) {
    CODE(RNTUPLE_CLOSED, close_(wrong[i], &error));
    CODE(RNTUPLE_CLOSED, describe_(wrong[i], NULL, &json, &error));
    CODE(RNTUPLE_CLOSED, schema_(wrong[i], NULL, &schema, &error));
    CHECK(schema.release == NULL, "a failed call leaves a schema");
    memset(&stream, 1, sizeof stream);
    CODE(RNTUPLE_CLOSED, stream_(wrong[i], NULL, NULL, &stream, &error));
    CHECK(stream.release == NULL, "a failed call leaves a stream");
  }
  EQUAL(close_(7, NULL), RNTUPLE_CLOSED);  // no message is wanted

  const char* bad[] = {"{",      "[]",           "7",  "\"x\"",           "{\"unknown\":1}",   "{} {}",
                       "nonsense", "{\"name\":7}", "\xff", "{\"threads\":-1}", "{\"memory\":-1}", "{\"threads\":1e99}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CODE(RNTUPLE_ARGUMENT, open_(paths, 1, bad[i], NULL, &d, &error));
    EQUAL(d, 0);
  }
  CODE(RNTUPLE_ARGUMENT, list_(dimuon, "{\"x\":1}", NULL, &json, &error));
  const char* empty = "";
  CODE(RNTUPLE_ARGUMENT, open_(&empty, 1, NULL, NULL, &d, &error));
  const char* missing = in(folder, "missing.root");
  CODE(RNTUPLE_NOT_FOUND, open_(&missing, 1, NULL, NULL, &d, &error));
  missing = in(folder, "missing*.root");
  CODE(RNTUPLE_NOT_FOUND, open_(&missing, 1, NULL, NULL, &d, &error));
  CODE(RNTUPLE_NOT_FOUND, list_(missing, NULL, NULL, &json, &error));
  CODE(RNTUPLE_NOT_FOUND, open_(paths, 1, "{\"name\":\"Other\"}", NULL, &d, &error));

  d = opened(dimuon);
  CODE(RNTUPLE_ARGUMENT, describe_(d, NULL, NULL, &error));
  CODE(RNTUPLE_ARGUMENT, schema_(d, NULL, NULL, &error));
  CODE(RNTUPLE_ARGUMENT, stream_(d, NULL, NULL, NULL, &error));
  struct {
    int code;
    const char* options;
  } cases[] = {
      {RNTUPLE_ARGUMENT, "{\"unknown\":1}"},        {RNTUPLE_ARGUMENT, "{\"fields\":[]}"},
      {RNTUPLE_ARGUMENT, "{\"fields\":[\"\"]}"},    {RNTUPLE_ARGUMENT, "{\"fields\":\"run\"}"},
      {RNTUPLE_ARGUMENT, "{\"fields\":[\"[\"]}"},   {RNTUPLE_NO_FIELD, "{\"fields\":[\"runs\"]}"},
      {RNTUPLE_NO_FIELD, "{\"fields\":[\"x*\"]}"},  {RNTUPLE_EXPRESSION, "{\"where\":\"run ==\"}"},
      {RNTUPLE_ARGUMENT, "{\"entry_start\":-1}"},   {RNTUPLE_ARGUMENT, "{\"entry_stop\":-1}"},
      {RNTUPLE_ARGUMENT, "{\"offset\":-1}"},        {RNTUPLE_ARGUMENT, "{\"limit\":-1}"},
      {RNTUPLE_ARGUMENT, "{\"batch_size\":-1}"},    {RNTUPLE_ARGUMENT, "{\"lists\":16}"},
      {RNTUPLE_EXPRESSION, "{\"where\":\"nope>1\"}"}, {RNTUPLE_EXPRESSION, "{\"where\":\"run\"}"},
      {RNTUPLE_ARGUMENT, "{\"define\":[\"=\"]}"}, {RNTUPLE_EXPRESSION, "{\"define\":[\"a=1+\"]}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    CODE(cases[i].code, stream_(d, cases[i].options, NULL, &stream, &error));

  // Long options.
  static char big[3 << 20];
  memset(big, ' ', sizeof big);
  memcpy(big, "{\"fields\":[\"", 12);
  memset(big + 12, 'x', 1 << 16);
  strcpy(big + 12 + (1 << 16), "\"]}");
  CODE(RNTUPLE_NO_FIELD, stream_(d, big, NULL, &stream, &error));
  memset(big, '[', sizeof big - 1);
  CODE(RNTUPLE_ARGUMENT, stream_(d, big, NULL, &stream, &error));
  OK(close_(d, &error));
  CODE(RNTUPLE_CLOSED, close_(d, &error));
}

static void check_read(void) {
  char* json;
  OK(list_(dimuon, NULL, NULL, &json, &error));
  HAS(json, "[{\"path\":\"Events\",\"class\":\"ROOT::RNTuple\",\"newest\":true}]");
  free_(json);
  int64_t d = opened(dimuon);
  OK(describe_(d, NULL, &json, &error));
  HAS(json, "\"name\":\"Events\"");
  HAS(json, "\"entries\":80000");
  HAS(json, "\"clusters\":[[0,");
  HAS(json, ",80000]]");
  HAS(json, "{\"name\":\"run\",\"type\":\"std::uint32_t\"}");
  HAS(json, "{\"name\":\"Muon_pt\",\"type\":\"ROOT::VecOps::RVec<float>\"");
  free_(json);

  struct ArrowSchema schema;
  OK(schema_(d, "{\"fields\":[\"run\",\"event\",\"HLT_*\",\"Muon_pt\"]}", &schema, &error));
  const char* names[] = {"run", "event", "HLT_IsoMu24", "HLT_Mu17_Mu8", "Muon_pt"};
  const char* formats[] = {"I", "L", "b", "b", "+L"};
  EQUAL(schema.n_children, 5);
  for (int i = 0; i < 5; i++) {
    int found = 0;
    for (int k = 0; k < 5; k++)
      found |= strcmp(schema.children[k]->name, names[i]) == 0 && strcmp(schema.children[k]->format, formats[i]) == 0;
    CHECK(found, "the schema lacks %s with the format %s", names[i], formats[i]);
  }
  schema.release(&schema);
  OK(schema_(d, NULL, &schema, &error));
  EQUAL(schema.n_children, 12);  // without _collection0, whose members have projected fields
  schema.release(&schema);

  struct {
    const char* field;
    int64_t items;
    double sum;
  } sums[] = {
      {"run", 80000, 15526300000.0}, {"luminosityBlock", 80000, 4089012}, {"event", 80000, 115078417131.0},
      {"PV_npvs", 80000, 1198918},   {"HLT_Mu17_Mu8", 80000, 14038},      {"HLT_IsoMu24", 80000, 11852},
      {"nMuon", 80000, 159025},      {"Muon_charge", 159025, -89},        {"Muon_pt", 159025, 2006239.0229492188},
      {"Muon_eta", 159025, 578.9743314934894},
  };
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    struct sum s = query(d, say("{\"fields\":[\"%s\"],\"batch_size\":%d}", sums[i].field, 10000));
    EQUAL(s.entries, 80000);
    EQUAL(s.items, sums[i].items);
    CHECK(fabs(s.values - sums[i].sum) <= 1e-9 * fabs(sums[i].sum), "the sum of %s is %.17g, not %.17g", sums[i].field,
          s.values, sums[i].sum);
    CHECK(s.batches >= 8, "%lld batches of at most 10000 entries", (long long)s.batches);
  }
  OK(close_(d, &error));

  d = opened(in(testdata, "good/special_zero.root"));  // has a std::array without items
  struct ArrowArrayStream stream;
  CODE(RNTUPLE_UNSUPPORTED, stream_(d, NULL, NULL, &stream, &error));
  CODE(RNTUPLE_UNSUPPORTED, schema_(d, NULL, &schema, &error));
  OK(close_(d, &error));
  const char* path = in(url, "none.root");
  CODE(RNTUPLE_NOT_FOUND, open_(&path, 1, NULL, NULL, &d, &error));
  path = "s3://bucket/file.root";
  CODE(RNTUPLE_UNSUPPORTED, open_(&path, 1, NULL, NULL, &d, &error));
}

static void check_query(void) {
  int64_t d = opened(dimuon);
  struct {
    const char* options;
    int64_t entries;
    double sum;  // of the first field; -1 if it does not matter
  } cases[] = {
      {"{\"fields\":[\"nMuon\"],\"where\":\"nMuon == 2\"}", 67918, 135836},
      {"{\"fields\":[\"event\"],\"where\":\"nMuon == 2 && any(Muon_pt, # > 20)\"}", 13849, 19886297792.0},
      {"{\"fields\":[\"event\"],\"where\":[\"nMuon == 2\",\"any(Muon_pt, # > 20)\"]}", 13849, 19886297792.0},
      {"{\"fields\":[\"event\"],\"where\":[\"n == 2\",\"any(Muon_pt, # > 20)\"],\"define\":[\"n=nMuon\"],\"zone_maps\":false}",
       13849, 19886297792.0},
      {"{\"fields\":[\"event\"],\"where\":[\"nMuon == 2\",\"any(Muon_pt, # > 20)\"],\"offset\":10,\"limit\":100}", 100,
       3744244},
      {"{\"fields\":[\"event\"],\"where\":[\"nMuon == 2\",\"any(Muon_pt, # > 20)\"],\"entry_start\":1000,\"entry_stop\":2000}",
       185, -1},
      {"{\"fields\":[\"event\"],\"entry_start\":1000,\"entry_stop\":2000}", 1000, 180018939},
      {"{\"fields\":[\"event\"],\"entry_start\":70000}", 10000, 15159938442.0},
      {"{\"fields\":[\"event\"],\"limit\":10}", 10, 20353},
      {"{\"fields\":[\"event\"],\"limit\":0}", 0, 0},
      {"{\"fields\":[\"event\"],\"offset\":80000}", 0, 0},
      {"{\"fields\":[\"event\"],\"entry_start\":80001}", 0, 0},
      {"{\"fields\":[\"event\"],\"entry_start\":500,\"offset\":500,\"entry_stop\":2000}", 1000, 180018939},
      {"{\"fields\":[\"event\"],\"entry_start\":1000,\"limit\":1000,\"entry_stop\":9223372036854775807}", 1000, 180018939},
      {"{\"fields\":[\"event\"],\"entry_start\":1000,\"entry_stop\":10}", 0, 0},
      {"{\"fields\":[\"event\"],\"offset\":9223372036854775807,\"limit\":9223372036854775807}", 0, 0},
      {"{\"fields\":[\"event\"],\"where\":\"nMuon == 99\"}", 0, 0},
      {"{\"fields\":[\"event\"],\"where\":\"run > 0\",\"entry_start\":70000}", 10000, 15159938442.0},
      {"{\"fields\":[\"event\"],\"where\":\"run > 0\",\"entry_start\":70000,\"entry_stop\":90000}", 10000, 15159938442.0},
      {"{\"fields\":[\"event\"],\"where\":\"run > 0\",\"entry_start\":90000,\"entry_stop\":1}", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct sum s = query(d, cases[i].options);
    CHECK(s.entries == cases[i].entries && (cases[i].sum < 0 || s.values == cases[i].sum), "%s: %lld entries, sum %.17g",
          cases[i].options, (long long)s.entries, s.values);
  }
  OK(close_(d, &error));

  // Several files: the sums are twice those of one.
  const char* both[] = {dimuon, dimuon};
  OK(open_(both, 2, NULL, NULL, &d, &error));
  struct sum s = query(d, "{\"fields\":[\"event\"]}");
  EQUAL(s.entries, 160000);
  EQUAL(s.values, 2 * 115078417131);
  s = query(d, "{\"fields\":[\"event\"],\"entry_start\":81000,\"entry_stop\":82000}");
  EQUAL(s.values, 180018939);
  s = query(d, "{\"fields\":[\"event\"],\"where\":\"nMuon == 2 && any(Muon_pt, # > 20)\"}");
  EQUAL(s.values, 2 * 19886297792);
  char* json;
  OK(describe_(d, NULL, &json, &error));
  HAS(json, "\"clusters\":[[0,80000],[80000,160000]]");
  free_(json);
  OK(close_(d, &error));
  CHECK(symlink(dimuon, in(folder, "a1.root")) == 0 && symlink(dimuon, in(folder, "a[2].root")) == 0, "symlink");
  const char* pattern = in(folder, "a*.root");
  OK(open_(&pattern, 1, NULL, NULL, &d, &error));
  EQUAL(query(d, "{\"fields\":[\"event\"]}").entries, 160000);
  OK(close_(d, &error));
  EQUAL(entries_of(in(folder, "a[2].root")), 80000);  // a file that is called like a pattern is meant
  EQUAL(entries_of(in(folder, "a[0-9].root")), 80000);
  EQUAL(entries_of(in(url, "dimuon.root")), 80000);
}

// An owned array is one that a thread releases.
struct owned {
  struct ArrowArray a;
  double sum;  // of the numbers in it
  struct ArrowSchema* schema;
};

static void check_owned(struct owned* o) {
  struct sum s = {0};
  add_array(o->schema, &o->a, &s);
  CHECK(s.values == o->sum, "an array has changed: sum %.17g, not %.17g", s.values, o->sum);
  o->a.release(&o->a);
  CHECK(o->a.release == NULL, "an array is not marked as released");
}

enum { THREADS = 4 };
static struct owned all[4096];
static int n_owned;

static void* release_owned(void* start) {
  for (int i = (int)(intptr_t)start; i < n_owned; i += THREADS) check_owned(&all[i]);
  return NULL;
}

static uint64_t next_random(uint64_t* state) {  // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// move_children moves some children of a record to all, and releases it.
static void move_children(struct ArrowArray* record, struct ArrowSchema* schema, uint64_t* random) {
  for (int i = 0; i < record->n_children; i++) {
    if (next_random(random) % 2 == 0 || n_owned == sizeof all / sizeof *all) continue;
    struct sum s = {0};
    add_array(schema->children[i], record->children[i], &s);
    all[n_owned++] = (struct owned){*record->children[i], s.values, schema->children[i]};
    record->children[i]->release = NULL;
  }
  record->release(record);
}

static void check_arrays(void) {
  uint64_t random = 1;
  int64_t d = opened(dimuon);
  struct ArrowArrayStream s = streamed(d, "{\"batch_size\":1000}");
  struct ArrowSchema schema;
  EQUAL(s.get_schema(&s, &schema), 0);
  for (;;) {
    struct ArrowArray a;
    EQUAL(s.get_next(&s, &a), 0);
    if (a.release == NULL) break;
    move_children(&a, &schema, &random);
  }
  s.release(&s);
  OK(close_(d, &error));
  CHECK(n_owned > 300, "%d arrays are too few", n_owned);
  for (int i = n_owned - 1; i > 0; i--) {
    int k = (int)(next_random(&random) % (uint64_t)(i + 1));
    struct owned o = all[i];
    all[i] = all[k];
    all[k] = o;
  }
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, release_owned, (void*)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  schema.release(&schema);

  // A stream that is not read to its end, and outlives its dataset.
  d = opened(dimuon);
  s = streamed(d, "{\"fields\":[\"event\"],\"batch_size\":1000}");
  OK(close_(d, &error));
  struct ArrowArray a;
  EQUAL(s.get_next(&s, &a), 0);
  EQUAL(a.length, 1000);
  s.release(&s);
  a.release(&a);

  // A record whose child has moved, which is released first.
  d = opened(dimuon);
  s = streamed(d, "{\"fields\":[\"event\"]}");
  EQUAL(s.get_next(&s, &a), 0);
  struct ArrowArray child = *a.children[0];
  a.children[0]->release = NULL;
  a.release(&a);
  child.release(&child);
  s.release(&s);
  OK(close_(d, &error));
}

static void* read_all(void* dataset) {
  for (int i = 0; i < 3; i++) {
    struct sum s = query(*(int64_t*)dataset, "{\"fields\":[\"event\",\"Muon_*\"],\"batch_size\":3000}");
    EQUAL(s.values, 115078417131);
    s = query(*(int64_t*)dataset, "{\"fields\":[\"event\"],\"where\":\"nMuon == 2 && any(Muon_pt, # > 20)\"}");
    EQUAL(s.values, 19886297792);
  }
  return NULL;
}

static void* read_one(void* stream) {
  struct ArrowArrayStream* s = stream;
  struct ArrowArray a;
  EQUAL(s->get_next(s, &a), 0);
  EQUAL(a.length, 1000);
  a.release(&a);
  return NULL;
}

static void* release_stream(void* stream) {
  struct ArrowArrayStream* s = stream;
  s->release(s);
  return NULL;
}

static int never(void* context, int64_t done, int64_t total) {
  (void)context, (void)done, (void)total;
  return 0;
}

static void check_threads(void) {
  int64_t d = opened(dimuon);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, read_all, &d);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

  // A stream that is made, read and released by different threads, with and without a watch.
  struct rntuple_watch watch = {never, NULL};
  for (int i = 0; i < 4; i++) {
    struct ArrowArrayStream s;
    OK(stream_(d, "{\"fields\":[\"event\"],\"batch_size\":1000}", i % 2 ? &watch : NULL, &s, &error));
    for (int k = 0; k < 3; k++) {
      pthread_create(&threads[0], NULL, read_one, &s);
      pthread_join(threads[0], NULL);
    }
    if (i < 2) {
      pthread_create(&threads[0], NULL, release_stream, &s);
      pthread_join(threads[0], NULL);
    } else {
      s.release(&s);
    }
  }
  OK(close_(d, &error));
}

// A watcher counts what a watch is told, and may cancel.
struct watcher {
  atomic_int polls;
  int cancel;
  int64_t done, total;
  pthread_t thread;
  int unordered, elsewhere;
};

static int poll(void* context, int64_t done, int64_t total) {
  struct watcher* w = context;
  w->unordered |= done < w->done || done < 0 || total < 0 || (total > 0 && done > total);
  w->elsewhere |= !pthread_equal(w->thread, pthread_self());
  w->done = done;
  w->total = total;
  atomic_fetch_add(&w->polls, 1);
  return w->cancel;
}

static void check_watcher(int line, struct watcher* w) {
  if (w->polls == 0) fail(line, "the watch was not polled");
  if (w->unordered) fail(line, "progress: %lld of %lld", (long long)w->done, (long long)w->total);
  if (w->elsewhere) fail(line, "the watch was polled on another thread");
}
#define WATCHED(w) check_watcher(__LINE__, &w)

// A feed is a stream of batches of 100 entries with x, y = 0, 1, 2 ...; it ends or fails after some batches. If it
// waits, a watch must be polled before each batch.
struct feed {
  int batches, fails, fields, nan;
  enum { GOOD, NO_SCHEMA, NO_FORMAT, WRONG_FORMAT, NO_VALUES, FEW_CHILDREN, NEGATIVE } lie;
  struct watcher* waits;
  int at;
};

static atomic_int held;  // schemas, arrays and streams of ours that are not released

static void free_schema(struct ArrowSchema* s) {
  for (int i = 0; i < s->n_children; i++) {
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
    free(s->children[i]);
  }
  free(s->children);
  s->release = NULL;
  held--;
}

static void free_array(struct ArrowArray* a) {
  for (int i = 0; i < a->n_children; i++) {
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
    free(a->children[i]);
  }
  free((void*)a->buffers[1]);
  free(a->buffers);
  free(a->children);
  a->release = NULL;
  held--;
}

static int feed_schema(struct ArrowArrayStream* s, struct ArrowSchema* out) {
  struct feed* f = s->private_data;
  if (f->lie == NO_SCHEMA) return EIO;
  *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = f->fields, .release = free_schema};
  out->children = calloc(2, sizeof *out->children);
  for (int i = 0; i < f->fields; i++) {
    out->children[i] = malloc(sizeof **out->children);
    *out->children[i] = (struct ArrowSchema){.format = "g", .name = i == 0 ? "x" : "y", .release = free_schema};
    held++;
  }
  held++;
  if (f->lie == NO_FORMAT) out->children[1]->format = NULL;
  if (f->lie == WRONG_FORMAT) out->children[1]->format = "+zz";
  return 0;
}

static int feed_next(struct ArrowArrayStream* s, struct ArrowArray* out) {
  struct feed* f = s->private_data;
  memset(out, 0, sizeof *out);
  if (f->waits) {
    for (int polls = f->waits->polls; polls == f->waits->polls;) usleep(1000);
  }
  if (f->at == f->batches) return f->fails ? EIO : 0;
  *out = (struct ArrowArray){.length = 100, .n_buffers = 1, .n_children = f->fields, .release = free_array};
  out->buffers = calloc(2, sizeof *out->buffers);
  out->children = calloc(2, sizeof *out->children);
  for (int i = 0; i < f->fields; i++) {
    double* x = malloc(100 * sizeof *x);
    for (int k = 0; k < 100; k++) x[k] = f->nan && k % 2 ? NAN : f->at * 100 + k;
    struct ArrowArray* a = out->children[i] = malloc(sizeof *a);
    *a = (struct ArrowArray){.length = 100, .n_buffers = 2, .release = free_array};
    a->buffers = calloc(2, sizeof *a->buffers);
    a->buffers[1] = x;
    held++;
  }
  held++;
  if (f->lie == NO_VALUES) out->children[1]->n_buffers = 1;
  if (f->lie == FEW_CHILDREN) {
    free_array(out->children[--out->n_children]);
    free(out->children[1]);
  }
  if (f->lie == NEGATIVE) out->children[1]->length = -5;
  f->at++;
  return 0;
}

static const char* feed_error(struct ArrowArrayStream* s) {
  return ((struct feed*)s->private_data)->fails ? "the feed is empty" : NULL;
}

static void feed_release(struct ArrowArrayStream* s) {
  s->release = NULL;
  held--;
}

static struct ArrowArrayStream feeding(struct feed* f) {
  held++;
  if (f->fields == 0) f->fields = 2;
  if (f->fields < 0) f->fields = 0;
  return (struct ArrowArrayStream){feed_schema, feed_next, feed_error, feed_release, f};
}

// written writes a feed, and returns how many entries there are, or fails unless the code is the expected one.
static int64_t written(int line, const char* path, struct feed f, const char* options, const struct rntuple_watch* watch,
                       int want) {
  struct ArrowArrayStream s = feeding(&f);
  int64_t n = -1;
  error = NULL;
  expect(line, options ? options : "write", write_(path, &s, options, watch, &n, &error), want, &error);
  if (s.release != NULL) fail(line, "the stream is not released");
  if (held != 0) fail(line, "%d arrays or schemas are not released", held);
  return n;
}
#define WRITTEN(path, options, want, ...) written(__LINE__, path, (struct feed){__VA_ARGS__}, options, NULL, want)

// digest returns a number for what is in a file, or 0 if there is none.
static uint64_t digest(const char* path) {
  FILE* f = fopen(path, "rb");
  uint64_t sum = 1;
  if (f == NULL) return 0;
  for (int c; (c = getc(f)) != EOF;) sum = sum * 1099511628211u + (uint64_t)c;
  fclose(f);
  return sum;
}

static int files_in(const char* dir) {
  int n = 0;
  DIR* d = opendir(dir);
  while (readdir(d) != NULL) n++;
  closedir(d);
  return n;
}

static void check_write(void) {
  char path[5000];
  strcpy(path, in(folder, "w.root"));
  EQUAL(WRITTEN(path, NULL, RNTUPLE_OK, .batches = 3), 300);
  int64_t d = opened(path);
  struct sum s = query(d, "{\"fields\":[\"y\"]}");
  EQUAL(s.entries, 300);
  EQUAL(s.values, 300 * 299 / 2);
  OK(close_(d, &error));

  // What fails leaves the file as it is, and no other.
  uint64_t before = digest(path);
  int files = files_in(folder);
  WRITTEN(path, NULL, RNTUPLE_EXISTS, .batches = 1);
  WRITTEN(path, "{\"mode\":\"update\"}", RNTUPLE_EXISTS, .batches = 1);
  const char* modes[] = {"{\"mode\":\"overwrite\"}", "{\"mode\":\"update\",\"name\":\"Other\"}", "{\"mode\":\"append\"}"};
  for (int i = 0; i < 3; i++) WRITTEN(path, modes[i], RNTUPLE_IO, .batches = 2, .fails = 1);
  WRITTEN(path, "{\"mode\":\"append\"}", RNTUPLE_FAILED, .batches = 1, .fields = 1);
  WRITTEN(in(folder, "no.root"), NULL, RNTUPLE_IO, .batches = 2, .fails = 1);
  const char* wrong[] = {"{", "{\"mode\":\"x\"}", "{\"threads\":-1}", "{\"cluster_size\":-1}", "{\"compression\":\"x\"}",
                         "{\"mode\":\"append\",\"plain\":[\"x\"]}", "{\"unknown\":0}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) WRITTEN(in(folder, "no.root"), wrong[i], RNTUPLE_ARGUMENT, .batches = 1);
  WRITTEN(NULL, NULL, RNTUPLE_ARGUMENT, .batches = 1);
  WRITTEN(in(folder, "none/no.root"), NULL, RNTUPLE_NOT_FOUND, .batches = 1);
  EQUAL(digest(path), before);
  EQUAL(files_in(folder), files);
  for (int lie = NO_SCHEMA; lie <= NEGATIVE; lie++) {
    struct feed f = {.batches = 1, .fields = 2, .lie = lie};
    struct ArrowArrayStream s = feeding(&f);
    int code = write_(in(folder, "no.root"), &s, NULL, NULL, NULL, &error);
    CHECK(code != RNTUPLE_OK && code != RNTUPLE_INTERNAL, "stream %d: code %d, %s", lie, code, error);
    CHECK(s.release == NULL && held == 0, "stream %d: %d arrays or schemas are not released", lie, held);
    free_(error);
  }
  EQUAL(files_in(folder), files);
  struct ArrowArrayStream released = {0};
  CODE(RNTUPLE_ARGUMENT, write_(in(folder, "no.root"), &released, NULL, NULL, NULL, &error));

  EQUAL(WRITTEN(path, "{\"mode\":\"append\"}", RNTUPLE_OK, .batches = 2), 200);
  EQUAL(entries_of(path), 500);
  WRITTEN(path, "{\"mode\":\"update\",\"name\":\"dir/Other\",\"description\":\"d\"}", RNTUPLE_OK, .batches = 1);
  char* json;
  OK(list_(path, NULL, NULL, &json, &error));
  HAS(json, "\"path\":\"dir/Other\"");
  free_(json);
  EQUAL(WRITTEN(path, "{\"mode\":\"overwrite\",\"compression\":\"lz4\"}", RNTUPLE_OK, .batches = 1), 100);
  EQUAL(entries_of(path), 100);

  // No entries, no fields, NaN.
  EQUAL(WRITTEN(in(folder, "empty.root"), NULL, RNTUPLE_OK, .batches = 0), 0);
  d = opened(in(folder, "empty.root"));
  EQUAL(query(d, NULL).entries, 0);
  EQUAL(query(d, "{\"where\":\"x > 1\"}").entries, 0);
  OK(describe_(d, NULL, &json, &error));
  HAS(json, "\"entries\":0,\"clusters\":[]");
  free_(json);
  OK(close_(d, &error));
  WRITTEN(in(folder, "nothing.root"), NULL, RNTUPLE_OK, .batches = 2, .fields = -1);
  d = opened(in(folder, "nothing.root"));
  EQUAL(query(d, NULL).entries, 200);
  OK(close_(d, &error));
  WRITTEN(in(folder, "nan.root"), NULL, RNTUPLE_OK, .batches = 2, .nan = 1);
  d = opened(in(folder, "nan.root"));
  CHECK(isnan(query(d, NULL).values), "NaN is lost");
  s = query(d, "{\"where\":\"x >= 0\"}");
  EQUAL(s.entries, 100);
  EQUAL(s.values, 9900);  // the even numbers below 200
  OK(close_(d, &error));

  // From one of our own streams.
  d = opened(dimuon);
  struct ArrowArrayStream in_stream = streamed(d, "{\"where\":\"nMuon == 2\"}");
  OK(close_(d, &error));
  int64_t n;
  OK(write_(in(folder, "two.root"), &in_stream, NULL, NULL, &n, &error));
  EQUAL(n, 67918);
  CHECK(in_stream.release == NULL, "the stream is not released");

  // Progress, and cancelling, while the library waits for the host.
  struct watcher w = {.thread = pthread_self()};
  struct rntuple_watch watch = {poll, &w};
  EQUAL(written(__LINE__, in(folder, "watched.root"), (struct feed){.batches = 3, .waits = &w}, NULL, &watch, RNTUPLE_OK), 300);
  WATCHED(w);
  EQUAL(w.done, 300);
  w = (struct watcher){.thread = pthread_self(), .cancel = 1};
  files = files_in(folder);
  written(__LINE__, in(folder, "no.root"), (struct feed){.batches = 3, .waits = &w}, NULL, &watch, RNTUPLE_CANCELED);
  WATCHED(w);
  EQUAL(files_in(folder), files);
}

static void check_cancel(void) {
  const char* far = in(url, "dimuon.root");
  struct watcher w = {.thread = pthread_self(), .cancel = 1};
  struct rntuple_watch watch = {poll, &w}, none = {NULL, NULL};
  int64_t d;
  char* json;
  slow(1);
  CODE(RNTUPLE_CANCELED, open_(&far, 1, NULL, &watch, &d, &error));
  WATCHED(w);
  EQUAL(d, 0);
  CODE(RNTUPLE_CANCELED, list_(far, NULL, &watch, &json, &error));
  CODE(RNTUPLE_CANCELED, run_("verify", say("{\"inputs\":\"%s\"}", far), &watch, &json, &error));
  CODE(RNTUPLE_CANCELED, run_("skim", say("{\"inputs\":\"%s\",\"output\":\"%s\",\"where\":\"nMuon == 2\"}", far, in(folder, "no.root")), &watch, &json, &error));
  CHECK(digest(in(folder, "no.root")) == 0, "what was canceled left a file");
  slow(0);
  OK(open_(&far, 1, NULL, &none, &d, &error));

  struct ArrowArrayStream s;
  struct ArrowArray a;
  OK(stream_(d, "{\"fields\":[\"event\"]}", &watch, &s, &error));
  slow(1);
  w = (struct watcher){.thread = pthread_self(), .cancel = 1, .done = -1};
  EQUAL(s.get_next(&s, &a), ECANCELED);
  CHECK(a.release == NULL, "a canceled call leaves an array");
  CHECK(strlen(s.get_last_error(&s)) > 0, "a canceled stream has no error");
  CHECK(w.polls > 0 && w.done >= 0 && w.total == 80000, "%lld of %lld after %d polls", (long long)w.done, (long long)w.total, w.polls);
  w.cancel = 0;
  CHECK(s.get_next(&s, &a) != 0, "a canceled stream goes on");
  s.release(&s);
  w = (struct watcher){.thread = pthread_self(), .cancel = 1};
  CODE(RNTUPLE_CANCELED, stream_(d, "{\"where\":\"nMuon == 2\"}", &watch, &s, &error));  // reads for the condition
  CHECK(s.release == NULL, "a canceled call leaves a stream");
  slow(0);
  EQUAL(query(d, "{\"fields\":[\"event\"]}").values, 115078417131);
  OK(close_(d, &error));
}

static void check_run(void) {
  char* json;
  char output[5000];
  strcpy(output, in(folder, "r.root"));
  OK(run_("merge", say("{\"inputs\":[\"%s\",\"%s\"],\"output\":\"%s\"}", dimuon, dimuon, output), NULL, &json, &error));
  HAS(json, "{\"inputs\":2,\"input_entries\":160000,\"entries\":160000,\"clusters\":");
  HAS(json, "\"dropped\":[],\"left_behind\":[]}");
  free_(json);
  EQUAL(entries_of(output), 160000);
  uint64_t before = digest(output);
  CODE(RNTUPLE_EXISTS, run_("merge", say("{\"inputs\":\"%s\",\"output\":\"%s\"}", dimuon, output), NULL, &json, &error));
  EQUAL(digest(output), before);
  OK(run_("skim", say("{\"inputs\":\"%s\",\"output\":\"%s\",\"overwrite\":true,\"where\":\"nMuon == 2 && any(Muon_pt, # > 20)\","
                      "\"fields\":[\"event\"],\"define\":[\"twice=2*nMuon\"],\"new_name\":\"Skim\"}", dimuon, output), NULL, &json, &error));
  HAS(json, "{\"inputs\":1,\"input_entries\":80000,\"entries\":13849,");
  free_(json);
  int64_t d = opened(output);
  EQUAL(query(d, "{\"fields\":[\"event\"]}").values, 19886297792);
  EQUAL(query(d, "{\"fields\":[\"twice\"]}").values, 4 * 13849);
  OK(describe_(d, NULL, &json, &error));
  HAS(json, "\"name\":\"Skim\"");
  free_(json);
  OK(close_(d, &error));
  OK(run_("verify", say("{\"inputs\":[\"%s\",\"%s\"]}", dimuon, output), NULL, &json, &error));
  HAS(json, "{\"problems\":[]}");
  free_(json);

  // A byte in a page differs.
  FILE* f = fopen(output, "r+b");
  fseek(f, 2000, SEEK_SET);
  int c = getc(f);
  fseek(f, 2000, SEEK_SET);
  putc(c ^ 1, f);
  fclose(f);
  OK(run_("verify", say("{\"inputs\":\"%s\"}", output), NULL, &json, &error));
  HAS(json, "\"severity\":\"checksum\"");
  HAS(json, "\"check\":");
  free_(json);
  CODE(RNTUPLE_ARGUMENT, run_("merge", say("{\"inputs\":\"%s\"}", dimuon), NULL, &json, &error));
  CODE(RNTUPLE_ARGUMENT, run_("merge", say("{\"inputs\":\"%s\",\"output\":\"%s\",\"mode\":\"x\"}", dimuon, output), NULL, &json, &error));
  CODE(RNTUPLE_EXPRESSION, run_("skim", say("{\"inputs\":\"%s\",\"output\":\"%s\",\"where\":\"1 +\"}", dimuon, output), NULL, &json, &error));
  CODE(RNTUPLE_NOT_FOUND, run_("verify", "{\"inputs\":\"/missing.root\"}", NULL, &json, &error));
}

static void* release_schema(void* schema) {
  struct ArrowSchema* s = schema;
  s->release(s);
  return NULL;
}

static void check_fork(void) {
  int64_t d = opened(dimuon), n = 0;
  struct ArrowArrayStream s = streamed(d, "{\"batch_size\":1000}"), more;
  struct ArrowArray a, child;
  struct ArrowSchema schema;
  char* json;
  EQUAL(s.get_next(&s, &a), 0);
  child = *a.children[0];
  a.children[0]->release = NULL;
  EQUAL(s.get_schema(&s, &schema), 0);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20);  // ends the child if a call hangs
    const char* path = dimuon;
    CODE(RNTUPLE_FORKED, open_(&path, 1, NULL, NULL, &n, &error));
    CODE(RNTUPLE_FORKED, close_(d, &error));
    CODE(RNTUPLE_FORKED, list_(path, NULL, NULL, &json, &error));
    CODE(RNTUPLE_FORKED, describe_(d, NULL, &json, &error));
    CHECK(json == NULL, "a forked call leaves a text");
    struct ArrowSchema other;
    memset(&other, 1, sizeof other);
    CODE(RNTUPLE_FORKED, schema_(d, NULL, &other, &error));
    CHECK(other.release == NULL, "a forked call leaves a schema");
    memset(&more, 1, sizeof more);
    CODE(RNTUPLE_FORKED, stream_(d, NULL, NULL, &more, &error));
    CHECK(more.release == NULL, "a forked call leaves a stream");
    WRITTEN(in(folder, "no.root"), NULL, RNTUPLE_FORKED, .batches = 1);
    CODE(RNTUPLE_FORKED, run_("verify", NULL, NULL, &json, &error));
    EQUAL(api_version_(), RNTUPLE_API_VERSION);
    CHECK(s.get_next(&s, &a) != 0 && a.release == NULL && strstr(s.get_last_error(&s), "fork") != NULL, "a forked stream goes on");
    CHECK(s.get_schema(&s, &other) != 0, "a forked stream has a schema");
    s.release(&s);
    child.release(&child);
    pthread_t thread;  // that Go's runtime does not know
    pthread_create(&thread, NULL, release_schema, &schema);
    pthread_join(thread, NULL);
    CHECK(schema.release == NULL, "the schema is not marked as released");
    _exit(0);
  }
  int status;
  EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with the status %#x", status);
  a.release(&a);
  child.release(&child);
  schema.release(&schema);
  s.release(&s);
  EQUAL(query(d, "{\"fields\":[\"event\"]}").values, 115078417131);
  OK(close_(d, &error));
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2, SIGALRM, SIGQUIT, SIGWINCH};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction handlers[SIGNALS];
static atomic_int received;

static void receive(int signal) {
  (void)signal;
  atomic_fetch_add(&received, 1);
}

// prepare_signals runs before the library is loaded.
static void prepare_signals(void) {
  signal(SIGUSR1, receive);
  signal(SIGINT, receive);
  signal(SIGUSR2, SIG_IGN);
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &handlers[i]);
}

static void check_signals(void) {
  int64_t d = opened(dimuon);
  EQUAL(query(d, "{\"fields\":[\"event\"]}").values, 115078417131);
  kill(getpid(), SIGINT);
  raise(SIGUSR1);
  raise(SIGUSR2);
  while (received < 2) usleep(1000);
  WRITTEN(in(folder, "s.root"), NULL, RNTUPLE_OK, .batches = 1);
  OK(close_(d, &error));
  for (int i = 0; i < SIGNALS; i++) {
    struct sigaction now;
    sigaction(signals[i], NULL, &now);
    CHECK(now.sa_handler == handlers[i].sa_handler && (now.sa_flags | SA_ONSTACK) == (handlers[i].sa_flags | SA_ONSTACK), "the handler of signal %d has changed",
          signals[i]);
  }
}

// read_damaged reads all of a file that may be damaged: each call succeeds or fails.
static int read_damaged(const char* path, const char* options) {
  int64_t d;
  char* json = NULL;
  int failed = list_(path, NULL, NULL, &json, NULL);
  free_(json);
  failed |= run_("verify", say("{\"inputs\":\"%s\"}", path), NULL, &json, NULL);
  free_(json);
  if (open_(&path, 1, options, NULL, &d, NULL) != RNTUPLE_OK) return 1;
  failed |= describe_(d, NULL, &json, NULL);
  free_(json);
  struct ArrowArrayStream s;
  if (stream_(d, "{\"batch_size\":5000}", NULL, &s, NULL) == RNTUPLE_OK) {
    struct ArrowArray a;
    for (;;) {
      if (s.get_next(&s, &a) != 0) {
        CHECK(s.get_last_error(&s) != NULL, "a stream has no error");
        failed = 1;
        break;
      }
      if (a.release == NULL) break;
      a.release(&a);
    }
    s.release(&s);
  } else {
    failed = 1;
  }
  OK(close_(d, &error));
  return failed;
}

static void check_damage(void) {
  char paths[200][5000];
  int n = 0, failed = 0;
  const char* dirs[] = {".", "good", "bad"};
  for (int i = 0; i < 3; i++) {
    const char* dir = in(testdata, dirs[i]);
    DIR* d = opendir(dir);
    CHECK(d != NULL, "there is no %s", dir);
    for (struct dirent* e; (e = readdir(d)) != NULL && n < 200;)
      if (strstr(e->d_name, ".root")) snprintf(paths[n++], sizeof paths[0], "%s/%s", dir, e->d_name);
    closedir(d);
  }
  for (int i = 0; i < n; i++) read_damaged(paths[i], NULL);  // as they are
  char copy[5000];
  strcpy(copy, in(folder, "damaged.root"));
  enum { COPIES = 300 };
  for (uint64_t seed = 0; seed < COPIES; seed++) {
    uint64_t random = seed;
    const char* path = paths[next_random(&random) % (uint64_t)n];
    FILE* f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    char* bytes = malloc(size);
    rewind(f);
    EQUAL(fread(bytes, 1, size, f), size);
    fclose(f);
    if (seed % 4 == 0) size = next_random(&random) % size;
    size_t edge = size / 8 + 1;  // metadata is at the ends
    for (int i = (int)(next_random(&random) % 8); i >= 0 && size > 0; i--) {
      size_t at = next_random(&random) % (seed % 3 ? edge : size);
      bytes[seed % 3 == 2 ? size - 1 - at % size : at] ^= (char)(1 + next_random(&random) % 255);
    }
    f = fopen(copy, "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
    free(bytes);
    fprintf(stderr, "seed %d: %s\n", (int)seed, path);  // which the test prints if it fails
    failed += read_damaged(copy, seed % 2 ? "{\"skip_checksums\":true}" : NULL);
  }
  CHECK(failed > COPIES / 3, "only %d of the damaged files have errors", failed);
}

static void check_many(void) {
  static int64_t many[1000];
  WRITTEN(in(folder, "small.root"), NULL, RNTUPLE_OK, .batches = 1);
  for (int i = 0; i < 1000; i++) many[i] = opened(in(folder, "small.root"));
  for (int i = 0; i < 1000; i++) {
    if (i % 10 == 0) EQUAL(query(many[i], NULL).values, 4950);
    OK(close_(many[i], &error));
    CODE(RNTUPLE_CLOSED, close_(many[i], &error));
  }
}

// Random programs: what a thread holds.
struct program {
  uint64_t random;
  atomic_llong* datasets;  // shared by the threads of a program
};
enum { DATASETS = 4, STREAMS = 4, ARRAYS = 16 };

// hash returns a number for an array with the fields event and Muon_pt.
static uint64_t hash(const struct ArrowArray* a) {
  uint64_t sum = (uint64_t)a->length;
  const uint64_t* events = a->children[0]->buffers[1];
  const int64_t* offsets = a->children[1]->buffers[1];
  const uint32_t* values = a->children[1]->children[0]->buffers[1];
  for (int64_t i = 0; i < a->length; i++) sum = sum * 31 + events[i] + (uint64_t)offsets[i];
  for (int64_t i = offsets[0]; i < offsets[a->length]; i++) sum = sum * 31 + values[i];
  return sum;
}

static int sometimes(void* random, int64_t done, int64_t total) {
  (void)done, (void)total;
  return next_random(random) % 2 == 0;
}

static void* program(void* of) {
  struct program* p = of;
  struct ArrowArrayStream streams[STREAMS] = {0};
  struct {
    struct ArrowArray a;
    uint64_t hash;
  } arrays[ARRAYS] = {0};
  const char* queries[] = {"{\"fields\":[\"event\",\"Muon_pt\"]%s}", "{\"fields\":[\"event\",\"Muon_pt\"],\"batch_size\":500%s}",
                           "{\"fields\":[\"event\",\"Muon_pt\"],\"where\":\"nMuon == 3\"%s}"};
  uint64_t for_watch = next_random(&p->random);
  struct rntuple_watch watch = {sometimes, &for_watch};
#define PICK(n) (next_random(&p->random) % (n))
  for (int steps = 0; steps < 60; steps++) {
    atomic_llong* d = &p->datasets[PICK(DATASETS)];
    int s = (int)PICK(STREAMS), a = (int)PICK(ARRAYS);
    int64_t handle;
    switch (PICK(8)) {
      case 0: {
        const char* path = PICK(8) ? dimuon : in(folder, "missing.root");
        if (open_(&path, 1, PICK(2) ? "{\"memory\":100000}" : NULL, PICK(2) ? &watch : NULL, &handle, NULL) == RNTUPLE_OK)
          handle = atomic_exchange(d, handle);
        if (handle > 0) OK(close_(handle, &error));
        break;
      }
      case 1:
        handle = atomic_exchange(d, 0);
        if (handle > 0) OK(close_(handle, &error));
        break;
      case 2:
      case 3:
        if (streams[s].release == NULL) {
          const char* options = say(queries[PICK(3)], PICK(2) ? ",\"entry_start\":30000" : PICK(9) ? "" : ",\"x\":1");
          char* text;
          int code = stream_(*d, options, PICK(2) ? &watch : NULL, &streams[s], &text);
          CHECK(code == RNTUPLE_OK || code == RNTUPLE_CLOSED || code == RNTUPLE_ARGUMENT || code == RNTUPLE_CANCELED,
                "%s: code %d, %s", options, code, text);
          free_(text);
        } else if (PICK(3) == 0) {
          streams[s].release(&streams[s]);
        }
        break;
      case 4:
      case 5:
        if (streams[s].release != NULL) {
          if (arrays[a].a.release != NULL) arrays[a].a.release(&arrays[a].a);
          if (streams[s].get_next(&streams[s], &arrays[a].a) != 0)
            CHECK(streams[s].get_last_error(&streams[s]) != NULL, "no error");
          else if (arrays[a].a.release != NULL)
            arrays[a].hash = hash(&arrays[a].a);
        }
        break;
      case 6:
        if (arrays[a].a.release != NULL) {
          CHECK(hash(&arrays[a].a) == arrays[a].hash, "an array has changed");
          struct ArrowArray child = *arrays[a].a.children[1];
          if (PICK(2)) arrays[a].a.children[1]->release = NULL;
          else child.release = NULL;
          arrays[a].a.release(&arrays[a].a);
          if (child.release != NULL) child.release(&child);
        }
        break;
      case 7: {
        struct ArrowSchema schema;
        char* json = NULL;
        if (schema_(*d, NULL, &schema, NULL) == RNTUPLE_OK) schema.release(&schema);
        if (describe_(*d, NULL, &json, NULL) == RNTUPLE_OK) HAS(json, "80000");
        free_(json);
      }
    }
  }
  for (int i = 0; i < STREAMS; i++)
    if (streams[i].release != NULL) streams[i].release(&streams[i]);
  for (int i = 0; i < ARRAYS; i++) {
    if (arrays[i].a.release == NULL) continue;
    CHECK(hash(&arrays[i].a) == arrays[i].hash, "an array has changed");
    arrays[i].a.release(&arrays[i].a);
  }
  return NULL;
}

static void check_random(uint64_t seed, int programs) {
  for (int i = 0; i < programs; i++, seed++) {
    fprintf(stderr, "seed %d\n", (int)seed);
    atomic_llong datasets[DATASETS] = {0};
    uint64_t random = seed;
    int n = 1 + (int)(next_random(&random) % THREADS);
    struct program ps[THREADS];
    pthread_t threads[THREADS];
    for (int k = 0; k < n; k++) {
      ps[k] = (struct program){next_random(&random), datasets};
      pthread_create(&threads[k], NULL, program, &ps[k]);
    }
    for (int k = 0; k < n; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < DATASETS; k++)
      if (datasets[k] > 0) OK(close_(datasets[k], &error));
  }
}

int main(int n, char** args) {
  if (n < 6) return 2;
  library = args[1];
  snprintf(testdata, sizeof testdata, "%s", args[2]);
  snprintf(folder, sizeof folder, "%s", args[3]);
  snprintf(url, sizeof url, "%s", args[4]);
  strcpy(dimuon, in(testdata, "dimuon.root"));
  prepare_signals();
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  CHECK(handle != NULL, "%s", dlerror());
#define LOAD(name) \
  CHECK((name##_ = (__typeof__(name##_))dlsym(handle, "rntuple_" #name)) != NULL, "there is no rntuple_%s", #name);
  FUNCTIONS(LOAD)
  struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"arguments", check_arguments}, {"read", check_read},     {"query", check_query}, {"arrays", check_arrays},
               {"threads", check_threads},     {"write", check_write},   {"cancel", check_cancel}, {"run", check_run},
               {"fork", check_fork},           {"signals", check_signals}, {"damage", check_damage}, {"many", check_many}};
  if (strcmp(args[5], "random") == 0 && n == 8) {
    check_random(strtoull(args[6], NULL, 10), atoi(args[7]));
    return 0;
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(args[5], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  fail(__LINE__, "there is no case %s", args[5]);
}
