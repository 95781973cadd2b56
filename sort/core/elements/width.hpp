#pragma once
/// Kernels compiled for common widths of elements.
#include <cstddef>
#include <cstring>

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

}  // namespace hocket::elements
