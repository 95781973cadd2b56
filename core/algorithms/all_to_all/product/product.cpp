/// "product": all-to-all on tori, meshes and hypercubes, from the moves of one line of each dimension.
///
/// Source: Stricker and Hardwick (SPAA 1996), "congestion-free patterns"; Hinrichs et al. (SPAA 1994).
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/algorithms/all_to_all/product/lines.hpp"
#include "core/algorithms/registry.hpp"

namespace hocket::algorithms {
namespace {

using product::Group;
using product::Line;
using Dealt = std::vector<std::vector<Group>>;  ///< per dimension

std::vector<Line> lines_of(const Network& network) {
  const NetworkSpec& spec = network.spec();
  if (network.shape() == Shape::hypercube) return std::vector<Line>(spec.sides[0], Line{2, false, {}});
  std::vector<Line> lines;
  for (std::size_t d = 0; d < spec.sides.size(); ++d) {
    const bool ring = network.shape() == Shape::torus && spec.sides[d] > 2;
    lines.push_back({spec.sides[d], ring, ring ? spec.ties[d] : std::string()});
  }
  return lines;
}

/// Good choices are tried first, each by a short search; long searches are the last resort.
struct Round {
  double most_phases;  ///< relative to the bound
  std::uint32_t attempts;
  std::size_t most_failures;
};
constexpr Round quick_rounds[] = {{1.02, 1, 0}};
constexpr Round long_rounds[] = {{1.02, 3, 10}, {1.1, 3, 10}, {4, 8, 10}};
constexpr double close_to_bound = 1.05, next_to_bound = 1.02;
constexpr std::uint64_t most_compared = 520 * 520;  // messages; beyond, packing takes too long

struct Found {
  std::vector<Group> groups;
  std::uint32_t attempts = 0;
};

using Known = std::map<std::pair<Line, std::vector<product::GroupSize>>, Found>;

/// True if every line could be dealt out as chosen.
bool deal_choice(const std::vector<Line>& lines, const product::Choice& choice, std::uint32_t attempts, Known& known,
                 std::size_t& failures, Dealt& dealt) {
  dealt.clear();
  for (std::size_t d = 0; d < lines.size(); ++d) {
    Found& found = known[{lines[d], choice.sizes[d]}];
    if (found.groups.empty() && found.attempts < attempts) {
      found = {product::deal(lines[d], choice.sizes[d], attempts), attempts};
      failures += found.groups.empty() ? 1 : 0;
    }
    if (found.groups.empty()) return false;
    dealt.push_back(found.groups);
  }
  return true;
}

/// Everyone's rest in one phase, where the ports set the bound; otherwise nothing.
Dealt deal_with_rests(const std::vector<Line>& lines) {
  Dealt dealt;
  for (const Line& line : lines) {
    if (line.load() >= line.side && line.side > 1) return {};
    dealt.push_back(product::deal_with_rest(line));
    if (dealt.back().empty()) return {};
  }
  return dealt;
}

/// The groups of every dimension; none: not found in these rounds.
Dealt deal_all(const std::vector<Line>& lines, std::span<const Round> rounds) {
  const std::vector<product::Choice> choices = product::choices(lines);
  double bound = 1, nodes = 1;
  for (const Line& line : lines) nodes *= line.side;
  for (const Line& line : lines) bound = std::max({bound, nodes, nodes / line.side * line.load()});
  Dealt dealt;
  Known known;
  for (const Round& round : rounds) {
    std::size_t failures = 0;
    for (const product::Choice& choice : choices) {
      if (choice.phases > round.most_phases * bound || failures > round.most_failures) break;
      if (deal_choice(lines, choice, round.attempts, known, failures, dealt)) return dealt;
    }
  }
  return {};
}

/// First attempt: all messages of ranks to themselves in one phase where the ports set the bound, otherwise closed
/// forms and short searches. Empty if neither finds groups.
Dealt deal_quickly(const std::vector<Line>& lines) {
  Dealt dealt = deal_with_rests(lines);
  return dealt.empty() ? deal_all(lines, quick_rounds) : dealt;
}

/// True if a schedule of so many phases is accepted without comparing it with packing.
bool taken_at_once(std::uint64_t messages, std::uint64_t phases, std::uint64_t bound) {
  return messages > most_compared || static_cast<double>(phases) <= close_to_bound * static_cast<double>(bound);
}

/// Crosses the groups of all dimensions and writes down the phases.
class Builder {
 public:
  Builder(const Network& network, const Demand& demand, const Dealt& dealt)
      : network_(network), demand_(demand), dealt_(dealt) {}

