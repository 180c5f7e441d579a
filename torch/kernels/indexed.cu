// Elements at indices: reads (index, gather), writes (index_put, scatter) and writes that combine
// (accumulate, scatter_reduce): docs/design/torch_operations.md.
//
// Three operands are walked together: the table, of which indices choose a place; the other, to
// which elements go or from which they come; and the indices. Strides are in bytes, axes go from
// the innermost to the outermost. A launch has fewer than 2^31 elements.

#include "element.cuh"

// These are in `operations/indexed/device.rs` too: axes, lists of indices, a block's threads, and a
// thread's elements.
constexpr u32 MOST_AXES = 8;
constexpr u32 MOST_LISTS = 8;
constexpr u32 THREADS = 128;
constexpr u32 EACH = 4;

struct Axis {
  u64 divisor;  // the axis's size, and above it the factor that divides by it
  i64 table, other, index;
};

// A dimension of the table that is chosen.
struct List {
  u64 indices;
  i64 size;
  i64 step;  // bytes from one index's elements to those of the next
};

struct Walk {
  u64 table, other;
  u32 count, axes, lists;
  u32 wide;      // indices have 64 bits, else 32
  u32 from_end;  // negative indices count from the end
  u32 reserved;
  Axis axis[MOST_AXES];
  List list[MOST_LISTS];
};

// Where a thread's elements are.
struct Places {
  char* table[EACH];
  char* other[EACH];
  bool is_there[EACH];
};

// False if an index is out of range, after which nothing may be read or written.
SCONCE_INLINE bool find(const Walk& walk, Places& places) {
  const u32 first = blockIdx.x * (THREADS * EACH) + threadIdx.x;
  u32 rest[EACH];
  i64 at[EACH];
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    rest[k] = first + k * THREADS, at[k] = 0;
    places.is_there[k] = rest[k] < walk.count;
    places.table[k] = (char*)walk.table, places.other[k] = (char*)walk.other;
  }
#pragma unroll 1
  for (u32 a = 0; a < walk.axes; a++) {
    const Axis axis = walk.axis[a];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      // The outermost axis takes what is left.
      const u32 next = a + 1 == walk.axes ? 0 : quotient(rest[k], axis.divisor);
      const u32 here = rest[k] - next * (u32)axis.divisor;
      places.table[k] += here * axis.table, places.other[k] += here * axis.other;
      at[k] += here * axis.index;
      rest[k] = next;
    }
  }
#pragma unroll 1
  for (u32 l = 0; l < walk.lists; l++) {
    const List list = walk.list[l];
    const char* indices = (const char*)list.indices;
    i64 index[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      index[k] = 0;
      if (places.is_there[k]) {
        index[k] = walk.wide ? *(const i64*)(indices + at[k]) : *(const i32*)(indices + at[k]);
      }
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
      if (walk.from_end && index[k] < 0) index[k] += list.size;
      if (places.is_there[k] && (u64)index[k] >= (u64)list.size) {
        __assertfail("index out of range", "indexed.cu", __LINE__, "indexed", 1);
        return false;
      }
      places.table[k] += index[k] * list.step;
    }
  }
  return true;
}

template <typename T>
SCONCE_INLINE void get(const Walk& walk) {
  Places places;
  if (!find(walk, places)) return;
  T values[EACH];
  // All loads before all stores, so that they are under way together.
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (places.is_there[k]) values[k] = *(const T*)places.table[k];
  }
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (places.is_there[k]) *(T*)places.other[k] = values[k];
  }
}

template <typename T>
SCONCE_INLINE void put(const Walk& walk) {
  Places places;
  if (!find(walk, places)) return;
  T values[EACH];
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (places.is_there[k]) values[k] = *(const T*)places.other[k];
  }
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (places.is_there[k]) *(T*)places.table[k] = values[k];
  }
}

// As in `operations/indexed/mod.rs`.
enum Combine : u32 { SUM = 0, PRODUCT = 1, MOST = 2, LEAST = 3 };

template <typename T>
SCONCE_INLINE T combined(T old, T value, u32 combine) {
  typedef Wide<T> W;
  const W first = wide(old), second = wide(value);
  switch (combine) {
    case SUM:
      return narrow<T>((W)(first + second));
    case PRODUCT:
      return narrow<T>((W)(first * second));
    // NaN wins.
    case MOST:
      return second > first || second != second ? value : old;
    default:
      return second < first || second != second ? value : old;
  }
}

