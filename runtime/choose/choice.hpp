#pragma once
/// Which way the calls of one kind and size go, found out while they are made.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/choose/candidate.hpp"
#include "core/choose/evidence.hpp"
#include "runtime/choose/agreed_cost.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/plan/call_kind.hpp"

namespace hocket::runtime {

/// The calls of one kind on one communicator with messages of one size class.
struct Choice {
  enum class Stage : std::uint8_t {
    watched,   ///< the library serves all calls; some are timed, until it is clear that planning pays
    selected,  ///< `selection` decides call by call
    fixed,     ///< always the same candidate: nothing can be scheduled, or a prediction has chosen
  };
  CallKind kind;
  std::size_t bytes = 0;  ///< of a message in the first call
  Evidence known;         ///< of earlier runs; no candidates: there is none
  Stage stage = Stage::watched;
  std::uint64_t calls = 0;
  AgreedCost look;                   ///< of a call that is watched
  std::uint32_t looks = 0;           ///< calls of the present look whose cost is known
  double native_seconds = 0;         ///< of the library's call while it was watched; 0: not known yet
  double bound_seconds = 0;          ///< of a schedule, by the rates of the network as described
  bool outruns_wires = false;        ///< it takes less than the links as described need: no schedule is faster
  std::size_t candidate = 0;         ///< but for Stage::selected: its place in the table
  std::vector<std::size_t> offered;  ///< candidates to select from: their places in the table
  std::vector<double> predicted;     ///< seconds, by offered candidate
  std::optional<Selection> selection;
};

}  // namespace hocket::runtime
