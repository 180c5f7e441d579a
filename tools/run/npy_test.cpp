// Reads and writes .npy files: orders, types that NumPy does not have, damaged headers.
#include "npy.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <sconce/sconce_all.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (!holds) {
    std::fprintf(stderr, "npy_test: %s\n", what.c_str());
    ++failures;
  }
}

const std::string file = "npy_test.npy";

// A file of version 1 with a header and bytes of elements.
void write(const std::string& header, const std::string& values, char version = 1) {
  std::ofstream out(file, std::ios::binary);
  out << "\x93NUMPY" << version << '\0' << static_cast<char>(header.size() & 0xffU)
      << static_cast<char>(header.size() >> 8U);
  if (version > 1) {
    out << '\0' << '\0';
  }
  out << header << values;
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes(const std::vector<T>& values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

std::vector<float> numbers(const sconce::Tensor& tensor) {
  return tensor.to(sconce::kFloat).contiguous().to_vector<float>();
}

std::string refusal(std::int32_t wanted = -1) {
  try {
    (void)read_npy(file, wanted);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it was read";
}

void orders() {
  write(header("'<f4'", "False", "(2, 3)"), bytes<float>({0, 1, 2, 3, 4, 5}));
  const sconce::Tensor rows = read_npy(file);
  expect(numbers(rows) == std::vector<float>{0, 1, 2, 3, 4, 5}, "rows");
  for (const char version : {'\2', '\3'}) {
    write(header("'<f4'", "True", "(2, 3)"), bytes<float>({0, 3, 1, 4, 2, 5}), version);
    const sconce::Tensor columns = read_npy(file);
    expect(columns.equal(rows), "columns have the same elements");
    expect(columns.stride(0) == 1 && columns.stride(1) == 2, "and keep their order");
  }
  write(header("'<f4'", "True", "(2, 1, 3)"), bytes<float>({0, 3, 1, 4, 2, 5}));
  expect(numbers(read_npy(file)) == std::vector<float>{0, 1, 2, 3, 4, 5}, "three dimensions");
  write(header("'<i8'", "True", "()"), bytes<std::int64_t>({7}));
  expect(read_npy(file).item<std::int64_t>() == 7, "a number");
  write(header("'<f4'", "False", "(0, 5)"), "");
  expect(read_npy(file).numel() == 0, "nothing");
}

void foreign_types() {
  const std::vector<float> values = {0.5F, -2, 1, 0.25F};
  for (const auto& [dtype, type] :
       std::vector<std::pair<std::int32_t, const char*>>{{SCONCE_DTYPE_BF16, "'<V2'"},
                                                         {SCONCE_DTYPE_F8_E4M3FN, "'|V1'"},
                                                         {SCONCE_DTYPE_F8_E4M3FNUZ, "'|V1'"},
                                                         {SCONCE_DTYPE_F8_E5M2, "'<V1'"},
                                                         {SCONCE_DTYPE_F8_E5M2FNUZ, "'|V1'"}}) {
    write(header("'<f4'", "False", "(4,)"), bytes(values));
    const sconce::Tensor converted = read_npy(file, dtype);
    std::int32_t found = -1;
    sconce::detail::check(::sconce_tensor_get_dtype(converted.get(), &found));
    expect(found == dtype && numbers(converted) == values, "converted to " + std::to_string(dtype));
    // Written as F32, and as raw bytes.
    write_npy(file, converted);
    expect(numbers(read_npy(file)) == values, "written");
    std::size_t width = 0;
    sconce::detail::check(::sconce_dtype_get_bytes(dtype, &width));
    std::string raw(4 * width, '\0');
    sconce::detail::check(::sconce_tensor_to_values(converted.get(), raw.data(), raw.size()));
    write(header(type, "False", "(4,)"), raw);
    expect(numbers(read_npy(file, dtype)) == values, std::string("raw bytes ") + type);
    expect(refusal().find("bytes of no type") != std::string::npos, refusal());
    expect(refusal(SCONCE_DTYPE_F32).find("bytes of no type") != std::string::npos, refusal());
  }
  // Other types stay what they are: the model says what it takes.
  write(header("'<f8'", "False", "(1,)"), bytes<double>({1}));
  expect(read_npy(file, SCONCE_DTYPE_F32).scalar_type() == sconce::kDouble, "no other conversion");
  write(header("'<i8'", "False", "(1,)"), bytes<std::int64_t>({1}));
  expect(read_npy(file, SCONCE_DTYPE_BF16).scalar_type() == sconce::kLong, "nor of integers");
}

void damage() {
  const std::string four = bytes<float>({1, 2, 3, 4});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "has no fortran_order"},
      {"{'fortran_order':", "has no fortran_order"},
      {"{'fortran_order': False, 'descr':", "has no descr"},
      {"{'fortran_order': False, 'descr': '<f4', 'shape':", "has no shape"},
      {header("'<f4'", "Maybe", "(4,)"), "has no fortran_order"},
      {header("'>f4'", "False", "(4,)"), "a type that is not read: '>f4'"},
      {header("[('x', '<f4')]", "False", "(4,)"), "a type that is not read"},
      {header("'<f4'", "False", "4"), "the shape is not understood"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4", "the shape is not understood"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,", "the shape is not understood"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (", "the shape is not understood"},
      {header("'<f4'", "False", "(-4,)"), "the shape is not understood"},
      {header("'<f4'", "False", "(2 2)"), "the shape is not understood"},
      {header("'<f4'", "False", "(4.0,)"), "the shape is not understood"},
      {header("'<f4'", "False", "(,)"), "the shape is not understood"},
      {header("'<f4'", "False", "(9999999999999999,)"), "a size is too large"},
      // Products of sizes beyond 64 bits, which would be 16 bytes modulo 2^64.
      {header("'<f4'", "False", "(4294967296, 4294967296, 4)"), "another number of elements"},
      {header("'<f4'", "False", "(4, 17, 241, 61681, 4562284561)"), "another number of elements"},
      {header("'<f4'", "False", "(3,)"), "another number of elements"},
      {header("'<f4'", "False", "(5,)"), "another number of elements"}};
  for (const auto& [text, words] : cases) {
    write(text, four);
    const std::string why = refusal();
    expect(why.find(file + ": ") == 0 && why.find(words) != std::string::npos,
           words + " is not in: " + why);
  }
  write(header("'<f4'", "False", "(4,)"), four, 9);
  expect(refusal().find("version 9") != std::string::npos, refusal());
  // Every cut of a good file.
  write(header("'<f4'", "False", "(4,)"), four);
  std::ifstream in(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, length);
    expect(refusal().find(file + ": ") == 0, "cut to " + std::to_string(length));
  }
}

}  // namespace

int main() {
  orders();
  foreign_types();
  damage();
  std::remove(file.c_str());
  return failures == 0 ? 0 : 1;
}
