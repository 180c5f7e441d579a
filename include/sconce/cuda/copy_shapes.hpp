/// \file
/// Copies of parts: rows with pitches, and elements with strides.
#ifndef SCONCE_CUDA_COPY_SHAPES_HPP
#define SCONCE_CUDA_COPY_SHAPES_HPP

#include <sconce/c/copy.h>
#include <sconce/c/library.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <sconce/cuda/copy.hpp>
#include <string>
#include <type_traits>

namespace sconce {
inline namespace v0 {
namespace detail {

/// "(2, 3)".
inline std::string words_of(cuda::Span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "(" + text + ")";
}

}  // namespace detail
}  // namespace v0
}  // namespace sconce

namespace sconce {
inline namespace v0 {
namespace cuda {

/// Rows of elements in a view, of the host or of a device: `height` rows of `width` elements, each
/// of which begins `pitch` elements after the previous one.
///
/// If a pitch is not a whole number of elements, view the rows as `std::byte`.
template <class T>
class Rows {
 public:
  /// Rows at the beginning of a view, without gaps.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if they leave the view
  template <template <class> class View>
  Rows(View<T> view, std::size_t height, std::size_t width) : Rows(view, height, width, width) {}

  /// Rows at the beginning of a view, `pitch` elements apart.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if they leave the view, or overlap
  template <template <class> class View>
  Rows(View<T> view, std::size_t height, std::size_t width, std::size_t pitch)
      : data_(view.data()), height_(height), width_(width), pitch_(pitch) {
    static_assert(detail::is_view_v<View<T>>, "rows are in a Span or a DeviceSpan");
    const bool fits =
        height == 0 || width == 0 ||
        (width <= view.size() && (pitch == 0 || height - 1 <= (view.size() - width) / pitch));
    if (pitch < width) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "a pitch of " + std::to_string(pitch) + " is less than a row of " +
                      std::to_string(width) +
                      " elements; it counts from the beginning of a row to that of the next");
    }
    if (!fits) {
      throw_no_rows(height, width, pitch, view.size());
    }
  }

  /// A buffer has no element type: make rows of a view of it.
  template <class Buffer, class... Numbers,
            std::enable_if_t<detail::has_bytes_v<const Buffer>, int> = 0>
  explicit Rows(const Buffer&, Numbers...) {
    static_assert(!detail::has_bytes_v<const Buffer>,
                  "a buffer has no element type: pass buffer.span<T>()");
  }

  /// The address of the first row.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// The number of rows.
  [[nodiscard]] std::size_t height() const noexcept { return height_; }
  /// Elements of a row.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Elements from the beginning of a row to that of the next.
  [[nodiscard]] std::size_t pitch() const noexcept { return pitch_; }

 private:
  [[noreturn]] static void throw_no_rows(std::size_t height, std::size_t width, std::size_t pitch,
                                         std::size_t size) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                std::to_string(height) + " rows of " + std::to_string(width) + " elements, " +
                    std::to_string(pitch) + " apart, are not within " + std::to_string(size) +
                    " elements");
  }

  T* data_;
  std::size_t height_;
  std::size_t width_;
  std::size_t pitch_;
};

/// Selects the message with which a buffer is refused.
template <class Buffer, class... Numbers,
          std::enable_if_t<detail::has_bytes_v<const Buffer>, int> = 0>
Rows(const Buffer&, Numbers...) -> Rows<std::byte>;

/// Copies rows. Ordering and blocking are those of `copy_`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless both sides have equally many rows of equal
///         width
template <class Dst, class Src>
void copy_2d_(const Rows<Dst>& dst, const Rows<Src>& src, bool non_blocking = false,
              const OptionalStream& stream = std::nullopt) {
  static_assert(!std::is_const_v<Dst>, "the destination is const");
  static_assert(detail::same_elements_v<Dst, Src>,
                "the elements have different types: convert them, or copy rows of std::byte");
  const std::size_t width_bytes = dst.width() * sizeof(Dst);
  if (dst.height() != src.height() || width_bytes != src.width() * sizeof(Src)) {
    const auto words = [](std::size_t height, std::size_t width, std::size_t element) {
      return detail::counted(height, "row") + " of " + detail::words_of(width, element);
    };
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                "dst has " + words(dst.height(), dst.width(), sizeof(Dst)) + ", src has " +
                    words(src.height(), src.width(), sizeof(Src)) + "; both must be the same");
  }
  detail::call_on(stream, ::sconce_copy_2d, ::sconce_copy_2d_on, dst.data(),
                  dst.pitch() * sizeof(Dst), src.data(), src.pitch() * sizeof(Src), width_bytes,
                  dst.height(), non_blocking);
}

