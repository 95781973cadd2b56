#include "runtime/paths/seen_ways.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "runtime/paths/ask_routers.hpp"

namespace hocket::runtime {
namespace {

// As in python/hocket/measure/paths.py.
constexpr double most_a_second = 240, most_answers_to_one = 80, most_answers = 900;

struct Connection {
  Node from = 0, to = 0, by = 0;
  Probe probe;
};

/// The lines of a table that are about this host.
struct OwnLines {
  std::string found;
  std::map<std::string, std::pair<std::uint16_t, std::vector<std::uint16_t>>> ports;  ///< by "FROM TO"
  std::vector<std::pair<std::string, Connection>> connections;
  std::vector<std::pair<Address, Node>> routers;
  std::set<std::string> hosts;
};

OwnLines own_lines(const std::string& table) {
  OwnLines own;
  const std::vector<Address> addresses = own_addresses();
  const auto is_own = [&](const std::string& text) {
    const auto address = Address::read(text);
    return address && std::ranges::find(addresses, *address) != addresses.end();
  };
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, from, to;
    words >> kind;
    if (kind == "found") {
      words >> own.found;
    } else if (Node node = 0; kind == "router" && words >> from >> node) {
      if (const auto address = Address::read(from)) own.routers.emplace_back(*address, node);
    } else if (Connection one; kind == "way" && words >> from >> to && is_own(from) &&
                               words >> one.probe.hops >> one.from >> one.to >> one.by) {
      own.connections.emplace_back(from.append(" ").append(to), one);
    } else if (std::uint16_t port = 0; Address::read(kind) && words >> to >> port) {
      own.hosts.insert(to);
      if (!is_own(kind)) continue;
      auto& [to_port, ports] = own.ports[kind.append(" ").append(to)];
      to_port = port;
      while (words >> port) ports.push_back(port);
    }
  }
  return own;
}

/// The connections that are asked about, each host's beginning with that to the host after it.
std::vector<Connection> chosen_of(const OwnLines& own) {
  std::vector<Connection> chosen;
  for (const auto& [ends, connection] : own.connections) {
    const auto ports = own.ports.find(ends);
    const auto to = Address::read(ends.substr(ends.find(' ') + 1));
    if (ports == own.ports.end() || !to) continue;
    chosen.push_back(connection);
    chosen.back().probe.to = *to;
    std::tie(chosen.back().probe.to_port, chosen.back().probe.ports) = ports->second;
  }
  const auto next = std::ranges::find_if(chosen, [](const Connection& one) { return one.to > one.from; });
  std::rotate(chosen.begin(), next, chosen.end());
  chosen.resize(std::min(chosen.size(), SeenWays::most_asked));
  return chosen;
}

}  // namespace

SeenWays look_at_ways(const std::string& table) {
  const OwnLines own = own_lines(table);
  SeenWays seen{.found = own.found};
  std::vector<Connection> left = chosen_of(own);
  if (left.empty()) return seen;
  std::set<Node> switches;
  for (const auto& [address, node] : own.routers) switches.insert(node);
  const auto ways = static_cast<double>(std::max<std::size_t>(switches.size(), 1));
  const double a_second =
      std::min({most_a_second, most_answers_to_one * ways,
                most_answers * ways / static_cast<double>(std::max<std::size_t>(own.hosts.size(), 1))});
  seen.asked = left.size();
  for (int turn = 0; turn < 2 && !left.empty(); ++turn) {  // packets get lost
    std::vector<Probe> probes;
    for (const Connection& one : left) probes.push_back(one.probe);
    const auto answers = ask_routers(probes, a_second);
    std::vector<Connection> silent;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto router = std::ranges::find_if(
          own.routers, [&](const auto& known) { return answers[i] && known.first == *answers[i]; });
      if (router == own.routers.end()) {
        silent.push_back(left[i]);
        continue;
      }
      ++seen.answered;
      if (router->second != left[i].by) seen.changed.push_back({left[i].from, left[i].to, router->second});
    }
    if (seen.answered == 0 && turn == 0 && silent.size() > 4) silent.resize(4);  // routers that say nothing at all
    left = std::move(silent);
  }
  return seen;
}

std::vector<RouteSpec> routes_of(const std::string& table, const std::vector<ChangedWay>& changed) {
  std::map<std::pair<Node, Node>, std::vector<Channel>> up, down;
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    Node from = 0, to = 0;
    if (!(words >> kind) || (kind != "up" && kind != "down") || !(words >> from >> to)) continue;
    auto& part = (kind == "up" ? up : down)[{from, to}];
    for (Channel channel = 0; words >> channel;) part.push_back(channel);
  }
  std::vector<RouteSpec> routes;
  for (const ChangedWay& way : changed) {
    const auto there = up.find({way.from, way.by}), on = down.find({way.by, way.to});
    if (there == up.end() || on == down.end()) throw InputError("the table of paths (HOCKET_PATHS_TABLE) is damaged");
    routes.push_back({way.from, way.to, there->second});
    routes.back().channels.insert(routes.back().channels.end(), on->second.begin(), on->second.end());
  }
  return routes;
}

}  // namespace hocket::runtime
