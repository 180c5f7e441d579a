// A small NCCL. Communicators are objects of their own; calls compute nothing. Variants, by -D:
//   VERSION=n   what ncclGetVersion returns
//   CRASH       unloading it while the making of a communicator waits ends the process by a signal
// A call fails by its name (`fake_library.h`), and the test chooses what ncclCommGetAsyncError and
// ncclGetLastError return, and whether the making of communicators waits.

#include <stdlib.h>
#include <unistd.h>

#include "fake_library.h"

#ifndef VERSION
#define VERSION 22809
#endif

typedef struct {
  char internal[128];
} ncclUniqueId;
typedef struct {
  size_t size;
  unsigned magic, version;
  int blocking, cgaClusterSize, minCTAs, maxCTAs;
  const char* netName;
  int splitShare;
} ncclConfig_t;
struct comm {
  int rank, ranks, is_finalized;
};
typedef struct comm* ncclComm_t;

// Set by the test: the state of every communicator, the words of the last failure, and whether
// ncclCommInitRankConfig waits until it is 0 again.
int64_t async_error;
char last_error[200];
volatile int64_t hold;
// Calls that wait for it.
static volatile int64_t held;
// Read by the test: communicators that live, groups that are open, and misuse.
int64_t live, open_groups, faults;

static int next_operation = 5;
// Communicators come to their places when the group ends.
enum { MOST_PLACES = 8 };
static struct { ncclComm_t *place, comm; } made[MOST_PLACES];
static int made_count;

#ifdef CRASH
// What the real one does: its objects are destroyed while a thread uses them.
__attribute__((destructor)) static void unload(void) {
  if (held) abort();
}
#endif

static ncclComm_t new_comm(int rank, int ranks) {
  ncclComm_t comm = calloc(1, sizeof *comm);
  comm->rank = rank;
  comm->ranks = ranks;
  live++;
  return comm;
}
static void free_comm(ncclComm_t comm) {
  live--;
  free(comm);
}

int ncclGetVersion(int* version) { return *version = VERSION, NOTE(ncclGetVersion, 0); }
int ncclGetUniqueId(ncclUniqueId* id) {
  static int ids;
  memset(id, ++ids, sizeof *id);
  return NOTE(ncclGetUniqueId, 0);
}
const char* ncclGetLastError(ncclComm_t comm) { return (void)comm, last_error; }

int ncclGroupStart(void) {
  const int code = NOTE(ncclGroupStart, 0);
  if (!code) open_groups++;
  return code;
}
int ncclGroupEnd(void) {
  const int code = NOTE(ncclGroupEnd, 0);
  // A group is over also when its calls have failed; then it has made nothing.
  if (open_groups-- == 0) faults++;
  for (; made_count > 0; made_count--) {
    ncclComm_t comm = made[made_count - 1].comm;
    if (code) {
      free_comm(comm);
    } else {
      *made[made_count - 1].place = comm;
    }
  }
  return code;
}

int ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                           ncclConfig_t* config) {
  held++;
  while (hold) usleep(1000);
  held--;
  *comm = NULL;
  const int code = NOTE(ncclCommInitRankConfig, ranks, id.internal[0], id.internal[127], rank,
                        (int64_t)config->size, config->magic, config->version, config->blocking,
                        config->cgaClusterSize, config->minCTAs, config->maxCTAs,
                        config->netName != NULL, config->splitShare);
  if (code) return code;
  ncclComm_t made_now = new_comm(rank, ranks);
  if (open_groups == 0) {
    *comm = made_now;
  } else {
    made[made_count].place = comm;
    made[made_count++].comm = made_now;
  }
  return 0;
}
int ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  const int code = NOTE(ncclCommSplit, (int64_t)comm, color, key, config->splitShare);
  *child = code || color < 0 ? NULL : new_comm(0, 1);
  return code;
}
int ncclCommFinalize(ncclComm_t comm) {
  if (comm->is_finalized++) faults++;
  return NOTE(ncclCommFinalize, (int64_t)comm);
}
int ncclCommDestroy(ncclComm_t comm) {
  if (!comm->is_finalized) faults++;  // it would wait for the other ranks
  free_comm(comm);
  return NOTE(ncclCommDestroy, (int64_t)comm);
}
int ncclCommAbort(ncclComm_t comm) {
  free_comm(comm);
  return NOTE(ncclCommAbort, (int64_t)comm);
}
int ncclCommGetAsyncError(ncclComm_t comm, int* error) {
  *error = (int)async_error;
  return NOTE(ncclCommGetAsyncError, (int64_t)comm);
}
int ncclCommUserRank(ncclComm_t comm, int* rank) {
  return *rank = comm->rank, NOTE(ncclCommUserRank, (int64_t)comm);
}
int ncclCommCount(ncclComm_t comm, int* count) {
  return *count = comm->ranks, NOTE(ncclCommCount, (int64_t)comm);
}

typedef const void* From;
typedef void* To;
int ncclAllReduce(From send, To recv, size_t count, int type, int op, ncclComm_t comm, To stream) {
  (void)comm;
  return NOTE(ncclAllReduce, (int64_t)send, (int64_t)recv, (int64_t)count, type, op,
              (int64_t)stream);
}
int ncclReduce(From send, To recv, size_t count, int type, int op, int root, ncclComm_t comm,
               To stream) {
  (void)comm;
  return NOTE(ncclReduce, (int64_t)send, (int64_t)recv, (int64_t)count, type, op, root,
              (int64_t)stream);
}
int ncclReduceScatter(From send, To recv, size_t count, int type, int op, ncclComm_t comm,
                      To stream) {
  (void)comm;
  return NOTE(ncclReduceScatter, (int64_t)send, (int64_t)recv, (int64_t)count, type, op,
              (int64_t)stream);
}
int ncclBroadcast(From send, To recv, size_t count, int type, int root, ncclComm_t comm,
                  To stream) {
  (void)comm;
  return NOTE(ncclBroadcast, (int64_t)send, (int64_t)recv, (int64_t)count, type, root,
              (int64_t)stream);
}
int ncclAllGather(From send, To recv, size_t count, int type, ncclComm_t comm, To stream) {
  (void)comm;
  return NOTE(ncclAllGather, (int64_t)send, (int64_t)recv, (int64_t)count, type, (int64_t)stream);
}
int ncclSend(From send, size_t count, int type, int peer, ncclComm_t comm, To stream) {
  (void)comm;
  return NOTE(ncclSend, (int64_t)send, (int64_t)count, type, peer, (int64_t)stream);
}
int ncclRecv(To recv, size_t count, int type, int peer, ncclComm_t comm, To stream) {
  (void)comm;
  return NOTE(ncclRecv, (int64_t)recv, (int64_t)count, type, peer, (int64_t)stream);
}
// The factor is noted as its first eight bytes, as far as the type has them.
int ncclRedOpCreatePreMulSum(int* op, void* factor, int type, int where, ncclComm_t comm) {
  static const size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  int64_t bits = 0;
  (void)comm;
  memcpy(&bits, factor, widths[type]);
  *op = next_operation++;
  return NOTE(ncclRedOpCreatePreMulSum, *op, bits, type, where);
}
int ncclRedOpDestroy(int op, ncclComm_t comm) { return (void)comm, NOTE(ncclRedOpDestroy, op); }
