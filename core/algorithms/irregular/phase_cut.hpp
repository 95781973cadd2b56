#pragma once
/// Duration of a phase of messages of different sizes.
#include <cstdint>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"

namespace hocket::algorithms {

/// Small messages go completely, large ones only as far as the phase lasts; how far, the paper leaves open
/// (Wang, Lin and Ranka, section 3.3). Here a phase lasts as long as it pays: c is the size, of those in the
/// phase, that moves most bytes per unit of time,
///
///     sum of min(size, c) / (c + overhead).
///
/// Cutting early wastes overhead, cutting late the time of those that are through; between two sizes the
/// quotient has no maximum. The overhead of a phase is its per-message cost, in bytes at host speed, and at least a
/// fifth of a mean message, which keeps it to about one split per message where phases cost nothing.
class PhaseCut {
 public:
  /// `alpha`: seconds.
  PhaseCut(const Network& network, const Demand& demand, double alpha);

  /// Reduces the bytes that the messages of a phase have left to those that they send in it. The rest of a message is
  /// at least the overhead, or nothing: a smaller rest is not worth a phase of its own.
  void operator()(std::vector<std::uint64_t>& sizes);

 private:
  [[nodiscard]] std::uint64_t best_cut(const std::vector<std::uint64_t>& sizes);

  std::uint64_t overhead_;
  std::vector<std::uint64_t> sorted_;
};

}  // namespace hocket::algorithms
