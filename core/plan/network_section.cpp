#include <utility>

#include "core/plan/plan.hpp"

namespace hocket {

namespace {

/// Targets ascend within a row: each is written as its distance from the first rank it could be.
void decode_program(ByteReader& in, Rank src, std::uint32_t ranks, std::vector<Message>& messages) {
  std::uint64_t least = 0;
  for (std::uint64_t n = in.count(2); n > 0; --n) {
    const std::uint64_t step = in.number();
    if (step >= ranks - least) throw PlanProblem("a message to a rank that does not exist");
    const auto dst = static_cast<Rank>(least + step);
    const std::uint64_t bytes = in.number();
    if (dst == src) throw PlanProblem("a message of a rank to itself");
    if (bytes == 0) throw PlanProblem("a message without bytes");
    messages.push_back({src, dst, bytes});
    least = std::uint64_t{dst} + 1;
  }
}

}  // namespace

Bytes encode_matrix(const Demand& demand) {
  ByteWriter out;
  if (!demand.by_matrix()) return out.take();
  const TrafficMatrix& matrix = demand.matrix;
  for (Rank src = 0; src < matrix.ranks(); ++src) {
    const auto targets = matrix.targets(src);
    const auto bytes = matrix.bytes(src);
    out.number(targets.size());
    std::uint64_t least = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      out.number(targets[i] - std::exchange(least, std::uint64_t{targets[i]} + 1));
      out.number(bytes[i]);
    }
  }
  return out.take();
}

void decode_matrix(ByteView bytes, Demand& demand) {
  ByteReader in(bytes);
  if (demand.by_matrix()) {
    std::vector<Message> messages;
    for (Rank src = 0; src < demand.ranks; ++src) decode_program(in, src, demand.ranks, messages);
    try {
      demand.matrix = TrafficMatrix(demand.ranks, std::move(messages));
    } catch (const InputError& error) {
      throw PlanProblem(error.what());
    }
    if (demand.matrix.largest() != demand.bytes) throw PlanProblem("the largest message is not what the header says");
  }
  if (!in.empty()) throw PlanProblem("bytes after the end of the demand");
}

Bytes encode_network(const NetworkSpec& spec) {
  ByteWriter out;
  out.number(static_cast<std::uint64_t>(spec.shape));
  out.number(spec.names.size());
  for (std::size_t i = 0; i < spec.names.size(); ++i) {
    out.text(spec.names[i]);
    out.number(spec.ranks[i]);
  }
  out.number(spec.links.size());
  for (const LinkSpec& link : spec.links) {
    out.number(link.a);
    out.number(link.b);
    out.real(link.rate);
    out.real(link.latency);
  }
  out.number(spec.sides.size());
  for (const std::uint32_t side : spec.sides) out.number(side);
  out.number(spec.ties.size());
  for (const std::string& row : spec.ties) out.text(row);
  out.number(spec.next_hops.size());
  for (const HopSpec& hop : spec.next_hops) {
    out.number(hop.at);
    out.number(std::uint32_t{hop.to + 1});
    out.number(hop.channel);
  }
  out.number(spec.channels.size());
  for (const ChannelSpec& channel : spec.channels) {
    out.text(channel.name);
    out.real(channel.rate);
    out.real(channel.latency);
  }
  out.number(spec.routes.size());
  for (const RouteSpec& route : spec.routes) {
    out.number(route.src);
    out.number(route.dst);
    out.number(route.channels.size());
    for (const std::uint32_t channel : route.channels) out.number(channel);
  }
  if (spec.ports.empty() && spec.forwards.empty()) return out.take();
  for (const auto* list : {&spec.ports, &spec.forwards}) {
    out.number(list->size());
    for (const std::uint32_t number : *list) out.number(number);
  }
  return out.take();
}

NetworkSpec decode_network(ByteView bytes) {
  ByteReader in(bytes);
  NetworkSpec spec;
  spec.shape = static_cast<Shape>(in.number(static_cast<std::uint64_t>(Shape::routed)));
  for (std::uint64_t n = in.count(2); n > 0; --n) {
    spec.names.push_back(in.text());
    spec.ranks.push_back(in.number32(max_plan_ranks));
  }
  for (std::uint64_t n = in.count(18); n > 0; --n) {
    LinkSpec link;
    link.a = in.number32();
    link.b = in.number32();
    link.rate = in.real();
    link.latency = in.real();
    spec.links.push_back(link);
  }
  for (std::uint64_t n = in.count(); n > 0; --n) spec.sides.push_back(in.number32());
  for (std::uint64_t n = in.count(); n > 0; --n) spec.ties.push_back(in.text());
  for (std::uint64_t n = in.count(3); n > 0; --n) {
    HopSpec hop;
    hop.at = in.number32();
    hop.to = in.number32() - 1;
    hop.channel = in.number32();
    spec.next_hops.push_back(hop);
  }
  for (std::uint64_t n = in.count(17); n > 0; --n) {
    ChannelSpec channel;
    channel.name = in.text();
    channel.rate = in.real();
    channel.latency = in.real();
    spec.channels.push_back(std::move(channel));
  }
  for (std::uint64_t n = in.count(3); n > 0; --n) {
    RouteSpec route;
    route.src = in.number32();
    route.dst = in.number32();
    for (std::uint64_t k = in.count(); k > 0; --k) route.channels.push_back(in.number32());
    spec.routes.push_back(std::move(route));
  }
  for (auto* list : {&spec.ports, &spec.forwards})
    if (!in.empty())
      for (std::uint64_t n = in.count(); n > 0; --n) list->push_back(in.number32());
  if (!in.empty()) throw PlanProblem("bytes after the end of the network");
  return spec;
}

}  // namespace hocket
