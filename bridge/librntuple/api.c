// The functions of rntuple.h, which check what must hold before Go code may run, and the memory of arrays.
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <pthread.h>
#endif

#include "_cgo_export.h"
#include "bridge.h"

// Go's runtime has one thread left in a forked child, and would wait for the others for ever.
static atomic_int forked;

#ifndef _WIN32
static void in_child(void) { atomic_store(&forked, 1); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }
#endif

static int say(char** error, int code, const char* message) {
  if (error != NULL) *error = strdup(message);
  return code;
}

// may_run returns RNTUPLE_OK if Go code may run, and the required pointers are there. Functions clear their results
// before, so that nobody takes what is left of them after an error for a text, a schema or a stream.
static int may_run(char** error, int present) {
  if (error != NULL) *error = NULL;
  if (atomic_load(&forked)) {
    return say(error, RNTUPLE_FORKED,
               "librntuple cannot be used in a forked process: load it in the child, or start the child anew (spawn)");
  }
  return present ? RNTUPLE_OK : say(error, RNTUPLE_ARGUMENT, "a required argument is NULL");
}

const char* rntuple_version(void) { return RNTUPLE_VERSION; }

int rntuple_api_version(void) { return RNTUPLE_API_VERSION; }

void rntuple_free(char* text) { free(text); }

int rntuple_open(const char* const* paths, size_t n, const char* options, const struct rntuple_watch* watch,
                 int64_t* dataset, char** error) {
  if (dataset != NULL) *dataset = 0;
  int code = may_run(error, paths != NULL && dataset != NULL);
  if (code != RNTUPLE_OK) return code;
  for (size_t i = 0; i < n; i++) {
    if (paths[i] == NULL) return say(error, RNTUPLE_ARGUMENT, "a path is NULL");
  }
  return go_open((char**)paths, n, (char*)options, (struct rntuple_watch*)watch, dataset, error);
}

int rntuple_close(int64_t dataset, char** error) {
  int code = may_run(error, 1);
  return code != RNTUPLE_OK ? code : go_close(dataset, error);
}

int rntuple_list(const char* path, const char* options, const struct rntuple_watch* watch, char** json, char** error) {
  if (json != NULL) *json = NULL;
  int code = may_run(error, path != NULL && json != NULL);
  if (code != RNTUPLE_OK) return code;
  return go_list((char*)path, (char*)options, (struct rntuple_watch*)watch, json, error);
}

int rntuple_describe(int64_t dataset, const struct rntuple_watch* watch, char** json, char** error) {
  if (json != NULL) *json = NULL;
  int code = may_run(error, json != NULL);
  if (code != RNTUPLE_OK) return code;
  return go_describe(dataset, (struct rntuple_watch*)watch, json, error);
}

// A schema that Go exports has a release function in Go, which must not run in a forked process.
static void schema_release(struct ArrowSchema* s) {
  struct ArrowSchema* exported = s->private_data;
  if (!atomic_load(&forked)) exported->release(exported);
  free(exported);
  s->release = NULL;
}

// guard_schema lets schema_release release a schema, if there is one.
static int guard_schema(struct ArrowSchema* s, int code, int no_memory, char** error) {
  if (s->release == NULL) return code;
  struct ArrowSchema* exported = malloc(sizeof *exported);
  if (exported == NULL) {
    s->release(s);
    return say(error, no_memory, "out of memory");
  }
  *exported = *s;
  s->private_data = exported;
  s->release = schema_release;
  return code;
}

int rntuple_schema(int64_t dataset, const char* options, struct ArrowSchema* schema, char** error) {
  if (schema != NULL) memset(schema, 0, sizeof *schema);
  int code = may_run(error, schema != NULL);
  if (code != RNTUPLE_OK) return code;
  return guard_schema(schema, go_schema(dataset, (char*)options, schema, error), RNTUPLE_LIMIT, error);
}

int rntuple_write(const char* path, struct ArrowArrayStream* stream, const char* options,
                  const struct rntuple_watch* watch, int64_t* entries, char** error) {
  if (entries != NULL) *entries = 0;
  int code = may_run(error, path != NULL && stream != NULL && stream->release != NULL);
  if (code != RNTUPLE_OK) {
    if (stream != NULL && stream->release != NULL) stream->release(stream);
    return code;
  }
  return go_write((char*)path, stream, (char*)options, (struct rntuple_watch*)watch, entries, error);
}

int rntuple_run(const char* operation, const char* options, const struct rntuple_watch* watch, char** json,
                char** error) {
  if (json != NULL) *json = NULL;
  int code = may_run(error, operation != NULL && json != NULL);
  if (code != RNTUPLE_OK) return code;
  return go_run((char*)operation, (char*)options, (struct rntuple_watch*)watch, json, error);
}

