#include "elements.hpp"

#include <algorithm>
#include <numeric>

#include "bindings.hpp"
#include "core/model/memory_profile.hpp"
#include "sort/core/costs/copy_transfer.hpp"
#include "sort/core/elements/cuts.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"

using namespace hocket::bindings;

template <>
inline constexpr auto fields<Digit> = std::tuple(&Digit::shift, &Digit::bits);
template <>
inline constexpr auto fields<Splitter> = std::tuple(&Splitter::order, &Splitter::rank, &Splitter::index);

namespace {

RecordType record_type(KeyType key, std::size_t width) {
  check(width >= key_bytes(key), "records of " + std::to_string(width) + " bytes cannot hold a key of " +
                                     std::to_string(key_bytes(key)) + " bytes");
  return {.key = key, .width = width};
}

std::vector<double> timed_count(KeyType key, std::size_t width, const Source& records, const std::vector<Digit>& digits,
                                const std::vector<Vector<std::uint64_t>>& counts, std::size_t repeat) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  check(digits.size() == counts.size(), "one array of counts per digit is wanted");
  std::vector<std::span<std::uint64_t>> spans;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    spans.push_back(span_of(counts[d]));
    check(digits[d].bits <= most_digit_bits && spans[d].size() == std::size_t{1} << digits[d].bits,
          "a digit of " + std::to_string(digits[d].bits) + " bits cannot have " + std::to_string(spans[d].size()) +
              " counts");
  }
  return timed(repeat, [&] { count_digits(type, bytes_of(records), n, digits, spans); });
}

/// Bucket b has counts[b] records, which go to out from byte begins[b] on.
void check_runs(std::size_t width, std::span<const std::uint64_t> counts, std::span<const std::uint64_t> begins,
                std::size_t room) {
  check(begins.size() == counts.size(),
        std::to_string(counts.size()) + " buckets cannot have " + std::to_string(begins.size()) + " places");
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::size_t bucket) { return counts[bucket] == 0; });
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return begins[a] < begins[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t end = i + 1 < order.size() ? begins[order[i + 1]] : room;
    check(begins[order[i]] <= end && counts[order[i]] * width <= end - begins[order[i]],
          "the records of bucket " + std::to_string(order[i]) + " have no room where they shall go");
  }
}

/// Begins of the runs, set anew for every run of a kernel.
struct Ends {
  Ends(const Target& out, std::span<const std::uint64_t> begins) : base(bytes_of(out)), from(begins), to(from.size()) {}
  void reset() {
    for (std::size_t b = 0; b < to.size(); ++b) to[b] = base + from[b];
  }
  std::byte* base;
  std::span<const std::uint64_t> from;
  std::vector<std::byte*> to;
};

std::vector<double> partition_digit(KeyType key, std::size_t width, const Source& records, const Digit& digit,
                                    const Target& out, const Vector<const std::uint64_t>& begins, std::size_t repeat) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  check_apart(records, out);
  std::vector<std::uint64_t> counts(std::size_t{1} << std::min(digit.bits, most_digit_bits));
  count_digits(type, bytes_of(records), n, digit, counts);
  check_runs(width, counts, span_of(begins), out.size());
  Ends ends(out, span_of(begins));
  return timed(repeat, [&] { ends.reset(); }, [&] { partition(type, bytes_of(records), n, digit, ends.to); });
}

std::vector<double> partition_parts(std::size_t width, const Source& records, const Vector<const std::uint16_t>& part,
                                    const Target& out, const Vector<const std::uint64_t>& begins, std::size_t repeat) {
  const std::size_t n = elements_in(records, width);
  check(part.size() == n, "one part per record is wanted");
  check_apart(records, out);
  std::vector<std::uint64_t> counts(begins.size());
  for (const std::uint16_t p : span_of(part)) {
    if (p >= counts.size()) check(false, "part " + std::to_string(p) + " has no place");
    ++counts[p];
  }
  check_runs(width, counts, span_of(begins), out.size());
  Ends ends(out, span_of(begins));
  return timed(repeat, [&] { ends.reset(); }, [&] { partition(width, bytes_of(records), n, span_of(part), ends.to); });
}

