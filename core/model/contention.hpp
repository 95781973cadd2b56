#pragma once
/// Loss of rate on wires that several flows share.
#include <array>
#include <cstddef>

namespace hocket {

/// Fractions of a channel's rate that 1, 2, 4, 8 flows carry together, if each could fill it alone; for one kind of
/// channel.
using SharedRate = std::array<double, 4>;

struct Contention {
  SharedRate host{1, 1, 1, 1};         ///< channels from or to a host
  SharedRate switch_link{1, 1, 1, 1};  ///< channels between switches
  bool operator==(const Contention&) const = default;
};

/// The fraction for any number of flows: linear between the given ones; beyond eight that of eight.
[[nodiscard]] double shared_rate(const SharedRate& part, double flows);

/// Throws InputError for parts that are not above 0 and at most 1.
void check_contention(const Contention& contention);

}  // namespace hocket