  Schedule build() {
    Group point;
    point.nodes = 1;
    point.add(0, 0);
    point.end_part();
    extend(point, 0);
    return {demand_.ranks, demand_.bytes, std::move(begin_), std::move(hops_)};
  }

 private:
  void extend(const Group& left, std::size_t dimension) {
    if (dimension == dealt_.size()) {
      for (std::uint32_t part = 0; part < left.parts(); ++part) write(left, part);
      return;
    }
    const product::PartSets targets = product::target_sets(left);
    for (const Group& right : dealt_[dimension]) {
      const product::PartSets sources = product::source_sets(right);
      for (const auto& phases : crossing(targets, sources))
        extend(product::compose(left, targets, right, sources, phases), dimension + 1);
    }
  }

  /// Crossings depend on the sets alone and are found once.
  const std::vector<std::vector<product::CrossPhase>>& crossing(const product::PartSets& left,
                                                                const product::PartSets& right) {
    auto& found = crossings_[{left.parts, left.sets, right.parts, right.sets}];
    if (found.empty()) found = product::cross(left, right);
    return found;
  }

  /// One phase between hosts of one rank each. Hosts of R ranks repeat it for every pair of theirs; those
  /// that send to themselves meanwhile exchange among their own ranks.
  void write(const Group& group, std::uint32_t part) {
    const std::uint32_t per_host = demand_.ranks / static_cast<std::uint32_t>(network_.hosts().size());
    for (std::uint32_t pair = 0; pair < per_host * per_host; ++pair) {
      for (const auto [from, to] : group.part(part)) {
        if (from != to)
          hops_.push_back({from * per_host + pair / per_host, to * per_host + pair % per_host});
        else if (pair > 0 && pair < per_host)
          for (std::uint32_t own = 0; own < per_host; ++own)
            hops_.push_back({from * per_host + own, from * per_host + (own + pair) % per_host});
      }
      if (hops_.size() == begin_.back()) continue;
      std::ranges::sort(hops_.begin() + static_cast<std::ptrdiff_t>(begin_.back()), hops_.end(), {}, &Hop::src);
      begin_.push_back(hops_.size());
    }
  }

  using Sets = std::vector<std::vector<std::uint32_t>>;

  const Network& network_;
  const Demand& demand_;
  const Dealt& dealt_;
  std::map<std::tuple<std::uint32_t, Sets, std::uint32_t, Sets>, std::vector<std::vector<product::CrossPhase>>>
      crossings_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<Hop> hops_;
};

constexpr std::uint32_t longest_line = 256;  // limits the table of channel users, which grows with the cube of the side

bool moves_each_once(const Group& group) {
  std::vector<bool> from(group.nodes, false), to(group.nodes, false);
  for (const product::Move& move : group.moves) {
    if (from[move.from] || to[move.to]) return false;
    from[move.from] = to[move.to] = true;
  }
  return group.moves.size() == group.nodes;
}

/// Parts in which everyone stays where they are, of all parts.
std::uint32_t resting_parts(const Group& group) {
  std::uint32_t resting = 0;
  for (std::uint32_t part = 0; part < group.parts(); ++part)
    resting += std::ranges::all_of(group.part(part), [](const product::Move& m) { return m.from == m.to; }) ? 1 : 0;
  return resting;
}

/// Groups of one part in which everyone rests may be there once a dimension; other parts must move somebody.
bool has_closed_form(const std::vector<Group>& groups) {
  std::uint32_t resting = 0;
  for (const Group& group : groups) {
    if (!moves_each_once(group) || group.parts() != groups.front().parts()) return false;
    if (const std::uint32_t parts = resting_parts(group); parts > 0) {
      if (group.parts() > 1) return false;
      ++resting;
    }
  }
  return resting <= 1;
}

/// Where the lines are dealt out to permutations, each combination of one per dimension takes as many phases as the
/// most parts that one of them has: a message goes where the parts of its moves add up to the phase. A channel's user
/// has come to its targets in the dimensions before and has its sources in those behind, so its part in the channel's
/// own dimension follows from the phase. Source: own.
class ProductForm final : public ClosedForm {
 public:
  /// For one rank on every host. Null unless every group of a dimension is a permutation of as many parts.
  [[nodiscard]] static std::unique_ptr<ProductForm> make(const Network& network) {
    const std::vector<Line> lines = lines_of(network);
    const auto too_long = [](const Line& line) { return line.side > longest_line; };
    if (std::ranges::any_of(lines, too_long)) return nullptr;
    const Dealt dealt = deal_quickly(lines);
    if (dealt.empty() || !std::ranges::all_of(dealt, has_closed_form)) return nullptr;
    return std::unique_ptr<ProductForm>(new ProductForm(network, dealt));
  }

