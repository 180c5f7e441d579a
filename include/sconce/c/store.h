/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Key-value stores, by which processes find each other.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_STORE_H_
#define SCONCE_C_STORE_H_

#include <sconce/c/library.h>

/**
 * A table of keys and values that the processes of a job share. Opaque; created by a `sconce_store_create_`
 * function.
 */
typedef struct sconce_store sconce_store;

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a store in a file on a file system that all processes can access. PyTorch's `FileStore`
 * uses the same format, so both can use one file.
 *
 * - `path`: the file, which is created if it does not exist. Remove the file of an earlier job
 *   first.
 * - `world_size`: the number of processes. The last one to destroy its store removes the file.
 *   With 0, nobody removes it.
 * - `timeout_ms`: the timeout of this call, and the default of later ones; -1 for 300,000.
 * - `out_store`: receives the store.
 * - Errors: IO: the file cannot be opened, locked, read or written, or is not the file of a store.
 *   TIMEOUT: another process holds the file's lock.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`.
 * - torch: `torch.distributed.FileStore`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_file(const char *path,
                                       int32_t world_size,
                                       int64_t timeout_ms,
                                       struct sconce_store **out_store);

/**
 * Creates a client of a store's server, of this library or of PyTorch (2.5 or newer). The server may be started
 * later: the call tries again until its timeout.
 *
 * - `host`: the server's machine, as a name or an address.
 * - `port`: the server's port.
 * - `timeout_ms`: the timeout of this call, and the default of later ones; -1 for 300,000.
 * - `out_store`: receives the store.
 * - Errors: TIMEOUT: no server has answered; the message states the last failure.
 *   INVALID_ARGUMENT: a server that is not a store's has answered.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`.
 * - Ordering: waits for the server. Resolving a name may take longer than the timeout.
 * - torch: `torch.distributed.TCPStore(host, port, is_master=False, wait_for_workers=False)`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_tcp_client(const char *host,
                                             uint16_t port,
                                             int64_t timeout_ms,
                                             struct sconce_store **out_store);

/**
 * Creates a server in this process, and a client of it. PyTorch's `TCPStore` can be a client as
 * well. The server has no authentication: anyone who can connect can read and write. It limits the
 * memory that clients can make it use.
 *
 * - `host`: the only address on which the server listens: `127.0.0.1` for processes of this
 *   machine, `0.0.0.0` or `::` for all interfaces.
 * - `port`: 0 selects a free port, which `sconce_store_get_port` returns.
 * - `timeout_ms`: the default of later calls; -1 for 300,000.
 * - `out_store`: receives the store.
 * - Errors: IO: the address is not of this machine, or the port is in use.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`, which ends the server.
 *   All other processes must have finished using the server before.
 * - Threads: starts a thread, which ends with the store or the process.
 * - torch: `torch.distributed.TCPStore(host, port, is_master=True, wait_for_workers=False)`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_tcp_server(const char *host,
                                             uint16_t port,
                                             int64_t timeout_ms,
                                             struct sconce_store **out_store);

/**
 * Creates a store of the same table whose keys begin with `prefix/`, so that parts of a program do not use the same
 * keys by accident.
 *
 * - `prefix`: a text. If `store` has a prefix, that prefix comes first.
 * - `out_store`: receives the store.
 * - Ownership: the caller destroys the new store with `sconce_store_destroy`. It may outlive `store`.
 * - torch: `torch.distributed.PrefixStore`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_prefixed(struct sconce_store *store,
                                           const char *prefix,
                                           struct sconce_store **out_store);

/**
 * Joins the job that the environment describes: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and LOCAL_RANK, as
 * `torchrun` and `scripts/launch` set them. Rank 0 serves the store at MASTER_ADDR and waits for the others, unless
 * the launcher serves it. Processes of PyTorch can be members of the job.
 *
 * - `timeout_ms`: the longest wait of this call and the default of later ones; -1 for 300,000.
 * - `out_store`: receives the store.
 * - `out_rank`, `out_world_size`, `out_local_rank`: receive the number of this process, the number
 *   of processes, and the number of this process on its machine, which is usually the index of its
 *   device.
 * - Errors: INVALID_STATE: a variable is missing or malformed. TIMEOUT: the server has not
 *   answered, or another process has not joined. IO: MASTER_ADDR is not an address of this
 *   machine, or the port is in use.
 * - Ownership: the caller destroys the store with `sconce_store_destroy`; rank 0 does so after all
 *   others have finished using it.
 * - Ordering: waits for the other processes.
 * - torch: `torch.distributed.init_process_group(init_method="env://")`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_create_from_environment(int64_t timeout_ms,
                                                   struct sconce_store **out_store,
                                                   int32_t *out_rank,
                                                   int32_t *out_world_size,
                                                   int32_t *out_local_rank);

/**
 * Destroys a store. Calls of other threads that wait in the store fail with INVALID_STATE. With
 * the last store of a table in this process, its server ends; calls of clients in other processes
 * then fail with REMOTE.
 *
 * - `store`: NULL is a no-op.
 * - Ordering: waits for the server's thread to end, which takes little time.
 * - torch: the destructor of a store.
 */
SCONCE_NODISCARD sconce_status sconce_store_destroy(struct sconce_store *store);

