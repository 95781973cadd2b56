#include "core/two_level/exchange.hpp"

#include <map>
#include <tuple>

#include "core/algorithms/shared/phase_writer.hpp"
#include "core/error.hpp"
#include "core/limits.hpp"

namespace hocket {

namespace {

std::uint64_t vector_bytes(const Demand& demand) {
  std::uint64_t bytes = 0;
  for (Rank rank = 0; rank < demand.ranks; ++rank) bytes += demand.contribution(rank);
  return bytes;
}

/// `sizes`: of each host's block. Equal ones need no list.
Demand blocks_of(Pattern pattern, std::vector<std::uint64_t> sizes) {
  const auto hosts = static_cast<std::uint32_t>(sizes.size());
  const std::uint64_t most = *std::ranges::max_element(sizes);
  if (std::ranges::count(sizes, most) == std::ssize(sizes)) sizes.clear();
  return {pattern, hosts, most, std::move(sizes)};
}

GatherLayout gather_layout(const HostGroups& groups, const Demand& demand) {
  return {groups, [&](Rank rank) { return demand.contribution(rank); }};
}

Demand gather_between(const HostGroups& groups, const Demand& demand) {
  std::vector<std::uint64_t> sizes;
  for (const auto& [begin, bytes] : gather_layout(groups, demand).of_host) sizes.push_back(bytes);
  return blocks_of(Pattern::all_gather, std::move(sizes));
}

Demand sum_between(const HostGroups& groups, const Demand& demand) {
  const SumLayout layout(vector_bytes(demand), 1);
  std::vector<std::uint64_t> sizes;
  for (std::size_t host = 0; host < groups.count(); ++host)
    sizes.push_back(layout.part(host + 1, groups.count()) - layout.part(host, groups.count()));
  return blocks_of(Pattern::all_reduce, std::move(sizes));
}

/// Bytes of the aggregate from each host to each, row by row.
std::vector<std::uint64_t> aggregate_bytes(const HostGroups& groups, const Demand& demand) {
  const std::size_t hosts = groups.count();
  std::vector<std::uint64_t> bytes(hosts * hosts, 0);
  if (demand.by_matrix())
    demand.matrix.each([&](Rank src, Rank dst, std::uint64_t size) {
      bytes[groups.host_of[src] * hosts + groups.host_of[dst]] += size;
    });
  else
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = groups.blocks(i / hosts, i % hosts) * demand.bytes;
  return bytes;
}

Demand messages_between(const HostGroups& groups, const Demand& demand) {
  const auto hosts = static_cast<std::uint32_t>(groups.count());
  if (!demand.by_matrix() && groups.equal()) return {Pattern::all_to_all, hosts, groups.blocks(0, 0) * demand.bytes};
  const std::vector<std::uint64_t> bytes = aggregate_bytes(groups, demand);
  std::vector<Message> messages;
  for (Rank src = 0; src < hosts; ++src)
    for (Rank dst = 0; dst < hosts; ++dst)
      if (const std::uint64_t size = bytes[src * hosts + dst]; src != dst && size > 0)
        messages.push_back({src, dst, size});
  return irregular(TrafficMatrix(hosts, std::move(messages)));
}

/// A copy of the schedule, each transfer with the bytes of its two-level message; those of 0 bytes are left out of
/// irregular exchanges. A schedule of pieces is returned unchanged.
Schedule with_sizes(const Schedule& schedule, const Demand& between) {
  if (!schedule.direct()) return schedule;
  if (!between.by_matrix()) {
    const auto begins = schedule.phase_begin();
    const auto all = schedule.hops();
    return {schedule.ranks(), between.bytes, {begins.begin(), begins.end()}, {all.begin(), all.end()}};
  }
  algorithms::PhaseWriter writer(between);
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    for (const auto [src, dst] : schedule.phase(phase))
      if (const std::uint64_t bytes = between.size(src, dst); bytes > 0) writer.send(src, dst, 0, bytes);
    writer.end_phase(true);
  }
  return writer.finish();
}

class Aggregator {
 public:
  explicit Aggregator(TwoLevelExchange& exchange) : x_(exchange) {}

