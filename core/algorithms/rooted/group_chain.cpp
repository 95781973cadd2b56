/// "group-chain": one contribution down a chain of groups of hosts, in pieces; within a group it spreads by doubling.
///
/// A chain of ranks in depth-first order uses every channel of a tree once, and a piece every rank's ports; but it
/// takes N − 1 phases. Hosts of one switch can do better: a group of 2^q hands a piece to the next group one phase
/// after it came, and has it everywhere after q + 1 more, while one piece comes in each phase. Which member a piece
/// comes to goes round, so that all ports are busy in all phases. Between groups one message is under way at a time, as
/// in a chain.
#include <bit>
#include <limits>

#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/algorithms/rooted/one_giver.hpp"

namespace hocket::algorithms {
namespace {

constexpr std::uint32_t most_members = 64;  ///< members of a group, which limits a rank's partners

/// A relay within a group, by places after the member that a piece comes to.
struct Step {
  std::uint32_t from, to, age;
};

/// Relays that spread a piece in a group of 2^q members, the first of which sends it on at age 1. Member h is at
/// position h − t in phase t; a piece that comes in phase t comes to position 0. A member that gets it at age a sends
/// at all ages after a, to q + 1: at positions one below the other. The stretches of all members are laid out side by
/// side round the positions, so that nobody sends twice in a phase. Then the positions at which members receive differ
/// as well, and their places do, since the beginning of each stretch is the end of another.
std::vector<Step> doubling(std::uint32_t members) {
  const auto last = static_cast<std::uint32_t>(std::bit_width(members));  // q + 1
  const auto round = [&](std::uint32_t value) { return value & (members - 1); };
  std::vector<std::uint32_t> having{0};     // places
  std::vector<bool> taken(members, false);  // positions of members that send
  std::uint32_t position = 0;
  std::vector<std::uint32_t> positions;  // positions of those that get the piece at the ages 2 to q
  for (std::uint32_t age = 2, stretch = last, getting = 1; age < last; ++age, getting *= 2) {
    for (std::uint32_t i = 0; i < getting; ++i) {
      taken[position] = true;
      position = round(position + members - stretch % members);
      positions.push_back(position);
      stretch = last - age;
    }
  }
  taken[position] = true;
  for (std::uint32_t i = 0; i < members; ++i)
    if (!taken[i]) positions.push_back(i);
  std::vector<Step> steps;
  for (std::uint32_t age = 2; age <= last; ++age)
    for (std::size_t i = 0, senders = having.size(); i < senders; ++i) {
      const std::uint32_t place = round(positions[steps.size()] + age);
      steps.push_back({having[i], place, age});
      having.push_back(place);
    }
  return steps;
}

/// Ranks in the order of the chain; those of one key are on one crossbar.
struct Order {
  std::vector<Rank> ranks;
  std::vector<std::uint64_t> key;
};

class Ordering {
 public:
  Ordering(const Network& network, Rank giver)
      : network_(network), giver_(giver), leaving_(leaving_channels(network.spec())) {}

  Order run() {
    const Node root = network_.host_of(giver_);
    if (network_.tree() != nullptr) {
      depth_first(root);
    } else {
      std::vector<Node> ring = host_ring(network_);
      std::ranges::rotate(ring, std::ranges::find(ring, root));
      for (const Node host : ring) add(host);
    }
    return std::move(order_);
  }

 private:
  [[nodiscard]] bool alone(Node node) const { return network_.spec().ranks[node] == 1; }

  /// Visits at a switch first the hosts of one rank, then those of several, then the branches.
  void depth_first(Node root) {
    std::vector<std::pair<Node, Node>> stack{{root, root}};  // node and where it was come from
    while (!stack.empty()) {
      const auto [node, from] = stack.back();
      stack.pop_back();
      if (network_.is_host(node)) add(node);
      const auto push = [&](auto which) {
        for (const Channel channel : leaving_.of(node))
          if (const Node to = network_.spec().head(channel); to != from && which(to)) stack.emplace_back(to, node);
      };
      push([&](Node to) { return !network_.is_host(to); });
      push([&](Node to) { return network_.is_host(to) && !alone(to); });
      push([&](Node to) { return alone(to); });
    }
  }

  void add(Node host) {
    const bool leaf = alone(host) && leaving_.of(host).size() == 1;
    const std::uint64_t key = leaf ? network_.spec().head(leaving_.of(host).front()) : (std::uint64_t{host} + 1) << 32;
    const auto add_rank = [&](Rank rank) {
      order_.ranks.push_back(rank);
      order_.key.push_back(key);
    };
    if (order_.ranks.empty()) add_rank(giver_);
    for (const Rank rank : network_.ranks_of(host))
      if (rank != giver_) add_rank(rank);
  }

