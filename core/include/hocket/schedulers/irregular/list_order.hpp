#pragma once
/// List scheduling: messages start one by one, in continuous time, as soon as all that they need is free.
#include <cstdint>
#include <vector>

#include "hocket/schedulers/irregular/workload.hpp"

namespace hocket::algorithms {

struct ListRule {
  double sharpness = 0;
  double shrink = 0;
};

struct Starts {
  double seconds = 0;
  std::vector<std::uint32_t> order;
  std::vector<double> start;
};

[[nodiscard]] Starts list_starts(const Workload& work, const ListRule& rule, const std::vector<double>& bias);

}  // namespace hocket::algorithms
