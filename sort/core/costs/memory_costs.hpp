#pragma once
/// Costs of the pieces that operations on distributed elements are made of, per rank, all ranks working at once.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/model/memory_profile.hpp"

namespace hocket::model {

inline constexpr double position_bytes = sizeof(std::int64_t);

class MemoryCosts {
 public:
  MemoryCosts(const MemoryProfile& profile, int ranks, int ranks_per_host)
      : profile_(profile), ranks_(std::max(ranks, 1)), host_ranks_(std::clamp(ranks_per_host, 1, ranks_)) {}

  [[nodiscard]] double ranks() const { return ranks_; }
  [[nodiscard]] double host_ranks() const { return host_ranks_; }
  /// The fraction of data sent evenly to all ranks that leaves the host.
  [[nodiscard]] double away() const { return 1 - host_ranks() / ranks(); }

  /// `elements` of `width` bytes that lie, or are reached, in `bytes`.
  [[nodiscard]] double work(Work kind, double elements, double width, double parts, double bytes) const {
    return elements * profile_.seconds(kind, {static_cast<std::uint32_t>(host_ranks_), whole<std::uint32_t>(width),
                                              whole<std::uint64_t>(parts), whole<std::uint64_t>(bytes)});
  }
  [[nodiscard]] double work(Work kind, double elements, double width, double parts = 1) const {
    return work(kind, elements, width, parts, elements * width);
  }
  [[nodiscard]] double copy(double bytes) const { return work(Work::copy, bytes, 1); }
  /// Bytes of fresh private memory, what writing them takes longer.
  [[nodiscard]] double touch(double bytes) const { return work(Work::touch, bytes, 1); }
  /// Bytes copied run by run from all ranks of the host.
  [[nodiscard]] double pull(double bytes, double run_bytes) const {
    return work(Work::pull, bytes, 1, run_bytes, bytes);
  }

  /// All ranks of the host wait for each other.
  [[nodiscard]] double meet() const { return work(Work::meet, 1, 1); }
  /// A small reduction or exchange among all ranks.
  [[nodiscard]] double collective() const {
    const double hosts = ranks() / host_ranks();
    return work(Work::collective, 1, 1) + (hosts > 1 ? std::ceil(std::log2(hosts)) * latency() : 0);
  }
  /// An all-to-all in which every rank sends `bytes` in all, evenly, through MPI within a host too.
  [[nodiscard]] double all_to_all(double bytes) const {
    const double each = bytes / ranks();
    return collective() + (host_ranks() - 1) * work(Work::message, each, 1, 1, each) + wire(bytes);
  }
  /// The part of `bytes` that leaves the host, over the wire that its ranks share.
  [[nodiscard]] double wire(double bytes) const {
    return away() > 0 ? away() * bytes * host_ranks() / profile_.wire().rate + latency() * (ranks() - host_ranks()) : 0;
  }

  /// After work of so many seconds, what a rank waits for the others of its host: those that share a core with it have
  /// taken turns, and end a turn apart.
  [[nodiscard]] double uneven(double seconds) const {
    constexpr double turn = 3e-3;  // time slice of Linux among few processes
    return (std::max(1.0, host_ranks() / profile_.cores()) - 1) * std::min(seconds, turn);
  }

  /// The grouped permute: `n` elements arrive in `runs` runs, but for those that are in their places already.
  [[nodiscard]] double deliver(double n, double width, double runs, double in_place = 0) const {
    const double waits = 2 * collective() + 2 * meet();
    if (n <= 0) return waits;
    constexpr double description = 3 * sizeof(std::uint64_t);
    const double bytes = n * width, run = bytes / std::clamp(runs, 1.0, n), remote = bytes * away();
    const double pulled = pull(bytes - remote - in_place * width, run);
    double seconds = waits + pulled + uneven(pulled) + pull(runs * description, description);
    // Between hosts: packed, sent, unpacked.
    if (remote > 0) seconds += 2 * collective() + 2 * pull(remote, run) + wire(bytes + runs * description);
    return seconds;
  }

 private:
  template <class Number>
  static Number whole(double value) {
    return static_cast<Number>(std::clamp(value, 1.0, 1e9 * 1e6));
  }
  [[nodiscard]] double latency() const { return profile_.wire().latency; }

  const MemoryProfile& profile_;
  int ranks_, host_ranks_;
};

}  // namespace hocket::model
