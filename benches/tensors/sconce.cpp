// This library's tensors through the C ABI.
//
//   SCONCE_BACKEND=sim sconce_tensor_bench --quick      shows on the simulator that it runs
#include <sconce/sconce_all.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace {

void must(sconce_status status) {
  if (status != SCONCE_OK) [[unlikely]] {
    std::fprintf(stderr, "%s\n", sconce_last_error_message());
    std::exit(1);
  }
}

/// A handle of a tensor.
class Handle {
 public:
  Handle() = default;
  explicit Handle(sconce_tensor* handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { must(sconce_tensor_release(handle_)); }
  operator sconce_tensor*() const { return handle_; }

 private:
  sconce_tensor* handle_ = nullptr;
};

/// The tensor that a call returns.
template <class Call, class... Arguments>
Handle made(Call call, Arguments... arguments) {
  sconce_tensor* tensor = nullptr;
  must(call(arguments..., &tensor));
  return Handle(tensor);
}

sconce_tensor_options options(std::int32_t dtype, std::int32_t device = -1) {
  sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
  options.dtype = dtype;
  options.device = device;
  return options;
}

Handle empty(std::initializer_list<std::int64_t> sizes, std::int32_t dtype = SCONCE_DTYPE_F32) {
  const auto asked = options(dtype);
  return made(sconce_tensor_empty, sizes.begin(), sizes.size(), &asked);
}

Handle normal(std::initializer_list<std::int64_t> sizes) {
  Handle tensor = empty(sizes);
  must(sconce_tensor_normal(tensor, 0, 1, nullptr));
  return tensor;
}

Handle integers(std::initializer_list<std::int64_t> sizes, std::int64_t high, std::int32_t dtype) {
  Handle tensor = empty(sizes, dtype);
  must(sconce_tensor_random_integers(tensor, 0, high, nullptr));
  return tensor;
}

void binary(sconce_tensor* a, sconce_tensor* b, sconce_tensor* into) {
  must(sconce_tensor_binary(SCONCE_BINARY_ADD, a, nullptr, b, nullptr, nullptr, into, nullptr));
}

Handle cast(sconce_tensor* tensor, std::int32_t dtype,
            std::int32_t format = SCONCE_MEMORY_FORMAT_PRESERVE) {
  auto asked = options(dtype);
  asked.memory_format = format;
  return made(sconce_tensor_to, tensor, &asked, false, false);
}

Handle reduce(std::int32_t operation, sconce_tensor* tensor, std::int64_t dim) {
  return made(sconce_tensor_reduce, operation, tensor, dim < 0 ? nullptr : &dim,
              std::size_t(dim >= 0), false, SCONCE_DTYPE_DEFAULT);
}

Handle along(std::int32_t operation, sconce_tensor* tensor, std::int64_t dim) {
  return made(sconce_tensor_along, operation, tensor, dim, SCONCE_DTYPE_DEFAULT);
}

Handle cat(sconce_tensor* a, sconce_tensor* b) {
  sconce_tensor* const both[] = {a, b};
  return made(sconce_tensor_cat, static_cast<sconce_tensor* const*>(both), std::size_t(2),
              std::int64_t(0));
}

struct Small {
  Handle x = normal({16, 16}), y = normal({16, 16});

  void empty() { ::empty({2, 3}); }
  void empty_cpu() {
    const std::int64_t sizes[] = {2, 3};
    const auto asked = options(SCONCE_DTYPE_F32, SCONCE_DEVICE_CPU);
    made(sconce_tensor_empty, static_cast<const std::int64_t*>(sizes), std::size_t(2), &asked);
  }
  void view() {
    const std::int64_t size = 256;
    made(sconce_tensor_view, static_cast<sconce_tensor*>(x), &size, std::size_t(1));
  }
  void select() {
    made(sconce_tensor_select, static_cast<sconce_tensor*>(x), std::int64_t(0), std::int64_t(1));
  }
  void zeros() {
    const std::int64_t size = 256;
    const sconce_scalar zero = {SCONCE_SCALAR_INTEGER, 0, 0, 0, 0};
    const auto asked = options(SCONCE_DTYPE_F32);
    made(sconce_tensor_full, &size, std::size_t(1), &zero, &asked);
  }
  void add() {
    made(sconce_tensor_binary, SCONCE_BINARY_ADD, static_cast<sconce_tensor*>(x),
         static_cast<const sconce_scalar*>(nullptr), static_cast<sconce_tensor*>(y),
         static_cast<const sconce_scalar*>(nullptr), static_cast<const sconce_scalar*>(nullptr),
         static_cast<sconce_tensor*>(nullptr));
  }
  void add_into() { binary(x, y, x); }
  void sum() { reduce(SCONCE_REDUCE_SUM, x, -1); }
  void cast() { ::cast(x, SCONCE_DTYPE_F16); }
  void cat() { ::cat(x, y); }
  void matmul() {
    made(sconce_tensor_matmul, static_cast<sconce_tensor*>(x), static_cast<sconce_tensor*>(y));
  }
  void item() {
    const Handle row = made(sconce_tensor_select, static_cast<sconce_tensor*>(x), std::int64_t(0),
                            std::int64_t(0));
    const Handle one = made(sconce_tensor_select, static_cast<sconce_tensor*>(row), std::int64_t(0),
                            std::int64_t(0));
    sconce_scalar value;
    must(sconce_tensor_item(one, &value));
  }
};

struct Large {
  std::int64_t rows;
  Handle a, b, c, half, other_half, third_half, row, index, keys;