std::vector<double> classify_records(KeyType key, std::size_t width, const Source& records, std::uint64_t rank,
                                     std::uint64_t first, const std::vector<Splitter>& splitters,
                                     const Vector<std::uint16_t>& part, std::size_t repeat) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  check(part.size() == n, "room for one part per record is wanted");
  check(splitters.size() <= 65535, "at most 65535 splitters can be told apart");
  const auto place = [](const Splitter& at) { return std::tie(at.order, at.rank, at.index); };
  check(std::ranges::is_sorted(splitters, {}, place), "splitters must ascend");
  return timed(repeat, [&] { classify(type, bytes_of(records), n, rank, first, splitters, span_of(part)); });
}

double sort(KeyType key, std::size_t width, const Target& records, const Target& scratch) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  check(scratch.size() >= records.size(), "the scratch space is smaller than the records");
  check_apart(records, scratch);
  return timed(1, [&] { sort_records(type, bytes_of(records), n, bytes_of(scratch)); })[0];
}

}  // namespace

void bind_elements(nb::module_& m) {
  nb::enum_<KeyType>(m, "KeyType", "Types of keys, named by kind and bits.")
      .value("u8", KeyType::u8)
      .value("u16", KeyType::u16)
      .value("u32", KeyType::u32)
      .value("u64", KeyType::u64)
      .value("i8", KeyType::i8)
      .value("i16", KeyType::i16)
      .value("i32", KeyType::i32)
      .value("i64", KeyType::i64)
      .value("f16", KeyType::f16)
      .value("f32", KeyType::f32)
      .value("f64", KeyType::f64);
  m.def("key_bytes", &key_bytes, "key"_a);
  m.def("count_digits", &timed_count, "key"_a, "width"_a, "records"_a, "digits"_a, "counts"_a.noconvert(),
        "repeat"_a = 1, "Adds the records of every bucket to counts[digit]. Returns the seconds of each run.");
  m.def("partition", &partition_digit, "key"_a, "width"_a, "records"_a, "digit"_a, "out"_a.noconvert(), "begins"_a,
        "repeat"_a = 1,
        "Puts the records of bucket b in out from byte begins[b] on, stably. Returns the seconds of each run.");
  m.def("partition_parts", &partition_parts, "width"_a, "records"_a, "part"_a, "out"_a.noconvert(), "begins"_a,
        "repeat"_a = 1,
        "Puts the records of part p in out from byte begins[p] on, stably. Returns the seconds of each run.");
  m.def("classify", &classify_records, "key"_a, "width"_a, "records"_a, "rank"_a, "first"_a, "splitters"_a,
        "part"_a.noconvert(), "repeat"_a = 1,
        "Which part each record belongs to, by ascending splitters (order, rank, index).");
  m.def("has_vector_sort", &has_vector_sort, "Whether keys of 32 and 64 bits alone are sorted by vectors here.");
  m.def("sort_records", &sort, "key"_a, "width"_a, "records"_a.noconvert(), "scratch"_a.noconvert(),
        "Sorts stably in place. Returns the seconds it took.");
}

// Kernels of permutations, timed on arrays of numpy: what moves elements, routes them to ranks and regions, and puts
// them in place.

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

