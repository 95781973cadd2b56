#include "core/algorithms/shared/host_routes.hpp"

namespace hocket::algorithms {

HostRoutes::HostRoutes(const Network& network) : hosts_(static_cast<std::uint32_t>(network.hosts().size())) {
  find(network, network.shape() == Shape::routed);
  if (!reach_all()) find(network, true);
}

void HostRoutes::find(const Network& network, bool all) {
  channels_.clear();
  begin_.assign(1, 0);
  sources_.assign(hosts_, {});
  const auto passes_host = [&](std::size_t begin) {
    for (std::size_t i = begin; i + 1 < channels_.size(); ++i) {
      const LinkSpec& link = network.spec().links[channels_[i] / 2];
      if (network.is_host(channels_[i] % 2 == 0 ? link.b : link.a)) return true;
    }
    return false;
  };
  for (std::uint32_t from = 0; from < hosts_; ++from)
    for (std::uint32_t to = 0; to < hosts_; ++to) {
      const std::size_t begin = channels_.size();
      if (from != to) {
        network.append_route(network.first_rank(network.hosts()[from]), network.first_rank(network.hosts()[to]),
                             channels_);
        if (!all && passes_host(begin))
          channels_.resize(begin);
        else
          sources_[to].push_back(from);
      }
      begin_.push_back(channels_.size());
    }
}

/// True if every host is reached from every other, over several routes if need be.
bool HostRoutes::reach_all() const {
  std::vector<std::vector<std::uint32_t>> targets(hosts_);
  for (std::uint32_t to = 0; to < hosts_; ++to)
    for (const std::uint32_t from : sources_[to]) targets[from].push_back(to);
  const auto reached_over = [&](const std::vector<std::vector<std::uint32_t>>& next) {
    std::vector<char> seen(hosts_, 0);
    std::vector<std::uint32_t> queue{0};
    seen[0] = 1;
    for (std::size_t at = 0; at < queue.size(); ++at)
      for (const std::uint32_t host : next[queue[at]])
        if (seen[host] == 0) seen[host] = 1, queue.push_back(host);
    return queue.size() == hosts_;
  };
  return reached_over(targets) && reached_over(sources_);
}

}  // namespace hocket::algorithms
