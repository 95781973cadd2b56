#pragma once
/// Maximum flow by Dinic's algorithm (E. A. Dinic 1970), with capacities in bytes.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace hocket::flow {

class MaxFlow {
 public:
  explicit MaxFlow(std::uint32_t nodes) : first_(nodes, none), level_(nodes), next_(nodes) {}

  /// Returns the arc's number.
  std::uint32_t add_arc(std::uint32_t from, std::uint32_t to) {
    const auto arc = static_cast<std::uint32_t>(arcs_.size());
    arcs_.push_back({to, first_[from], 0});
    first_[from] = arc;
    arcs_.push_back({from, first_[to], 0});
    first_[to] = arc + 1;
    return arc;
  }
  void set(std::uint32_t arc, double capacity) {
    arcs_[arc].left = capacity;
    arcs_[arc ^ 1].left = 0;
  }

  /// `tiny`: less than this counts as nothing.
  double run(std::uint32_t source, std::uint32_t sink, double tiny) {
    double sum = 0;
    tiny_ = tiny;
    while (label(source, sink)) {
      next_ = first_;
      while (const double sent = push(source, sink, std::numeric_limits<double>::infinity())) sum += sent;
    }
    return sum;
  }
  /// True, after run(), if a node lies on the source's side of the smallest cut.
  [[nodiscard]] bool before_cut(std::uint32_t node) const { return level_[node] != none; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Arc {
    std::uint32_t to, next;
    double left;
  };

  bool label(std::uint32_t source, std::uint32_t sink) {
    std::fill(level_.begin(), level_.end(), none);
    level_[source] = 0;
    queue_.assign(1, source);
    for (std::size_t at = 0; at < queue_.size(); ++at)
      for (std::uint32_t arc = first_[queue_[at]]; arc != none; arc = arcs_[arc].next)
        if (arcs_[arc].left > tiny_ && level_[arcs_[arc].to] == none) {
          level_[arcs_[arc].to] = level_[queue_[at]] + 1;
          queue_.push_back(arcs_[arc].to);
        }
    return level_[sink] != none;
  }

  double push(std::uint32_t node, std::uint32_t sink, double most) {
    if (node == sink) return most;
    for (std::uint32_t& arc = next_[node]; arc != none; arc = arcs_[arc].next) {
      if (arcs_[arc].left <= tiny_ || level_[arcs_[arc].to] != level_[node] + 1) continue;
      const double sent = push(arcs_[arc].to, sink, std::min(most, arcs_[arc].left));
      if (sent <= 0) continue;
      arcs_[arc].left -= sent;
      arcs_[arc ^ 1].left += sent;
      return sent;
    }
    return 0;
  }

  std::vector<Arc> arcs_;  ///< arc i and its reverse i ^ 1
  std::vector<std::uint32_t> first_, level_, next_, queue_;
  double tiny_ = 0;
};

}  // namespace hocket::flow
