#include "core/network/rerouted.hpp"

#include <map>
#include <utility>

namespace hocket {

Network rerouted(const Network& network, std::span<const RouteSpec> routes) {
  std::map<std::pair<Node, Node>, const RouteSpec*> given;
  for (const RouteSpec& route : routes) given[{route.src, route.dst}] = &route;
  NetworkSpec spec;
  spec.shape = Shape::routed;
  spec.names = network.spec().names;
  spec.ranks = network.spec().ranks;
  spec.ports = network.spec().ports;
  for (Channel channel = 0; channel < network.channels(); ++channel)
    spec.channels.push_back({network.channel_name(channel), network.rate(channel), network.latency(channel)});
  for (const Node src : network.hosts())
    for (const Node dst : network.hosts()) {
      if (src == dst) continue;
      const auto found = given.find({src, dst});
      spec.routes.push_back({src, dst,
                             found != given.end() ? found->second->channels
                                                  : network.route(network.first_rank(src), network.first_rank(dst))});
    }
  return Network(std::move(spec));
}

}  // namespace hocket