  [[nodiscard]] std::uint32_t ranks() const override {
    return static_cast<std::uint32_t>(coordinates_.size() / dimensions_.size());
  }
  [[nodiscard]] std::uint64_t phases() const override { return combinations_ * parts_ - (rest_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const override {
    std::uint64_t sum = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& of = dimensions_[d];
      const std::size_t from = coordinate(src, d), group = of.group[from * of.line.side + coordinate(dst, d)];
      sum = (sum + of.part[group * of.line.side + from]) % of.parts_so_far;
    }
    const std::uint64_t combined = combination(src, dst);
    return combined * parts_ + sum - (rest_ && *rest_ < combined ? 1 : 0);
  }
  /// Every rank sends once in each combination but the one in which it stays where it is.
  [[nodiscard]] std::uint32_t sends_before(const PhasedMessage& message) const override {
    const std::uint64_t now = combination(message.src, message.dst), own = combination(message.src, message.src);
    return static_cast<std::uint32_t>(now - (own < now ? 1 : 0));
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, std::uint64_t phase) const override {
    return target(rank, now(phase));
  }
  [[nodiscard]] std::optional<Rank> source(Rank rank, std::uint64_t phase) const override {
    const Now now = this->now(phase);
    Rank found = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& of = dimensions_[d];
      found += of.from[now.group[d] * of.line.side + coordinate(rank, d)] * of.stride;
    }
    return target(found, phase) == rank ? std::optional(found) : std::nullopt;
  }
  void append_messages(std::uint64_t phase, std::vector<Hop>& messages) const override {
    const Now now = this->now(phase);
    for (Rank rank = 0; rank < ranks(); ++rank)
      if (const auto dst = target(rank, now)) messages.push_back({rank, *dst});
  }
  [[nodiscard]] std::optional<PhasedMessage> user(Channel channel, std::uint64_t phase, Side side) const override {
    const std::uint64_t all = phases();
    const std::uint64_t step = side == Side::before ? ~std::uint64_t{0} : 1;
    for (std::uint64_t at = phase + step; at < all; at += step)  // below 0 is far above all phases
      if (const auto found = user_in(channel, at)) return found;
    return std::nullopt;
  }
  [[nodiscard]] bool uses(const PhasedMessage& message, Channel channel) const override {
    const std::size_t link = channel / 2, own = dimension_of_[link];
    const bool up = channel % 2 == 0;
    const Rank at = up ? lower_end_[link] : upper_end_[link];
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      if (d != own && coordinate(d < own ? message.dst : message.src, d) != coordinate(at, d)) return false;
    const Line& line = dimensions_[own].line;
    const std::uint32_t from = coordinate(message.src, own), to = coordinate(message.dst, own),
                        here = coordinate(at, own);
    if (from == to || line.up(from, to) != up) return false;
    const auto along = [&](std::uint32_t a, std::uint32_t b) { return b >= a ? b - a : b + line.side - a; };
    return up ? along(from, here) < along(from, to) : along(here, from) < along(to, from);
  }

 private:
  using Small = std::uint16_t;
  static constexpr std::size_t most_dimensions = 32;  // a hypercube of 2^20 nodes has 20
  static constexpr Small nobody = static_cast<Small>(~0u);

  /// All lines of a dimension.
  struct Dimension {
    Line line;
    std::uint32_t stride = 1, groups = 0, parts = 1, parts_so_far = 1;
    std::vector<Small> group;   ///< [from · side + to]
    std::vector<Small> part;    ///< [group · side + from]
    std::vector<Small> to;      ///< [group · side + from]
    std::vector<Small> from;    ///< [group · side + to]
    std::vector<Small> source;  ///< [(group · parts + part) · 2 side + channel]: whose move takes it
  };

