// The places of elements in sorted lines, in the order in which PyTorch's operations on the CPU
// return equal elements. These sort pairs of an element and its place with the algorithms of C++'s
// standard library, which keep equal elements in an order of their own. Which algorithm is called
// decides the order, so it is the same here.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace {

template <class T>
struct Element {
  T value;
  std::int64_t place;
};

template <class T>
bool is_nan(T value) {
  return value != value;
}

// NaN is larger than every number.
template <class T>
bool is_less(T a, T b) {
  return (!is_nan(a) && is_nan(b)) || a < b;
}

template <class T>
bool is_greater(T a, T b) {
  return (is_nan(a) && !is_nan(b)) || a > b;
}

template <class T, class Before>
void sorted(std::vector<Element<T>>& line, Before before) {
  std::sort(line.begin(), line.end(), before);
}

// The first elements: a part of the line is sorted if they are few, else they are separated from
// the others and sorted if that is wanted.
template <class T, class Before>
void first(std::vector<Element<T>>& line, std::int64_t count, bool in_order, Before before) {
  const auto begin = line.begin();
  if (count * 64 <= static_cast<std::int64_t>(line.size())) {
    std::partial_sort(begin, begin + count, line.end(), before);
    return;
  }
  std::nth_element(begin, begin + count - 1, line.end(), before);
  if (in_order) {
    std::sort(begin, begin + count - 1, before);
  }
}

// Puts the element that would be at a place of the sorted line there, with smaller ones before it
// and larger ones behind. The pivot is the one in the middle of three, which are the first, the
// last and the one between them; two places move towards each other and exchange what is on the
// wrong side, equal elements included.
template <class T>
void select(std::vector<Element<T>>& line, std::int64_t wanted) {
  std::int64_t low = 0;
  auto high = static_cast<std::int64_t>(line.size()) - 1;
  const auto exchange = [&](std::int64_t a, std::int64_t b) { std::swap(line[a], line[b]); };
  const auto order = [&](std::int64_t a, std::int64_t b) {
    if (is_greater(line[a].value, line[b].value)) {
      exchange(a, b);
    }
  };
  while (low < high) {
    if (high == low + 1) {
      order(low, high);
      return;
    }
    exchange(low + (high - low) / 2, low + 1);
    order(low + 1, high);
    order(low, high);
    // Now the one in the middle of the three goes to the first place, and the smallest to the
    // second.
    order(low + 1, low);
    const T pivot = line[low].value;
    std::int64_t up = low + 1;
    std::int64_t down = high;
    while (true) {
      do {
        ++up;
      } while (is_greater(pivot, line[up].value));
      do {
        --down;
      } while (is_greater(line[down].value, pivot));
      if (down < up) {
        break;
      }
      exchange(up, down);
    }
    exchange(low, down);
    const std::int64_t end = down;
    if (end <= wanted) {
      low = up;
    }
    if (end >= wanted) {
      high = end - 1;
    }
  }
}

// The place of the element that occurs most often, the last one of its run after a sort. The
// comparison knows nothing of NaN, as PyTorch's does not, so elements may lie anywhere if there
// are such. An element more at either end is never before another one: a search that leaves the
// line, for want of an order, ends there.
template <class T>
std::int64_t most_frequent(const T* values, std::int64_t length, std::vector<Element<T>>& line) {
  line.resize(static_cast<std::size_t>(length) + 2);
  line.front() = line.back() = {std::numeric_limits<T>::quiet_NaN(), 0};
  for (std::int64_t place = 0; place < length; ++place) {
    line[place + 1] = {values[place], place};
  }
  const auto begin = line.begin() + 1;
  std::sort(begin, begin + length,
            [](const Element<T>& a, const Element<T>& b) { return a.value < b.value; });
  std::int64_t best = 0;
  std::int64_t most = 0;
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < length; ++at) {
    ++count;
    if (at == length - 1 || begin[at].value != begin[at + 1].value) {
      if (count > most) {
        best = begin[at].place;
        most = count;
      }
      count = 0;
    }
  }
  return best;
}

// What is looked for, as `Search` of places.rs has it.
enum Search : std::int32_t { whole = 0, some = 1, some_in_order = 2, one = 3, frequent = 4 };

template <class T>
void places(const T* values, std::int64_t lines, std::int64_t length, std::int64_t count,
            std::int32_t search, bool largest, std::int64_t* to) {
  std::vector<Element<T>> line(static_cast<std::size_t>(length));
  for (std::int64_t at = 0; at < lines; ++at, values += length) {
    if (search == frequent) {
      *to++ = most_frequent(values, length, line);
      continue;
    }
    for (std::int64_t place = 0; place < length; ++place) {
      line[place] = {values[place], place};
    }
    const auto arrange = [&](auto before) {
      if (search == whole) {
        sorted(line, before);
      } else {
        first(line, count, search == some_in_order, before);
      }
    };
    using Pair = Element<T>;
    if (search == one) {
      select(line, count - 1);
      *to++ = line[count - 1].place;
      continue;
    }
    if (largest) {
      arrange([](const Pair& a, const Pair& b) { return is_greater(a.value, b.value); });
    } else {
      arrange([](const Pair& a, const Pair& b) { return is_less(a.value, b.value); });
    }
    for (std::int64_t place = 0; place < count; ++place) {
      *to++ = line[place].place;
    }
  }
}

}  // namespace

// Writes the places of `count` elements of each line, or of the one that is looked for. Returns
// whether there was memory.
extern "C" bool sconce_torch_places(const void* values, std::int32_t kind, std::int64_t lines,
                                    std::int64_t length, std::int64_t count, std::int32_t search,
                                    bool largest, std::int64_t* to) noexcept {
  try {
    switch (kind) {
      case 0:
        places(static_cast<const float*>(values), lines, length, count, search, largest, to);
        break;
      case 1:
        places(static_cast<const double*>(values), lines, length, count, search, largest, to);
        break;
      default:
        places(static_cast<const std::int64_t*>(values), lines, length, count, search, largest, to);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (...) {
    // A length that no vector has.
    return false;
  }
}
