/// "fat-tree": shifts along the hosts of a full fat tree.

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket {

namespace {

/// The number of ranks below each node of a level that has any.
std::vector<std::uint32_t> ranks_below(const FatTree& tree, std::span<const Node> hosts, std::uint32_t level) {
  const std::uint32_t size = tree.hosts_below(level);
  std::vector<std::uint32_t> count(tree.hosts_below(tree.levels()) / size, 0);
  for (const Node host : hosts) ++count[tree.first_host(host) / size];
  std::erase(count, 0);
  return count;
}

/// All-to-alls on fat trees as shifts, in closed form: in phase j the rank at position p sends to p + j + 1, around;
/// positions follow the hosts in the order of the tree. With D-mod-k routes no two messages of a phase share a channel
/// if every subtree that messages leave has as many channels up as hosts, each with a rank. Then ranks fill whole
/// subtrees: the hosts of one have the same last digits, whichever subtrees these are. Source: Zahavi, "Fat-tree
/// routing and node ordering providing contention free traffic for MPI global collectives" (2012); whole subtrees: own.
///
/// The hosts below a link's lower end are a stretch of positions, and one host of every such stretch has the digits
/// that lead over the link. So upwards the shift by s goes over it from the host that is s before such a one, downwards
/// always to the same. A link is idle only in the first phases and the last, while that message stays below. Source:
/// own, from D-mod-k.
class FatTreeShifts final : public ClosedForm {
 public:
  /// The reason why some messages of a phase would share a channel; empty if none do.
  [[nodiscard]] static std::string_view why_not(const Network& network) {
    const FatTree* tree = network.fat_tree().get();
    if (tree == nullptr) return "it needs a fat tree, whose messages to a host come down one way";
    if (!tree->by_own_number()) return "forwarding tables send other ways than by the hosts' own numbers";
    if (!network.equal_rates()) return "links differ in rate";
    if (network.hosts().size() != network.ranks()) return "hosts have several ranks";
    if (network.ranks() < 2) return "it needs two ranks";
    for (std::uint32_t level = 0; level < tree->levels(); ++level) {
      const std::vector<std::uint32_t> below = ranks_below(*tree, network.hosts(), level);
      if (below.size() == 1) continue;  // all messages stay below
      if (tree->twins(level + 1) != tree->hosts_below(level)) return "it has other numbers of links up than of hosts";
      for (const std::uint32_t ranks : below)
        if (ranks != tree->hosts_below(level)) return "ranks do not fill whole subtrees";
    }
    return {};
  }

  /// Requires that why_not() is empty.
  explicit FatTreeShifts(const Network& network) : tree_(network.fat_tree()) {
    const FatTree& tree = *tree_;
    const std::uint32_t hosts = tree.hosts_below(tree.levels());
    std::vector<Rank> rank_of_host(hosts, nowhere);
    for (const Node host : network.hosts()) rank_of_host[tree.first_host(host)] = network.first_rank(host);
    position_.resize(network.ranks());
    position_of_host_.assign(hosts, nowhere);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      if (rank_of_host[host] == nowhere) continue;
      position_of_host_[host] = position_[rank_of_host[host]] = ranks();
      rank_at_.push_back(rank_of_host[host]);
    }
    for (std::uint32_t level = 0; level < tree.levels(); ++level)
      alone_below_.push_back(ranks_below(tree, network.hosts(), level).size() == 1 ? ranks() : 0);
  }

  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(rank_at_.size()); }
  [[nodiscard]] std::uint64_t phases() const override { return ranks() - 1; }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override {
    return (position_[dst] + ranks() - position_[src] - 1) % ranks();
  }
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    return static_cast<std::uint32_t>(message.phase);  // everyone sends in every phase
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    return at(position_[rank] + phase + 1);
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    return at(position_[rank] + ranks() - phase - 1);
  }
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override {
    for (std::uint64_t position = 0; position < ranks(); ++position)
      messages.push_back({at(position), at(position + phase + 1)});
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override {
    const std::optional<Link> found = link(channel);
    if (!found) return std::nullopt;
    const auto [first, size, digits, up] = *found;
    const std::uint64_t begin = digits, end = ranks() - size + digits;  // phases in which it is busy
    std::uint64_t found_at = phase == before_all ? begin : std::max(phase + 1, begin);
    if (side == Side::before) {
      if (phase == before_all || phase <= begin) return std::nullopt;
      found_at = std::min(phase, end) - 1;
    }
    if (found_at >= end) return std::nullopt;
    if (up) {
      const std::uint64_t back = (found_at + 1) % size;
      const Rank src = at(first + (digits + size - back) % size);
      return PhasedMessage{src, *target(src, found_at), found_at};
    }
    const Rank dst = at(std::uint64_t{first} + digits);
    return PhasedMessage{*source(dst, found_at), dst, found_at};
  }

  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override {
    const std::optional<Link> found = link(channel);
    if (!found) return false;
    const std::uint32_t src = position_[message.src], dst = position_[message.dst];
    const auto below = [&](std::uint32_t position) {
      return position >= found->first && position - found->first < found->size;
    };
    return below(found->up ? src : dst) && !below(found->up ? dst : src) && dst % found->size == found->digits;
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  /// A channel that messages take. Below its link are the positions first … first + size − 1.
  struct Link {
    std::uint32_t first, size;
    std::uint32_t digits;  ///< digits that lead over it: the place in a stretch of as many
    bool up;
  };
  [[nodiscard]] std::optional<Link> link(Channel channel) const {
    const auto [lower, upper, up] = tree_->ends(channel);
    const std::uint32_t level = tree_->level(lower), first = position_of_host_[tree_->first_host(lower)];
    if (ranks() == alone_below_[level] || first == nowhere)
      return std::nullopt;  // messages stay below, or there are none
    return Link{first, tree_->hosts_below(level), tree_->twin(upper), up};
  }

  [[nodiscard]] Rank at(std::uint64_t position) const { return rank_at_[position % ranks()]; }

  std::shared_ptr<const FatTree> tree_;
  std::vector<std::uint32_t> position_, position_of_host_;  ///< per rank; per host, by its number: or `nowhere`
  std::vector<Rank> rank_at_;
  std::vector<std::uint32_t> alone_below_;  ///< per level: all ranks, if they are below one node of it, else 0
};

}  // namespace

}  // namespace hocket

namespace hocket::algorithms {

static Schedule make_fat_tree(const Network& network, const Demand& demand, const AlgorithmOptions&) {
  return written_out(FatTreeShifts(network), demand);
}

static FoundForm fat_tree_form(const Network& network, const Demand&, bool) {
  if (network.fat_tree() == nullptr) return {};
  if (const std::string_view reason = FatTreeShifts::why_not(network); !reason.empty()) return {nullptr, {}, reason};
  return {std::make_unique<FatTreeShifts>(network)};
}

constinit const Algorithm fat_tree{
    .pattern = Pattern::all_to_all,
    .name = "fat-tree",
    .summary = "shifts along the hosts of a full fat tree, by its D-mod-k routes",
    .source = "Zahavi; whole subtrees of it: own",
    .contention_free = true,
    .refuses = [](const Network& network, const Demand&) { return FatTreeShifts::why_not(network); },
    .make = make_fat_tree,
    .rank = 3,
    .form = fat_tree_form,
};

}  // namespace hocket::algorithms
