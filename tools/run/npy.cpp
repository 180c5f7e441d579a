#include "npy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace {

struct Kind {
  const char* name;
  std::int32_t dtype;
};

constexpr std::array<Kind, 14> kinds{{{"<f4", SCONCE_DTYPE_F32},
                                      {"<f8", SCONCE_DTYPE_F64},
                                      {"<f2", SCONCE_DTYPE_F16},
                                      {"<i8", SCONCE_DTYPE_I64},
                                      {"<i4", SCONCE_DTYPE_I32},
                                      {"<i2", SCONCE_DTYPE_I16},
                                      {"|i1", SCONCE_DTYPE_I8},
                                      {"|u1", SCONCE_DTYPE_U8},
                                      {"<u2", SCONCE_DTYPE_U16},
                                      {"<u4", SCONCE_DTYPE_U32},
                                      {"<u8", SCONCE_DTYPE_U64},
                                      {"|b1", SCONCE_DTYPE_BOOL},
                                      {"<c8", SCONCE_DTYPE_C64},
                                      {"<c16", SCONCE_DTYPE_C128}}};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + ": " + why);
}

// Whether NumPy lacks a type, and F32 represents its numbers.
bool is_foreign(std::int32_t dtype) {
  return dtype == SCONCE_DTYPE_BF16 ||
         (dtype >= SCONCE_DTYPE_F8_E4M3FN && dtype <= SCONCE_DTYPE_F8_E8M0FNU);
}

// The text behind `'key':` of the header, which is a Python dictionary.
std::string value_of(const std::string& header, const std::string& key, const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  const std::size_t value =
      at == std::string::npos ? at : header.find_first_not_of(' ', at + key.size() + 3);
  if (value == std::string::npos) {
    fail(path, "the header has no " + key);
  }
  return header.substr(value);
}

std::size_t bytes_of(std::int32_t dtype) {
  std::size_t bytes = 0;
  sconce::detail::check(::sconce_dtype_get_bytes(dtype, &bytes));
  return bytes;
}

// Sizes in parentheses, each followed by a comma, except that the last one need not be.
std::vector<std::int64_t> shape_of(const std::string& header, const std::string& path) {
  constexpr std::size_t most_dimensions = 64;
  const std::string text = value_of(header, "shape", path);
  std::vector<std::int64_t> shape;
  std::size_t at = 1;
  const auto skip_blanks = [&] { at = std::min(text.find_first_not_of(' ', at), text.size()); };
  if (text[0] != '(') {
    fail(path, "the shape is not understood");
  }
  for (skip_blanks(); at < text.size() && text[at] != ')'; skip_blanks()) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (end == at || shape.size() == most_dimensions) {
      fail(path, "the shape is not understood");
    }
    if (end - at > 15) {
      fail(path, "a size is too large");
    }
    shape.push_back(std::stoll(text.substr(at, end - at)));
    at = end;
    skip_blanks();
    if (at < text.size() && text[at] == ',') {
      ++at;
    } else if (at == text.size() || text[at] != ')') {
      fail(path, "the shape is not understood");
    }
  }
  if (at == text.size()) {
    fail(path, "the shape is not understood");
  }
  return shape;
}

// Bytes of all elements; more than memory has if that is more than numbers have.
std::size_t bytes_of(const std::vector<std::int64_t>& shape, std::int32_t dtype) {
  std::size_t bytes = bytes_of(dtype);
  for (const std::int64_t size : shape) {
    if (size == 0) {
      return 0;
    }
    const bool fits = bytes <= SIZE_MAX / static_cast<std::size_t>(size);
    bytes = fits ? bytes * static_cast<std::size_t>(size) : SIZE_MAX;
  }
  return bytes;
}

// The type of the elements; for raw bytes the type that is wanted, if they have its width.
std::int32_t dtype_of(const std::string& descr, std::int32_t wanted, const std::string& path) {
  for (const Kind& kind : kinds) {
    if (descr.rfind("'" + std::string(kind.name) + "'", 0) == 0) {
      return kind.dtype;
    }
  }
  for (const char* const raw : {"|V1", "<V1", "|V2", "<V2"}) {
    if (descr.rfind("'" + std::string(raw) + "'", 0) != 0) {
      continue;
    }
    if (!is_foreign(wanted) || bytes_of(wanted) != static_cast<std::size_t>(raw[2] - '0')) {
      fail(path, std::string("has bytes of no type (") + raw +
                     "), which are read for an input of bfloat16 or of 8-bit floating-point "
                     "numbers; save an array of float32");
    }
    return wanted;
  }
  fail(path, "has a type that is not read: " + descr.substr(0, descr.find(',')));
}

