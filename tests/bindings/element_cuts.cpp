/// Kernels of permutations by what they do.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings/elements.hpp"
#include "sort/core/elements/cuts.hpp"
#include "sort/core/elements/move.hpp"
#include "testing.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::bindings;

namespace {

using Positions = Vector<const std::int64_t>;
using Counts = std::vector<std::uint64_t>;

Cuts cuts_of(const Counts& begins) {
  check(begins.size() >= 2 && begins.front() == 0 && std::ranges::is_sorted(begins), "buckets begin at 0 and ascend");
  return Cuts(begins);
}

Counts regions(const Counts& begins, std::uint64_t most, std::uint64_t buckets) {
  cuts_of(begins);
  check(most > 0 && buckets > 0, "there is nothing to divide so");
  const Cuts cuts = Cuts::regions(begins, most, buckets);
  Counts found;
  for (std::size_t bucket = 0; bucket < cuts.size(); ++bucket) found.push_back(cuts.begin(bucket));
  found.push_back(cuts.total());
  return found;
}

std::pair<std::size_t, Counts> count(const Counts& begins, const Positions& positions) {
  const Cuts cuts = cuts_of(begins);
  Counts counts(cuts.size());
  const std::size_t good = count_positions(cuts, span_of(positions), counts);
  return {good, counts};
}

/// The checked cuts between buckets, and the index of each bucket's first element once elements lie in bucket order.
struct Divided {
  Cuts cuts;
  Counts first;

  Divided(const Counts& begins, const Positions& positions)
      : cuts(cuts_of(begins)), first(count(begins, positions).second) {
    std::uint64_t sum = 0;
    for (std::uint64_t& bucket : first) sum += std::exchange(bucket, sum);
    check(sum == positions.size(), "a position is out of range");
  }

  template <class T>
  [[nodiscard]] std::vector<T*> at(T* memory, std::size_t step) const {
    std::vector<T*> begins;
    for (const std::uint64_t element : first) begins.push_back(memory + element * step);
    return begins;
  }
};

template <class From, class To>
void check_elements(std::size_t width, const From& from, const To& to, std::size_t n) {
  check(elements_in(from, width) == n && elements_in(to, width) == n, "the arrays differ in length");
  check_apart(from, to);
}

template <class Offset>
void divide_all(const Counts& begins, std::size_t width, const Source& from, const Positions& positions,
                const Target& to, const Vector<Offset>& offsets) {
  const Divided divided(begins, positions);
  check_elements(width, from, to, positions.size());
  check(offsets.size() == positions.size(), "the arrays differ in length");
  std::vector<std::byte*> data = divided.at(bytes_of(to), width);
  std::vector<Offset*> places = divided.at(offsets.data(), 1);
  divide(divided.cuts, width, bytes_of(from), span_of(positions), data, places);
}

void divide_positions(const Counts& begins, const Positions& positions, const Vector<std::uint64_t>& offsets) {
  const Divided divided(begins, positions);
  check(offsets.size() == positions.size(), "the arrays differ in length");
  std::vector<std::uint64_t*> places = divided.at(offsets.data(), 1);
  divide(divided.cuts, span_of(positions), places);
}

void collect_all(const Counts& begins, std::size_t width, const Positions& positions, const Source& from,
                 const Target& to) {
  const Divided divided(begins, positions);
  check_elements(width, from, to, positions.size());
  std::vector<const std::byte*> data = divided.at(bytes_of(from), width);
  collect(divided.cuts, width, span_of(positions), data, bytes_of(to));
}

/// Gathers elements only from the buckets that are `here`.
void gather_here(const Counts& begins, std::size_t width, const Source& source, const std::vector<bool>& here,
                 const Positions& positions, const Target& to) {
  const Divided divided(begins, positions);
  check(elements_in(source, width) == divided.cuts.total() && elements_in(to, width) == positions.size() &&
            here.size() == divided.cuts.size(),
        "the arrays differ in length");
  check_apart(source, to);
  std::vector<const std::byte*> data;
  for (std::size_t bucket = 0; bucket < here.size(); ++bucket)
    data.push_back(here[bucket] ? bytes_of(source) + divided.cuts.begin(bucket) * width : nullptr);
  gather(divided.cuts, width, data, span_of(positions), bytes_of(to));
}

/// Buckets that are not `here` are left out. Bucket b goes to where `places` says, in multiples of as many elements as
/// streams need to be aligned.
void write_regions_here(const Counts& begins, std::size_t width, const Source& from, const std::vector<bool>& here,
                        const Positions& positions, std::size_t slice, const Target& to,
                        const Vector<std::uint32_t>& offsets) {
  const Divided divided(begins, positions);
  const Counts counts = count(begins, positions).second;
  check(elements_in(from, width) == positions.size() && here.size() == counts.size() && slice > 0,
        "the arrays differ in length");
  check_apart(from, to);
  constexpr std::size_t line = RegionWriter::stream_alignment;
  std::vector<RegionStream> streams(counts.size());
  std::size_t end = 0;
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    if (here[bucket]) streams[bucket] = {bytes_of(to) + end * width, offsets.data() + end};
    end += (counts[bucket] + line - 1) / line * line;
  }
  check(elements_in(to, width) == end && offsets.size() == end, "the target has no room for the regions");
  const auto at_line = [](const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % line == 0; };
  check(end == 0 || (at_line(to.data()) && at_line(offsets.data())), "streams begin at cache lines");
  RegionWriter writer(divided.cuts, width, std::move(streams));
  for (std::size_t i = 0; i < positions.size(); i += slice)
    writer.add(bytes_of(from) + i * width, span_of(positions).subspan(i, std::min(slice, positions.size() - i)));
  writer.finish();
}