/**
 * Returns the port of a store's server.
 *
 * - `out_port`: receives the port.
 * - Errors: INVALID_ARGUMENT: the store is in a file.
 * - torch: `torch.distributed.TCPStore.port`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get_port(struct sconce_store *store,
                                    uint16_t *out_port);

/**
 * Returns the timeout of calls that name none.
 *
 * - `out_timeout_ms`: receives milliseconds.
 * - torch: `torch.distributed.Store.timeout`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get_timeout_ms(struct sconce_store *store,
                                          int64_t *out_timeout_ms);

/**
 * Sets the timeout of calls that name none. Calls in progress keep their timeout.
 *
 * - `timeout_ms`: milliseconds; -1 for 300,000.
 * - torch: `torch.distributed.Store.set_timeout`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_set_timeout_ms(struct sconce_store *store,
                                          int64_t timeout_ms);

/**
 * Sets a key to a value. All processes can see the value when the call returns.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `value`: any bytes; may be NULL if `bytes` is 0.
 * - `bytes`: at most 8 MiB.
 * - Errors: REMOTE: the server has ended or refuses the value, for example because it holds 256 MiB. TIMEOUT. IO.
 * - Ordering: waits for the server's acknowledgement.
 * - torch: `torch.distributed.Store.set`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_set(struct sconce_store *store,
                               const char *key,
                               const void *value,
                               size_t bytes);

/**
 * Waits until a key exists, and returns its value.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `timeout_ms`: the timeout; 0 checks once; -1 for the store's timeout.
 * - `buffer`: receives the value, or its beginning if it has more than `capacity` bytes; may be NULL
 *   if `capacity` is 0.
 * - `capacity`: bytes that `buffer` can hold.
 * - `out_bytes`: receives the size of the whole value. If it is more than `capacity`, call again with
 *   a larger buffer.
 * - Errors: TIMEOUT: the key does not exist; the message names it. REMOTE: the server has ended.
 *   IO. INVALID_STATE: the store was destroyed during the call.
 * - Ordering: waits for another process.
 * - torch: `torch.distributed.Store.get`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get(struct sconce_store *store,
                               const char *key,
                               int64_t timeout_ms,
                               void *buffer,
                               size_t capacity,
                               size_t *out_bytes);

/**
 * Adds to a counter, atomically among all processes. A counter is stored as decimal text. A
 * missing counter counts as 0.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `delta`: what to add; 0 reads the counter.
 * - `out_value`: receives the sum.
 * - Errors: INVALID_STATE: the value is not a number, or the sum has more than 64 bits, for a
 *   store in a file. REMOTE: the same for a store with a server; or the server has ended, in which
 *   case the addition may have happened. TIMEOUT. IO.
 * - torch: `torch.distributed.Store.add`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_add(struct sconce_store *store,
                               const char *key,
                               int64_t delta,
                               int64_t *out_value);

/**
 * Sets a key to `desired` if its value is `expected`, atomically among all processes, and returns
 * the value of the key afterwards. A missing key counts as an empty value. If the key is missing
 * and `expected` is not empty, nothing is set, and `expected` is returned.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `expected`, `desired`: any bytes; may be NULL if they have none.
 * - `expected_bytes`, `desired_bytes`: their sizes, at most 8 MiB.
 * - `buffer`, `capacity`: receive the value; as for `sconce_store_get`.
 * - `out_bytes`: receives the size of the value.
 * - Errors: as `sconce_store_set`.
 * - torch: `torch.distributed.Store.compare_set`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_compare_set(struct sconce_store *store,
                                       const char *key,
                                       const void *expected,
                                       size_t expected_bytes,
                                       const void *desired,
                                       size_t desired_bytes,
                                       void *buffer,
                                       size_t capacity,
                                       size_t *out_bytes);

/**
 * Reports whether all of the given keys exist.
 *
 * - `keys`: texts.
 * - `count`: number of keys, at least 1.
 * - `out_present`: receives the answer.
 * - torch: `torch.distributed.Store.check`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_check(struct sconce_store *store,
                                 const char *const *keys,
                                 size_t count,
                                 bool *out_present);

/**
 * Waits until all of the given keys exist.
 *
 * - `keys`: texts.
 * - `count`: number of keys, at least 1.
 * - `timeout_ms`: the timeout; 0 checks once; -1 for the store's timeout.
 * - Errors: TIMEOUT: a key does not exist. REMOTE: the server has ended. IO. INVALID_STATE: the
 *   store was destroyed during the call.
 * - Ordering: waits for other processes.
 * - torch: `torch.distributed.Store.wait`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_wait(struct sconce_store *store,
                                const char *const *keys,
                                size_t count,
                                int64_t timeout_ms);

/**
 * Deletes a key.
 *
 * - `key`: a text, at most 8,192 bytes with its prefixes.
 * - `out_deleted`: receives whether the key existed.
 * - torch: `torch.distributed.Store.delete_key`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_delete_key(struct sconce_store *store,
                                      const char *key,
                                      bool *out_deleted);

/**
 * Returns the number of keys of the table, those of other prefixes and the table's own (such as `init/`) included.
 *
 * - `out_count`: receives the number.
 * - torch: `torch.distributed.Store.num_keys`.
 */
SCONCE_NODISCARD
sconce_status sconce_store_get_num_keys(struct sconce_store *store,
                                        int64_t *out_count);

/**
 * Waits until `world_size` processes, or threads, have called this function with the same name. The name can be used
 * again at once.
 *
 * - `name`: names the barrier; its keys are `name/barrier/…`.
 * - `world_size`: at least 1, and the same in all calls.
 * - `timeout_ms`: the timeout; -1 for the store's timeout.
 * - Errors: TIMEOUT: not all have called; the message states how many have. The name cannot be
 *   used again then.
 * - Ordering: waits for other processes.
 * - torch: `torch.distributed.barrier`, over a store.
 */
SCONCE_NODISCARD
sconce_status sconce_store_barrier(struct sconce_store *store,
                                   const char *name,
                                   int32_t world_size,
                                   int64_t timeout_ms);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  /* SCONCE_C_STORE_H_ */
