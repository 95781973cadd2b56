/// Streams of chunks along edges: rings, chunks, loads.
#include "core/algorithms/all_gather/streams.hpp"

#include <cmath>
#include <numeric>

#include "core/algorithms/shared/phase_writer.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

constexpr std::uint64_t most_chunk_sends = 40'000'000;  // beyond, chunks grow
constexpr double smallest_chunk = 1024;                 // bytes: less is all header

void add_ring(Streams& streams, std::span<const Rank> order, std::span<const Places> closed) {
  const auto rail = static_cast<std::uint32_t>(streams.place.size());
  const auto n = static_cast<std::uint32_t>(order.size());
  auto& place = streams.place.emplace_back(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) place[order[i]] = i;
  const Places all{0, n};
  std::vector<std::vector<Places>> starting(n);  // per place: the rings that begin there, smallest first
  for (const Places& ring : closed)
    if (ring.size() > 1 && ring != all) starting[ring.begin].push_back(ring);
  if (n > 1) starting[0].push_back(all);
  for (std::uint32_t at = 0; at < n; ++at) {
    auto& rings = starting[at];
    std::sort(rings.begin(), rings.end(), [](Places x, Places y) { return x.end < y.end; });
    rings.erase(std::unique(rings.begin(), rings.end()), rings.end());
    Places inner{at, at + 1};
    for (const Places& ring : rings) {
      streams.edges.push_back({order[ring.end - 1], order[at], rail, ring, inner});
      inner = ring;
    }
    if (at > 0) streams.edges.push_back({order[at - 1], order[at], rail, all, inner});
  }
}

std::vector<Chunk> split_contributions(const Demand& demand, std::uint32_t rails, double rate,
                                       const AlgorithmOptions& costs, std::uint32_t finer) {
  const auto [all, largest, unequal] = Contributions(demand);
  const double n = demand.ranks;
  // A ring of n is filled after n chunks: of 32 n they cost 1/32 more than the bound. With per-message cost α,
  // (all / c + n)·(α + c / rate) is least at c = √(all·α·rate / n).
  double chunk = largest / rails + 1;
  if (unequal) {
    const double pipelined = std::max({all / (32 * n), std::sqrt(all * costs.alpha * rate / n), smallest_chunk});
    const double affordable = n * all / std::max(1.0, static_cast<double>(most_chunk_sends) - n * n * rails);
    chunk = std::min(chunk, std::max(pipelined, affordable) / rails);
  }
  if (finer > 1) chunk = std::min(chunk, std::max({largest / (rails * finer), smallest_chunk, costs.alpha * rate}));
  return cut_contributions(demand, rails, chunk);
}

std::vector<Chunk> cut_contributions(const Demand& demand, std::uint32_t rails, double longest) {
  std::vector<Chunk> chunks;
  for (Rank rank = 0; rank < demand.ranks; ++rank) {
    const std::uint64_t bytes = demand.contribution(rank);
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      const std::uint64_t begin = part_begin(bytes, rail, rails), end = part_begin(bytes, rail + 1, rails);
      const auto parts = static_cast<std::uint64_t>(std::ceil(static_cast<double>(end - begin) / longest));
      for (std::uint64_t part = 0; part < parts; ++part) {
        const std::uint64_t from = begin + part_begin(end - begin, part, parts),
                            to = begin + part_begin(end - begin, part + 1, parts);
        if (to > from) chunks.push_back({rank, rail, from, to - from});
      }
    }
  }
  return chunks;
}

