#pragma once
/// Which way the calls of one kind and size go, found out while they are made.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hocket/choose/evidence.hpp"
#include "hocket/choose/guard.hpp"
#include "runtime/choose/agreed_costs.hpp"
#include "runtime/choose/arm.hpp"
#include "runtime/plan/call_kind.hpp"

namespace hocket::runtime {

/// Of the calls of one kind on one communicator with messages of one size class. Every rank sees the same calls and the
/// same costs, so all of them choose alike without asking each other.
struct Choice {
  enum class Stage : std::uint8_t {
    watched,  ///< the library serves all calls; some are timed, until it is clear that planning pays
    guarded,  ///< the guard chooses
    fixed,    ///< always the same arm: nothing can be scheduled, or a prediction has chosen
  };
  CallKind kind;
  std::size_t bytes = 0;  ///< of a message in the first call
  Evidence known;         ///< of earlier runs; no arms: there is none
  Stage stage = Stage::watched;
  std::uint64_t calls = 0;
  double native_seconds = 0;         ///< of the library's call while it was watched; 0: not known yet
  bool outruns_wires = false;        ///< it takes less than the links as described need: no schedule is faster
  std::size_t arm = 0;               ///< but for Stage::guarded: its place in the table
  std::vector<std::size_t> offered;  ///< arms that the guard chooses from: their places in the table
  std::vector<double> predicted;     ///< seconds, by offered arm
  std::optional<Guard> guard;
  AgreedCosts costs;
  std::vector<std::size_t> timed;  ///< arms of the calls that the guard waits for: their places in the table
};

}  // namespace hocket::runtime