  void messages() {
    const std::size_t hosts = x_.groups.count();
    const std::vector<std::uint64_t> sizes = aggregate_bytes(x_.groups, x_.demand);
    std::vector<AggregateLayout> layouts;
    for (std::size_t host = 0; host < hosts; ++host) {
      layouts.emplace_back(x_.groups, host, [&](std::size_t src, std::size_t dst) { return sizes[src * hosts + dst]; });
      x_.memory.push_back(layouts.back().memory());
    }
    for (std::size_t src = 0; src < hosts; ++src)
      for (std::size_t dst = 0; dst < hosts; ++dst) {
        std::uint64_t before = 0;  // in the aggregate, where blocks differ
        for (const Rank origin : x_.groups.ranks[src])
          for (const Rank target : x_.groups.ranks[dst]) {
            const Piece piece{origin, target, 0, x_.demand.size(origin, target)};
            const std::uint64_t number = AggregateLayout::block(x_.groups.local_of[origin], x_.groups.local_of[target],
                                                                x_.groups.ranks[dst].size());
            const std::uint64_t at = x_.demand.by_matrix() ? before : number * x_.demand.bytes;
            before += piece.length;
            if (piece.length == 0) continue;
            x_.puts.push_back({origin, layouts[src].going_out(dst) + at, piece});
            x_.takes.push_back({target, layouts[dst].coming_in(src) + at, piece});
          }
      }
    each_piece([&](Hop hop, const Piece& piece) {
      const auto at = [&](Rank host, bool arrives) {
        if (host == piece.target) return layouts[host].coming_in(piece.origin) + piece.offset;
        if (host == piece.origin) return layouts[host].going_out(piece.target) + piece.offset;
        return passed_on(host, piece, arrives);
      };
      return Carry{at(hop.src, false), at(hop.dst, true), piece.length};
    });
  }

  void gather() {
    const GatherLayout layout = gather_layout(x_.groups, x_.demand);
    x_.memory.assign(x_.groups.count(), layout.memory);
    for (Rank origin = 0; origin < x_.demand.ranks; ++origin) {
      const Piece all{origin, everyone, 0, x_.demand.contribution(origin)};
      if (all.length == 0) continue;
      x_.puts.push_back({origin, layout.of_rank[origin], all});
      for (Rank rank = 0; rank < x_.demand.ranks; ++rank)
        if (rank != origin) x_.takes.push_back({rank, layout.of_rank[origin], all});
    }
    each_piece([&](Hop, const Piece& piece) {
      const std::uint64_t at = layout.of_host[piece.origin].begin + piece.offset;
      return Carry{at, at, piece.length};
    });
  }

  void sum() {
    const SumLayout layout(vector_bytes(x_.demand), 1);
    const std::uint64_t bytes = layout.bytes();
    for (const auto& here : x_.groups.ranks) {
      x_.memory.push_back(layout.memory(here.size()));
      for (std::size_t local = 0; local < here.size() && bytes > 0; ++local) {
        const Piece all{here[local], everyone, 0, bytes};
        x_.puts.push_back({here[local], layout.vector_of(local), all});
        x_.takes.push_back({here[local], layout.vector_of(here.size()), all});
        const std::uint64_t begin = layout.part(local, here.size());
        LocalSum part{
            here[local], layout.vector_of(here.size()) + begin, layout.part(local + 1, here.size()) - begin, {}};
        for (std::size_t each = 0; each < here.size(); ++each) part.from.push_back(layout.vector_of(each) + begin);
        if (part.length > 0) x_.sums.push_back(std::move(part));
      }
    }
    each_piece([&](Hop hop, const Piece& piece) {
      const std::uint64_t at = layout.part(piece.origin, x_.groups.count()) + piece.offset;
      const auto sum_of = [&](Rank host) { return layout.vector_of(x_.groups.ranks[host].size()) + at; };
      return Carry{sum_of(hop.src), sum_of(hop.dst), piece.length};
    });
  }

 private:
  template <class Place>
  void each_piece(Place place) {
    for (std::uint64_t i = 0; i < x_.schedule.size(); ++i) {
      const Hop hop = x_.schedule.hops()[i];
      x_.schedule.each_piece(i, [&](const Piece& piece) {
        if (piece.origin >= x_.groups.count() || (piece.target >= x_.groups.count()) != x_.between.by_blocks())
          throw InputError("the schedule between hosts names a host that there is not");
        if (piece.length > 0) x_.carries.push_back(place(hop, piece));
      });
      x_.carry_begin.push_back(x_.carries.size());
    }
  }

  /// Place where a host keeps what it passes on: whole messages that come once.
  std::uint64_t passed_on(Rank host, const Piece& piece, bool arrives) {
    const auto key = std::tuple(host, piece.origin, piece.target, piece.offset);
    if (arrives) {
      const auto [found, fresh] = places_.emplace(key, x_.memory[host]);
      if (!fresh) throw InputError("the schedule between hosts brings a host the same bytes twice");
      x_.memory[host] += piece.length;
      return found->second;
    }
    const auto found = places_.find(key);
    if (found == places_.end()) throw InputError("the schedule between hosts cuts what it passes on");
    return found->second;
  }

  TwoLevelExchange& x_;
  std::map<std::tuple<Rank, Rank, Rank, std::uint64_t>, std::uint64_t> places_;
};

}  // namespace

std::string_view why_not_two_level(const HostGroups& groups, const Demand& demand) {
  if (groups.host_of.size() != demand.ranks) return "the demand has other ranks than the hosts";
  if (groups.count() < 2) return "all ranks are on one host";
  if (groups.count() == demand.ranks) return "no host has several ranks";
  if (demand.pattern == Pattern::reduce_scatter) return "reduce-scatters are not aggregated";
  if (demand.ranks > limits::most_ranks_planned_for_run) return "there are too many ranks to plan every copy";
  return {};
}