StreamLoad stream_load(const Network& network, const Demand& demand, const Streams& streams, PortModel ports) {
  const double rails = static_cast<double>(streams.place.size());
  std::vector<std::vector<double>> before(streams.place.size(), std::vector<double>(demand.ranks + 1, 0));
  for (std::size_t rail = 0; rail < streams.place.size(); ++rail) {
    for (Rank rank = 0; rank < demand.ranks; ++rank)
      before[rail][streams.place[rail][rank] + 1] = static_cast<double>(demand.contribution(rank)) / rails;
    std::partial_sum(before[rail].begin(), before[rail].end(), before[rail].begin());
  }
  std::vector<double> busy(network.channels() + 2 * std::size_t{demand.ranks}, 0);  // channels, then ports
  StreamLoad load;
  std::vector<double> sent(demand.ranks, 0);
  std::vector<Channel> route;
  for (const StreamEdge& edge : streams.edges) {
    const auto& sums = before[edge.rail];
    const Places outer = edge.outer, inner = edge.inner;
    const double carried = sums[outer.end] - sums[outer.begin] - (sums[inner.end] - sums[inner.begin]);
    sent[edge.src] += carried;
    network.find_route(edge.src, edge.dst, route);
    double rate = memory_speed * network.host_rate();
    for (const Channel channel : route) {
      rate = std::min(rate, network.rate(channel));
      busy[channel] += carried / network.rate(channel);
    }
    if (ports == PortModel::all_port || rate <= 0) continue;
    busy[network.channels() + edge.src] += carried / rate;
    busy[network.channels() + demand.ranks + edge.dst] += carried / rate;
  }
  for (const double seconds : busy) load.seconds = std::max(load.seconds, seconds);
  for (const double bytes : sent) load.sent = std::max(load.sent, bytes);
  if (load.seconds <= 0) return load;
  for (const double seconds : busy) {
    const double share = seconds / load.seconds;
    load.mean += share * share * share * share / static_cast<double>(busy.size());
  }
  return load;
}

// Phases by list scheduling.

namespace {

struct Waiting {  ///< a chunk that its edge has still to carry
  std::uint32_t chunk, phase;
};

/// Chunks in the order of their arrival: the one with the longest way to go has come first.
class Queue {
 public:
  [[nodiscard]] bool empty() const { return head_ == waiting_.size(); }
  void push(Waiting waiting) { waiting_.push_back(waiting); }
  Waiting pop() {
    const Waiting first = waiting_[head_++];
    if (head_ > 32 && 2 * head_ > waiting_.size()) {
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return first;
  }

 private:
  std::vector<Waiting> waiting_;
  std::size_t head_ = 0;
};

struct Resource {  ///< a channel, or a port of a rank
  std::uint32_t capacity = 1, used = 0;
  std::uint32_t phase = 0, in_phase = 0;  ///< the last phase with a send, and how many it has
  double left = 0;                        ///< seconds of work still to come
};

struct Send {
  std::uint32_t edge, chunk, phase;
};

struct End {  ///< a send is over
  double time;
  std::uint32_t send;
  bool operator<(const End& other) const { return time != other.time ? time > other.time : send > other.send; }
};

class ListScheduler {
 public:
  ListScheduler(const Network& network, const Demand& demand, const Streams& streams, PortModel ports, double alpha)
      : network_(network), demand_(demand), streams_(streams), alpha_(alpha) {
    prepare_edges(ports == PortModel::one_port);
    prepare_queues();
    find_rivals();
  }

  Schedule run() {
    std::vector<std::uint32_t> dirty(streams_.edges.size());
    std::iota(dirty.begin(), dirty.end(), 0u);
    start_some(dirty);
    while (!ends_.empty()) {
      now_ = ends_.front().time;
      const double horizon = now_ * (1 + 1e-12);
      dirty.clear();
      while (!ends_.empty() && ends_.front().time <= horizon) {
        std::pop_heap(ends_.begin(), ends_.end());
        const std::uint32_t send = ends_.back().send;
        ends_.pop_back();
        finish(send, dirty);
      }
      start_some(dirty);
    }
    return by_phase();
  }

  /// Seconds until the last send was over.
  [[nodiscard]] double seconds() const { return now_; }

 private:
  void prepare_edges(bool one_port) {
    const std::uint32_t channels = network_.channels();
    resources_.resize(channels + (one_port ? 2 * demand_.ranks : 0));
    for (Channel channel = 0; channel < channels; ++channel) resources_[channel].capacity = network_.capacity(channel);
    std::vector<Channel> route;
    for (const StreamEdge& edge : streams_.edges) {
      const double memory = network_.host_rate() > 0 ? memory_speed * network_.host_rate() : 1;
      rate_.push_back(std::min(memory, own_speed(network_, network_.find_route(edge.src, edge.dst, route))));
      if (one_port) route.insert(route.end(), {channels + edge.src, channels + demand_.ranks + edge.dst});
      used_.add_list(route);
    }
    busy_.assign(streams_.edges.size(), 0);
    listed_.assign(streams_.edges.size(), 0);
    queues_.resize(streams_.edges.size());
    left_.assign(streams_.edges.size(), 0);
  }

