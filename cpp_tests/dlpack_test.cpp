// Tensors over DLPack, with structs as a program has them from dlpack.h.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "fixture.hpp"

// From dlpack.h 1.3, with its tags: it is included after sconce.h here, as it may be.
extern "C" {
typedef struct {
  std::uint32_t major;
  std::uint32_t minor;
} DLPackVersion;
typedef enum : std::int32_t { kDLCPU = 1, kDLCUDA = 2 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  std::int32_t device_id;
} DLDevice;
typedef struct {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
typedef int (*DLPackManagedTensorAllocator)(DLTensor* prototype, DLManagedTensorVersioned** out,
                                            void* error_ctx,
                                            void (*SetError)(void* error_ctx, const char* kind,
                                                             const char* message));
typedef int (*DLPackCurrentWorkStream)(DLDeviceType device_type, std::int32_t device_id,
                                       void** out_current_stream);
typedef struct DLPackExchangeAPIHeader {
  DLPackVersion version;
  struct DLPackExchangeAPIHeader* prev_api;
} DLPackExchangeAPIHeader;
typedef struct DLPackExchangeAPI {
  DLPackExchangeAPIHeader header;
  DLPackManagedTensorAllocator managed_tensor_allocator;
  void* managed_tensor_from_py_object_no_sync;
  void* managed_tensor_to_py_object_no_sync;
  void* dltensor_from_py_object_no_sync;
  DLPackCurrentWorkStream current_work_stream;
} DLPackExchangeAPI;
}

namespace sc = sconce;
namespace cc = sconce::cuda;
using sc::Tensor;
using support::status_of;

namespace {

using DlpackTest = support::DeviceFixture;

/// A tensor of 2 × 3 floats of this test.
struct Producer {
  std::array<float, 6> values{0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 2> sizes{2, 3};
  int deletions = 0;
  DLManagedTensorVersioned managed{};

  Producer() {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Producer*>(self->manager_ctx)->deletions;
    };
    managed.dl_tensor = {values.data(), {kDLCPU, 0}, 2, {2, 32, 1}, sizes.data(), nullptr, 0};
  }
};

TEST_F(DlpackTest, AnExportOutlivesItsTensor) {
  Tensor a = sc::zeros({2, 3});
  const void* data = a.data_ptr();
  DLManagedTensorVersioned* managed = sc::to_dlpack(a, cc::getDefaultCUDAStream());
  a.reset();
  EXPECT_EQ(managed->version.major, 1u);
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(managed->dl_tensor.data, data);
  EXPECT_EQ(managed->dl_tensor.strides[0], 3);
  const Tensor back = sc::from_dlpack(managed, cc::getDefaultCUDAStream());
  EXPECT_EQ(back.data_ptr(), data);
  EXPECT_EQ(back.sizes(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_FALSE(sc::is_read_only(back));
  const Tensor old = sc::from_dlpack(sc::to_dlpack_unversioned(back));
  EXPECT_EQ(old.data_ptr(), data);
}

TEST_F(DlpackTest, StreamsWaitForEachOther) {
  const Tensor a = sc::zeros({4});
  const cc::CUDAStream consumer = cc::getStreamFromPool();
  cc::sleep(std::chrono::milliseconds(200));
  DLManagedTensorVersioned* managed = sc::to_dlpack(a, consumer);
  EXPECT_FALSE(consumer.query());
  consumer.synchronize();
  EXPECT_TRUE(cc::getCurrentCUDAStream().query());
  managed->deleter(managed);
}

TEST_F(DlpackTest, AnImportOwnsWhatItTakes) {
  Producer producer;
  {
    const Tensor a = sc::from_dlpack(&producer.managed);
    EXPECT_EQ(a.data_ptr(), producer.values.data());
    const Tensor row = a[1];
    EXPECT_EQ(row.data_ptr(), producer.values.data() + 3);
    EXPECT_EQ(producer.deletions, 0);
  }
  EXPECT_EQ(producer.deletions, 1);
}

TEST_F(DlpackTest, WhatIsRefusedStaysWithItsOwner) {
  Producer producer;
  producer.managed.dl_tensor.dtype.lanes = 4;
  EXPECT_EQ(status_of([&] { (void)sc::from_dlpack(&producer.managed); }),
            SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(producer.deletions, 0);
  producer.managed.version.major = 2;
  EXPECT_EQ(status_of([&] { (void)sc::from_dlpack(&producer.managed); }),
            SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(producer.deletions, 1);
}

TEST_F(DlpackTest, ReadOnlyMemoryIsNotWrittenTo) {
  Producer producer;
  producer.managed.flags = 1;
  Tensor a = sc::from_dlpack(&producer.managed);
  EXPECT_TRUE(sc::is_read_only(a));
  EXPECT_EQ(status_of([&] { a.zero_(); }), SCONCE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(producer.values[1], 1.0f);
}

TEST_F(DlpackTest, TypesAreThoseOfDlpack) {
  const DLDataType half = sc::getDLDataType(sc::kHalf);
  EXPECT_EQ(half.code, 2);
  EXPECT_EQ(half.bits, 16);
  EXPECT_EQ(half.lanes, 1);
  const DLDataType pair = sc::getDLDataType(sc::kFloat4_e2m1fn_x2);
  EXPECT_EQ(pair.code, 17);
  EXPECT_EQ(pair.bits, 4);
  EXPECT_EQ(pair.lanes, 2);
  EXPECT_EQ(sc::getDLDataType(sc::zeros({1}, sc::kBool)).code, 6);
  for (const sc::ScalarType type : {sc::kFloat, sc::kDouble, sc::kBFloat16, sc::kChar, sc::kLong,
                                    sc::kByte, sc::kComplexFloat, sc::kFloat8_e4m3fn}) {
    EXPECT_EQ(sc::toScalarType(DLDataType(sc::getDLDataType(type))), type);
  }
  EXPECT_EQ(status_of([] {
              static_cast<void>(sc::toScalarType(DLDataType{2, 128, 1}));
            }),
            SCONCE_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(
      status_of([] { static_cast<void>(sc::getDLDataType(static_cast<sc::ScalarType>(99))); }),
      SCONCE_ERROR_INVALID_ARGUMENT);
}

TEST_F(DlpackTest, TheExchangeTableHasItsSignatures) {
  const DLPackExchangeAPI* api = sconce_dlpack_exchange_api();
  EXPECT_EQ(api->header.version.major, 1u);
  EXPECT_EQ(api->header.prev_api, nullptr);
  std::array<std::int64_t, 1> sizes{5};
  DLTensor prototype{nullptr, {kDLCUDA, 0}, 1, {0, 64, 1}, sizes.data(), nullptr, 0};
  DLManagedTensorVersioned* managed = nullptr;
  ASSERT_EQ(api->managed_tensor_allocator(&prototype, &managed, nullptr, nullptr), 0);
  EXPECT_EQ(sc::from_dlpack(managed).scalar_type(), sc::kLong);
  const cc::CUDAStream stream = cc::getStreamFromPool();
  cc::setCurrentCUDAStream(stream);
  void* current = nullptr;
  ASSERT_EQ(api->current_work_stream(kDLCUDA, 0, &current), 0);
  EXPECT_EQ(current, stream.stream());
}

}  // namespace
