/// Kernels of permutations, timed on arrays of numpy: what moves elements, routes them to ranks and regions, and puts
/// them in place.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "elements.hpp"
#include "sort/core/elements/cuts.hpp"
#include "sort/core/elements/move.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::bindings;

namespace {

void check_index(const Vector<const std::int64_t>& index, std::size_t size) {
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

std::vector<double> indexed_write(std::size_t width, const Source& from, const Vector<const std::int64_t>& index,
                                  const Target& to, std::size_t repeat) {
  check(elements_in(from, width) == index.size(), "one index per element of the source is wanted");
  check_index(index, elements_in(to, width));
  check_apart(from, to);
  return timed(repeat, [&] { scatter(width, bytes_of(from), span_of(index), bytes_of(to)); });
}

using Positions = Vector<const std::int64_t>;
using Offsets = Vector<std::uint32_t>;
using Counts = std::vector<std::uint64_t>;

/// Equal parts of `total` positions; `region` > 0: cut into regions of at most as many positions, `most` of them.
Cuts cuts_of(std::uint64_t total, std::uint64_t parts, std::uint64_t region, std::uint64_t most) {
  check(total > 0 && total <= UINT32_MAX && parts > 0 && parts <= total && most > 0, "there is nothing to divide so");
  Counts begins;
  for (std::uint64_t part = 0; part <= parts; ++part) begins.push_back(total * part / parts);
  return region == 0 ? Cuts(begins) : Cuts::regions(begins, region, most);
}

Counts counts_of(const Cuts& cuts, const Positions& positions) {
  Counts counts(cuts.size());
  check(count_positions(cuts, span_of(positions), counts) == positions.size(), "a position is out of range");
  return counts;
}

std::vector<double> route(std::uint64_t total, std::uint64_t parts, std::uint64_t region, std::uint64_t most,
                          const Positions& positions, std::size_t repeat) {
  const Cuts cuts = cuts_of(total, parts, region, most);
  Counts counts(cuts.size());
  return timed(repeat, [&] { count_positions(cuts, span_of(positions), counts); });
}

std::vector<double> split(std::uint64_t total, std::uint64_t parts, std::size_t width, const Source& from,
                          const Positions& positions, const Target& to, const Offsets& offsets, std::size_t repeat) {
  const Cuts cuts = cuts_of(total, parts, 0, 1);
  const Counts counts = counts_of(cuts, positions);
  const std::size_t n = positions.size();
  check(elements_in(from, width) == n && elements_in(to, width) == n && offsets.size() == n,
        "the arrays differ in length");
  check_apart(from, to);
  std::vector<std::byte*> data(counts.size());
  std::vector<std::uint32_t*> places(counts.size());
  const auto reset = [&] {
    std::size_t begin = 0;
    for (std::size_t part = 0; part < counts.size(); begin += counts[part++]) {
      data[part] = bytes_of(to) + begin * width;
      places[part] = offsets.data() + begin;
    }
  };
  return timed(repeat, reset, [&] { divide(cuts, width, bytes_of(from), span_of(positions), data, places); });
}

/// Gathers from `source`, in which equal parts of all positions follow each other.
std::vector<double> gather_parts(std::uint64_t parts, std::size_t width, const Source& source,
                                 const Positions& positions, const Target& to, std::size_t repeat) {
  const Cuts cuts = cuts_of(elements_in(source, width), parts, 0, 1);
  counts_of(cuts, positions);
  check(elements_in(to, width) == positions.size(), "the arrays differ in length");
  check_apart(source, to);
  std::vector<const std::byte*> data;
  for (std::size_t part = 0; part < cuts.size(); ++part) data.push_back(bytes_of(source) + cuts.begin(part) * width);
  return timed(repeat, [&] { gather(cuts, width, data, span_of(positions), bytes_of(to)); });
}

}  // namespace

void bind_element_moves(nb::module_& m) {
  constexpr const char* seconds = "Arrays are given as bytes (uint8). Returns the seconds of each run.";
  m.def("copy", &copy_bytes, "source"_a, "target"_a.noconvert(), "repeat"_a = 1, seconds);
  m.def("copy_strided", &strided, "width"_a, "source"_a, "source_stride"_a, "target"_a.noconvert(), "target_stride"_a,
        "n"_a, "repeat"_a = 1, seconds);
  m.def("gather", &indexed_read, "width"_a, "source"_a, "index"_a.noconvert(), "target"_a.noconvert(), "repeat"_a = 1,
        seconds);
  m.def("scatter", &indexed_write, "width"_a, "source"_a, "index"_a.noconvert(), "target"_a.noconvert(), "repeat"_a = 1,
        seconds);
  const char* timed_each = "Seconds of each repetition.";
  m.def("route", &route, "total"_a, "parts"_a, "region"_a, "most"_a, "positions"_a, "repeat"_a = 1, timed_each);
  m.def("split", &split, "total"_a, "parts"_a, "width"_a, "source"_a, "positions"_a, "target"_a, "offsets"_a,
        "repeat"_a = 1, timed_each);
  m.def("gather_parts", &gather_parts, "parts"_a, "width"_a, "source"_a, "positions"_a, "target"_a, "repeat"_a = 1,
        timed_each);
}