  void prepare_queues() {
    const auto& edges = streams_.edges;
    out_ = group(demand_.ranks, [&](auto visit) {
      for (std::uint32_t edge = 0; edge < edges.size(); ++edge) visit(edges[edge].src, edge);
    });

    // Work per edge, by prefix sums over the places of its ring.
    std::vector<std::vector<double>> before(streams_.place.size(), std::vector<double>(demand_.ranks + 1, 0));
    for (const Chunk& chunk : streams_.chunks)
      before[chunk.rail][streams_.place[chunk.rail][chunk.origin] + 1] += static_cast<double>(chunk.length);
    for (auto& sums : before) std::partial_sum(sums.begin(), sums.end(), sums.begin());
    for (std::uint32_t edge = 0; edge < edges.size(); ++edge) {
      const auto& sums = before[edges[edge].rail];
      const Places outer = edges[edge].outer, inner = edges[edge].inner;
      left_[edge] = (sums[outer.end] - sums[outer.begin] - (sums[inner.end] - sums[inner.begin])) / rate_[edge];
      for (const std::uint32_t resource : used_.of(edge)) resources_[resource].left += left_[edge];
    }
    for (Resource& resource : resources_) resource.left /= resource.capacity;
    for (std::uint32_t chunk = 0; chunk < streams_.chunks.size(); ++chunk)
      offer(streams_.chunks[chunk].origin, {chunk, 0}, nullptr);
  }

  /// Edges that share a channel or a port: when one ends, the others may start.
  void find_rivals() {
    std::vector<std::vector<std::uint32_t>> users(resources_.size());
    const auto edges = static_cast<std::uint32_t>(streams_.edges.size());
    for (std::uint32_t edge = 0; edge < edges; ++edge)
      for (const std::uint32_t resource : used_.of(edge)) users[resource].push_back(edge);
    std::vector<std::uint32_t> rivals;
    for (std::uint32_t edge = 0; edge < edges; ++edge) {
      rivals.clear();
      for (const std::uint32_t resource : used_.of(edge))
        for (const std::uint32_t other : users[resource])
          if (other != edge) rivals.push_back(other);
      std::sort(rivals.begin(), rivals.end());
      rivals.erase(std::unique(rivals.begin(), rivals.end()), rivals.end());
      rivals_.add_list(rivals);
    }
  }

  void list(std::uint32_t edge, std::vector<std::uint32_t>& dirty) {
    if (listed_[edge] || busy_[edge] || queues_[edge].empty()) return;
    listed_[edge] = 1;
    dirty.push_back(edge);
  }

  /// A rank holds a chunk: every edge that carries it on gets it.
  void offer(Rank rank, Waiting waiting, std::vector<std::uint32_t>* dirty) {
    for (const std::uint32_t edge : out_.of(rank)) {
      if (!streams_.carries(streams_.edges[edge], streams_.chunks[waiting.chunk])) continue;
      queues_[edge].push(waiting);
      if (dirty != nullptr) list(edge, *dirty);
    }
  }

  void finish(std::uint32_t send, std::vector<std::uint32_t>& dirty) {
    steps_.tick();
    const auto [edge, chunk, phase] = sends_[send];
    for (const std::uint32_t resource : used_.of(edge)) --resources_[resource].used;
    busy_[edge] = 0;
    list(edge, dirty);
    for (const std::uint32_t rival : rivals_.of(edge)) list(rival, dirty);
    offer(streams_.edges[edge].dst, {chunk, phase + 1}, &dirty);
  }