  const Network& network_;
  Rank giver_;
  Grouped leaving_;
  Order order_;
};

/// The giver, and behind it groups of 1, 2, 4, … ranks.
class GroupChain {
 public:
  GroupChain(const Network& network, const Order& order, bool alone) : network_(network) {
    groups_.push_back({order.ranks.front()});
    for (std::size_t at = 1, end = 1; at < order.ranks.size(); at = end) {
      while (end == at || (!alone && end < order.ranks.size() && order.key[end] == order.key[at])) ++end;
      end = at + std::min<std::size_t>(std::bit_floor(end - at), most_members);
      groups_.emplace_back(&order.ranks[at], &order.ranks[at] + (end - at));
    }
    for (std::uint32_t members = 1; members <= most_members; members *= 2) steps_.push_back(doubling(members));
    measure();
  }

  /// No channel is used by more messages at once than it holds.
  [[nodiscard]] bool is_free_of_contention() const { return free_; }
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }

  template <class Visit>
  void each(std::uint64_t piece, Visit visit) const {
    Rank from = groups_.front().front();
    for (std::uint32_t i = 1; i < groups_.size(); ++i) {
      const std::vector<Rank>& group = groups_[i];
      const std::uint64_t first = piece % group.size();
      visit(Relay{from, group[first], i - 1});
      from = group[first];
      for (const Step& step : steps_of(group))
        visit(Relay{group[(first + step.from) % group.size()], group[(first + step.to) % group.size()],
                    i - 1 + step.age});
    }
  }

 private:
  [[nodiscard]] const std::vector<Step>& steps_of(const std::vector<Rank>& group) const {
    return steps_[static_cast<std::size_t>(std::countr_zero(group.size()))];
  }

  void measure() {
    pipeline_.rate = std::numeric_limits<double>::max();
    std::vector<std::uint32_t> hops(network_.channels(), 0),
        last(network_.channels(), 0);  // over a channel; the last one
    std::vector<Channel> route;
    const auto find_route = [&](Rank src, Rank dst) {
      pipeline_.rate = std::min(pipeline_.rate, own_speed(network_, network_.find_route(src, dst, route)));
    };
    for (std::uint32_t i = 1; i < groups_.size(); ++i) {
      const std::vector<Rank>&before = groups_[i - 1], &group = groups_[i];
      const std::vector<Step>& steps = steps_of(group);
      pipeline_.depth = std::max(pipeline_.depth, i + (steps.empty() ? 0 : steps.back().age));
      for (std::size_t piece = 0; piece < std::max(before.size(), group.size()); ++piece) {
        find_route(before[piece % before.size()], group[piece % group.size()]);
        for (const Channel channel : route) {
          if (last[channel] != i) ++hops[channel];
          last[channel] = i;
          free_ = free_ && hops[channel] <= network_.capacity(channel);
        }
      }
      if (network_.tree() != nullptr) continue;
      for (const Rank src : group)  // their own links and nothing else
        for (const Rank dst : group) {
          if (src == dst) continue;
          find_route(src, dst);
          free_ = free_ && (route.empty() || route.size() == 2);
        }
    }
  }

  const Network& network_;
  std::vector<std::vector<Rank>> groups_;
  std::vector<std::vector<Step>> steps_;  ///< steps in groups of 1, 2, 4, … members
  Pipeline pipeline_;
  bool free_ = true;
};

/// The chain with whole groups, else with groups of one; none if messages of that chain meet, too.
std::optional<GroupChain> chain_of(const Network& network, Rank giver) {
  const Order order = Ordering(network, giver).run();
  for (const bool alone : {false, true})
    if (GroupChain chain(network, order, alone); chain.is_free_of_contention()) return chain;
  return std::nullopt;
}

}  // namespace

static std::string_view group_chain_refuses(const Network& network, const Demand& demand) {
  if (!demand.only_block()) return "it serves one contribution";
  if (network.tree() != nullptr || chain_of(network, demand.only_block().value())) return "";
  return "messages of its chain would meet";
}

static Schedule make_group_chain(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const GroupChain chain = chain_of(network, demand.only_block().value()).value();
  return send_in_pieces(demand, chain.pipeline(), pieces_of_a_lane(demand, chain.pipeline(), costs),
                        [&](std::uint32_t, std::uint64_t piece, auto visit) { chain.each(piece, visit); });
}

static bool group_chain_is_far(const Network& network, const Demand& demand, const Bounds& bounds) {
  return network.tree() == nullptr && is_far_piped(network, bounds, make_group_chain(network, demand, {}));
}

constinit const Algorithm group_chain{
    .pattern = Pattern::all_gather,
    .name = "group-chain",
    .summary = "one contribution in pieces down a chain of groups, doubling in each",
    .source = "chain: Patarasuk et al.; rotating groups: own",
    .contention_free = true,
    .refuses = group_chain_refuses,
    .make = make_group_chain,
    .rank = 2,
    .is_far = group_chain_is_far,
    .one_contribution = true,
};

}  // namespace hocket::algorithms
