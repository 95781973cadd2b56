#pragma once
/// A cache of a communicator's irregular exchanges: their sizes and what serves them. Every rank remembers its own row
/// and column; all learn of exchanges in the same order, so that a number means the same exchange everywhere.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/buffers/peer_bytes.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/report/outcome.hpp"

namespace hocket::runtime {

class ScheduleCache {
 public:
  static constexpr std::size_t most = 63;                                 ///< exchanges remembered
  static constexpr std::uint64_t well_formed = std::uint64_t{1} << most;  ///< a bit that is no exchange's

  struct Known {
    PeerBytes peer_bytes;
    std::uint64_t digest = 0, last_use = 0;
    bool tried = false;                              ///< to plan it
    FallbackReason why = FallbackReason::new_sizes;  ///< while there is no schedule
    std::unique_ptr<Exchange> exchange;              ///< its schedule
  };

  /// The known exchanges that match a call of these sizes on this rank: a bit for each, and `well_formed`. Nothing is
  /// known of a call without sizes.
  [[nodiscard]] std::uint64_t candidates(const std::optional<PeerBytes>& peer_bytes) const;
  /// The exchange that all ranks' candidates have in common (their AND); null if there is none.
  [[nodiscard]] Known* find(std::uint64_t common);
  /// One that nobody knows yet, in place of the one that was not used for longest.
  [[nodiscard]] Known& add(PeerBytes peer_bytes);

 private:
  std::vector<Known> known_;
  std::uint64_t uses_ = 0;
};

/// Exponential back-off for asking what the ranks send in calls that the MPI library ends up serving. It counts answers
/// that all ranks received, so all of them skip the same calls.
class Backoff {
 public:
  /// True if this call should be asked about.
  [[nodiscard]] bool asks() {
    if (skip_ == 0) return true;
    --skip_;
    ++skipped_;
    return false;
  }
  /// Calls that were not asked about since the last answer.
  [[nodiscard]] std::uint64_t skipped() { return std::exchange(skipped_, 0); }
  /// `scheduled`: the call. `goes_on`: what the ranks are finding out needs the next one.
  void answered(bool scheduled, bool goes_on = false) {
    if (scheduled)
      in_vain_ = 0;
    else if (!goes_on && ++in_vain_ >= patience)
      skip_ = std::uint32_t{1} << std::min(in_vain_ - patience, longest);
  }

 private:
  static constexpr std::uint32_t patience = 2;  ///< answers in vain before calls are skipped
  static constexpr std::uint32_t longest = 6;   ///< then 1, 2, 4, ... and at last 2^longest of them

  std::uint32_t in_vain_ = 0, skip_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace hocket::runtime
