/// "product": all-to-all on tori, meshes and hypercubes, from the moves of one line of each dimension.
///
/// Source: Stricker and Hardwick (SPAA 1996), "congestion-free patterns"; Hinrichs et al. (SPAA 1994).
#include <map>
#include <utility>

#include "core/algorithms/all_to_all/product/product_form.hpp"
#include "core/algorithms/registry.hpp"

namespace hocket::algorithms {
namespace {

using product::Dealt;
using product::Group;
using product::Line;

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

}  // namespace

static std::string_view product_refuses(const Network& network, const Demand&) {
  if (!is_grid(network.shape())) return "it needs a torus, a mesh or a hypercube";
  if (network.ranks_per_host() == 0) return "it needs the same number of ranks on every host";
  return {};
}

static Schedule make_product(const Network& network, const Demand& demand, const AlgorithmOptions& costs) {
  const std::vector<Line> lines = product::lines_of(network);
  const std::uint64_t bound = lower_bounds(network, demand).phases;
  const bool compared = demand.messages() <= most_compared;
  const auto build = [&](const Dealt& dealt) { return Builder(network, demand, dealt).build(); };
  const auto enough = [&](const Schedule& schedule) {
    return product::taken_at_once(demand.messages(), schedule.phases(), bound);
  };
  Dealt dealt = product::deal_quickly(lines);
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
  std::unique_ptr<closed_forms::ProductForm> form = closed_forms::ProductForm::make(network);
  if (form == nullptr) return {nullptr, {}, "the lines of this grid are too long, or not dealt out to permutations"};
  if (!product::taken_at_once(demand.messages(), form->phases(), lower_bounds(network, demand).phases))
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

namespace hocket::product {

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

Dealt deal_quickly(const std::vector<Line>& lines) {
  Dealt dealt = algorithms::deal_with_rests(lines);
  return dealt.empty() ? algorithms::deal_all(lines, algorithms::quick_rounds) : dealt;
}

bool taken_at_once(std::uint64_t messages, std::uint64_t phases, std::uint64_t bound) {
  return messages > algorithms::most_compared ||
         static_cast<double>(phases) <= algorithms::close_to_bound * static_cast<double>(bound);
}

}  // namespace hocket::product
