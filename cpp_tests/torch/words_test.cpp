// Words of the stable ABI that own what they stand for: each is freed once, whichever way a call
// takes. Under AddressSanitizer a word that is freed twice or never ends the test.
#include <gtest/gtest.h>
#include <sconce/sconce_torch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

extern "C" {
std::int32_t aoti_torch_library_init_fragment(const char*, const char*, std::uint32_t, void**);
std::int32_t aoti_torch_library_init_impl(const char*, const char*, const char*, std::uint32_t,
                                          void**);
std::int32_t aoti_torch_library_def(void*, const char*);
std::int32_t torch_library_impl(void*, const char*,
                                void (*)(std::uint64_t*, std::uint64_t, std::uint64_t),
                                std::uint64_t);
std::int32_t aoti_torch_delete_library_object(void*);
std::int32_t torch_call_dispatcher(const char*, const char*, std::uint64_t*, std::uint64_t);
std::int32_t aoti_torch_delete_tensor_object(sconce_tensor*);
std::int32_t torch_new_list_reserve_size(std::size_t, void**);
std::int32_t torch_list_push_back(void*, std::uint64_t);
std::int32_t torch_list_size(void*, std::size_t*);
std::int32_t torch_list_get_item(void*, std::size_t, std::uint64_t*);
std::int32_t torch_delete_list(void*);
std::int32_t torch_new_string_handle(const char*, std::size_t, void**);
std::int32_t torch_delete_string(void*);
std::int32_t torch_new_scalar_double(double, void**);
std::int32_t torch_delete_scalar(void*);
}

namespace {

// Types whose words own something, alone, absent, in lists, and in lists of a count.
const std::array<const char*, 26> types{
    "Tensor",  "Tensor?",  "Tensor[]",  "Tensor?[]", "Tensor[2]",  "Tensor[]?",  "Scalar",
    "Scalar?", "Scalar[]", "Scalar[2]", "Scalar?[]", "Scalar?[2]", "Scalar[2]?", "str",
    "str?",    "str[]",    "str[2]",    "str?[]",    "str[2]?",    "int?",       "int[]",
    "int?[2]", "int[2]",   "float?[2]", "float[][]", "bool[2]?",
};

std::string inner_of(const std::string& type) {
  return type.substr(0, type.back() == '?' ? type.size() - 1 : type.rfind('['));
}

void free_word(const std::string& type, std::uint64_t word) {
  if (type.back() == '?') {
    if (word != 0) {
      const std::unique_ptr<std::uint64_t> place(reinterpret_cast<std::uint64_t*>(word));
      free_word(inner_of(type), *place);
    }
  } else if (type.back() == ']') {
    void* list = reinterpret_cast<void*>(word);
    std::size_t size = 0;
    ASSERT_EQ(torch_list_size(list, &size), 0);
    for (std::size_t at = 0; at < size; ++at) {
      std::uint64_t entry = 0;
      ASSERT_EQ(torch_list_get_item(list, at, &entry), 0);
      free_word(inner_of(type), entry);
    }
    ASSERT_EQ(torch_delete_list(list), 0);
  } else if (type == "Tensor") {
    ASSERT_EQ(aoti_torch_delete_tensor_object(reinterpret_cast<sconce_tensor*>(word)), 0);
  } else if (type == "Scalar") {
    ASSERT_EQ(torch_delete_scalar(reinterpret_cast<void*>(word)), 0);
  } else if (type == "str") {
    ASSERT_EQ(torch_delete_string(reinterpret_cast<void*>(word)), 0);
  }
}

sconce_tensor* new_tensor() {
  const auto options = sconce::TensorOptions().device(sconce::kCPU).get();
  const std::int64_t size = 2;
  sconce_tensor* tensor = nullptr;
  EXPECT_EQ(sconce_tensor_zeros(&size, 1, &options, &tensor), SCONCE_OK);
  return tensor;
}

// A word of a type, with two entries in its lists.
std::uint64_t new_word(const std::string& type) {
  void* made = nullptr;
  if (type.back() == '?') {
    return reinterpret_cast<std::uint64_t>(new std::uint64_t(new_word(inner_of(type))));
  }
  if (type.back() == ']') {
    EXPECT_EQ(torch_new_list_reserve_size(2, &made), 0);
    for (int at = 0; at < 2; ++at) {
      EXPECT_EQ(torch_list_push_back(made, new_word(inner_of(type))), 0);
    }
    return reinterpret_cast<std::uint64_t>(made);
  }
  if (type == "Tensor") {
    return reinterpret_cast<std::uint64_t>(new_tensor());
  }
  if (type == "Scalar") {
    EXPECT_EQ(torch_new_scalar_double(1.5, &made), 0);
  } else if (type == "str") {
    EXPECT_EQ(torch_new_string_handle("text", 4, &made), 0);
  }
  return reinterpret_cast<std::uint64_t>(made);
}

// Arguments of the C API, and what they hold.
class Arguments {
 public:
  // A value of a type, with `count` entries in its lists.
  sconce_op_value value(const std::string& type, std::size_t count) {
    sconce_op_value value = SCONCE_OP_VALUE_INIT;
    if (type.back() == '?') {
      return this->value(inner_of(type), count);
    }
    if (type.back() == ']') {
      std::vector<sconce_op_value> items;
      for (std::size_t at = 0; at < count; ++at) {
        items.push_back(this->value(inner_of(type), count));
      }
      lists_.push_back(std::move(items));
      value.kind = SCONCE_OP_VALUE_LIST;
      value.items = lists_.back().data();
      value.count = count;
    } else if (type == "Tensor") {
      tensors_.push_back(sconce::Tensor::adopt(new_tensor()));
      value.kind = SCONCE_OP_VALUE_TENSOR;
      value.tensor = tensors_.back().get();
    } else if (type == "str") {
      value.kind = SCONCE_OP_VALUE_TEXT;
      value.text = "text";
    } else if (type == "Scalar" || type == "float") {
      value.kind = SCONCE_OP_VALUE_REAL;
      value.real = 1.5;
    } else {
      value.kind = type == "bool" ? SCONCE_OP_VALUE_BOOL : SCONCE_OP_VALUE_INTEGER;
      value.integer = 1;
    }
    return value;
  }

