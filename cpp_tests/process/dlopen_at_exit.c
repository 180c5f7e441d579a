/*
 * The library opened by dlopen, used, closed while work is queued, opened again, and left to the
 * end of the process: nothing may crash or hang. Links nothing. argv[1] is the library's path;
 * without it the loader looks for the soname.
 */
#include <dlfcn.h>
#include <sconce/sconce_all.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* library;

/* A function of the library; ends the program when there is none. */
static void find(const char* name, void* out_function, size_t size) {
  void* const symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "%s: %s\n", name, dlerror());
    exit(1);
  }
  memcpy(out_function, &symbol, size);
}
#define FIND(name) find(#name, &name##_, sizeof name##_)

static sconce_status (*sconce_init_)(void);
static sconce_status (*sconce_stream_get_from_pool_)(int32_t, int32_t, sconce_stream*);
static sconce_status (*sconce_stream_sleep_)(sconce_stream, uint64_t);
static sconce_status (*sconce_stream_synchronize_)(sconce_stream);
static const char* (*sconce_last_error_message_)(void);

static void open_library(const char* path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  FIND(sconce_init);
  FIND(sconce_stream_get_from_pool);
  FIND(sconce_stream_sleep);
  FIND(sconce_stream_synchronize);
  FIND(sconce_last_error_message);
}

static void must(sconce_status status) {
  if (status != SCONCE_OK) {
    fprintf(stderr, "%d: %s\n", (int)status, sconce_last_error_message_());
    exit(1);
  }
}

int main(int argc, char** argv) {
  sconce_stream stream;
  sconce_status status;
  const char* const wanted = getenv("SCONCE_TEST_BACKEND");
  const char* const path = argc > 1 ? argv[1] : "libsconce.so.0";
  setenv("SCONCE_BACKEND", wanted != NULL && wanted[0] != '\0' ? wanted : "sim", 1);

  open_library(path);
  status = sconce_init_();
  if (status == SCONCE_ERROR_NO_DEVICE || status == SCONCE_ERROR_LIBRARY_NOT_FOUND) {
    printf("skipped: %s\n", sconce_last_error_message_());
    return 77;
  }
  must(status);
  must(sconce_stream_get_from_pool_(-1, 0, &stream));
  must(sconce_stream_sleep_(stream, 50U * 1000U * 1000U));
  if (dlclose(library) != 0) {
    fprintf(stderr, "dlclose: %s\n", dlerror());
    return 1;
  }

  open_library(path);
  must(sconce_stream_synchronize_(stream));
  must(sconce_stream_sleep_(stream, 200U * 1000U * 1000U));
  if (dlclose(library) != 0) {
    fprintf(stderr, "dlclose: %s\n", dlerror());
    return 1;
  }
  puts("leaving main with work queued in a library that was closed");
  return 0;
}