template <class Offset>
void check_places(std::size_t width, const Source& from, const Vector<const Offset>& offsets, const Target& to) {
  check(elements_in(from, width) == offsets.size(), "the arrays differ in length");
  const std::size_t places = elements_in(to, width);
  check(std::ranges::all_of(span_of(offsets), [&](Offset offset) { return offset < places; }),
        "an offset is out of range");
  check_apart(from, to);
}

template <class Offset>
std::size_t scatter_to_free(std::size_t width, const Source& from, const Vector<const Offset>& offsets,
                            const Target& to, const Vector<std::uint64_t>& taken) {
  check_places(width, from, offsets, to);
  check(taken.size() >= (elements_in(to, width) + 63) / 64, "there is not a bit for each place");
  return scatter_once(width, bytes_of(from), span_of(offsets), bytes_of(to), span_of(taken));
}

template <class Offset>
void scatter_and_mark(std::size_t width, const Source& from, const Vector<const Offset>& offsets, const Target& to,
                      const Target& takes) {
  check_places(width, from, offsets, to);
  check(takes.size() == elements_in(to, width), "there is not a byte for each place");
  scatter_marking(width, bytes_of(from), span_of(offsets), bytes_of(to), span_of(takes));
}

/// A matrix whose rows begin `stride` elements apart.
void check_matrix(std::size_t rows, std::size_t columns, std::size_t stride, std::size_t size) {
  check(columns <= stride,
        "rows of " + std::to_string(columns) + " elements cannot begin " + std::to_string(stride) + " elements apart");
  check(rows == 0 || columns == 0 || (columns <= size && (rows == 1 || stride <= (size - columns) / (rows - 1))),
        "the matrix is larger than its array");
}

void transposed(std::size_t width, const Source& from, std::size_t from_stride, std::size_t rows, std::size_t columns,
                const Target& to, std::size_t to_stride) {
  check_matrix(rows, columns, from_stride, elements_in(from, width));
  check_matrix(columns, rows, to_stride, elements_in(to, width));
  check_apart(from, to);
  transpose(width, bytes_of(from), from_stride, rows, columns, bytes_of(to), to_stride);
}

}  // namespace

void add_element_cuts(nb::module_& m) {
  m.def("regions", &regions, "begins"_a, "most"_a, "buckets"_a, "Where the regions begin, and where the last ends.");
  m.def("count_positions", &count, "begins"_a, "positions"_a, "How many are good, and how many are in each bucket.");
  m.def("divide", &divide_all<std::uint32_t>, "begins"_a, "width"_a, "source"_a, "positions"_a, "target"_a,
        "offsets"_a);
  m.def("divide", &divide_all<std::uint64_t>, "begins"_a, "width"_a, "source"_a, "positions"_a, "target"_a,
        "offsets"_a);
  m.def("divide_positions", &divide_positions, "begins"_a, "positions"_a, "offsets"_a);
  m.def("collect", &collect_all, "begins"_a, "width"_a, "positions"_a, "source"_a, "target"_a);
  m.def("gather_here", &gather_here, "begins"_a, "width"_a, "source"_a, "here"_a, "positions"_a, "target"_a);
  m.def("write_regions_here", &write_regions_here, "begins"_a, "width"_a, "source"_a, "here"_a, "positions"_a,
        "slice"_a, "target"_a, "offsets"_a);
  m.def("scatter_to_free", &scatter_to_free<std::uint32_t>, "width"_a, "source"_a, "offsets"_a, "target"_a, "taken"_a,
        "How many elements came before the first whose place was taken.");
  m.def("scatter_to_free", &scatter_to_free<std::uint64_t>, "width"_a, "source"_a, "offsets"_a, "target"_a, "taken"_a);
  m.def("scatter_and_mark", &scatter_and_mark<std::uint32_t>, "width"_a, "source"_a, "offsets"_a, "target"_a,
        "takes"_a);
  m.def("scatter_and_mark", &scatter_and_mark<std::uint64_t>, "width"_a, "source"_a, "offsets"_a, "target"_a,
        "takes"_a);
  m.def("transpose", &transposed, "width"_a, "source"_a, "source_stride"_a, "rows"_a, "columns"_a,
        "target"_a.noconvert(), "target_stride"_a);
}