/// Sets every byte of rows to `value`. The ordering is that of `memory_set`.
template <class Dst>
void memory_set_2d(const Rows<Dst>& dst, std::uint8_t value,
                   const OptionalStream& stream = std::nullopt) {
  static_assert(!std::is_const_v<Dst>, "the destination is const");
  detail::call_on(stream, ::sconce_memory_set_2d, ::sconce_memory_set_2d_on, dst.data(),
                  dst.pitch() * sizeof(Dst), value, dst.width() * sizeof(Dst), dst.height());
}

/// Elements of a view, of the host or of a device, by their indices along up to 8 axes: sizes, and
/// strides in elements, from the outermost axis to the innermost. `as_strided` constructs one.
///
/// Corresponds to the geometry of `at::Tensor`.
template <class T>
class Strided {
 public:
  /// Prefer `as_strided`.
  template <template <class> class View>
  Strided(View<T> view, Span<const std::int64_t> sizes, Span<const std::int64_t> strides,
          std::size_t storage_offset)
      : rank_(sizes.size()) {
    static_assert(detail::is_view_v<View<T>>, "elements are in a Span or a DeviceSpan");
    if (sizes.size() > kMostAxes || sizes.size() != strides.size()) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  std::to_string(sizes.size()) + " sizes and " + std::to_string(strides.size()) +
                      " strides: there must be equally many, at most " + std::to_string(kMostAxes));
    }
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    std::copy(strides.begin(), strides.end(), strides_.begin());
    check_within(view.size(), storage_offset);
    data_ = view.data() + storage_offset;
  }

  /// The element whose indices are all 0.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// The number of axes.
  [[nodiscard]] std::size_t dim() const noexcept { return rank_; }
  /// Elements along each axis.
  [[nodiscard]] Span<const std::int64_t> sizes() const noexcept { return {sizes_.data(), rank_}; }
  /// The distance of elements along each axis.
  [[nodiscard]] Span<const std::int64_t> strides() const noexcept {
    return {strides_.data(), rank_};
  }

  /// Returns the same elements with the axes in another order: axis i is the former axis `axes[i]`.
  /// Corresponds to `at::Tensor::permute`.
  /// \throws Error unless each axis is named once
  [[nodiscard]] Strided permute(std::initializer_list<std::size_t> axes) const {
    return permute(Span(axes.begin(), axes.size()));
  }
  /// Returns the same elements with the axes in an order that is known at run time.
  [[nodiscard]] Strided permute(Span<const std::size_t> axes) const {
    Strided permuted(*this);
    std::array<bool, kMostAxes> named{};
    std::size_t place = 0;
    for (const std::size_t axis : axes) {
      if (place == rank_ || axis >= rank_ || named[axis]) {
        break;
      }
      named[axis] = true;
      permuted.sizes_[place] = sizes_[axis];
      permuted.strides_[place] = strides_[axis];
      ++place;
    }
    if (place != rank_ || axes.size() != rank_) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "an order of " + std::to_string(rank_) +
                                                     " axes names each of them once, from 0 on");
    }
    return permuted;
  }

 private:
  static constexpr std::size_t kMostAxes = SCONCE_COPY_MOST_AXES;

  // Every element lies at the offset, plus positive strides times indices, less negative ones.
  void check_within(std::size_t size, std::size_t offset) const {
    bool empty = false;
    for (const std::int64_t axis : sizes()) {
      if (axis < 0) {
        throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "a size of " + std::to_string(axis));
      }
      empty = empty || axis == 0;
    }
    bool fits = empty ? offset <= size : offset < size;
    std::size_t before = offset;
    std::size_t behind = fits && !empty ? size - 1 - offset : 0;
    for (std::size_t axis = 0; axis < rank_ && fits && !empty; ++axis) {
      const auto steps = static_cast<std::size_t>(sizes_[axis] - 1);
      const std::int64_t stride = strides_[axis];
      std::size_t& room = stride < 0 ? before : behind;
      const std::size_t step = stride < 0 ? std::size_t{0} - static_cast<std::size_t>(stride)
                                          : static_cast<std::size_t>(stride);
      fits = step == 0 || steps <= room / step;
      room -= fits ? steps * step : 0;
    }
    if (!fits) {
      throw Error(SCONCE_ERROR_INVALID_ARGUMENT,
                  "sizes " + detail::words_of(this->sizes()) + " with strides " +
                      detail::words_of(strides()) + " from element " + std::to_string(offset) +
                      " on leave a span of " + std::to_string(size) +
                      " elements; strides count elements");
    }
  }

  T* data_ = nullptr;
  std::size_t rank_;
  std::array<std::int64_t, kMostAxes> sizes_{};
  std::array<std::int64_t, kMostAxes> strides_{};
};

