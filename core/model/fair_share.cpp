#include "core/model/fair_share.hpp"

#include <cmath>

#include "core/error.hpp"

namespace hocket {

double shared_rate(const SharedRate& part, double flows) {
  if (!(flows > 1)) return part[0];
  std::size_t i = 0;
  double least = 1;
  for (; i + 1 < part.size() && flows >= 2 * least; ++i) least *= 2;
  if (i + 1 == part.size()) return part.back();
  return part[i] + (part[i + 1] - part[i]) * (flows / least - 1);
}

void check_contention(const Contention& contention) {
  for (const SharedRate* part : {&contention.host, &contention.switch_link})
    for (const double value : *part)
      if (!(value > 0 && value <= 1)) throw InputError("what flows leave of a wire must be above 0 and at most 1");
}

namespace {

constexpr std::array profiles{
    CostProfile{"ethernet-1g", 125e6, 25e-6, 3e-6, 5e-6, 10e-6, 65536, 1.062, {{1, .97, .90, .80}, {1, .97, .93, .90}}},
    CostProfile{
        "ethernet-10g", 1.25e9, 12e-6, 2e-6, 3e-6, 5e-6, 65536, 1.062, {{1, .97, .92, .85}, {1, .97, .94, .92}}},
    CostProfile{
        "ethernet-25g", 3.125e9, 8e-6, 1.5e-6, 2.5e-6, 4e-6, 65536, 1.062, {{1, .97, .92, .85}, {1, .97, .94, .92}}},
    CostProfile{"ib-hdr", 25e9, 0.6e-6, 0.25e-6, 0.25e-6, 0.2e-6, 8192, 1.02, {{1, .99, .98, .97}, {1, .97, .94, .92}}},
    CostProfile{"ib-ndr", 50e9, 0.55e-6, 0.2e-6, 0.2e-6, 0.2e-6, 8192, 1.02, {{1, .99, .98, .97}, {1, .97, .94, .92}}},
    CostProfile{"shared-memory", 10e9, 0.2e-6, 0.2e-6, 0.3e-6, 0.2e-6, 4096, 1.0, {{1, 1, .7, .4}, {1, 1, 1, 1}}},
};

}  // namespace

std::span<const CostProfile> cost_profiles() { return profiles; }

const CostProfile& profile_of(const Network& network) {
  if (network.hosts().size() < 2) return profiles.back();
  constexpr double latency_counts = 0.25;  // beside the rate
  double latency = 0;
  for (const Channel channel : network.route(0, network.ranks() - 1)) latency += network.latency(channel);
  latency = std::max(latency, 1e-9);
  const auto strangeness = [&](const CostProfile& one) {
    return std::abs(std::log(network.host_rate() / one.rate)) +
           latency_counts * std::abs(std::log(latency / one.latency));
  };
  return *std::ranges::min_element(std::span(profiles).first(profiles.size() - 1), {}, strangeness);
}

FairShare::FairShare(const Network& network, const Contention& contention)
    : contention_(contention), lines_(network.channels()), bytes_(network.channels(), 0), busy_(network.channels(), 0) {
  for (Channel channel = 0; channel < network.channels(); ++channel) lines_[channel].rate = network.rate(channel);
  if (contention == Contention{}) return;
  const auto& links = network.spec().links;  // none where routes are explicit
  for (Channel channel = 0; channel < network.channels(); ++channel) {
    const bool host =
        channel / 2 >= links.size() || network.is_host(links[channel / 2].a) || network.is_host(links[channel / 2].b);
    lines_[channel].shared = host ? &contention_.host : &contention_.switch_link;
  }
}

void FairShare::start(double now, const FlowSpec& spec, std::span<const Channel> route) {
  if (idle_.empty()) {
    idle_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
    rate_.push_back(0);
  }
  const std::uint32_t id = idle_.back();
  idle_.pop_back();
  Flow& flow = flows_[id];
  flow.route.assign(route.begin(), route.end());
  flow.place.clear();
  flow.left = spec.bytes;
  flow.moved = 0;
  flow.weight = spec.weight;
  flow.limit = spec.limit;
  for (const Channel channel : route) flow.limit = std::min(flow.limit, lines_[channel].rate);
  flow.rate = 0;
  flow.since = now;
  flow.tag = spec.tag;
  flow.active = true;
  for (std::uint32_t hop = 0; hop < route.size(); ++hop) {
    Line& line = lines_[route[hop]];
    if (line.flows.empty()) line.busy_since = now;
    flow.place.push_back(static_cast<std::uint32_t>(line.flows.size()));
    line.flows.push_back({id, hop});
    line.wanted += flow.limit;
  }
  started_.push_back(id);
  ++active_;
}

void FairShare::end(double now, std::uint32_t id) {
  Flow& flow = flows_[id];
  flow.moved += flow.rate < infinity ? flow.rate * (now - flow.since) : flow.left;
  for (std::uint32_t hop = 0; hop < flow.route.size(); ++hop) {
    const Channel channel = flow.route[hop];
    Line& line = lines_[channel];
    if (can_fill(line) && !line.changed) {
      line.changed = true;
      changed_.push_back(channel);
    }
    const Use last = line.flows.back();
    line.flows[flow.place[hop]] = last;
    flows_[last.flow].place[last.hop] = flow.place[hop];
    line.flows.pop_back();
    line.wanted -= flow.limit;
    bytes_[channel] += flow.moved;
    if (line.flows.empty()) {
      line.wanted = 0;  // no rounding error survives an idle channel
      busy_[channel] += now - line.busy_since;
    }
  }
  flow.active = false;
  ++flow.generation;
  idle_.push_back(id);
  --active_;
}

bool FairShare::take(double now, double horizon, std::uint32_t& tag) {
  while (!due_.empty() && due_.front().time <= horizon) {
    const Due due = due_.front();
    std::pop_heap(due_.begin(), due_.end());
    due_.pop_back();
    const Flow& flow = flows_[due.flow];
    if (!flow.active || flow.generation != due.generation) continue;
    tag = flow.tag;
    end(now, due.flow);
    return true;
  }
  return false;
}

double FairShare::next(double now) {
  settle(now);
  while (!due_.empty()) {
    const Due& due = due_.front();
    if (flows_[due.flow].active && flows_[due.flow].generation == due.generation) return due.time;
    std::pop_heap(due_.begin(), due_.end());
    due_.pop_back();
  }
  return infinity;
}

/// Puts the flow's end on the heap and voids the one before.
void FairShare::schedule(std::uint32_t id) {
  Flow& flow = flows_[id];
  ++flow.generation;
  const double left = std::max(0.0, flow.left);
  due_.push_back({flow.since + (flow.rate < infinity ? left / flow.rate : 0.0), id, flow.generation});
  std::push_heap(due_.begin(), due_.end());
  if (due_.size() > 4 * active_ + 1024) {
    std::erase_if(due_, [this](const Due& due) {
      return !flows_[due.flow].active || flows_[due.flow].generation != due.generation;
    });
    std::make_heap(due_.begin(), due_.end());
  }
}

void FairShare::set_rate(double now, std::uint32_t id, double rate) {
  Flow& flow = flows_[id];
  if (flow.rate == rate) return;
  const double moved = flow.rate > 0 ? flow.rate * (now - flow.since) : 0.0;
  flow.moved += moved;
  flow.left = std::max(0.0, flow.left - moved);
  flow.since = now;
  flow.rate = rate;
  schedule(id);
}

void FairShare::touch(std::uint32_t id) {
  Flow& flow = flows_[id];
  if (flow.seen == round_) return;
  flow.seen = round_;
  flow.fixed = false;
  component_.push_back(id);
}

/// The flows whose rates may change: those that came, those that share a channel with one that
/// left, and whatever is linked to them through channels that can be full.
void FairShare::collect() {
  ++round_;
  component_.clear();
  full_.clear();
  for (const std::uint32_t id : started_)
    if (flows_[id].active) touch(id);
  for (const Channel channel : changed_) {
    lines_[channel].changed = false;
    for (const Use& use : lines_[channel].flows) touch(use.flow);
  }
  started_.clear();
  changed_.clear();
  for (std::size_t i = 0; i < component_.size(); ++i) {
    steps_ += flows_[component_[i]].route.size() + 1;
    for (const Channel channel : flows_[component_[i]].route) {
      Line& line = lines_[channel];
      if (line.seen == round_ || !can_fill(line)) continue;
      line.seen = round_;
      full_.push_back(channel);
      for (const Use& use : line.flows) touch(use.flow);
    }
  }
}

void FairShare::settle(double now) {
  if (started_.empty() && changed_.empty()) return;
  collect();
  if (full_.empty()) {
    for (const std::uint32_t id : component_) rate_[id] = flows_[id].limit;
  } else {
    fill();
  }
  for (const std::uint32_t id : component_) set_rate(now, id, rate_[id]);
}

void FairShare::fix(std::uint32_t id, double rate) {
  Flow& flow = flows_[id];
  flow.fixed = true;
  rate_[id] = rate;
  for (const Channel channel : flow.route) {
    Line& line = lines_[channel];
    if (line.seen != round_) continue;
    line.free -= rate;
    line.weight -= flow.weight;
  }
}

/// Progressive filling: raise the level (bytes/s per unit of weight) of all flows alike; a flow
/// stops where its own limit or the first of its channels is reached.
void FairShare::fill() {
  levels_.clear();
  for (const Channel channel : full_) {
    Line& line = lines_[channel];
    line.free = capacity(line);
    line.weight = 0;
    for (const Use& use : line.flows) line.weight += flows_[use.flow].weight;
    levels_.push_back({line.free / line.weight, channel, true});
  }
  for (const std::uint32_t id : component_) levels_.push_back({flows_[id].limit / flows_[id].weight, id, false});
  std::make_heap(levels_.begin(), levels_.end());
  std::size_t open = component_.size();
  while (open > 0) {
    const Level top = levels_.front();
    std::pop_heap(levels_.begin(), levels_.end());
    levels_.pop_back();
    if (!top.channel) {
      if (flows_[top.id].fixed) continue;
      fix(top.id, flows_[top.id].limit);
      --open;
      continue;
    }
    Line& line = lines_[top.id];
    const auto is_open = [this](const Use& use) { return !flows_[use.flow].fixed; };
    if (std::none_of(line.flows.begin(), line.flows.end(), is_open)) continue;
    const double level = std::max(line.free, 0.0) / line.weight;
    if (level > top.level * (1 + 1e-12)) {  // flows that stopped elsewhere left more for the others
      levels_.push_back({level, top.id, true});
      std::push_heap(levels_.begin(), levels_.end());
      continue;
    }
    for (const Use& use : line.flows)
      if (is_open(use)) {
        fix(use.flow, flows_[use.flow].weight * top.level);
        --open;
      }
  }
}

}  // namespace hocket