 private:
  std::deque<std::vector<sconce_op_value>> lists_;
  std::deque<sconce::Tensor> tensors_;
};

// echo_N(T x, str how) -> (T, int): returns its argument, or throws once it has freed it.
template <std::size_t N>
void echo(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  ASSERT_EQ(torch_delete_string(reinterpret_cast<void*>(stack[1])), 0);
  stack[1] = 7;
}
template <std::size_t N>
void fails(std::uint64_t* stack, std::uint64_t, std::uint64_t) {
  free_word(types[N], stack[0]);
  free_word("str", stack[1]);
  throw std::runtime_error("the kernel has taken its arguments");
}

class Words : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aoti_torch_library_init_fragment("words", __FILE__, 1, &schemas_), 0);
    ASSERT_EQ(
        aoti_torch_library_init_impl("words", "CompositeExplicitAutograd", __FILE__, 1, &kernels_),
        0);
    ASSERT_EQ(aoti_torch_library_init_impl("words", "CUDA", __FILE__, 1, &elsewhere_), 0);
    add(std::make_index_sequence<types.size()>());
    live_ = sconce_tensor_live_count();
  }

  void TearDown() override {
    EXPECT_EQ(sconce_tensor_live_count(), live_) << "a tensor is left";
    for (void* library : {schemas_, kernels_, elsewhere_}) {
      EXPECT_EQ(aoti_torch_delete_library_object(library), 0);
    }
  }

  static std::string name(const char* what, std::size_t index) {
    return what + std::to_string(index);
  }

  // Calls an operator with values and releases what it returns. The number of results; -1 if it
  // failed.
  static std::int64_t call(const std::string& name, const std::vector<sconce_op_value>& values) {
    sconce_op* op = nullptr;
    EXPECT_EQ(sconce_op_find(("words::" + name).c_str(), "", &op), SCONCE_OK) << name;
    std::array<sconce_op_value, 2> results{};
    std::size_t count = 0;
    if (sconce_op_call(op, values.data(), values.size(), results.data(), results.size(), &count) !=
        SCONCE_OK) {
      return -1;
    }
    sconce_op_values_release(results.data(), count);
    return static_cast<std::int64_t>(count);
  }

 private:
  template <std::size_t... Ns>
  void add(std::index_sequence<Ns...>) {
    (add_one<Ns>(), ...);
  }

  template <std::size_t N>
  void add_one() {
    const std::string type(types[N]);
    const std::string rest = "(" + type + " x, str how) -> (" + type + ", int)";
    for (const char* what : {"echo_", "fails_", "elsewhere_"}) {
      ASSERT_EQ(aoti_torch_library_def(schemas_, (name(what, N) + rest).c_str()), 0) << rest;
    }
    ASSERT_EQ(torch_library_impl(kernels_, name("echo_", N).c_str(), echo<N>, 0), 0);
    ASSERT_EQ(torch_library_impl(kernels_, name("fails_", N).c_str(), fails<N>, 0), 0);
    // With a tensor of the CPU there is no kernel, without one it is this.
    ASSERT_EQ(torch_library_impl(elsewhere_, name("elsewhere_", N).c_str(), fails<N>, 0), 0);
  }

  void* schemas_ = nullptr;
  void* kernels_ = nullptr;
  void* elsewhere_ = nullptr;
  std::size_t live_ = 0;
};