/// Returns the elements of a view by sizes and strides, both from the outermost axis on. The
/// element with the indices 0 is the `storage_offset`-th. Negative strides lead backwards from
/// there; 0 repeats an element.
///
/// Corresponds to `at::Tensor::as_strided`.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if an element would leave the view
template <class T, template <class> class View>
[[nodiscard]] Strided<T> as_strided(View<T> view, std::initializer_list<std::int64_t> sizes,
                                    std::initializer_list<std::int64_t> strides,
                                    std::size_t storage_offset = 0) {
  return Strided<T>(view, Span(sizes.begin(), sizes.size()), Span(strides.begin(), strides.size()),
                    storage_offset);
}
/// As above, for sizes and strides that are known at run time.
template <class T, template <class> class View>
[[nodiscard]] Strided<T> as_strided(View<T> view, Span<const std::int64_t> sizes,
                                    Span<const std::int64_t> strides,
                                    std::size_t storage_offset = 0) {
  return Strided<T>(view, sizes, strides, storage_offset);
}

/// A buffer has no element type: make strides of a view of it.
template <class Buffer, std::enable_if_t<detail::has_bytes_v<const Buffer>, int> = 0>
void as_strided(const Buffer&, std::initializer_list<std::int64_t>,
                std::initializer_list<std::int64_t>, std::size_t = 0) {
  static_assert(!detail::has_bytes_v<const Buffer>,
                "a buffer has no element type: pass buffer.span<T>()");
}
/// As above, for sizes and strides that are known at run time.
template <class Buffer, std::enable_if_t<detail::has_bytes_v<const Buffer>, int> = 0>
void as_strided(const Buffer&, Span<const std::int64_t>, Span<const std::int64_t>,
                std::size_t = 0) {
  static_assert(!detail::has_bytes_v<const Buffer>,
                "a buffer has no element type: pass buffer.span<T>()");
}

/// Copies elements to the same indices. Ordering and blocking are those of `copy_`, except that the
/// call returns when the copy is done if the host's side is not packed.
/// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless both sides have the same sizes
template <class Dst, class Src>
void copy_strided_(const Strided<Dst>& dst, const Strided<Src>& src, bool non_blocking = false,
                   const OptionalStream& stream = std::nullopt) {
  static_assert(!std::is_const_v<Dst>, "the destination is const");
  static_assert(std::is_same_v<std::remove_cv_t<Dst>, std::remove_cv_t<Src>>,
                "the elements have different types: convert them");
  static_assert(std::is_trivially_copyable_v<Dst>, "the elements cannot be copied byte by byte");
  const auto sizes = dst.sizes();
  const auto other = src.sizes();
  if (!std::equal(sizes.begin(), sizes.end(), other.begin(), other.end())) {
    throw Error(SCONCE_ERROR_INVALID_ARGUMENT, "dst has sizes " + detail::words_of(sizes) +
                                                   ", src has sizes " + detail::words_of(other) +
                                                   "; both must be the same");
  }
  sconce_strided_copy shape{};
  shape.struct_size = static_cast<std::uint32_t>(sizeof(shape));
  shape.rank = static_cast<std::int32_t>(dst.dim());
  shape.element_bytes = sizeof(Dst);
  std::copy(sizes.begin(), sizes.end(), shape.sizes);
  std::copy(dst.strides().begin(), dst.strides().end(), shape.dst_strides);
  std::copy(src.strides().begin(), src.strides().end(), shape.src_strides);
  const sconce_strided_copy* described = &shape;
  detail::call_on(stream, ::sconce_copy_strided, ::sconce_copy_strided_on, described, dst.data(),
                  src.data(), non_blocking);
}

}  // namespace cuda
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_CUDA_COPY_SHAPES_HPP
