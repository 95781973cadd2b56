#include <algorithm>
#include <bit>
#include <cstring>

#include "sort/core/elements/partition.hpp"

#ifdef __x86_64__
#ifndef __clang__  // GCC 12 warns of its own header, where what a vector holds makes no difference
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

/// Loops over rows, which are registers only if nothing is left of the loop.
#ifdef __clang__
#define HOCKET_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define HOCKET_UNROLLED _Pragma("GCC unroll 16")
#endif
/// Functions that are compiled for AVX-512, whatever the rest is compiled for.
#define HOCKET_AVX512 __attribute__((target("avx512f,popcnt")))
#endif

namespace hocket {

#ifdef __x86_64__

namespace {

/// Vectors of unsigned numbers.
template <class Number>
struct Lanes;

#define HOCKET_LANES(bits, lanes, Number)                                                                             \
  template <>                                                                                                         \
  struct Lanes<std::uint##bits##_t> {                                                                                 \
    using Mask = __mmask##lanes;                                                                                      \
    static constexpr unsigned count = lanes;                                                                          \
    HOCKET_AVX512 static __m512i all(std::uint##bits##_t x) { return _mm512_set1_epi##bits(static_cast<Number>(x)); } \
    HOCKET_AVX512 static __m512i load(__m512i other, Mask m, const std::byte* p) {                                    \
      return _mm512_mask_loadu_epi##bits(other, m, p);                                                                \
    }                                                                                                                 \
    HOCKET_AVX512 static void store(std::byte* p, Mask m, __m512i v) { _mm512_mask_storeu_epi##bits(p, m, v); }       \
    HOCKET_AVX512 static __m512i least(__m512i a, __m512i b) { return _mm512_min_epu##bits(a, b); }                   \
    HOCKET_AVX512 static __m512i most(__m512i a, __m512i b) { return _mm512_max_epu##bits(a, b); }                    \
    /* The least of both, in lanes of the mask the most. */                                                           \
    HOCKET_AVX512 static __m512i least_or_most(Mask m, __m512i a, __m512i b) {                                        \
      return _mm512_mask_max_epu##bits(_mm512_min_epu##bits(a, b), m, a, b);                                          \
    }                                                                                                                 \
    HOCKET_AVX512 static __m512i permute(__m512i i, __m512i v) { return _mm512_permutexvar_epi##bits(i, v); }         \
    HOCKET_AVX512 static __m512i pick(__m512i a, __m512i i, __m512i b) {                                              \
      return _mm512_permutex2var_epi##bits(a, i, b);                                                                  \
    }                                                                                                                 \
    HOCKET_AVX512 static Mask below(__m512i a, __m512i b) { return _mm512_cmplt_epu##bits##_mask(a, b); }             \
    HOCKET_AVX512 static __m512i compress(Mask m, __m512i v) { return _mm512_maskz_compress_epi##bits(m, v); }        \
  };
HOCKET_LANES(32, 16, int)
HOCKET_LANES(64, 8, long long)
#undef HOCKET_LANES

template <class Number>
class VectorSort {
 public:
  explicit VectorSort(std::byte* scratch) : scratch_(scratch) {}

  HOCKET_AVX512 bool sort(std::byte* numbers, std::size_t n) {
    return sort(numbers, n, 2 * static_cast<unsigned>(std::bit_width(n)));
  }

 private:
  using L = Lanes<Number>;
  using Mask = typename L::Mask;
  static constexpr std::size_t lanes = L::count;
  static constexpr std::size_t most_rows = 16;  // half of the 32 registers; the rest hold intermediate values
  static constexpr std::size_t width = sizeof(Number);
  static constexpr std::size_t many = 4096;  // numbers, whose pivots are worth more samples

  /// Numbers to lanes: each of `index` ^ `turn`.
  HOCKET_AVX512 static __m512i turned(unsigned turn) {
    alignas(64) Number index[lanes];
    for (unsigned i = 0; i < lanes; ++i) index[i] = static_cast<Number>(i ^ turn);
    return _mm512_load_si512(index);
  }
  /// Lanes that have this bit.
  static constexpr Mask with_bit(unsigned bit) {
    unsigned mask = 0;
    for (unsigned i = 0; i < lanes; ++i) mask |= (i & bit) != 0 ? 1u << i : 0u;
    return static_cast<Mask>(mask);
  }
  static constexpr Mask first(std::size_t n) { return static_cast<Mask>(n >= lanes ? ~0u : (1u << n) - 1); }

  HOCKET_AVX512 static void order(__m512i& a, __m512i& b) {
    const __m512i least = L::least(a, b);
    b = L::most(a, b);
    a = least;
  }

  /// The numbers of each lane, from the first row to the last: Batcher's odd-even merge sort.
  template <unsigned rows>
  HOCKET_AVX512 static void sort_lanes(__m512i* v) {
    HOCKET_UNROLLED
    for (unsigned p = 1; p < rows; p *= 2) {
      HOCKET_UNROLLED
      for (unsigned k = p; k >= 1; k /= 2) {
        HOCKET_UNROLLED
        for (unsigned i = 0; i < rows; ++i) {
          const bool lower = i >= k % p && (i - k % p) % (2 * k) < k && i + k < rows;
          if (lower && i / (2 * p) == (i + k) / (2 * p)) order(v[i], v[i + k]);
        }
      }
    }
  }

  /// Sorted groups of half as many lanes become sorted groups of `group` lanes; within a group lane by lane.
  /// Bitonic merging.
  template <unsigned rows, unsigned group>
  HOCKET_AVX512 static void merge_groups(__m512i* v) {
    const __m512i mirrored = turned(group - 1);
    HOCKET_UNROLLED
    for (unsigned i = 0; i < (rows + 1) / 2; ++i) {
      __m512i &a = v[i], &b = v[rows - 1 - i];
      const __m512i of_b = L::permute(mirrored, b), of_a = L::permute(mirrored, a);
      a = L::least_or_most(with_bit(group / 2), a, of_b);
      if constexpr (rows > 1) b = L::least_or_most(with_bit(group / 2), b, of_a);
    }
    HOCKET_UNROLLED
    for (unsigned distance = group / 4; distance >= 1; distance /= 2) {
      const __m512i across = turned(distance);
      HOCKET_UNROLLED
      for (unsigned i = 0; i < rows; ++i) v[i] = L::least_or_most(with_bit(distance), v[i], L::permute(across, v[i]));
    }
    HOCKET_UNROLLED
    for (unsigned distance = rows / 2; distance >= 1; distance /= 2) {
      HOCKET_UNROLLED
      for (unsigned i = 0; i < rows; ++i)
        if ((i & distance) == 0) order(v[i], v[i + distance]);
    }
  }

  /// Transposes lanes to rows by perfect shuffles, one for each halving of the rows.
  template <unsigned rows>
  HOCKET_AVX512 static void lanes_to_rows(__m512i* v) {
    alignas(64) Number lower[lanes], upper[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
      lower[i] = static_cast<Number>(i / 2 + i % 2 * lanes);
      upper[i] = static_cast<Number>(lower[i] + lanes / 2);
    }
    const __m512i low = _mm512_load_si512(lower), high = _mm512_load_si512(upper);
    HOCKET_UNROLLED
    for (unsigned step = rows; step > 1; step /= 2) {
      __m512i shuffled[rows];
      HOCKET_UNROLLED
      for (unsigned i = 0; i < rows / 2; ++i) {
        shuffled[2 * i] = L::pick(v[i], low, v[i + rows / 2]);
        shuffled[2 * i + 1] = L::pick(v[i], high, v[i + rows / 2]);
      }
      HOCKET_UNROLLED
      for (unsigned i = 0; i < rows; ++i) v[i] = shuffled[i];
    }
  }

  /// Up to `rows` vectors full of numbers.
  template <unsigned rows>
  HOCKET_AVX512 static void sort_few(std::byte* numbers, std::size_t n) {
    __m512i v[rows];
    const __m512i last = _mm512_set1_epi32(-1);
    HOCKET_UNROLLED
    for (std::size_t i = 0; i < rows; ++i)
      v[i] = L::load(last, first(n - std::min<std::size_t>(n, i * lanes)), numbers + i * lanes * width);
    sort_lanes<rows>(v);
    merge_groups<rows, 2>(v);
    merge_groups<rows, 4>(v);
    merge_groups<rows, 8>(v);
    if constexpr (lanes > 8) merge_groups<rows, 16>(v);
    lanes_to_rows<rows>(v);
    HOCKET_UNROLLED
    for (std::size_t i = 0; i < rows; ++i)
      L::store(numbers + i * lanes * width, first(n - std::min<std::size_t>(n, i * lanes)), v[i]);
  }

  HOCKET_AVX512 static void sort_few(std::byte* numbers, std::size_t n) {
    if (n <= 2 * lanes)
      sort_few<2>(numbers, n);
    else if (n <= 4 * lanes)
      sort_few<4>(numbers, n);
    else if (n <= 8 * lanes)
      sort_few<8>(numbers, n);
    else
      sort_few<most_rows>(numbers, n);
  }

  /// A number that about half of the others are below: the middle of one from each of as many stretches.
  template <unsigned rows>
  HOCKET_AVX512 Number pivot(const std::byte* numbers, std::size_t n) {
    constexpr std::size_t samples = rows * lanes;
    alignas(64) std::byte drawn[samples * width];
    const std::size_t stretch = n / samples;
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const std::byte* from = numbers + (random_ >> 32) % stretch * width;
    for (std::size_t i = 0; i < samples; ++i, from += stretch * width) std::memcpy(drawn + i * width, from, width);
    sort_few<rows>(drawn, samples);
    Number middle;
    std::memcpy(&middle, drawn + samples / 2 * width, width);
    return middle;
  }

  /// Puts those below the bound first. Returns how many they are.
  HOCKET_AVX512 std::size_t divide(std::byte* numbers, std::size_t n, Number bound) {
    const __m512i bounds = L::all(bound);
    std::byte *low = numbers, *high = scratch_;
    std::size_t i = 0;
    // Whole vectors are stored, what lies behind the numbers that count is written over next.
    for (; i + lanes <= n; i += lanes) {
      const __m512i v = _mm512_loadu_si512(numbers + i * width);
      const Mask below = L::below(v, bounds);
      const auto count = static_cast<unsigned>(std::popcount(static_cast<unsigned>(below)));
      _mm512_storeu_si512(low, L::compress(below, v));
      _mm512_storeu_si512(high, L::compress(static_cast<Mask>(~below), v));
      low += count * width;
      high += (lanes - count) * width;
    }
    if (i < n) {
      const Mask rest = first(n - i);
      const __m512i v = L::load(_mm512_setzero_si512(), rest, numbers + i * width);
      const Mask below = L::below(v, bounds) & rest, not_below = static_cast<Mask>(~below & rest);
      const auto count = static_cast<unsigned>(std::popcount(static_cast<unsigned>(below)));
      const auto others = static_cast<unsigned>(std::popcount(static_cast<unsigned>(not_below)));
      L::store(low, first(count), L::compress(below, v));
      L::store(high, first(others), L::compress(not_below, v));
      low += count * width;
      high += others * width;
    }
    std::memcpy(low, scratch_, static_cast<std::size_t>(high - scratch_));
    return static_cast<std::size_t>(low - numbers) / width;
  }

  HOCKET_AVX512 bool sort(std::byte* numbers, std::size_t n, unsigned depth) {
    while (n > most_rows * lanes) {
      if (depth-- == 0) return false;
      const Number middle = n < many ? pivot<2>(numbers, n) : pivot<8>(numbers, n);
      std::size_t below = divide(numbers, n, middle);
      if (below == 0) {  // the pivot is the least: those that equal it are in their places
        if (middle == static_cast<Number>(~Number{0})) return true;
        below = divide(numbers, n, middle + 1);
      } else if (!sort(numbers, below, depth)) {
        return false;
      }
      numbers += below * width;
      n -= below;
    }
    sort_few(numbers, n);
    return true;
  }

  std::byte* scratch_;
  std::uint64_t random_ = 1;
};

}  // namespace

bool has_vector_sort() {
  static const bool has = __builtin_cpu_supports("avx512f") != 0;
  return has;
}

template <class Number>
bool elements::vector_sort(std::byte* numbers, std::size_t n, std::byte* scratch) {
  return VectorSort<Number>(scratch).sort(numbers, n);
}

#else

bool has_vector_sort() { return false; }

template <class Number>
bool elements::vector_sort(std::byte*, std::size_t, std::byte*) {
  return false;
}

#endif

template bool elements::vector_sort<std::uint32_t>(std::byte*, std::size_t, std::byte*);
template bool elements::vector_sort<std::uint64_t>(std::byte*, std::size_t, std::byte*);

}  // namespace hocket
