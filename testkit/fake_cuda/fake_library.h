// What the fakes of NVIDIA's other libraries have in common: each call is noted, with the device
// whose context is current and its arguments, and a call of the test's choice fails. A function is
// left out by renaming it: -DcufftGetVersion=gone.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST_CALLS = 64, MOST_WORDS = 32 };

struct noted {
  char name[40];
  int64_t device;
  int64_t words[MOST_WORDS];
};
struct calls {
  int64_t count;
  struct noted noted[MOST_CALLS];
};
struct calls calls;

// Set by the test: the fake driver's function that tells the current device.
int (*current_device)(void);
// The call that fails, and how.
char failing[40];
int64_t failure;

#define NOTE(function, ...) \
  note(#function, (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static int note(const char* name, const int64_t* words, size_t count) {
  struct noted* noted = &calls.noted[calls.count++ % MOST_CALLS];
  memset(noted, 0, sizeof *noted);
  strncpy(noted->name, name, sizeof noted->name - 1);
  noted->device = current_device ? current_device() : -2;
  memcpy(noted->words, words, count * sizeof *words);
  return strcmp(name, failing) ? 0 : (int)failure;
}
