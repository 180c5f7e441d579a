/// \file
/// Stores: tables of keys and values that the processes of a job share.
#ifndef SCONCE_COMM_STORE_HPP
#define SCONCE_COMM_STORE_HPP

#include <sconce/c/store.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sconce/cuda/error.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {

/// A table of keys and values that processes share, in a file or at a server. Owns a handle of the
/// table; movable, not copyable. Corresponds to `c10d::Store`.
///
/// Threads: any thread may use a store at any time; a thread that waits does not block the others.
/// Forks: a child must create its own stores.
class [[nodiscard]] Store {
 public:
  /// The type of timeouts.
  using Milliseconds = std::chrono::milliseconds;
  /// The default timeout: 300 seconds for functions that make a store, the store's timeout for
  /// other calls.
  static constexpr Milliseconds kDefaultTimeout{-1};

  /// Makes a store in a file on a file system that all processes can access. The last of
  /// `world_size` processes to destroy its store removes the file; with 0, nobody removes it.
  /// Corresponds to `c10d::FileStore`, which has the same format.
  /// \throws Error `SCONCE_ERROR_IO` if the file cannot be used, or is not the file of a store
  static Store file(const std::string& path, std::int32_t world_size,
                    Milliseconds timeout = kDefaultTimeout) {
    return made([&](sconce_store** store) {
      return ::sconce_store_create_file(path.c_str(), world_size, timeout.count(), store);
    });
  }
  /// Makes a client of a server, of this library or of PyTorch, which may be started later.
  /// Corresponds to `c10d::TCPStore`.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if no server has answered
  static Store tcp_client(const std::string& host, std::uint16_t port,
                          Milliseconds timeout = kDefaultTimeout) {
    return made([&](sconce_store** store) {
      return ::sconce_store_create_tcp_client(host.c_str(), port, timeout.count(), store);
    });
  }
  /// Makes a server in this process that listens on an address of this machine, and a client of it.
  /// Port 0 selects a free port. Corresponds to `c10d::TCPStore` with `isServer`.
  /// \throws Error `SCONCE_ERROR_IO` if the address is not of this machine or the port is in use
  static Store tcp_server(const std::string& host, std::uint16_t port = 0,
                          Milliseconds timeout = kDefaultTimeout) {
    return made([&](sconce_store** store) {
      return ::sconce_store_create_tcp_server(host.c_str(), port, timeout.count(), store);
    });
  }
  /// Makes a store of the same table whose keys begin with `prefix/`. It may outlive this one.
  /// Corresponds to `c10d::PrefixStore`.
  [[nodiscard]] Store prefixed(const std::string& prefix) const {
    return made([&](sconce_store** store) {
      return ::sconce_store_create_prefixed(get(), prefix.c_str(), store);
    });
  }
  /// Takes over a handle of the C API.
  SCONCE_NODISCARD_CTOR explicit Store(sconce_store* store) noexcept : store_(store) {}

  /// Sets a value, which all processes can see when the call returns.
  void set(const std::string& key, std::string_view value) {
    detail::check(::sconce_store_set(get(), key.c_str(), value.data(), value.size()));
  }
  /// Waits for a key, and returns its value.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if the key does not appear in time
  [[nodiscard]] std::string get(const std::string& key, Milliseconds timeout = kDefaultTimeout) {
    return value_of([&](void* buffer, std::size_t capacity, std::size_t* bytes) {
      return ::sconce_store_get(get(), key.c_str(), timeout.count(), buffer, capacity, bytes);
    });
  }
  /// Adds to a counter, and returns the sum. A missing counter counts as 0.
  std::int64_t add(const std::string& key, std::int64_t delta) {
    std::int64_t sum = 0;
    detail::check(::sconce_store_add(get(), key.c_str(), delta, &sum));
    return sum;
  }
  /// Sets `desired` if the value is `expected`, and returns the value afterwards. A missing key
  /// counts as an empty value; if it is missing and `expected` is not empty, `expected` is
  /// returned.
  std::string compareSet(const std::string& key, std::string_view expected,
                         std::string_view desired) {
    // Once is enough: the value is one of three, and a second call would be another exchange.
    std::string value(kFirstCapacity + expected.size() + desired.size(), '\0');
    std::size_t bytes = 0;
    detail::check(::sconce_store_compare_set(get(), key.c_str(), expected.data(), expected.size(),
                                             desired.data(), desired.size(), &value[0],
                                             value.size(), &bytes));
    if (bytes > value.size()) {
      return get(key);
    }
    value.resize(bytes);
    return value;
  }
  /// Whether all keys exist.
  [[nodiscard]] bool check(const std::vector<std::string>& keys) {
    const auto texts = texts_of(keys);
    bool present = false;
    detail::check(::sconce_store_check(get(), texts.data(), texts.size(), &present));
    return present;
  }
  /// Waits until all keys exist.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if a key does not appear in time
  void wait(const std::vector<std::string>& keys, Milliseconds timeout = kDefaultTimeout) {
    const auto texts = texts_of(keys);
    detail::check(::sconce_store_wait(get(), texts.data(), texts.size(), timeout.count()));
  }
  /// Deletes a key. Returns whether it existed.
  bool deleteKey(const std::string& key) {
    bool deleted = false;
    detail::check(::sconce_store_delete_key(get(), key.c_str(), &deleted));
    return deleted;
  }
  /// The number of all keys of the table, its own and those of other prefixes included.
  [[nodiscard]] std::int64_t getNumKeys() {
    std::int64_t count = 0;
    detail::check(::sconce_store_get_num_keys(get(), &count));
    return count;
  }
  /// Waits until `world_size` processes have called this method. The name can be used again at
  /// once.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if not all have called
  void barrier(const std::string& name, std::int32_t world_size,
               Milliseconds timeout = kDefaultTimeout) {
    detail::check(::sconce_store_barrier(get(), name.c_str(), world_size, timeout.count()));
  }