  ProductForm(const Network& network, const Dealt& dealt) {
    const std::vector<Line> lines = lines_of(network);
    bool everyone_may_rest = true;
    std::uint64_t rest = 0;
    for (std::size_t d = 0; d < lines.size(); ++d) {
      add_dimension(lines[d], dealt[d]);
      combinations_ *= dealt[d].size();
      const auto resting = std::ranges::find_if(
          dealt[d], [](const Group& group) { return group.parts() == 1 && resting_parts(group) == 1; });
      everyone_may_rest = everyone_may_rest && resting != dealt[d].end();
      rest = rest * dealt[d].size() + static_cast<std::uint64_t>(resting - dealt[d].begin());
    }
    if (everyone_may_rest) rest_ = rest;
    std::uint32_t stride = 1;
    for (std::size_t d = lines.size(); d-- > 0;) {
      dimensions_[d].stride = stride;
      stride *= lines[d].side;
    }
    for (Rank rank = 0; rank < network.ranks(); ++rank)
      for (const Dimension& d : dimensions_) coordinates_.push_back(static_cast<Small>(rank / d.stride % d.line.side));
    for (const LinkSpec& link : network.spec().links) {
      std::size_t d = 0;
      while (coordinate(link.a, d) == coordinate(link.b, d)) ++d;
      dimension_of_.push_back(static_cast<std::uint8_t>(d));
      lower_end_.push_back(link.a);
      upper_end_.push_back(link.b);
    }
  }
  void add_dimension(const Line& line, const std::vector<Group>& groups) {
    Dimension d;
    const std::size_t side = line.side;
    d.line = line;
    d.groups = static_cast<std::uint32_t>(groups.size());
    d.parts = groups.front().parts();
    parts_ = std::max<std::uint64_t>(parts_, d.parts);
    d.parts_so_far = static_cast<std::uint32_t>(parts_);
    d.group.assign(side * side, 0);
    for (auto* of : {&d.part, &d.to, &d.from}) of->assign(groups.size() * side, 0);
    d.source.assign(groups.size() * d.parts * 2 * side, nobody);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::uint32_t p = 0; p < d.parts; ++p)
        for (const auto [from, to] : groups[g].part(p)) {
          d.group[from * side + to] = static_cast<Small>(g);
          d.part[g * side + from] = static_cast<Small>(p);
          d.to[g * side + from] = static_cast<Small>(to);
          d.from[g * side + to] = static_cast<Small>(from);
          for (const std::uint32_t channel : line.channels(from, to))
            d.source[(g * d.parts + p) * 2 * side + channel] = static_cast<Small>(from);
        }
    dimensions_.push_back(std::move(d));
  }
  [[nodiscard]] Small coordinate(Rank rank, std::size_t d) const { return coordinates_[rank * dimensions_.size() + d]; }
  [[nodiscard]] std::uint64_t combination(Rank src, Rank dst) const {
    std::uint64_t found = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& of = dimensions_[d];
      found = found * of.groups + of.group[coordinate(src, d) * of.line.side + coordinate(dst, d)];
    }
    return found;
  }
  /// State in a phase: the current combination of groups, and the sum of the parts of its moves modulo the number of
  /// parts.
  struct Now {
    std::uint32_t group[most_dimensions];
    std::uint64_t sum;
  };
  [[nodiscard]] Now now(std::uint64_t phase) const {
    const std::uint64_t counted = phase + (rest_ && phase >= *rest_ ? 1 : 0);  // everyone's rest is one phase
    Now now{{}, counted % parts_};
    std::uint64_t rest = counted / parts_;
    for (std::size_t d = dimensions_.size(); d-- > 0; rest /= dimensions_[d].groups)
      now.group[d] = static_cast<std::uint32_t>(rest % dimensions_[d].groups);
    return now;
  }
  [[nodiscard]] std::optional<Rank> target(Rank rank, const Now& now) const {
    std::uint64_t sum = 0;
    Rank found = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const Dimension& of = dimensions_[d];
      const std::size_t at = now.group[d] * of.line.side + coordinate(rank, d);
      sum = (sum + of.part[at]) % of.parts_so_far;
      found += of.to[at] * of.stride;
    }
    return sum == now.sum && found != rank ? std::optional(found) : std::nullopt;
  }
  [[nodiscard]] std::optional<PhasedMessage> user_in(Channel channel, std::uint64_t phase) const {
    const std::size_t link = channel / 2, own = dimension_of_[link], count = dimensions_.size();
    const Rank at = channel % 2 == 0 ? lower_end_[link] : upper_end_[link];
    const Now now = this->now(phase);
    const auto& group = now.group;
    std::uint64_t sum = now.sum;
    Small from[most_dimensions];
    for (std::size_t d = count; d-- > own + 1;) {
      const Dimension& of = dimensions_[d];
      from[d] = coordinate(at, d);
      const Small part = of.part[group[d] * of.line.side + from[d]];
      sum = sum >= part ? sum - part : sum + of.parts_so_far - part;
      if (sum >= dimensions_[d - 1].parts_so_far) return std::nullopt;
    }
    std::uint64_t before = 0;
    for (std::size_t d = 0; d < own; ++d) {
      const Dimension& of = dimensions_[d];
      from[d] = of.from[group[d] * of.line.side + coordinate(at, d)];
      before = (before + of.part[group[d] * of.line.side + from[d]]) % of.parts_so_far;
    }
    const Dimension& line = dimensions_[own];
    const std::uint64_t part = sum >= before ? sum - before : sum + line.parts_so_far - before;
    if (part >= line.parts) return std::nullopt;
    const std::size_t position = coordinate(at, own) + (channel % 2 == 0 ? 0 : line.line.side);
    from[own] = line.source[(std::uint64_t{group[own]} * line.parts + part) * 2 * line.line.side + position];
    if (from[own] == nobody) return std::nullopt;
    PhasedMessage user{0, 0, phase};
    for (std::size_t d = 0; d < count; ++d) {
      const Dimension& of = dimensions_[d];
      user.src += from[d] * of.stride;
      user.dst += of.to[group[d] * of.line.side + from[d]] * of.stride;
    }
    return user;
  }

  std::vector<Dimension> dimensions_;
  std::vector<Small> coordinates_;                    ///< [rank · dimensions + d]
  std::vector<std::uint8_t> dimension_of_;            ///< per link
  std::vector<std::uint32_t> lower_end_, upper_end_;  ///< per link, in the sense of the ring
  std::uint64_t combinations_ = 1, parts_ = 1;
  std::optional<std::uint64_t> rest_;  ///< the combination in which everyone rests: no phase
};

}  // namespace

