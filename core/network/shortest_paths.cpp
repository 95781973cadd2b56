#include "core/network/shortest_paths.hpp"

#include <algorithm>

namespace hocket {

ShortestPaths::ShortestPaths(const NetworkSpec& spec) : leaving_(spec.names.size()), distance_(spec.names.size()) {
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    leaving_[spec.links[i].a].push_back(static_cast<Channel>(2 * i));
    leaving_[spec.links[i].b].push_back(static_cast<Channel>(2 * i + 1));
    head_.push_back(spec.links[i].b);
    head_.push_back(spec.links[i].a);
  }
  for (std::size_t node = 0; node < spec.names.size(); ++node)
    ends_here_.push_back(spec.ranks[node] > 0 && (spec.forwards.empty() || spec.forwards[node] == 0));
}

void ShortestPaths::find(Node dst) {
  dst_ = dst;
  std::fill(distance_.begin(), distance_.end(), unreached);
  distance_[dst] = 0;
  queue_.assign(1, dst);
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const Node node = queue_[at];
    if (!forwards(node)) continue;
    for (const Channel channel : leaving_[node]) {
      const Node to = head_[channel];
      if (!reaches(to)) distance_[to] = distance_[node] + 1, queue_.push_back(to);
    }
  }
}

const std::vector<Channel>& ShortestPaths::best(Node node) {
  best_.clear();
  for (const Channel channel : leaving_[node]) {
    const Node to = head_[channel];
    if (forwards(to) && reaches(to) && distance_[to] + 1 == distance_[node]) best_.push_back(channel);
  }
  return best_;
}

}  // namespace hocket
