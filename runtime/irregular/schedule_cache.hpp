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
#include "runtime/choose/selection.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/report/outcome.hpp"

namespace hocket::runtime {

/// Total volume of a call over all ranks.
struct Extent {
  std::uint64_t bytes = 0, messages = 0;

  /// True if messages are large enough, on average, to consider a schedule.
  [[nodiscard]] bool large_enough() const;
};

class ScheduleCache {
 public:
  static constexpr std::size_t most = 63;                                 ///< exchanges remembered
  static constexpr std::uint64_t well_formed = std::uint64_t{1} << most;  ///< a bit that is no exchange's

  enum class Server : std::uint8_t { undecided, mpi, schedule };
  struct Known {
    PeerBytes peer_bytes;
    std::uint64_t digest = 0, last_use = 0;
    Server server = Server::undecided;
    FallbackReason why = FallbackReason::new_sizes;  ///< while it is not Server::schedule
    Extent extent;                                   ///< total over all ranks
    bool large = false;                              ///< lasts much longer than being asked about
    std::unique_ptr<Exchange> exchange;              ///< set for Server::schedule
    std::shared_ptr<Selection> selection;            ///< set while it is found out whether the library is faster
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

/// Exponential back-off for checking calls that the MPI library ends up serving. It counts answers that all ranks
/// received, so all of them skip the same calls.
class Backoff {
 public:
  /// True if this call should be checked.
  [[nodiscard]] bool asks() {
    if (skip_ == 0) return true;
    --skip_;
    return false;
  }
  void worth_it() { in_vain_ = 0; }
  /// `promising`: one that is planned when it comes again. The call after one is not skipped, but for
  /// sizes that change in every call.
  void in_vain(bool promising) {
    const bool again = std::exchange(promising_, promising);
    if (++in_vain_ < patience || (promising && !again)) return;
    skip_ = std::uint32_t{1} << std::min(in_vain_ - patience, longest);
  }

 private:
  static constexpr std::uint32_t patience = 4;  ///< answers in vain before calls are skipped
  static constexpr std::uint32_t longest = 6;   ///< then 1, 2, 4, ... and at last 2^longest of them

  std::uint32_t in_vain_ = 0, skip_ = 0;
  bool promising_ = false;
};

}  // namespace hocket::runtime
