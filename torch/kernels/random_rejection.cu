// Random numbers that are drawn until one fits: Poisson's, binomial and gamma distributions.

#include "any_element.cuh"
#include "random/philox.cuh"

// These are in `operations/random/rejection` too: a block's threads, and the blocks of four words
// that an element has. One that draws more goes on with those behind, which is next to impossible.
constexpr u32 THREADS = 256;
constexpr u64 BLOCKS_OF_ELEMENT = 64;

// Functions of several callers, so that an image has them once.
#define SCONCE_CALLED static __device__ __noinline__

constexpr double LARGEST_WHOLE = 9223372036854775808.;

// An element's own part of the generator's sequence.
struct Numbers {
  Key key;
  u64 block;
  u32 subsequence, used;
  Draw draw;
  double spare;
  bool has_spare;
};

// From 0 to 1, without 1.
SCONCE_CALLED double uniform(Numbers* numbers) {
  if (numbers->used == 4) {
    numbers->draw = philox(numbers->block++, numbers->subsequence, numbers->key);
    numbers->used = 0;
  }
  const u64 low = numbers->draw.w[numbers->used], high = numbers->draw.w[numbers->used + 1];
  numbers->used += 2;
  return (double)((high << 32 | low) >> 11) * 0x1p-53;
}

// Normally distributed, in pairs (Box and Muller).
SCONCE_CALLED double normal(Numbers* numbers) {
  if (numbers->has_spare) {
    numbers->has_spare = false;
    return numbers->spare;
  }
  const double radius = sqrt(-2 * log(1 - uniform(numbers)));
  const double angle = 6.28318530717958647692 * uniform(numbers);
  numbers->spare = radius * sin(angle);
  numbers->has_spare = true;
  return radius * cos(angle);
}

SCONCE_INLINE bool is_whole_number(double value) { return fabs(value) < LARGEST_WHOLE; }

// Events at a rate: products of numbers for small rates, else Hoermann's transformed rejection.
// Not a number where the rate is none, or below 0.
SCONCE_INLINE double poisson(double rate, double, Numbers* numbers) {
  if (rate == 0) return 0;
  if (!(rate > 0) || !is_whole_number(rate)) return rate < 0 ? sqrt(rate) : rate;
  if (rate < 10) {
    const double end = exp(-rate);
    double product = uniform(numbers), count = 0;
#pragma unroll 1
    for (; product > end; count++) product *= uniform(numbers);
    return count;
  }
  const double root = sqrt(rate), logarithm = log(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double accepted = 0.9277 - 3.6224 / (b - 2);
#pragma unroll 1
  while (true) {
    const double u = uniform(numbers) - 0.5, v = uniform(numbers);
    const double distance = 0.5 - fabs(u);
    const double count = floor((2 * a / distance + b) * u + rate + 0.43);
    if (distance >= 0.07 && v <= accepted) return count;
    if (count < 0 || (distance < 0.013 && v > distance)) continue;
    const double density = -rate + count * logarithm - lgamma(count + 1);
    if (log(v) + log(inverse_alpha) - log(a / (distance * distance) + b) <= density) return count;
  }
}

// log(k!) - log(sqrt(2 pi) k^(k + 1/2) exp(-k)), with k + 1 in place of k in the powers.
SCONCE_CALLED double stirling_rest(double k) {
  const double next = k + 1;
  return lgamma(next) - ((k + 0.5) * log(next) - next + 0.91893853320467274178);
}

// Successes of a chance of at most a half.
SCONCE_CALLED double few_successes(double count, double chance, Numbers* numbers) {
  if (count * chance < 10) {
    // Sums of geometric numbers.
    const double logarithm = log1p(-chance);
    double tries = ceil(log(uniform(numbers)) / logarithm), successes = 0;
#pragma unroll 1
    for (; tries <= count; successes++) tries += ceil(log(uniform(numbers)) / logarithm);
    return successes;
  }
  const double deviation = sqrt(count * chance * (1 - chance));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * chance;
  const double centre = count * chance + 0.5, accepted = 0.92 - 4.2 / b;
  const double odds = chance / (1 - chance), alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = floor((count + 1) * chance);
  const double of_mode = (mode + 0.5) * log((mode + 1) / (odds * (count - mode + 1))) +
                         stirling_rest(mode) + stirling_rest(count - mode);
#pragma unroll 1
  while (true) {
    const double u = uniform(numbers) - 0.5;
    double v = uniform(numbers);
    const double distance = 0.5 - fabs(u);
    const double found = floor((2 * a / distance + b) * u + centre);
    if (found < 0 || found > count) continue;
    if (distance >= 0.07 && v <= accepted) return found;
    v = log(v * alpha / (a / (distance * distance) + b));
    const double rest = count - found + 1;
    const double bound = of_mode + (count + 1) * log((count - mode + 1) / rest) +
                         (found + 0.5) * log(odds * rest / (found + 1)) - stirling_rest(found) -
                         stirling_rest(count - found);
    if (v <= bound) return found;
  }
}

// Successes among tries. Not a number where an operand is none, or the count is infinite.
SCONCE_INLINE double binomial(double count, double chance, Numbers* numbers) {
  if (count <= 0 || chance <= 0) return 0;
  if (!(chance < 1)) return chance == chance ? count : chance;
  if (!is_whole_number(count)) return count - count;
  if (chance <= 0.5) return few_successes(count, chance, numbers);
  return count - few_successes(count, 1 - chance, numbers);
}

// Of the gamma distribution of a shape (Marsaglia and Tsang), at least the smallest number.
SCONCE_INLINE double gamma(double shape, double least, Numbers* numbers) {
  if (!(shape > 0) || !is_whole_number(shape)) return shape > 0 ? shape : least;
  double scale = 1;
  if (shape < 1) {
    scale = pow(1 - uniform(numbers), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1. / 3, c = 1 / sqrt(9 * d);
#pragma unroll 1
  while (true) {
    const double x = normal(numbers), y = 1 + c * x;
    if (y <= 0) continue;
    const double v = y * y * y, u = 1 - uniform(numbers), square = x * x;
    if (log(u) < 0.5 * square + d * (1 - v + log(v))) return fmax(least, scale * d * v);
  }
}

// The launch has `threads` threads. Without a second
// operand `number` is its value. `state` is NULL, or where seed and offset are in a graph.
#define DRAWN(name)                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_random_##name(              \
      const void* first, const void* second, const double number, void* result, const i64 count, \
      const u32 type, const i64 threads, const u64 seed, const u64 offset, const u64* state) {   \
    const u64 key = state ? state[0] : seed;                                                     \
    u64 block = (state ? state[1] : offset) / 4;                                                 \
    const i64 begin = (i64)blockIdx.x * THREADS + threadIdx.x;                                   \
    _Pragma("unroll 1") for (i64 at = begin; at < count; at += threads) {                        \
      Numbers numbers = {{(u32)key, (u32)(key >> 32)}, block, (u32)begin, 4, {}, 0, false};      \
      const double x = element_at(first, at, type);                                              \
      const double y = second ? element_at(second, at, type) : number;                           \
      set_element(result, at, type, name(x, y, &numbers));                                       \
      block += BLOCKS_OF_ELEMENT;                                                                \
    }                                                                                            \
  }

DRAWN(poisson)
DRAWN(binomial)
DRAWN(gamma)
