/* librntuple: reads and writes RNTuple, the columnar format of CERN's ROOT, by the Arrow C interface.
 *
 * All functions are safe to call from any thread, and several at once. Those that can fail return a code,
 * RNTUPLE_OK or another one, and then set *error, unless error is NULL, to a message in UTF-8, which the caller
 * frees by rntuple_free; what else they return is then 0, NULL or released. Arguments that are not documented as optional must not be NULL; NULL is an error, not a
 * crash. Options are JSON objects; NULL and "" stand for the defaults, and unknown members are errors.
 *
 * The library cannot be unloaded, and cannot be used after fork() in the child, where calls fail with
 * RNTUPLE_FORKED. It changes no handlers of asynchronous signals such as SIGINT, but sets their SA_ONSTACK.
 */
#ifndef RNTUPLE_H
#define RNTUPLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Arrow C data and stream interfaces, as https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html define them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
#endif

#ifdef RNTUPLE_STATIC
#define RNTUPLE_API
#elif defined(_WIN32)
#define RNTUPLE_API __declspec(dllexport)
#else
#define RNTUPLE_API __attribute__((visibility("default")))
#endif

/* The version of this interface. It grows when functions or options are added; what exists keeps its
 * meaning. */
#define RNTUPLE_API_VERSION 1

/* Codes. Those that a later version adds are errors. */
enum {
  RNTUPLE_OK = 0,
  RNTUPLE_FAILED = 1,       /* any other error */
  RNTUPLE_ARGUMENT = 2,     /* a wrong argument or option */
  RNTUPLE_NOT_FOUND = 3,    /* there is no such file, or no such RNTuple in it */
  RNTUPLE_NO_FIELD = 4,     /* there is no such field */
  RNTUPLE_EXPRESSION = 5,   /* a condition or definition is wrong, or cannot be evaluated */
  RNTUPLE_CORRUPT = 6,      /* the file is damaged */
  RNTUPLE_UNSUPPORTED = 7,  /* the file uses something that is newer than the library, or has no type in Arrow; or the
                               library does not know the scheme of a URL */
  RNTUPLE_IO = 8,           /* the system or a server reports an error */
  RNTUPLE_EXISTS = 9,       /* the file exists, or the RNTuple in it */
  RNTUPLE_LIMIT = 10,       /* more memory than a limit allows */
  RNTUPLE_CANCELED = 11,    /* the watch asked for it */
  RNTUPLE_CLOSED = 12,      /* no dataset has this handle (any more) */
  RNTUPLE_FORKED = 13,      /* the process was forked after the library was loaded */
  RNTUPLE_INTERNAL = 14     /* a bug of the library, which is to be reported */
};

/* A watch follows a call, and may cancel it. poll is called with the given context on the thread that made
 * the call, every 50 ms while it takes longer, with how many entries or bytes of how many are done: 0 of 0 if
 * that is not known. If poll returns another value than 0, the call ends with RNTUPLE_CANCELED, and a stream
 * with ECANCELED. A NULL watch, or poll, watches nothing. */
struct rntuple_watch {
  int (*poll)(void* context, int64_t done, int64_t total);
  void* context;
};

/* rntuple_version returns the version of the library, such as "0.1.0". */
RNTUPLE_API const char* rntuple_version(void);

/* rntuple_api_version returns RNTUPLE_API_VERSION as the library was compiled with. */
RNTUPLE_API int rntuple_api_version(void);

/* rntuple_free frees a text that a function returned. NULL is fine. */
RNTUPLE_API void rntuple_free(char* text);

/* rntuple_open opens an RNTuple, or those of n files, whose entries follow each other; the first one defines
 * the fields. A path may be a URL (http, https, dav, davs, root, roots), or a pattern of local files with
 * * ? [a-z] if no file is called that; the protocol of S3 would make the library too large, but URLs that are signed
 * for it are https. *dataset becomes a handle for the other functions.
 *
 *   "name"            the name of the RNTuple, with its directories; default: the only one at the top level
 *   "threads"         how many to use; default: one for each processor
 *   "memory"          bytes of decoded pages to keep for each stream; default: 64 MiB
 *   "skip_checksums"  reads pages without verifying their checksums
 *   "anonymous"       uses no credentials
 */
RNTUPLE_API int rntuple_open(const char* const* paths, size_t n, const char* options,
                             const struct rntuple_watch* watch, int64_t* dataset, char** error);

/* rntuple_close closes a dataset. Streams of it stay valid, and so do arrays. */
RNTUPLE_API int rntuple_close(int64_t dataset, char** error);

/* rntuple_list sets *json to an array of the RNTuples of a file: objects with "path", the name for
 * rntuple_open, "class" and "newest", which is false for superseded cycles. */
RNTUPLE_API int rntuple_list(const char* path, const char* options, const struct rntuple_watch* watch, char** json,
                             char** error);

/* rntuple_describe sets *json to an object with the "name", "description" and number of "entries" of the
 * dataset; its "clusters", an array of [first, end) entries; and its "fields", objects with "name", "type",
 * "description" and "fields"; and those that cannot be read as "hidden", objects with "name" and "reason". The
 * clusters of several files are their entries. */