  /// The server's port.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the store is in a file
  [[nodiscard]] std::uint16_t port() const {
    std::uint16_t port = 0;
    detail::check(::sconce_store_get_port(get(), &port));
    return port;
  }
  /// The timeout of calls that name none.
  [[nodiscard]] Milliseconds getTimeout() const {
    std::int64_t timeout_ms = 0;
    detail::check(::sconce_store_get_timeout_ms(get(), &timeout_ms));
    return Milliseconds(timeout_ms);
  }
  /// Sets the timeout of calls that name none.
  void setTimeout(Milliseconds timeout) {
    detail::check(::sconce_store_set_timeout_ms(get(), timeout.count()));
  }

  /// The C API's handle, borrowed.
  [[nodiscard]] sconce_store* get() const noexcept { return store_.get(); }

 private:
  // Most values fit into it.
  static constexpr std::size_t kFirstCapacity = 512;

  struct Destroy {
    void operator()(sconce_store* store) const noexcept {
      detail::log_failure(::sconce_store_destroy(store), "destroying a store");
    }
  };

  template <class Make>
  static Store made(Make&& make) {
    sconce_store* store = nullptr;
    detail::check(make(&store));
    return Store(store);
  }

  /// The whole value from a call that writes as much as fits.
  template <class Call>
  static std::string value_of(Call&& call) {
    std::string value(kFirstCapacity, '\0');
    while (true) {
      std::size_t bytes = 0;
      detail::check(call(&value[0], value.size(), &bytes));
      const bool is_whole = bytes <= value.size();
      value.resize(bytes);
      if (is_whole) {
        return value;
      }
    }
  }

  static std::vector<const char*> texts_of(const std::vector<std::string>& keys) {
    std::vector<const char*> texts;
    texts.reserve(keys.size());
    for (const std::string& key : keys) {
      texts.push_back(key.c_str());
    }
    return texts;
  }

  std::unique_ptr<sconce_store, Destroy> store_;
};

/// The numbers of a process in a job, and the job's store.
struct Job {
  Store store;                  ///< the store that all processes of the job share
  std::int32_t rank = 0;        ///< the number of this process
  std::int32_t world_size = 1;  ///< the number of processes
  std::int32_t local_rank = 0;  ///< the number of this process on its machine
};

/// Joins the job that RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and LOCAL_RANK describe, as
/// `torchrun` and `scripts/launch` set them. Corresponds to `init_process_group("env://")`.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if a variable is missing, `SCONCE_ERROR_TIMEOUT` if
///   another process does not join
[[nodiscard]] inline Job join_job(Store::Milliseconds timeout = Store::kDefaultTimeout) {
  sconce_store* store = nullptr;
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::int32_t local_rank = 0;
  detail::check(::sconce_store_create_from_environment(timeout.count(), &store, &rank, &world_size,
                                                       &local_rank));
  return {Store(store), rank, world_size, local_rank};
}

}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_STORE_HPP
