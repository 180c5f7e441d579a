#include "npy.hpp"

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

// The text behind `'key':` of the header, which is a Python dictionary.
std::string value_of(const std::string& header, const std::string& key, const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) {
    fail(path, "the header has no " + key);
  }
  return header.substr(header.find_first_not_of(' ', at + key.size() + 3));
}

std::size_t bytes_of(std::int32_t dtype) {
  std::size_t bytes = 0;
  sconce::detail::check(::sconce_dtype_get_bytes(dtype, &bytes));
  return bytes;
}

std::vector<std::int64_t> shape_of(const std::string& header, const std::string& path) {
  const std::string text = value_of(header, "shape", path);
  if (text.empty() || text[0] != '(' || text.find(')') == std::string::npos) {
    fail(path, "the header has no shape");
  }
  std::vector<std::int64_t> shape;
  std::size_t at = 1;
  while (text[at] != ')') {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    std::int64_t size = 0;
    std::size_t digits = 0;
    while (text[at] >= '0' && text[at] <= '9') {
      size = size * 10 + (text[at++] - '0');
      if (++digits > 15) {
        fail(path, "a size is too large");
      }
    }
    if (digits == 0) {
      fail(path, "the shape is not understood");
    }
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

sconce::Tensor read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> begin{};
  if (!file) {
    fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  }
  const bool has_begin = static_cast<bool>(file.read(begin.data(), begin.size()));
  if (!has_begin || std::string(begin.data(), 6) != "\x93NUMPY") {
    fail(path, "is no .npy file; write the array with numpy.save");
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
  if (value_of(header, "fortran_order", path).rfind("False", 0) != 0) {
    fail(path, "is in column-major order; save numpy.ascontiguousarray of it");
  }
  const std::string descr = value_of(header, "descr", path);
  for (const Kind& kind : kinds) {
    if (descr.rfind("'" + std::string(kind.name) + "'", 0) != 0) {
      continue;
    }
    const std::vector<std::int64_t> shape = shape_of(header, path);
    std::size_t count = bytes_of(kind.dtype);
    for (const std::int64_t size : shape) {
      count *= static_cast<std::size_t>(size);
    }
    const std::streampos here = file.tellg();
    file.seekg(0, std::ios::end);
    if (static_cast<std::size_t>(file.tellg() - here) != count) {
      fail(path, "has another number of elements than its header says");
    }
    file.seekg(here);
    std::vector<char> values(count);
    file.read(values.data(), static_cast<std::streamsize>(count));
    sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
    options.dtype = kind.dtype;
    options.device = SCONCE_DEVICE_CPU;
    sconce_tensor* tensor = nullptr;
    sconce::detail::check(::sconce_tensor_from_values(values.data(), count, shape.data(),
                                                      shape.size(), &options, &tensor));
    return sconce::Tensor::adopt(tensor);
  }
  fail(path, "has a type that is not read: " + descr.substr(0, descr.find(',')));
}

void write_npy(const std::string& path, const sconce::Tensor& tensor) {
  std::int32_t dtype = 0;
  sconce::detail::check(::sconce_tensor_get_dtype(tensor.get(), &dtype));
  sconce_tensor_options options = SCONCE_TENSOR_OPTIONS_INIT;
  options.device = SCONCE_DEVICE_CPU;
  options.dtype = dtype == SCONCE_DTYPE_BF16 ? SCONCE_DTYPE_F32 : dtype;
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
  std::size_t bytes = bytes_of(options.dtype);
  for (const std::int64_t size : here.sizes()) {
    shape += std::to_string(size) + ", ";
    bytes *= static_cast<std::size_t>(size);
  }
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
