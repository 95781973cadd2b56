#pragma once
/// Kernels compiled for common widths of elements, and stores that go round the caches: lines that are written whole
/// need not be read from memory first, and what is in the caches stays there. Other processors than x86-64 copy as
/// usual.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace hocket::elements {

/// A width known to the compiler.
template <std::size_t bytes>
struct FixedWidth {
  explicit FixedWidth(std::size_t) {}
  [[nodiscard]] static constexpr std::size_t value() { return bytes; }
  static constexpr bool divides_lines = 64 % bytes == 0;
};

/// Any other width.
struct AnyWidth {
  explicit AnyWidth(std::size_t bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t value() const { return bytes_; }
  static constexpr bool divides_lines = false;

 private:
  std::size_t bytes_;
};

/// One element.
template <class Width>
inline void copy_element(Width width, const std::byte* from, std::byte* to) {
  std::memcpy(to, from, width.value());
}

/// f(width), where the compiler knows the width if it is a common one.
template <class F>
decltype(auto) with_width(std::size_t width, F&& f) {
  switch (width) {
    case 1:
      return f(FixedWidth<1>(width));
    case 2:
      return f(FixedWidth<2>(width));
    case 4:
      return f(FixedWidth<4>(width));
    case 8:
      return f(FixedWidth<8>(width));
    case 12:
      return f(FixedWidth<12>(width));
    case 16:
      return f(FixedWidth<16>(width));
    case 24:
      return f(FixedWidth<24>(width));
    default:
      return f(AnyWidth(width));
  }
}

/// Bytes at the beginning of a cache line.
class LineBuffers {
 public:
  LineBuffers() = default;
  explicit LineBuffers(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{line}))) {}
  [[nodiscard]] std::byte* get() const { return bytes_.get(); }

  static constexpr std::size_t line = 64;

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t{line}); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

/// Both at multiples of 16 bytes; so many bytes, too.
inline void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __x86_64__
  for (std::size_t at = 0; at < bytes; at += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_load_si128(reinterpret_cast<const __m128i*>(from + at)));
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Like stream(), but the last `width` bytes come from `last`. `width` divides `bytes`. Bytes that were just stored
/// cannot be read in larger pieces before they are in the cache.
template <std::size_t width, std::size_t bytes>
inline void stream_with_last(std::byte* to, const std::byte* from, const std::byte* last) {
#ifdef __x86_64__
  if constexpr (width >= 16) {
    stream(to, from, bytes - width);
    for (std::size_t at = 0; at < width; at += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + bytes - width + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(last + at)));
    }
  } else {
    stream(to, from, bytes - 16);
    std::uint64_t words[2], end = 0;
    std::memcpy(words, from + bytes - 16, sizeof words);
    std::memcpy(&end, last, width);
    constexpr unsigned bits = 8 * width;
    words[1] = width == 8 ? end : (words[1] << (bits % 64) >> (bits % 64)) | end << (64 - bits);
    for (std::size_t i = 0; i < 2; ++i) {
      _mm_stream_si64(reinterpret_cast<long long*>(to + bytes - 16) + i, static_cast<long long>(words[i]));
    }
  }
#else
  std::memcpy(to, from, bytes - width);
  std::memcpy(to + bytes - width, last, width);
#endif
}

/// Makes streamed data visible to other processors before any later store.
inline void end_of_streams() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

}  // namespace hocket::elements