namespace {

/// (work, ranks, width, parts, bytes, seconds)
using FigureRow = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, double>;
using Figures = std::map<std::string, double>;

Work work_named(const std::string& wanted) {
  for (std::size_t i = 0; i < works; ++i)
    if (wanted == name(static_cast<Work>(i))) return static_cast<Work>(i);
  throw InputError("there is no work '" + wanted + "'");
}

void make_profile(MemoryProfile* self, const std::string& origin, std::uint32_t cores, std::pair<double, double> wire,
                  const std::vector<FigureRow>& rows) {
  std::vector<WorkFigure> figures;
  for (const auto& [work, ranks, width, parts, bytes, seconds] : rows)
    figures.push_back({work_named(work), {ranks, width, parts, bytes}, seconds});
  new (self) MemoryProfile(origin, cores, {wire.first, wire.second}, std::move(figures));
}

std::vector<FigureRow> figure_rows(const MemoryProfile& profile) {
  std::vector<FigureRow> rows;
  for (const auto& [work, shape, seconds] : profile.figures())
    rows.emplace_back(name(work), shape.ranks, shape.width, shape.parts, shape.bytes, seconds);
  return rows;
}

TransferTable table_of(const Figures& figures) {
  TransferTable table;
  for (const auto& [transfer, rate] : figures) table.set(transfer, rate);
  return table;
}

/// Runs of `run` bytes, one behind the other in `target`: Work::pull.
std::vector<double> copy_runs(const Source& source, const Vector<const std::uint64_t>& begins, std::size_t run,
                              const Target& target, std::size_t repeat) {
  check_apart(source, target);
  check(run > 0 && run <= target.size() && begins.size() <= target.size() / run, "the target has no room for the runs");
  for (const std::uint64_t begin : span_of(begins))
    check(begin <= source.size() && run <= source.size() - begin, "a run reaches beyond its source");
  return timed(repeat, [&] {
    std::byte* to = bytes_of(target);
    for (const std::uint64_t begin : span_of(begins)) {
      copy(bytes_of(source) + begin, to, run);
      to += run;
    }
  });
}

/// Work::pack.
std::vector<double> pack_records(std::size_t key_width, const Source& keys, std::size_t payload_width,
                                 const Source& payload, const Target& records, std::size_t repeat) {
  const std::size_t n = elements_in(keys, key_width);
  check(n == elements_in(payload, payload_width) && n * (key_width + payload_width) == records.size(),
        "as many keys as payloads and records are wanted");
  check_apart(keys, records);
  check_apart(payload, records);
  return timed(repeat,
               [&] { pack(key_width, bytes_of(keys), payload_width, bytes_of(payload), n, bytes_of(records)); });
}

/// Sums of what comes before, in place: Work::scan.
std::vector<double> scan(const Vector<std::uint64_t>& counts, std::size_t repeat) {
  return timed(repeat, [&] {
    const std::span<std::uint64_t> values = span_of(counts);
    std::exclusive_scan(values.begin(), values.end(), values.begin(), std::uint64_t{0});
  });
}

void bind_profile(nb::module_& m) {
  nb::class_<MemoryProfile>(m, "Profile", "What memory operations and messages cost on a machine.")
      .def("__init__", &make_profile, "origin"_a, "cores"_a, "wire"_a, "figures"_a,
           "`wire`: bytes/s, seconds. `figures`: (work, ranks, width, parts, bytes, seconds).")
      .def_static("parse", &MemoryProfile::parse, "text"_a)
      .def_static("built_in", &MemoryProfile::built_in, nb::rv_policy::reference)
      .def("text", &MemoryProfile::text)
      .def(
          "seconds",
          [](const MemoryProfile& profile, const std::string& work, std::uint32_t ranks, std::uint32_t width,
             std::uint64_t parts,
             std::uint64_t bytes) { return profile.seconds(work_named(work), {ranks, width, parts, bytes}); },
          "work"_a, nb::kw_only(), "ranks"_a = 1, "width"_a = 1, "parts"_a = 1, "bytes"_a = 1)
      .def_prop_ro("origin", &MemoryProfile::origin)
      .def_prop_ro("cores", &MemoryProfile::cores)
      .def_prop_ro("wire",
                   [](const MemoryProfile& profile) { return std::pair(profile.wire().rate, profile.wire().latency); })
      .def_prop_ro("figures", &figure_rows);
  m.attr("WORKS") = [] {
    nb::list names;
    for (std::size_t i = 0; i < works; ++i) names.append(name(static_cast<Work>(i)));
    return nb::tuple(names);
  }();
}

}  // namespace

void bind_memory(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("memory", "The copy-transfer model and what is predicted by it.");
  m.def(
      "throughput",
      [](std::string_view composition, const Figures& figures) {
        return Composition::parse(composition).throughput(table_of(figures));
      },
      "composition"_a, "figures"_a, "MB/s of basic transfers composed, such as wC1 o (1S0 || Nd || 0R1) o 1Cw.");
  m.def(
      "composition", [](std::string_view text) { return Composition::parse(text).text(); }, "text"_a,
      "As it is understood.");
  m.def("copy_runs", &copy_runs, "source"_a, "begins"_a, "run"_a, "target"_a, "repeat"_a = 1,
        "Seconds of each repetition.");
  m.def("pack", &pack_records, "key_width"_a, "keys"_a, "payload_width"_a, "payload"_a, "records"_a, "repeat"_a = 1,
        "Seconds of each repetition.");
  m.def("scan", &scan, "counts"_a, "repeat"_a = 1, "Seconds of each repetition.");
  bind_profile(m);
}