RNTUPLE_API int rntuple_describe(int64_t dataset, const struct rntuple_watch* watch, char** json, char** error);

/* rntuple_schema sets *schema to that of the stream that rntuple_stream would return: a struct with a child for
 * each field. */
RNTUPLE_API int rntuple_schema(int64_t dataset, const char* options, struct ArrowSchema* schema, char** error);

/* rntuple_stream sets *stream to the entries as record batches, which share memory with the library until they
 * are released. Several streams of a dataset may be read at once, each by one thread at a time. The stream
 * keeps a copy of *watch, whose context must outlive it.
 *
 *   "fields"       array of names, paths or patterns of fields: ["run", "Muon_*", "Jet.pt"]; default: all
 *   "where"        a condition, such as "nMuon == 2 && any(Muon_pt, # > 20)", or an array of conditions
 *   "define"       array of names for expressions that "where" and "compute" may use: ["pt2=pt*pt"]
 *   "compute"      array of columns to add, computed for each entry: ["mll=mass(mu1, mu2)", "n:std::uint8_t=len(pt)"];
 *                  with it, "fields" may be empty
 *   "entry_numbers" name of a column to add with the number of each entry in the dataset
 *   "entry_start"  the first entry of the dataset to read; default: 0
 *   "entry_stop"   the entry of the dataset to stop before; default: the end
 *   "offset"       how many of the entries that meet the condition to skip
 *   "limit"        how many of the others to read
 *   "batch_size"   the most entries of a record batch; default: 65,536
 *   "zone_maps"    false to evaluate the condition without them
 *   "collections"  with all fields, also untyped collections of which each member has a projected field
 *   "lists"        64 or 32, the bits of the offsets of lists and strings
 *   "binary"       strings as binaries, which need not be UTF-8
 *   "structs"      variants as structs with a nullable member for each alternative, not as unions
 *   "pairs"        maps as lists of structs
 */
RNTUPLE_API int rntuple_stream(int64_t dataset, const char* options, const struct rntuple_watch* watch,
                               struct ArrowArrayStream* stream, char** error);

/* rntuple_write writes the record batches of a stream as an RNTuple to the file at a path or URL. The file appears,
 * or changes, when all is written, or not at all. The stream is released, also after an error; it is read by another
 * thread than the caller's. *entries, which may be NULL, becomes how many there are.
 *
 *   "name"         the name of the RNTuple; default: "Events"
 *   "mode"         "create" a file, the default, which fails if it exists; "overwrite" it; "update" a file by
 *                  another RNTuple; "append" to an RNTuple
 *   "description"  of the RNTuple
 *   "compression"  such as "zstd:5", "lz4", "none"
 *   "plain"        array of patterns of nullable fields without nulls, which do not become std::optional
 *   "cluster_size" target size of clusters on disk in bytes; default: 128 MiB
 *   "zone_map"     array of patterns of fields to keep a zone map of
 *   "threads"      how many to use; default: one for each processor
 */
RNTUPLE_API int rntuple_write(const char* path, struct ArrowArrayStream* stream, const char* options,
                              const struct rntuple_watch* watch, int64_t* entries, char** error);

/* rntuple_run runs an operation on files: "merge", "skim" or "verify". *json becomes an object that says what was
 * done. The output appears when it is complete, or not at all.
 *
 *   merge    "inputs", array of paths, to "output"; "name" of the RNTuples, "new_name" of the result, "overwrite",
 *            "compression", "threads", "mode" ("filter", "union" or "strict"). The result has the numbers of "inputs",
 *            "input_entries", "entries" and "clusters" copied, and arrays of names: "dropped" fields, and objects of
 *            other kinds that are "left_behind"
 *   skim     as merge, with "fields", "where" and "define" (fields to add) as in rntuple_stream
 *   verify   "inputs", "threads"; the result has "problems", objects with "file", "rntuple", "check",
 *            "severity" ("oddity", which is harmless; "corrupt", "checksum", "range", "unsupported", "not found",
 *            "read error"), "where" and "text"
 *
 * Parquet and Arrow files are converted by streams, with the libraries of the host. TTrees are converted by the
 * program rnt: the code for them would make the library a third larger.
 */
RNTUPLE_API int rntuple_run(const char* operation, const char* options, const struct rntuple_watch* watch, char** json,
                            char** error);

/* For Python, whose code must not run in the destructor of a capsule, because an exception may be on its way:
 * destructors of capsules with a stream or a schema, which they release if nobody took it, in memory that they free.
 * Before one is used, rntuple_python must be called with PyCapsule_GetPointer and the function that frees. */
RNTUPLE_API void rntuple_python(void* (*get_pointer)(void* capsule, const char* name), void (*free_memory)(void*));
RNTUPLE_API void rntuple_drop_stream(void* capsule);
RNTUPLE_API void rntuple_drop_schema(void* capsule);

#ifdef __cplusplus
}
#endif

#endif
