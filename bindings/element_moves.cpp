#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "elements.hpp"
#include "sort/core/elements/move.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::bindings;

namespace {

template <class Index>
void check_index(const Vector<const Index>& index, std::size_t size) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (static_cast<std::uint64_t>(index.data()[i]) >= size)  // a message for each element would take long to make
      check(false, "index " + std::to_string(index.data()[i]) + " at " + std::to_string(i) + " is out of range for " +
                       std::to_string(size) + " elements");
  }
}

std::vector<double> copy_bytes(const Source& from, const Target& to, std::size_t repeat) {
  check(from.size() == to.size(), "source and target differ in size");
  check_apart(from, to);
  return timed(repeat, [&] { copy(bytes_of(from), bytes_of(to), to.size()); });
}

/// n elements, every stride-th of `size`.
void check_stride(std::size_t n, std::size_t stride, std::size_t size) {
  check(n == 0 || (size > 0 && (n == 1 || stride <= (size - 1) / (n - 1))),
        std::to_string(n) + " elements with stride " + std::to_string(stride) + " are more than " +
            std::to_string(size) + " hold");
}

std::vector<double> strided(std::size_t width, const Source& from, std::size_t from_stride, const Target& to,
                            std::size_t to_stride, std::size_t n, std::size_t repeat) {
  check_stride(n, from_stride, elements_in(from, width));
  check_stride(n, to_stride, elements_in(to, width));
  check_apart(from, to);
  return timed(repeat, [&] { copy_strided(width, bytes_of(from), from_stride, bytes_of(to), to_stride, n); });
}

std::vector<double> indexed_read(std::size_t width, const Source& from, const Vector<const std::int64_t>& index,
                                 const Target& to, std::size_t repeat) {
  check(elements_in(to, width) == index.size(), "one index per element of the target is wanted");
  check_index(index, elements_in(from, width));
  check_apart(from, to);
  return timed(repeat, [&] { gather(width, bytes_of(from), span_of(index), bytes_of(to)); });
}

template <class Index>
std::vector<double> indexed_write(std::size_t width, const Source& from, const Vector<const Index>& index,
                                  const Target& to, std::size_t repeat) {
  check(elements_in(from, width) == index.size(), "one index per element of the source is wanted");
  check_index(index, elements_in(to, width));
  check_apart(from, to);
  return timed(repeat, [&] { scatter(width, bytes_of(from), span_of(index), bytes_of(to)); });
}

/// A matrix whose rows begin `stride` elements apart.
void check_matrix(std::size_t rows, std::size_t columns, std::size_t stride, std::size_t size) {
  check(columns <= stride,
        "rows of " + std::to_string(columns) + " elements cannot begin " + std::to_string(stride) + " elements apart");
  check(rows == 0 || columns == 0 || (columns <= size && (rows == 1 || stride <= (size - columns) / (rows - 1))),
        "the matrix is larger than its array");
}

std::vector<double> transposed(std::size_t width, const Source& from, std::size_t from_stride, std::size_t rows,
                               std::size_t columns, const Target& to, std::size_t to_stride, std::size_t repeat) {
  check_matrix(rows, columns, from_stride, elements_in(from, width));
  check_matrix(columns, rows, to_stride, elements_in(to, width));
  check_apart(from, to);
  return timed(repeat, [&] { transpose(width, bytes_of(from), from_stride, rows, columns, bytes_of(to), to_stride); });
}

}  // namespace

void bind_element_moves(nb::module_& m) {
  constexpr const char* seconds = "Arrays are given as bytes (uint8). Returns the seconds of each run.";
  m.def("copy", &copy_bytes, "source"_a, "target"_a.noconvert(), "repeat"_a = 1, seconds);
  m.def("copy_strided", &strided, "width"_a, "source"_a, "source_stride"_a, "target"_a.noconvert(), "target_stride"_a,
        "n"_a, "repeat"_a = 1, seconds);
  m.def("gather", &indexed_read, "width"_a, "source"_a, "index"_a.noconvert(), "target"_a.noconvert(), "repeat"_a = 1,
        seconds);
  m.def("scatter", &indexed_write<std::int64_t>, "width"_a, "source"_a, "index"_a.noconvert(), "target"_a.noconvert(),
        "repeat"_a = 1, seconds);
  m.def("scatter", &indexed_write<std::uint32_t>, "width"_a, "source"_a, "index"_a.noconvert(), "target"_a.noconvert(),
        "repeat"_a = 1, seconds);
  m.def("transpose", &transposed, "width"_a, "source"_a, "source_stride"_a, "rows"_a, "columns"_a,
        "target"_a.noconvert(), "target_stride"_a, "repeat"_a = 1, seconds);
}
