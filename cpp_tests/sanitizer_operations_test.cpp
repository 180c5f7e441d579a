// Operations that the program declares, which consist of several calls and launches.
#include <cstdint>
#include <string>
#include <type_traits>

#include "sanitizer_support.hpp"

namespace {

using namespace sconce::cuda;
using sconce::Tensor;
using sconce::sanitizer::Operation;
using sconce::sanitizer::Scope;
using support::contains;
using support::settle;

static_assert(!std::is_copy_constructible_v<Operation> && !std::is_move_assignable_v<Operation>);

class SanitizerOperationsTest : public support::DeviceFixture {
 protected:
  void SetUp() override {
    DeviceFixture::SetUp();
    settle();
    sconce::sanitizer::reset();
  }

  void TearDown() override {
    settle();
    DeviceFixture::TearDown();
  }

  /// Members are made before SetUp, which skips the test without a device.
  static CUDAStream pooled() {
    return support::started().empty() ? getStreamFromPool() : CUDAStream(sconce_stream{});
  }

  CUDAStream a = pooled();
  CUDAStream b = pooled();
};

/// A kernel of which the sanitizer knows nothing.
void launch_unknown(const CUDAStream& stream) {
  sconce::simulator::register_kernel<>("nothing", [](const sconce::simulator::Thread&) {});
  static const Module module = Module::load(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }");
  LaunchConfig config{Dim3(1), Dim3(1)};
  config.stream = stream;
  module.kernel("nothing").launch(config);
}

std::int64_t unknown_operations() {
  std::int64_t all = 0;
  std::int64_t unknown = 0;
  EXPECT_EQ(sconce_sanitizer_get_operations(&all, &unknown), SCONCE_OK);
  return unknown;
}

TEST_F(SanitizerOperationsTest, AnOperationReadsAndWritesItsTensorsOnTheCurrentStream) {
  const Tensor x = sconce::zeros({64});
  const Tensor y = sconce::zeros({64});
  settle();
  const Scope scope;
  with_stream(a, [&] { const Operation operation("norm", {x, Tensor()}, {y, Tensor()}); });
  with_stream(b, [&] { const Operation operation("another reader", {x}); });
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  with_stream(b, [&] { const Operation operation("the reader", {y}); });
  ASSERT_EQ(scope.reports(), 1);
  EXPECT_TRUE(contains(scope.text(), "norm writes")) << scope.text();
  EXPECT_TRUE(contains(scope.text(), "the reader reads")) << scope.text();
  with_stream(b, [&] { const Operation operation("the writer", {}, {x}); });
  ASSERT_EQ(scope.reports(), 2);
  EXPECT_TRUE(contains(scope.text(), "norm reads")) << scope.text();
}

TEST_F(SanitizerOperationsTest, ResultsAreWrittenAtTheEndAndOnlyOnce) {
  Tensor made;
  const Scope scope;
  with_stream(a, [&] {
    Operation operation("the maker");
    made = sconce::empty({64});
    operation.end({made});
    operation.end({made});
  });
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  with_stream(b, [&] { const Operation operation("the reader", {made}); });
  ASSERT_GE(scope.reports(), 1);
  EXPECT_TRUE(contains(scope.text(), "the maker writes")) << scope.text();
}

TEST_F(SanitizerOperationsTest, WhatBeginsWithinAnOperationIsAPartOfIt) {
  SCONCE_NEED_SIMULATOR();
  const Tensor x = sconce::zeros({64});
  const Tensor y = sconce::zeros({64});
  settle();
  const Scope scope;
  with_stream(a, [&] { const Operation operation("the writer", {}, {y}); });
  const auto before = unknown_operations();
  with_stream(b, [&] {
    const Operation outer("outer", {x});
    { const Operation inner("inner", {y}); }
    launch_unknown(b);
  });
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  EXPECT_EQ(unknown_operations(), before);
  launch_unknown(b);
  EXPECT_EQ(unknown_operations(), before + 1);
}

TEST_F(SanitizerOperationsTest, WhatIsReadNeedNotBeWrittenToTheLastByte) {
  SCONCE_NEED_SIMULATOR();
  const Tensor partly = sconce::empty({64});
  partly.narrow(0, 0, 32).fill_(1);
  settle();
  const Scope scope;
  (void)(partly + partly);
  ASSERT_EQ(scope.reports(), 1);
  EXPECT_TRUE(contains(scope.text(), "nobody has written")) << scope.text();
  sconce::sanitizer::reset();
  const Operation operation("embedding", {partly});
  EXPECT_EQ(sconce::sanitizer::report_count(), 0);
}

TEST_F(SanitizerOperationsTest, KernelsOfAnOperationMayWriteMemoryThatNobodyDeclares) {
  SCONCE_NEED_SIMULATOR();
  const Tensor by_kernel = sconce::empty({64});
  settle();
  const Scope scope;
  Operation operation("many kernels");
  const Tensor earlier = sconce::empty({64});
  launch_unknown(getCurrentCUDAStream());
  // The operation's own calls read what its kernels may have written; what came later nobody has.
  (void)(by_kernel + by_kernel);
  (void)(earlier + earlier);
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  const Tensor later = sconce::empty({64});
  (void)(later + later);
  EXPECT_EQ(scope.reports(), 1) << scope.text();
  // Its code may launch kernels past this library, too, up to its end.
  operation.end();
  sconce::sanitizer::reset();
  const Scope after;
  (void)(later * later);
  EXPECT_EQ(after.reports(), 0) << after.text();
  const Tensor fresh = sconce::empty({64});
  (void)(fresh * fresh);
  EXPECT_EQ(after.reports(), 1) << after.text();
}

TEST_F(SanitizerOperationsTest, NothingIsDeclaredWhileItIsOff) {
  const Tensor y = sconce::zeros({64});
  settle();
  sconce::sanitizer::disable();
  const Scope scope;
  {
    const Operation begun_off("the writer", {}, {y});
    sconce::sanitizer::enable();
  }
  with_stream(b, [&] { const Operation operation("the reader", {y}); });
  EXPECT_EQ(scope.reports(), 0) << scope.text();
  // The other way about: what began is ended, so that later kernels count again.
  {
    const Operation begun_on("the writer", {}, {y});
    sconce::sanitizer::disable();
  }
  sconce::sanitizer::enable();
  if (sconce::active_backend() == sconce::Backend::Sim) {
    const auto before = unknown_operations();
    launch_unknown(b);
    EXPECT_EQ(unknown_operations(), before + 1);
  }
}

}  // namespace
