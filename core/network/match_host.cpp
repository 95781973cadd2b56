#include "core/network/match_host.hpp"

#include <string_view>

namespace hocket {
namespace {

std::string_view short_name(std::string_view name) {
  if (name.find_first_not_of("0123456789.") == std::string_view::npos) return name;
  return name.substr(0, name.find('.'));
}

std::vector<Node> hosts_called(const Network& network, std::string_view name) {
  std::vector<Node> same_short_name;
  for (const Node host : network.hosts()) {
    if (network.name(host) == name) return {host};
    if (short_name(network.name(host)) == short_name(name)) same_short_name.push_back(host);
  }
  return same_short_name;
}

}  // namespace

HostMatch match_host(const Network& network, std::span<const std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::vector<Node> hosts = hosts_called(network, names[i]); !hosts.empty()) return {std::move(hosts), i};
  return {};
}

}  // namespace hocket
