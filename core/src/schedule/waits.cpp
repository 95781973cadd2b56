#include "hocket/schedule/waits.hpp"

#include <algorithm>
#include <utility>

namespace hocket {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

/// The latest transfers on every channel: slot t mod (capacity · window) of a channel holds its
/// t-th transfer, so the slot about to be overwritten is the one to wait for.
class ChannelHistory {
 public:
  ChannelHistory(const Network& network, std::uint32_t window) : first_(network.channels() + 1, 0) {
    for (Channel channel = 0; channel < network.channels(); ++channel)
      first_[channel + 1] = first_[channel] + std::uint64_t{network.capacity(channel)} * window;
    slots_.assign(first_.back(), none);
    next_.assign(network.channels(), 0);
  }

  /// Returns the transfer that must be over before `transfer` may use the channel, or none.
  std::uint32_t push(Channel channel, std::uint32_t transfer) {
    const auto width = static_cast<std::uint32_t>(first_[channel + 1] - first_[channel]);
    std::uint32_t& slot = slots_[first_[channel] + next_[channel]];
    if (++next_[channel] == width) next_[channel] = 0;
    return std::exchange(slot, transfer);
  }

 private:
  std::vector<std::uint64_t> first_;
  std::vector<std::uint32_t> slots_, next_;
};

/// Removes waits that follow from later ones. Reachability is searched backwards along the waits
/// already kept and each sender's own order, latest transfer first, for a bounded number of steps:
/// a redundant wait may survive (it costs a token), a needed one is never removed.
class Reducer {
 public:
  Reducer(std::uint64_t transfers, const Waits& waits, const std::vector<std::uint32_t>& previous_send)
      : waits_(waits), previous_send_(previous_send), visited_(transfers, none) {}

  /// `before`: candidates of `transfer`, latest first. Keeps the needed ones.
  void reduce(std::uint32_t transfer, std::vector<std::uint32_t>& before) {
    frontier_.clear();
    steps_ = 0;
    const std::uint32_t oldest = before.back();
    if (const std::uint32_t own = previous_send_[transfer]; own != none) visit(transfer, own, oldest);
    std::size_t kept = 0;
    for (const std::uint32_t candidate : before) {
      while (!frontier_.empty() && frontier_.front() > candidate && steps_ < max_steps)
        expand(transfer, oldest);
      if (visited_[candidate] == transfer) continue;
      before[kept++] = candidate;
      visit(transfer, candidate, oldest);
    }
    before.resize(kept);
  }

 private:
  static constexpr int max_steps = 64;

  void visit(std::uint32_t transfer, std::uint32_t node, std::uint32_t oldest) {
    if (node < oldest || visited_[node] == transfer) return;
    visited_[node] = transfer;
    frontier_.push_back(node);
    std::push_heap(frontier_.begin(), frontier_.end());
  }

  void expand(std::uint32_t transfer, std::uint32_t oldest) {
    std::pop_heap(frontier_.begin(), frontier_.end());
    const std::uint32_t node = frontier_.back();
    frontier_.pop_back();
    ++steps_;
    for (const std::uint32_t earlier : waits_.of(node)) visit(transfer, earlier, oldest);
    if (const std::uint32_t own = previous_send_[node]; own != none) visit(transfer, own, oldest);
  }

  const Waits& waits_;
  const std::vector<std::uint32_t>& previous_send_;
  std::vector<std::uint32_t> visited_;  ///< last transfer whose search came here
  std::vector<std::uint32_t> frontier_;
  int steps_ = 0;
};

}  // namespace

Waits derive_waits(const Network& network, const Schedule& schedule, std::uint32_t window) {
  Waits waits;
  waits.window = std::max(window, 1u);
  waits.begin.assign(schedule.size() + 1, 0);
  ChannelHistory history(network, waits.window);
  std::vector<std::uint32_t> last_send(schedule.ranks(), none), previous_send(schedule.size(), none);
  Reducer reducer(schedule.size(), waits, previous_send);
  std::vector<Channel> route;
  std::vector<std::uint32_t> before;
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
    const auto end = static_cast<std::uint32_t>(schedule.phase_begin()[phase + 1]);
    for (std::uint32_t transfer = first; transfer < end; ++transfer) {
      const Hop hop = schedule.hops()[transfer];
      route.clear();
      network.append_route(hop.src, hop.dst, route);
      before.clear();
      for (const Channel channel : route) {
        const std::uint32_t earlier = history.push(channel, transfer);
        if (earlier != none && earlier < first && schedule.hops()[earlier].src != hop.src) before.push_back(earlier);
      }
      previous_send[transfer] = std::exchange(last_send[hop.src], transfer);
      if (!before.empty()) {
        std::sort(before.begin(), before.end(), std::greater<>());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        waits.derived += before.size();
        reducer.reduce(transfer, before);
        waits.before.insert(waits.before.end(), before.begin(), before.end());
      }
      waits.begin[transfer + 1] = waits.before.size();
    }
  }
  return waits;
}

}  // namespace hocket