// The text that describes the array, and the place of the elements as the file's position.
std::string header_of(std::ifstream& file, const std::string& path) {
  std::array<char, 8> begin{};
  const bool has_begin = static_cast<bool>(file.read(begin.data(), begin.size()));
  if (!has_begin || std::string(begin.data(), 6) != "\x93NUMPY") {
    fail(path, "is no .npy file; write the array with numpy.save");
  }
  if (begin[6] < 1 || begin[6] > 3) {
    fail(path, "is of version " + std::to_string(begin[6]) + " of the format; 1 to 3 are read");
  }
  std::array<unsigned char, 4> length{};
  const std::streamsize width = begin[6] == 1 ? 2 : 4;
  file.read(reinterpret_cast<char*>(length.data()), width);
  const std::uint32_t bytes = std::uint32_t{length[0]} | std::uint32_t{length[1]} << 8U |
                              std::uint32_t{length[2]} << 16U | std::uint32_t{length[3]} << 24U;
  if (!file || bytes > (1U << 20U)) {
    fail(path, "the header is damaged");
  }
  std::string header(bytes, '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(bytes))) {
    fail(path, "the header is cut off");
  }
  return header;
}

// A tensor of values in row-major order, or in column-major order.
sconce::Tensor tensor_of(const std::vector<char>& values, std::vector<std::int64_t> shape,
                         std::int32_t dtype, bool column_major) {
  if (column_major) {
    std::reverse(shape.begin(), shape.end());
  }
  sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
  options.dtype = dtype;
  options.device = SCONCE_DEVICE_CPU;
  sconce_tensor* made = nullptr;
  sconce::detail::check(::sconce_tensor_from_values(values.data(), values.size(), shape.data(),
                                                    shape.size(), &options, &made));
  const sconce::Tensor tensor = sconce::Tensor::adopt(made);
  std::vector<std::int64_t> dims;
  for (std::size_t dim = shape.size(); column_major && dim > 0; --dim) {
    dims.push_back(static_cast<std::int64_t>(dim) - 1);
  }
  return dims.size() < 2 ? tensor : tensor.permute(dims);
}

}  // namespace

sconce::Tensor read_npy(const std::string& path, std::int32_t wanted) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  }
  const std::string header = header_of(file, path);
  const std::string order = value_of(header, "fortran_order", path);
  const bool column_major = order.rfind("True", 0) == 0;
  if (!column_major && order.rfind("False", 0) != 0) {
    fail(path, "the header has no fortran_order");
  }
  const std::int32_t dtype = dtype_of(value_of(header, "descr", path), wanted, path);
  const std::vector<std::int64_t> shape = shape_of(header, path);
  const std::size_t bytes = bytes_of(shape, dtype);
  const std::streampos here = file.tellg();
  file.seekg(0, std::ios::end);
  if (static_cast<std::size_t>(file.tellg() - here) != bytes) {
    fail(path, "has another number of elements than its header says");
  }
  file.seekg(here);
  std::vector<char> values(bytes);
  if (!file.read(values.data(), static_cast<std::streamsize>(bytes))) {
    fail(path, "cannot be read");
  }
  const sconce::Tensor tensor = tensor_of(values, shape, dtype, column_major);
  const bool is_real =
      dtype == SCONCE_DTYPE_F16 || dtype == SCONCE_DTYPE_F32 || dtype == SCONCE_DTYPE_F64;
  if (!is_foreign(wanted) || !is_real) {
    return tensor;
  }
  sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
  options.dtype = wanted;
  options.device = SCONCE_DEVICE_CPU;
  sconce_tensor* converted = nullptr;
  sconce::detail::check(::sconce_tensor_to(tensor.get(), &options, false, false, &converted));
  return sconce::Tensor::adopt(converted);
}

void write_npy(const std::string& path, const sconce::Tensor& tensor) {
  std::int32_t dtype = 0;
  sconce::detail::check(::sconce_tensor_get_dtype(tensor.get(), &dtype));
  sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
  options.device = SCONCE_DEVICE_CPU;
  options.dtype = is_foreign(dtype) ? SCONCE_DTYPE_F32 : dtype;
  options.memory_format = SCONCE_MEMORY_FORMAT_CONTIGUOUS;
  sconce_tensor* handle = nullptr;
  sconce::detail::check(::sconce_tensor_to(tensor.get(), &options, false, false, &handle));
  const sconce::Tensor here = sconce::Tensor::adopt(handle);
  const char* descr = nullptr;
  for (const Kind& kind : kinds) {
    descr = kind.dtype == options.dtype ? kind.name : descr;
  }
  if (descr == nullptr) {
    fail(path, "NumPy has no type for this tensor");
  }
  std::string shape;
  for (const std::int64_t size : here.sizes()) {
    shape += std::to_string(size) + ", ";
  }
  const std::size_t bytes = bytes_of(here.sizes().vec(), options.dtype);
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((10 + header.size() + 1) % 64 != 0) {
    header += ' ';
  }
  header += '\n';
  std::vector<char> values(bytes);
  sconce::detail::check(::sconce_tensor_to_values(here.get(), values.data(), bytes));
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() & 0xffU)
       << static_cast<char>(header.size() >> 8U) << header;
  file.write(values.data(), static_cast<std::streamsize>(bytes));
  if (!file.flush()) {
    fail(path, "cannot be written");
  }
}
