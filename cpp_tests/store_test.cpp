// Stores: what C++ adds to the C API, and a job of several processes.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sconce/comm/store.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace {

using sconce::Store;
using std::chrono::milliseconds;
using support::contains;
using support::error_of;
using support::status_of;

class StoreTest : public ::testing::Test {};

TEST_F(StoreTest, ValuesOfAnySizeAreExchanged) {
  Store server = Store::tcp_server("127.0.0.1");
  Store client = Store::tcp_client("127.0.0.1", server.port());
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 511, 512, 513, 1 << 20}) {
    std::string value(size, 'v');
    if (size > 1) {
      value[1] = '\0';
    }
    server.set("key", value);
    EXPECT_EQ(client.get("key"), value) << size;
    EXPECT_EQ(client.compareSet("key", "other", "x"), value) << size;
    EXPECT_EQ(client.compareSet("key", value, value), value) << size;
  }
  EXPECT_EQ(client.add("n", 3), 3);
  EXPECT_EQ(server.add("n", -1), 2);
  EXPECT_TRUE(server.check({"key", "n"}));
  EXPECT_FALSE(server.check({"key", "none"}));
  server.wait({"key", "n"}, milliseconds(0));
  EXPECT_EQ(server.getNumKeys(), 2);
  EXPECT_TRUE(client.deleteKey("n"));
  EXPECT_FALSE(client.deleteKey("n"));
}

TEST_F(StoreTest, AWaitEndsInTimeAndSaysForWhat) {
  Store store = Store::tcp_server("127.0.0.1");
  EXPECT_EQ(store.getTimeout(), milliseconds(300000));
  store.setTimeout(milliseconds(20));
  EXPECT_EQ(store.getTimeout(), milliseconds(20));
  const sconce::Error error = error_of([&] { (void)store.get("never"); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_TIMEOUT);
  EXPECT_TRUE(contains(error.what(), "/never")) << error.what();
  EXPECT_EQ(status_of([&] { store.wait({"a", "b"}); }), SCONCE_ERROR_TIMEOUT);
  EXPECT_EQ(status_of([&] { store.barrier("b", 2); }), SCONCE_ERROR_TIMEOUT);
  EXPECT_EQ(status_of([&] { (void)store.get("k", milliseconds(-2)); }),
            SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(StoreTest, APrefixedStoreOutlivesTheOther) {
  Store server = Store::tcp_server("127.0.0.1");
  Store inner = server.prefixed("a").prefixed("b");
  server.set("a/b/k", "v");
  {
    const Store moved = std::move(server);
    EXPECT_EQ(server.get(), nullptr);
  }
  EXPECT_EQ(inner.get("k"), "v");
}

TEST_F(StoreTest, DestroyingAStoreEndsItsWaits) {
  Store store = Store::tcp_server("127.0.0.1");
  sconce_store* const handle = store.get();
  std::int32_t status = SCONCE_OK;
  std::thread waiter([&] {
    std::size_t bytes = 0;
    status = sconce_store_get(handle, "never", -1, nullptr, 0, &bytes);
  });
  std::this_thread::sleep_for(milliseconds(50));
  { const Store ended = std::move(store); }
  waiter.join();
  EXPECT_EQ(status, SCONCE_ERROR_INVALID_STATE);
  EXPECT_EQ(sconce_store_destroy(handle), SCONCE_ERROR_INVALID_HANDLE);
}

TEST_F(StoreTest, AForkedChildIsRefusedAndHarmsNothing) {
  Store store = Store::tcp_server("127.0.0.1");
  store.set("key", "value");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A store of the parent's is refused and may be destroyed; the parent's server is reached by a
    // store of the child's own.
    int wrong = status_of([&] { store.set("key", "child"); }) == SCONCE_ERROR_FORKED ? 0 : 1;
    const std::uint16_t port = store.port();
    { const Store ended = std::move(store); }
    Store own = Store::tcp_client("127.0.0.1", port);
    wrong += own.get("key") == "value" ? 0 : 2;
    own.set("from", "child");
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store.get("from"), "child");
}

TEST_F(StoreTest, AServerEndsThoughAForkedChildHasItsDescriptors) {
  std::optional<Store> server = Store::tcp_server("127.0.0.1");
  const std::uint16_t port = server->port();
  Store refused = Store::tcp_client("127.0.0.1", port);
  Store waiting = Store::tcp_client("127.0.0.1", port);
  refused.set("text", "no number");
  waiting.set("key", "value");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_EQ(status_of([&] { (void)refused.add("text", 1); }), SCONCE_ERROR_REMOTE);
  std::int32_t status = SCONCE_OK;
  std::thread waiter(
      [&] { status = status_of([&] { (void)waiting.get("never", milliseconds(20000)); }); });
  std::this_thread::sleep_for(milliseconds(50));
  server.reset();
  waiter.join();
  EXPECT_EQ(status, SCONCE_ERROR_REMOTE);
  EXPECT_EQ(Store::tcp_server("127.0.0.1", port).port(), port) << "the port is free";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

/// Runs `work` in a process for each rank, as a launcher does. Returns how many failed.
template <class Work>
int launch(int world_size, std::uint16_t port, const Work& work) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < world_size; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(world_size).c_str(), 1);
      setenv("MASTER_ADDR", "127.0.0.1", 1);
      setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
      int failed = 1;
      try {
        failed = work() ? 0 : 1;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
      }
      _exit(failed);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed += status == 0 ? 0 : 1;
  }
  return failed;
}

TEST_F(StoreTest, TheProcessesOfAJobMeet) {
  std::uint16_t port = 0;
  {
    const Store probe = Store::tcp_server("127.0.0.1");
    port = probe.port();
  }
  const int failed = launch(4, port, [] {
    sconce::Job job = sconce::join_job(milliseconds(30000));
    bool good = job.world_size == 4 && job.local_rank == job.rank;
    job.store.set("rank" + std::to_string(job.rank), std::to_string(job.rank * 10));
    job.store.barrier("all", job.world_size);
    for (int rank = 0; rank < job.world_size; ++rank) {
      const std::string key = "rank" + std::to_string(rank);
      good = good && job.store.get(key, milliseconds(0)) == std::to_string(rank * 10);
    }
    // Rank 0 serves the store until all have done with it.
    job.store.add("done", 1);
    while (job.rank == 0 && job.store.add("done", 0) < job.world_size) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return good;
  });
  EXPECT_EQ(failed, 0);
}

TEST_F(StoreTest, AnEnvironmentWithoutAJobIsNamed) {
  unsetenv("RANK");
  const sconce::Error error = error_of([] { (void)sconce::join_job(); });
  EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_STATE);
  EXPECT_TRUE(contains(error.what(), "RANK is not set")) << error.what();
}

TEST_F(StoreTest, AStoreInAFileGoesWithItsLastUser) {
  const std::string path =
      ::testing::TempDir() + "sconce_store_" + std::to_string(static_cast<long>(getpid()));
  {
    Store one = Store::file(path, 2);
    Store two = Store::file(path, 2);
    one.set("key", "value");
    EXPECT_EQ(two.get("key"), "value");
    EXPECT_EQ(status_of([&] { (void)one.port(); }), SCONCE_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