SCONCE_INLINE bool combined(bool old, bool value, u32 combine) {
  return combine == SUM || combine == MOST ? old || value : old && value;
}

template <typename To, typename From>
SCONCE_INLINE To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "types of one size");
  union {
    From from;
    To to;
  } both;
  both.from = value;
  return both.to;
}

// Replaces an element by what it and the value give, however many threads do so.
template <typename T, u32 BYTES = sizeof(T)>
struct Atomic;

template <typename T>
struct Atomic<T, 8> {
  SCONCE_INLINE void combine(T* place, T value, u32 how) {
    u64* bits = (u64*)place;
    u64 seen = *bits;
    while (true) {
      const u64 wanted = bits_as<u64>(combined(bits_as<T>(seen), value, how));
      const u64 before = atomicCAS(bits, seen, wanted);
      if (before == seen) return;
      seen = before;
    }
  }
};

template <typename T>
struct Atomic<T, 4> {
  SCONCE_INLINE void combine(T* place, T value, u32 how) {
    u32* bits = (u32*)place;
    u32 seen = *bits;
    while (true) {
      const u32 wanted = bits_as<u32>(combined(bits_as<T>(seen), value, how));
      const u32 before = atomicCAS(bits, seen, wanted);
      if (before == seen) return;
      seen = before;
    }
  }
};

// Elements of one or two bytes are replaced within their word.
template <typename T, typename Bits>
SCONCE_INLINE void combine_within_word(T* place, T value, u32 how) {
  u32* word = (u32*)((u64)place & ~(u64)3);
  const u32 shift = ((u32)(u64)place & 3) * 8, mask = (u32)(Bits)-1 << shift;
  u32 seen = *word;
  while (true) {
    const Bits wanted = bits_as<Bits>(combined(bits_as<T>((Bits)(seen >> shift)), value, how));
    const u32 before = atomicCAS(word, seen, (seen & ~mask) | (u32)wanted << shift);
    if (before == seen) return;
    seen = before;
  }
}

template <typename T>
struct Atomic<T, 2> {
  SCONCE_INLINE void combine(T* place, T value, u32 how) {
    combine_within_word<T, u16>(place, value, how);
  }
};

template <typename T>
struct Atomic<T, 1> {
  SCONCE_INLINE void combine(T* place, T value, u32 how) {
    combine_within_word<T, u8>(place, value, how);
  }
};

// Sums that the hardware has.
SCONCE_INLINE bool add(float* place, float value) {
  atomicAdd(place, value);
  return true;
}

SCONCE_INLINE bool add(double* place, double value) {
  atomicAdd(place, value);
  return true;
}

SCONCE_INLINE bool add(i32* place, i32 value) {
  atomicAdd(place, value);
  return true;
}

SCONCE_INLINE bool add(i64* place, i64 value) {
  atomicAdd((u64*)place, (u64)value);
  return true;
}

template <typename T>
SCONCE_INLINE bool add(T* place, T value) {
  return false;
}

template <typename T>
SCONCE_INLINE void combine(const Walk& walk, u32 how) {
  Places places;
  if (!find(walk, places)) return;
#pragma unroll
  for (u32 k = 0; k < EACH; k++) {
    if (!places.is_there[k]) continue;
    const T value = *(const T*)places.other[k];
    T* place = (T*)places.table[k];
    if (how != SUM || !add(place, value)) Atomic<T>::combine(place, value, how);
  }
}

#define MOVES(bytes, T)                                             \
  extern "C" __global__ void __launch_bounds__(THREADS)             \
      sconce_torch_get_##bytes(const __grid_constant__ Walk walk) { \
    get<T>(walk);                                                   \
  }                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS)             \
      sconce_torch_put_##bytes(const __grid_constant__ Walk walk) { \
    put<T>(walk);                                                   \
  }

MOVES(1, u8)
MOVES(2, u16)
MOVES(4, u32)
MOVES(8, u64)
MOVES(16, uint4)

#define COMBINES(name, T)                                                             \
  extern "C" __global__ void __launch_bounds__(THREADS)                               \
      sconce_torch_combine_##name(const __grid_constant__ Walk walk, const u32 how) { \
    combine<T>(walk, how);                                                            \
  }

COMBINES(f32, float)
COMBINES(f64, double)
COMBINES(f16, Half)
COMBINES(bf16, Brain)
COMBINES(i8, i8)
COMBINES(i16, i16)
COMBINES(i32, i32)
COMBINES(i64, i64)
COMBINES(u8, u8)
COMBINES(bool, bool)
