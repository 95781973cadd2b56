#include "runtime/paths/seen_ways.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/error.hpp"

namespace hocket::runtime {
namespace {

// As in python/hocket/measure/paths.py.
constexpr double most_a_second = 240, most_answers_to_one = 80, most_answers = 900;

std::vector<std::uint16_t> ports_in(std::istringstream& words) {
  std::vector<std::uint16_t> ports;
  for (std::uint16_t port = 0; words >> port;) ports.push_back(port);
  return ports;
}

}  // namespace

OwnWays::OwnWays(const std::string& table) {
  if (!table.empty()) read(table);
  for (Connection& one : connections_)
    if (!one.beside.probe.ports.empty()) beside_.push_back(&one);
  std::vector<Question> questions;
  for (Connection& one : connections_) questions.emplace_back(&one, &Connection::own);
  for (Connection* const one : beside_) questions.emplace_back(one, &Connection::beside);
  seen_.asked = connections_.size();
  for (const auto& [question, by] : answers(std::move(questions))) {
    (question.first->*question.second).by = by;
    if (question.second == &Connection::own) ++seen_.answered;
  }
  note_changes();
}

/// Each host begins with the connection to the host after it, so that no router hears all at once.
void OwnWays::read(const std::string& table) {
  const std::vector<Address> addresses = own_addresses();
  const auto is_own = [&](const std::string& text) {
    const auto address = Address::read(text);
    return address && std::ranges::find(addresses, *address) != addresses.end();
  };
  struct Held {
    std::uint16_t to_port = 0;
    std::vector<std::uint16_t> ports;
  };
  std::map<std::string, Held> held;  // by address
  std::vector<std::pair<std::string, Connection>> connections;
  std::set<std::string> hosts;
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, from, to;
    words >> kind;
    if (kind == "found") {
      words >> seen_.found;
    } else if (Node node = 0; kind == "router" && words >> from >> node) {
      if (const auto address = Address::read(from)) routers_.emplace_back(*address, node);
    } else if (Connection one; kind == "way" && words >> from >> to && is_own(from) &&
                               words >> one.own.probe.hops >> one.from >> one.to >> one.by_found) {
      one.beside.probe.ports = ports_in(words);
      connections.emplace_back(to, one);
    } else if (std::uint16_t port = 0; Address::read(kind) && words >> to >> port) {
      hosts.insert(to);
      if (is_own(kind)) held[to] = {port, ports_in(words)};
    }
  }
  for (auto& [to, one] : connections) {
    const auto found = held.find(to);
    const auto address = Address::read(to);
    if (found == held.end() || !address) continue;
    one.own.by = one.beside.by = one.by_found;
    const auto& [to_port, ports] = found->second;
    one.beside.probe = {*address, to_port, std::move(one.beside.probe.ports), one.own.probe.hops};
    one.own.probe = {*address, to_port, ports, one.own.probe.hops};
    connections_.push_back(std::move(one));
  }
  const auto next = std::ranges::find_if(connections_, [](const Connection& one) { return one.to > one.from; });
  std::rotate(connections_.begin(), next, connections_.end());
  connections_.resize(std::min(connections_.size(), SeenWays::most_asked));
  std::set<Node> switches;
  for (const auto& [address, node] : routers_) switches.insert(node);
  const auto ways = static_cast<double>(std::max<std::size_t>(switches.size(), 1));
  packets_a_second_ = std::min({most_a_second, most_answers_to_one * ways,
                                most_answers * ways / static_cast<double>(std::max<std::size_t>(hosts.size(), 1))});
}

std::optional<Node> OwnWays::switch_of(const std::optional<Address>& answer) const {
  const auto router =
      std::ranges::find_if(routers_, [&](const auto& known) { return answer && known.first == *answer; });
  if (router == routers_.end()) return std::nullopt;
  return router->second;
}

std::vector<std::pair<OwnWays::Question, Node>> OwnWays::answers(std::vector<Question> left) const {
  std::vector<std::pair<Question, Node>> answered;
  for (int turn = 0; turn < 2 && !left.empty(); ++turn) {  // packets get lost
    std::vector<Probe> probes;
    for (const auto& [connection, asked] : left) probes.push_back((connection->*asked).probe);
    const auto told = ask_routers(probes, packets_a_second_);
    std::vector<Question> silent;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (const std::optional<Node> by = switch_of(told[i]))
        answered.emplace_back(left[i], *by);
      else
        silent.push_back(left[i]);
    }
    if (answered.empty() && silent.size() > 4) silent.resize(4);  // routers that say nothing at all
    left = std::move(silent);
  }
  return answered;
}

void OwnWays::note_changes() {
  std::vector<ChangedWay> changed;
  for (const Connection& one : connections_)
    if (one.own.by != one.by_found) changed.push_back({one.from, one.to, one.own.by});
  if (changed != seen_.changed) ++seen_.number;
  seen_.changed = std::move(changed);
}

bool OwnWays::glance() {
  if (glance_)
    if (const std::optional<Node> by = switch_of(glance_->answer())) {
      is_new_ = is_new_ || *by != beside_[turn_]->beside.by;
      glance_.reset();
    }
  const Clock::time_point now = Clock::now();
  if (now < next_glance_ || beside_.empty()) return is_new_;
  next_glance_ = now + pause_;
  turn_ = (turn_ + 1) % beside_.size();
  glance_ = SentProbe::send(beside_[turn_]->beside.probe);
  return is_new_;
}

void OwnWays::look_again() {
  const Clock::time_point now = Clock::now();
  if (!std::exchange(is_new_, false) && now < looked_until_) return;
  glance_.reset();
  pause_ *= 2;
  next_glance_ = looked_until_ = now + pause_;
  std::vector<Question> questions;
  for (Connection* const one : beside_) questions.emplace_back(one, &Connection::beside);
  const auto answered = answers(std::move(questions));
  seen_.asked = beside_.size();
  seen_.answered = answered.size();
  for (const auto& [question, by] : answered) {
    Connection& one = *question.first;
    if (by != one.beside.by) one.own.by = by;
    one.beside.by = by;
  }
  note_changes();
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
    if (there == up.end() || on == down.end()) throw InputError("the table of paths (HOCKET_PATHS) is damaged");
    routes.push_back({way.from, way.to, there->second});
    routes.back().channels.insert(routes.back().channels.end(), on->second.begin(), on->second.end());
  }
  return routes;
}

}  // namespace hocket::runtime