int bridge_poll(struct rntuple_watch* watch, int64_t done, int64_t total) {
  return watch->poll(watch->context, done, total);
}

// A stream's state in C.
struct stream {
  uintptr_t handle;
  struct rntuple_watch watch;
  char* error;
};

static int stream_get_schema(struct ArrowArrayStream* s, struct ArrowSchema* out) {
  struct stream* state = s->private_data;
  free(state->error);
  state->error = NULL;
  memset(out, 0, sizeof *out);
  if (may_run(&state->error, 1) != RNTUPLE_OK) return ENOSYS;
  return guard_schema(out, go_stream_schema(state->handle, out, &state->error), ENOMEM, &state->error);
}

static int stream_get_next(struct ArrowArrayStream* s, struct ArrowArray* out) {
  struct stream* state = s->private_data;
  free(state->error);
  state->error = NULL;
  memset(out, 0, sizeof *out);
  return may_run(&state->error, 1) != RNTUPLE_OK ? ENOSYS
                                                 : go_stream_next(state->handle, &state->watch, out, &state->error);
}

static const char* stream_get_last_error(struct ArrowArrayStream* s) {
  struct stream* state = s->private_data;
  return state->error;
}

static void stream_release(struct ArrowArrayStream* s) {
  struct stream* state = s->private_data;
  if (!atomic_load(&forked)) go_stream_release(state->handle);
  free(state->error);
  free(state);
  s->release = NULL;
}

int rntuple_stream(int64_t dataset, const char* options, const struct rntuple_watch* watch,
                   struct ArrowArrayStream* stream, char** error) {
  if (stream != NULL) memset(stream, 0, sizeof *stream);
  int code = may_run(error, stream != NULL);
  if (code != RNTUPLE_OK) return code;
  struct stream* state = calloc(1, sizeof *state);
  if (state == NULL) return say(error, RNTUPLE_LIMIT, "out of memory");
  if (watch != NULL) state->watch = *watch;
  code = go_stream(dataset, (char*)options, &state->watch, &state->handle, error);
  if (code != RNTUPLE_OK) {
    free(state);
    return code;
  }
  stream->get_schema = stream_get_schema;
  stream->get_next = stream_get_next;
  stream->get_last_error = stream_get_last_error;
  stream->release = stream_release;
  stream->private_data = state;
  return RNTUPLE_OK;
}

static void* (*capsule_pointer)(void*, const char*);
static void (*free_capsule)(void*);

void rntuple_python(void* (*get_pointer)(void*, const char*), void (*free_memory)(void*)) {
  capsule_pointer = get_pointer;
  free_capsule = free_memory;
}

void rntuple_drop_stream(void* capsule) {
  struct ArrowArrayStream* s = capsule_pointer(capsule, "arrow_array_stream");
  if (s->release != NULL) s->release(s);
  free_capsule(s);
}

void rntuple_drop_schema(void* capsule) {
  struct ArrowSchema* s = capsule_pointer(capsule, "arrow_schema");
  if (s->release != NULL) s->release(s);
  free_capsule(s);
}

static atomic_long live;  // batches that are not freed

// The arrays of a record batch share one allocation, a batch, which is freed when the last of them is released:
// consumers may move a child elsewhere and release it after its parent.
static void array_release(struct ArrowArray* a) {
  struct batch* b = a->private_data;
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release != NULL) a->children[i]->release(a->children[i]);
  }
  a->release = NULL;
  if (__atomic_sub_fetch(&b->arrays, 1, __ATOMIC_ACQ_REL) == 0) {
    if (b->pins != 0 && !atomic_load(&forked)) go_unpin(b->pins);
    free(b->memory);
    atomic_fetch_sub(&live, 1);
  }
}

long bridge_live(void) { return atomic_load(&live); }

struct batch* bridge_batch(size_t arrays, size_t pointers, size_t bytes) {
  size_t head = sizeof(struct batch) + arrays * sizeof(struct ArrowArray) + pointers * sizeof(void*);
  char* memory = calloc(1, head + bytes + 2 * ALIGNMENT);
  if (memory == NULL) return NULL;
  struct batch* b = (struct batch*)memory;
  atomic_fetch_add(&live, 1);
  b->memory = memory;
  b->arrays = (long)arrays;
  b->nodes = (struct ArrowArray*)(b + 1);
  b->pointers = (const void**)(b->nodes + arrays);
  uintptr_t at = (uintptr_t)memory + head;
  b->bytes = (char*)((at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  for (size_t i = 0; i < arrays; i++) {
    b->nodes[i].release = array_release;
    b->nodes[i].private_data = b;
  }
  return b;
}

void bridge_finish(struct batch* b, uintptr_t pins, struct ArrowArray* out) {
  b->pins = pins;
  *out = b->nodes[0];
}