  explicit Large(std::int64_t scale)
      : rows(16384 / scale),
        a(normal({rows, 16384})),
        b(normal({rows, 16384})),
        c(empty({rows, 16384})),
        half(::cast(a, SCONCE_DTYPE_F16)),
        other_half(::cast(b, SCONCE_DTYPE_F16)),
        third_half(empty({rows, 16384}, SCONCE_DTYPE_F16)),
        row(normal({16384})),
        index(integers({(rows + 3) / 4}, rows, SCONCE_DTYPE_I64)),
        keys(integers({(1 << 24) / scale}, 1 << 30, SCONCE_DTYPE_I32)) {}

  void copy() { must(sconce_tensor_copy(c, a, true)); }
  void add() { binary(a, b, c); }
  void add_half() { binary(half, other_half, third_half); }
  void gelu() { must(sconce_tensor_unary(SCONCE_UNARY_GELU, a, c, nullptr)); }
  void cast() { must(sconce_tensor_copy(third_half, a, true)); }
  void add_row() { binary(a, row, c); }
  void sum() { reduce(SCONCE_REDUCE_SUM, a, -1); }
  void sum_rows() { reduce(SCONCE_REDUCE_SUM, a, 1); }
  void sum_columns() { reduce(SCONCE_REDUCE_SUM, a, 0); }
  void argmax_rows() { reduce(SCONCE_REDUCE_ARGMAX, a, 1); }
  void softmax() { along(SCONCE_LINE_SOFTMAX, a, 1); }
  void transposed_cast() {
    const Handle turned = made(sconce_tensor_transpose, static_cast<sconce_tensor*>(a),
                               std::int64_t(0), std::int64_t(1));
    ::cast(turned, SCONCE_DTYPE_F16, SCONCE_MEMORY_FORMAT_CONTIGUOUS);
  }
  void cumsum() {
    const std::int64_t size = -1;
    const Handle flat =
        made(sconce_tensor_view, static_cast<sconce_tensor*>(a), &size, std::size_t(1));
    along(SCONCE_LINE_CUMSUM, flat, 0);
  }
  void cumsum_rows() { along(SCONCE_LINE_CUMSUM, a, 1); }
  void index_select() {
    made(sconce_tensor_index_select, static_cast<sconce_tensor*>(a), std::int64_t(0),
         static_cast<sconce_tensor*>(index));
  }
  void cat() {
    const auto part = [&](sconce_tensor* tensor, std::int64_t length) {
      return made(sconce_tensor_narrow, tensor, std::int64_t(0), std::int64_t(0), length);
    };
    const Handle first = part(a, rows / 2), second = part(b, rows - rows / 2);
    ::cat(first, second);
  }
  void sort() {
    sconce_tensor *values = nullptr, *indices = nullptr;
    must(sconce_tensor_sort(keys, 0, false, &values, &indices));
    const Handle one(values), other(indices);
  }
};

struct Sconce {
  static std::string title() {
    const bool simulated = sconce_backend_get_active() == SCONCE_BACKEND_SIM;
    return std::string("Sconce ") + sconce_version() + (simulated ? " (simulated)" : "");
  }
  static void enter() {
    must(sconce_device_set_current(0));
    sconce_context_set_allow_tf32_cublas(false);
  }
  static void drain() { must(sconce_device_synchronize(0)); }

  template <class Call>
  static double device_ms(Call& call, int times) {
    sconce_event *start = nullptr, *end = nullptr;
    sconce_stream stream;
    must(sconce_event_create(SCONCE_EVENT_TIMING, &start));
    must(sconce_event_create(SCONCE_EVENT_TIMING, &end));
    must(sconce_stream_get_current(0, &stream));
    must(sconce_event_record(start, stream));
    for (int i = 0; i < times; ++i) {
      call();
    }
    must(sconce_event_record(end, stream));
    must(sconce_event_synchronize(end));
    float ms = 0;
    must(sconce_event_elapsed_ms(start, end, &ms));
    must(sconce_event_destroy(start));
    must(sconce_event_destroy(end));
    return static_cast<double>(ms) / times;
  }

  static Small small() { return {}; }
  static Large large(std::int64_t scale) { return Large(scale); }
};

}  // namespace

int main(int argc, char** argv) {
  const memory_bench::Options options(argc, argv);
  return options.valid ? tensor_bench::run<Sconce>(options) : 2;
}