sconce_op_value text() {
  sconce_op_value value = SCONCE_OP_VALUE_INIT;
  value.kind = SCONCE_OP_VALUE_TEXT;
  value.text = "how";
  return value;
}

TEST_F(Words, PassedByValueAreFreedOnce) {
  for (std::size_t index = 0; index < types.size(); ++index) {
    SCOPED_TRACE(types[index]);
    Arguments arguments;
    const sconce_op_value value = arguments.value(types[index], 2);
    EXPECT_EQ(call(name("echo_", index), {value, text()}), 2);
    EXPECT_EQ(call(name("fails_", index), {value, text()}), -1);
    EXPECT_EQ(call(name("elsewhere_", index), {value, text()}), -1);
    // The first argument is good, the second one is none, of another type, or one too many.
    EXPECT_EQ(call(name("echo_", index), {value}), -1);
    const bool is_text = std::string(types[index]).rfind("str", 0) == 0 &&
                         std::string(types[index]).find('[') == std::string::npos;
    EXPECT_EQ(call(name("echo_", index), {value, value}), is_text ? 2 : -1);
    EXPECT_EQ(call(name("echo_", index), {value, text(), value}), -1);
  }
}

TEST_F(Words, OfOneNumberInAListOfACountAreEachTheirOwn) {
  for (std::size_t index = 0; index < types.size(); ++index) {
    SCOPED_TRACE(types[index]);
    const std::string type(types[index]);
    Arguments arguments;
    for (const sconce_op_value& one :
         {arguments.value(type, 1), arguments.value(inner_of(type), 1),
          arguments.value(type.substr(0, type.find_first_of("?[")), 1)}) {
      // Whether that fits is the type's matter; what is passed is freed once.
      static_cast<void>(call(name("echo_", index), {one, text()}));
      static_cast<void>(call(name("fails_", index), {one, text()}));
    }
  }
  Arguments arguments;
  for (const char* type : {"Scalar[2]", "int?[2]", "Scalar?[2]", "float?[2]"}) {
    std::size_t index = 0;
    while (std::string(types[index]) != type) {
      ++index;
    }
    const std::string inner = inner_of(type);
    sconce_op* op = nullptr;
    ASSERT_EQ(sconce_op_find(("words::" + name("echo_", index)).c_str(), "", &op), SCONCE_OK);
    const std::array<sconce_op_value, 2> values{arguments.value(inner, 1), text()};
    std::array<sconce_op_value, 2> results{};
    std::size_t count = 0;
    ASSERT_EQ(sconce_op_call(op, values.data(), 2, results.data(), 2, &count), SCONCE_OK) << type;
    ASSERT_EQ(results[0].count, 2U) << type;
    EXPECT_EQ(results[0].items[1].real, results[0].items[0].real);
    EXPECT_EQ(results[0].items[1].integer, results[0].items[0].integer);
    sconce_op_values_release(results.data(), count);
  }
}

TEST_F(Words, OfAStackAreFreedOnce) {
  for (std::size_t index = 0; index < types.size(); ++index) {
    SCOPED_TRACE(types[index]);
    for (const char* what : {"echo_", "fails_", "elsewhere_"}) {
      std::array<std::uint64_t, 2> stack{new_word(types[index]), new_word("str")};
      const std::string full = "words::" + name(what, index);
      try {
        if (torch_call_dispatcher(full.c_str(), "", stack.data(), 0) == 0) {
          EXPECT_STREQ(what, "echo_");
          free_word(types[index], stack[0]);
        } else {
          EXPECT_STRNE(what, "echo_");
        }
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

TEST_F(Words, OfResultsThatCannotBePassedOnAreFreed) {
  // A place for the number of results that is not aligned, and too little room for the results.
  for (std::size_t index = 0; index < types.size(); ++index) {
    SCOPED_TRACE(types[index]);
    Arguments arguments;
    sconce_op* op = nullptr;
    ASSERT_EQ(sconce_op_find(("words::" + name("echo_", index)).c_str(), "", &op), SCONCE_OK);
    const std::array<sconce_op_value, 2> values{arguments.value(types[index], 2), text()};
    std::array<sconce_op_value, 2> results{};
    std::array<std::size_t, 2> counts{};
    auto* askew = reinterpret_cast<std::size_t*>(reinterpret_cast<char*>(counts.data()) + 1);
    EXPECT_EQ(sconce_op_call(op, values.data(), 2, results.data(), 2, askew),
              SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(sconce_op_call(op, values.data(), 2, results.data(), 1, counts.data()),
              SCONCE_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(sconce_op_call(op, values.data(), 2, nullptr, 2, counts.data()),
              SCONCE_ERROR_INVALID_ARGUMENT);
  }
}

}  // namespace
