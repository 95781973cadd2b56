#include "elements.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/core/elements/record.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::bindings;

namespace {

using DigitRow = std::pair<unsigned, unsigned>;
using SplitterRow = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

Digit digit_from(const DigitRow& row) { return {.shift = row.first, .bits = row.second}; }

RecordType record_type(KeyType key, std::size_t width) {
  check(width >= key_bytes(key), "records of " + std::to_string(width) + " bytes cannot hold a key of " +
                                     std::to_string(key_bytes(key)) + " bytes");
  return {.key = key, .width = width};
}

std::vector<double> timed_count(KeyType key, std::size_t width, const Source& records,
                                const std::vector<DigitRow>& rows, const std::vector<Vector<std::uint64_t>>& counts,
                                std::size_t repeat) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  check(rows.size() == counts.size(), "one array of counts per digit is wanted");
  std::vector<Digit> digits;
  std::vector<std::span<std::uint64_t>> spans;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    digits.push_back(digit_from(rows[d]));
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

std::vector<double> partition_digit(KeyType key, std::size_t width, const Source& records, const DigitRow& row,
                                    const Target& out, const Vector<const std::uint64_t>& begins, std::size_t repeat) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  const Digit digit = digit_from(row);
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
                                     std::uint64_t first, const std::vector<SplitterRow>& rows,
                                     const Vector<std::uint16_t>& part, std::size_t repeat) {
  const RecordType type = record_type(key, width);
  const std::size_t n = elements_in(records, width);
  check(part.size() == n, "room for one part per record is wanted");
  check(rows.size() <= 65535, "at most 65535 splitters can be told apart");
  check(std::is_sorted(rows.begin(), rows.end()), "splitters must ascend");
  std::vector<Splitter> splitters;
  for (const auto& [order, of_rank, index] : rows) splitters.push_back({order, of_rank, index});
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
