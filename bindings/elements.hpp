#pragma once
/// Helpers shared by the bindings of element kernels: numpy arrays as bytes, argument checks, and timing.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace hocket::bindings {

template <class T>
using Vector = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Source = Vector<const std::uint8_t>;
using Target = Vector<std::uint8_t>;

template <class T>
[[nodiscard]] std::span<T> span_of(const Vector<T>& array) {
  return {array.data(), array.size()};
}
[[nodiscard]] inline const std::byte* bytes_of(const Source& array) {
  return reinterpret_cast<const std::byte*>(array.data());
}
[[nodiscard]] inline std::byte* bytes_of(const Target& array) { return reinterpret_cast<std::byte*>(array.data()); }

inline void check(bool good, const std::string& otherwise) {
  if (!good) throw InputError(otherwise);
}

/// Kernels may not read what they write.
template <class A, class B>
void check_apart(const A& from, const B& to) {
  const auto *from_begin = bytes_of(from), *to_begin = static_cast<const std::byte*>(bytes_of(to));
  check(from_begin + from.size() <= to_begin || to_begin + to.size() <= from_begin, "source and target overlap");
}

/// Elements of `width` bytes in an array.
template <class Array>
[[nodiscard]] std::size_t elements_in(const Array& array, std::size_t width) {
  check(width > 0, "elements have at least one byte");
  check(array.size() % width == 0, std::to_string(array.size()) + " bytes are not a whole number of elements of " +
                                       std::to_string(width) + " bytes");
  return array.size() / width;
}

/// Seconds of each of `repeat` runs, without the interpreter; `prepare` runs before each and is not counted.
template <class Prepare, class Kernel>
[[nodiscard]] std::vector<double> timed(std::size_t repeat, Prepare&& prepare, Kernel&& kernel) {
  const nanobind::gil_scoped_release release;
  std::vector<double> seconds(repeat);
  for (double& run : seconds) {
    prepare();
    const auto start = std::chrono::steady_clock::now();
    kernel();
    run = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return seconds;
}
template <class Kernel>
[[nodiscard]] std::vector<double> timed(std::size_t repeat, Kernel&& kernel) {
  return timed(repeat, [] {}, kernel);
}

}  // namespace hocket::bindings
