#pragma once
/// The state of selecting a candidate for the calls of one kind and size.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/choose/candidate.hpp"
#include "runtime/choose/agreed_cost.hpp"
#include "runtime/choose/kept_timings_file.hpp"
#include "runtime/choose/selection.hpp"

namespace hocket::runtime {

/// The calls of one kind on one communicator with messages of one class of sizes.
struct Choice {
  enum class Stage : std::uint8_t {
    watched,   ///< the library serves all calls; some are timed, until it is clear that planning pays
    selected,  ///< `selection` decides call by call
    fixed,     ///< always the same candidate: nothing can be scheduled, or a prediction has chosen
  };
  CallKind kind;
  MessageSizes sizes;  ///< in the first call
  KeptTimings known;   ///< timings from earlier runs; no candidates: there are none
  Stage stage = Stage::watched;
  std::uint64_t calls = 0;
  std::uint64_t unseen = 0;          ///< calls before the last one of which the ranks knew nothing
  std::uint64_t unspent = 0;         ///< watched calls that are not in what was spent in them
  bool left = false;                 ///< what is to be agreed on is left for settle()
  bool decided = false;              ///< `selection` has decided on the next call
  AgreedCost look;                   ///< cost of the watched call
  std::uint32_t looks = 0;           ///< calls of the present look whose cost is known
  double native_seconds = 0;         ///< time of the library's call while it was watched; 0: not known yet
  double bound_seconds = 0;          ///< lower bound for a schedule, by the described rates
  bool outruns_wires = false;        ///< it takes less than the links as described need: no schedule is faster
  std::size_t candidate = 0;         ///< index of the candidate in the table, except in Stage::selected
  std::vector<std::size_t> offered;  ///< candidates to select from: their places in the table
  std::vector<double> predicted;     ///< seconds, by offered candidate
  std::optional<Selection> selection;
};

}  // namespace hocket::runtime