Demand demand_between(const HostGroups& groups, const Demand& demand) {
  if (const std::string_view reason = why_not_two_level(groups, demand); !reason.empty())
    throw InputError("messages are not aggregated: " + std::string(reason));
  if (demand.pattern == Pattern::all_gather) return gather_between(groups, demand);
  if (demand.pattern == Pattern::all_reduce) return sum_between(groups, demand);
  return messages_between(groups, demand);
}

Demand scheduled_between(const HostGroups& groups, const Demand& demand) {
  if (demand.pattern != Pattern::all_to_all) return demand_between(groups, demand);
  return {Pattern::all_to_all, static_cast<std::uint32_t>(groups.count()), groups.most * groups.most * demand.bytes};
}

TwoLevelExchange aggregate(HostGroups groups, Demand demand, const Schedule& schedule) {
  TwoLevelExchange exchange;
  exchange.between = demand_between(groups, demand);
  if (schedule.ranks() != groups.count())
    throw InputError("the schedule is between " + std::to_string(schedule.ranks()) + " hosts, the ranks are on " +
                     std::to_string(groups.count()));
  exchange.schedule = with_sizes(schedule, exchange.between);
  exchange.demand = std::move(demand);
  exchange.groups = std::move(groups);
  Aggregator aggregator(exchange);
  switch (exchange.demand.pattern) {
    case Pattern::all_to_all:
    case Pattern::irregular:
      aggregator.messages();
      break;
    case Pattern::all_gather:
      aggregator.gather();
      break;
    case Pattern::all_reduce:
      aggregator.sum();
      break;
    case Pattern::reduce_scatter:
      break;  // refused above
  }
  return exchange;
}

namespace {

/// Copy time of the ranks, by the lengths of the runs that they copy; the slowest rank counts.
class Copying {
 public:
  Copying(const HostGroups& groups, const MemoryProfile& memory)
      : groups_(groups), memory_(memory), seconds_(groups.host_of.size(), 0), bytes_(groups.host_of.size(), 0) {}

  void reach(Rank rank, std::uint64_t bytes) { bytes_[rank] += bytes; }
  void add(Rank rank, std::uint64_t run, std::uint64_t times = 1) {
    seconds_[rank] += static_cast<double>(run * times) * per_byte(groups_.ranks[groups_.host_of[rank]].size(), run);
  }
  [[nodiscard]] double slowest() const { return *std::ranges::max_element(seconds_); }

 private:
  /// `run`: of bytes that lie together.
  double per_byte(std::size_t ranks, std::uint64_t run) {
    const auto [found, fresh] = known_.try_emplace({ranks, run}, 0);
    if (fresh) {
      const auto at_work = static_cast<std::uint32_t>(std::min<std::size_t>(ranks, memory_.cores()));
      const std::uint64_t reach = *std::ranges::max_element(bytes_);
      found->second =
          memory_.seconds(Work::pull, {at_work, 1, std::max<std::uint64_t>(run, 1), std::max<std::uint64_t>(reach, 1)});
    }
    return found->second;
  }

  const HostGroups& groups_;
  const MemoryProfile& memory_;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> bytes_;  ///< per rank: bytes of memory that its copies reach
  std::map<std::pair<std::size_t, std::uint64_t>, double> known_;
};

double copying(const TwoLevelExchange& exchange, const std::vector<LocalCopy>& copies, const MemoryProfile& memory) {
  Copying work(exchange.groups, memory);
  for (const LocalCopy& copy : copies) work.reach(copy.rank, copy.piece.length);
  for (const LocalCopy& copy : copies) work.add(copy.rank, copy.piece.length);
  return work.slowest();
}

}  // namespace

std::optional<TwoLevelTime> two_level_seconds(const Network& between, const TwoLevelExchange& exchange,
                                              const Waits& waits, const ModelParameters& costs,
                                              const MemoryProfile& memory, std::uint64_t steps) {
  const FlowControl flow{FlowControl::Kind::window, waits.window};
  const std::optional<Simulation> carried = simulate_within(steps, between, exchange.schedule, &waits, flow, costs);
  if (!carried) return std::nullopt;
  const auto most = static_cast<std::uint32_t>(exchange.groups.most);
  const double meet = memory.seconds(Work::meet, {std::min(most, memory.cores()), 1, 1, 1});
  TwoLevelTime time;
  time.put = copying(exchange, exchange.puts, memory) + meet;
  time.between = carried->seconds;
  time.take = copying(exchange, exchange.takes, memory) + meet;
  if (!exchange.sums.empty()) {
    Copying adding(exchange.groups, memory);
    for (const LocalSum& sum : exchange.sums) adding.reach(sum.rank, sum.length * sum.from.size());
    for (const LocalSum& sum : exchange.sums) adding.add(sum.rank, sum.length, sum.from.size());
    time.put += adding.slowest() + meet;
  }
  return time;
}

}  // namespace hocket
