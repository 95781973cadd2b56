#pragma once
/// The whole schedule of an all-to-all in closed form.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket::algorithms {

/// `form` has phases(), and target(rank, phase), a rank or none.
template <class Form>
[[nodiscard]] Schedule written_out(const Form& form, const Demand& demand) {
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  hops.reserve(demand.messages());
  for (std::uint64_t phase = 0; phase < form.phases(); ++phase) {
    for (Rank src = 0; src < demand.ranks; ++src)
      if (const std::optional<Rank> dst = form.target(src, phase)) hops.push_back({src, *dst});
    begin.push_back(hops.size());
  }
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops)};
}

}  // namespace hocket::algorithms