static std::string_view product_refuses(const Network& network, const Demand&) {
  if (!is_grid(network.shape())) return "it needs a torus, a mesh or a hypercube";
  if (network.ranks_per_host() == 0) return "it needs the same number of ranks on every host";
  return {};
}

static Schedule make_product(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const std::vector<Line> lines = lines_of(network);
  const std::uint64_t bound = lower_bounds(network, demand).phases;
  const bool compared = demand.messages() <= most_compared;
  const auto build = [&](const Dealt& dealt) { return Builder(network, demand, dealt).build(); };
  const auto enough = [&](const Schedule& schedule) {
    return taken_at_once(demand.messages(), schedule.phases(), bound);
  };
  Dealt dealt = deal_quickly(lines);
  std::optional<Schedule> found, packed;
  if (!dealt.empty()) found = build(dealt);
  if (found && enough(*found)) return std::move(*found);
  // Odd shapes, ties that fit no pattern, and hosts of several ranks: the general search may do better. It takes
  // seconds; long searches for lines take a minute.
  if (compared) {
    packed = algorithms::packing.make(network, demand, costs);
    if (!found && static_cast<double>(packed->phases()) <= next_to_bound * static_cast<double>(bound))
      return std::move(*packed);
  }
  if (!found) {
    dealt = deal_all(lines, long_rounds);
    if (!dealt.empty()) found = build(dealt);
  }
  if (!packed && !found) packed = algorithms::packing.make(network, demand, costs);
  if (!packed || (found && (enough(*found) || found->phases() <= packed->phases()))) return std::move(*found);
  return std::move(*packed);
}

static FoundForm product_form(const Network& network, const Demand& demand, bool) {
  if (network.tree() != nullptr || network.shape() == Shape::graph || network.shape() == Shape::routed) return {};
  if (network.ranks_per_host() != 1) return {nullptr, {}, "this grid does not have one rank on every host"};
  std::unique_ptr<ProductForm> form = ProductForm::make(network);
  if (form == nullptr) return {nullptr, {}, "the lines of this grid are too long, or not dealt out to permutations"};
  if (!taken_at_once(demand.messages(), form->phases(), lower_bounds(network, demand).phases))
    return {nullptr, {}, "the product of its lines is far from the bound"};
  return {std::move(form)};
}

constinit const Algorithm product{
    .pattern = Pattern::all_to_all,
    .name = "product",
    .summary = "phases of a grid from the moves of one line of each dimension",
    .source = "Stricker and Hardwick; Hinrichs et al.; several moves per coordinate: own",
    .contention_free = true,
    .refuses = product_refuses,
    .make = make_product,
    .rank = 2,
    .form = product_form,
};

}  // namespace hocket::algorithms
