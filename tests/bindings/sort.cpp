/// Predicted costs of sorts and permutations, and parts of their kernels.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>

#include "bindings/elements.hpp"
#include "core/model/memory_profile.hpp"
#include "sort/core/costs/costs.hpp"
#include "sort/core/elements/append.hpp"
#include "sort/core/elements/record.hpp"
#include "testing.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using namespace hocket::bindings;

namespace {

using Steps = std::vector<std::pair<std::string, double>>;
using DigitRow = std::pair<unsigned, unsigned>;
using DigitRows = std::vector<DigitRow>;

Steps step_rows(const std::vector<StepCost>& costs) {
  Steps rows;
  for (const StepCost& step : costs) rows.emplace_back(step.name, step.seconds);
  return rows;
}

Steps radix(const MemoryProfile& profile, const SortShape& shape, const DigitRows& rows) {
  std::vector<Digit> digits;
  for (const auto& [shift, bits] : rows) digits.push_back({shift, bits});
  return step_rows(predict_radix(profile, shape, digits));
}

void bind_predictions(nb::module_& m) {
  nb::class_<SortShape>(m, "SortShape", "A sort as the model sees it.")
      .def(
          "__init__",
          [](SortShape* self, KeyType key, std::size_t width, std::uint64_t elements, unsigned order_bits, int ranks,
             int ranks_per_host, bool library_sort, std::size_t fetched) {
            new (self) SortShape{{key, width}, elements, order_bits, ranks, ranks_per_host, library_sort, fetched};
          },
          "key"_a, "width"_a, "elements"_a, "order_bits"_a, "ranks"_a, "ranks_per_host"_a, "library_sort"_a = false,
          "fetched"_a = 0);
  nb::class_<TakeShape>(m, "TakeShape", "A take as the model sees it.")
      .def(
          "__init__",
          [](TakeShape* self, std::uint32_t width, std::uint64_t elements, int ranks, int ranks_per_host) {
            new (self) TakeShape{width, elements, ranks, ranks_per_host};
          },
          "width"_a, "elements"_a, "ranks"_a, "ranks_per_host"_a);

  m.def("predict_radix", &radix, "profile"_a, "shape"_a, "digits"_a, "[(step, seconds)]. `digits`: (shift, bits).");
  m.def(
      "predict_highest_first",
      [](const MemoryProfile& profile, const SortShape& shape, std::pair<unsigned, unsigned> highest) {
        return step_rows(predict_highest_first(profile, shape, {highest.first, highest.second}));
      },
      "profile"_a, "shape"_a, "highest"_a, "[(step, seconds)]. `highest`: (shift, bits).");
  m.def(
      "fastest_radix",
      [](const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying) {
        const RadixPlan plan = fastest_radix(profile, shape, varying);
        DigitRows all;
        for (const Digit digit : plan.digits.all) all.emplace_back(digit.shift, digit.bits);
        std::optional<std::pair<unsigned, unsigned>> highest;
        if (plan.digits.highest) highest.emplace(plan.digits.highest->shift, plan.digits.highest->bits);
        return std::tuple(all, highest, step_rows(plan.cost));
      },
      "profile"_a, "shape"_a, "varying"_a, "All digits, the highest to begin with or None, [(step, seconds)].");
  m.def(
      "predict_sample",
      [](const MemoryProfile& profile, const SortShape& shape, unsigned oversampling) {
        return step_rows(predict_sample(profile, shape, oversampling));
      },
      "profile"_a, "shape"_a, "oversampling"_a = 32);
  m.def(
      "predict_take",
      [](const MemoryProfile& profile, const TakeShape& shape, bool chained) {
        return step_rows(predict_take(profile, shape, chained));
      },
      "profile"_a, "shape"_a, "chained"_a);
}

void orders(KeyType key, std::size_t width, const Source& records, const Vector<std::uint64_t>& out) {
  check(elements_in(records, width) == out.size(), "one order per record is wanted");
  for (std::size_t i = 0; i < out.size(); ++i) out.data()[i] = order_of(key, bytes_of(records) + i * width);
}

}  // namespace

void add_to_sort(nb::module_& m) {
  nb::module_ memory = nb::borrow<nb::module_>(m.attr("memory"));
  bind_predictions(memory);
  m.def("orders", &orders, "key"_a, "width"_a, "records"_a, "out"_a.noconvert(),
        "Numbers that order like the keys of records, which are given as bytes (uint8).");
  m.def(
      "digits_over",
      [](std::uint64_t varying, unsigned most) {
        check(most > 0 && most <= 64, "a digit has from 1 to 64 bits");
        std::vector<DigitRow> rows;
        for (const Digit each : digits_over(varying, most)) rows.emplace_back(each.shift, each.bits);
        return rows;
      },
      "varying"_a, "most"_a, "(shift, bits) of the digits that cover these bits, least significant first.");
  m.def(
      "runs_crowd",
      [](const std::vector<std::uint64_t>& ends) {
        std::vector<std::byte*> addresses;
        for (const std::uint64_t end : ends) addresses.push_back(reinterpret_cast<std::byte*>(end));
        return elements::runs_crowd(addresses);
      },
      "ends"_a, "Whether runs that end at these addresses share so few sets of a first-level cache that it matters.");
}