  void start_some(std::vector<std::uint32_t>& dirty) {
    ranked_.clear();
    for (const std::uint32_t edge : dirty) {
      listed_[edge] = 0;
      if (rivals_.of(edge).empty()) {
        start(edge);
        continue;
      }
      double critical = 0;
      for (const std::uint32_t resource : used_.of(edge)) critical = std::max(critical, resources_[resource].left);
      ranked_.push_back({critical, edge});
    }
    std::sort(ranked_.begin(), ranked_.end(), [this](const Ranked& x, const Ranked& y) {
      if (x.critical != y.critical) return x.critical > y.critical;
      if (left_[x.edge] != left_[y.edge]) return left_[x.edge] > left_[y.edge];
      return x.edge < y.edge;
    });
    for (const Ranked& ranked : ranked_) start(ranked.edge);
  }

  void start(std::uint32_t edge) {
    if (busy_[edge] || queues_[edge].empty()) return;
    for (const std::uint32_t resource : used_.of(edge))
      if (resources_[resource].used == resources_[resource].capacity) return;
    const Waiting next = queues_[edge].pop();
    const double transfer = static_cast<double>(streams_.chunks[next.chunk].length) / rate_[edge];
    std::uint32_t phase = next.phase;
    for (const std::uint32_t i : used_.of(edge)) {
      const Resource& resource = resources_[i];
      phase = std::max(phase, resource.phase + (resource.in_phase == resource.capacity ? 1 : 0));
    }
    for (const std::uint32_t i : used_.of(edge)) {
      Resource& resource = resources_[i];
      if (resource.phase != phase) resource.in_phase = 0;
      resource.phase = phase;
      ++resource.in_phase;
      ++resource.used;
      resource.left -= transfer / resource.capacity;
    }
    left_[edge] -= transfer;
    busy_[edge] = 1;
    ends_.push_back({now_ + alpha_ + transfer, static_cast<std::uint32_t>(sends_.size())});
    std::push_heap(ends_.begin(), ends_.end());
    sends_.push_back({edge, next.chunk, phase});
    phases_ = std::max<std::uint64_t>(phases_, phase + 1);
  }

  Schedule by_phase() {
    queues_ = {};
    PhaseWriter writer(demand_, sends_.size());
    for (const Chunk& chunk : streams_.chunks) {
      writer.add({chunk.origin, everyone, chunk.offset, chunk.length});
      writer.end_list();
    }
    const Grouped in_phase = group(phases_, [&](auto visit) {
      for (std::uint32_t send = 0; send < sends_.size(); ++send) visit(sends_[send].phase, send);
    });
    for (std::uint64_t phase = 0; phase < phases_; ++phase) {
      for (const std::uint32_t send : in_phase.of(phase)) {
        const StreamEdge& edge = streams_.edges[sends_[send].edge];
        writer.send_list({edge.src, edge.dst}, sends_[send].chunk);
      }
      writer.end_phase(true);
    }
    return writer.finish();
  }

  struct Ranked {
    double critical;
    std::uint32_t edge;
  };

  const Network& network_;
  const Demand& demand_;
  const Streams& streams_;
  double alpha_;  ///< seconds per send
  Steps steps_{"scheduling sends", streams_.chunks.size() * (std::uint64_t{demand_.ranks} - 1)};
  std::vector<double> rate_, left_;          ///< per edge: bytes/s; seconds of work still to come
  Grouped used_, rivals_;                    ///< per edge: resources; edges that share one
  Grouped out_;                              ///< per rank: the edges that leave it
  std::vector<std::uint8_t> busy_, listed_;  ///< per edge
  std::vector<Queue> queues_;
  std::vector<Resource> resources_;  ///< channels, then send ports, then receive ports
  std::vector<Ranked> ranked_;
  std::vector<End> ends_;
  std::vector<Send> sends_;
  std::uint64_t phases_ = 0;
  double now_ = 0;
};

}  // namespace

Schedule schedule_streams(const Network& network, const Demand& demand, const Streams& streams, PortModel ports,
                          const AlgorithmOptions& costs, double* seconds) {
  ListScheduler scheduler(network, demand, streams, ports, costs.alpha);
  Schedule schedule = scheduler.run();
  if (seconds != nullptr) *seconds = scheduler.seconds();
  return schedule;
}

}  // namespace hocket::algorithms
