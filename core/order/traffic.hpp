#pragma once
/// Calls that ranks are put in order for: steps of native algorithms, or messages that go at once.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/algorithms/baselines/library_calls.hpp"
#include "core/demand/demand.hpp"

namespace hocket::order {

/// Messages that go at once: in closed form, or listed.
struct Step {
  NativeStep form;
  double bytes = 0;               ///< of each message of the form
  std::vector<Message> messages;  ///< not empty: these, once

  [[nodiscard]] double times() const { return messages.empty() ? form.times : 1; }
  /// Calls `visit(src, dst, bytes)` for each message.
  template <class Visit>
  void each(Rank ranks, Visit visit) const {
    for (const Message& one : messages) visit(one.src, one.dst, static_cast<double>(one.bytes));
    if (!messages.empty()) return;
    for (Rank src = 0; src < ranks; ++src) visit(src, form.partner(src, ranks), bytes);
  }
};

/// Steps one after the other. `weight`: how much the call counts among others.
struct Call {
  std::vector<Step> steps;
  double weight = 1;
};

/// The algorithms of a collective that are made of steps and serve so many ranks; with `block` those alone by which
/// blocks of so many bytes are sent.
[[nodiscard]] std::vector<const LibraryCall*> made_of_steps(Pattern pattern, Rank ranks,
                                                            std::optional<std::uint64_t> block);

/// Steps of one of them on blocks of so many bytes: contributions of ranks, messages, or parts of a vector that is
/// added up. Of more than 48 steps some stand for all, evenly spaced. Throws InputError if it does not serve so many
/// ranks.
[[nodiscard]] Call native_call(const LibraryCall& algorithm, Rank ranks, double block, double weight);

/// All messages of an irregular demand at once. Throws InputError for other demands.
[[nodiscard]] Call demand_call(const Demand& demand, double weight);

}  // namespace hocket::order
