#include "core/gossip/search.hpp"

#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/gossip/grids.hpp"

namespace hocket::gossip {

namespace {

/// A message of an insertion is cut into so many chunks at most, lest r = 0 cut it forever.
constexpr double most_chunks = 4096;

/// The cheapest rounds from a gap down to 1. Gaps only take the values ⌈n/x⌉, so few are visited.
class Rounds {
 public:
  Rounds(double message, double r, Ports ports) : message_(message), r_(r), ports_(ports) {}

  double time(std::uint32_t gap) { return gap <= 1 ? 0 : of(gap).time; }

  std::vector<Round> list(std::uint32_t gap) {
    std::vector<Round> rounds;
    while (gap > 1) {
      const Round round = of(gap).first;
      rounds.push_back(round);
      gap = ceil_div(gap, round.factor);
    }
    return rounds;
  }

 private:
  struct Best {
    double time = INFINITY;
    Round first;
  };

  const Best& of(std::uint32_t gap) {
    if (const auto known = best_.find(gap); known != best_.end()) return known->second;
    Best best;
    for (std::uint32_t factor = 2, rest = 0; factor <= gap; ++factor) {
      const std::uint32_t left = ceil_div(gap, factor);
      if (left == rest) continue;  // a smaller factor leaves the same gap
      rest = left;
      const Round round = best_round(factor, message_, r_, ports_);
      const double now = ins_cost(factor, round.steps, message_, ports_).time(r_) + time(left);
      if (now < best.time) best = {now, round};
    }
    return best_[gap] = best;
  }

  double message_, r_;
  Ports ports_;
  std::map<std::uint32_t, Best> best_;
};

void check(std::uint32_t n, double message, double r) {
  if (n == 0 || n > (1u << 20)) throw InputError("a ring or array needs 1 to 2^20 processors");
  if (!(message >= 0) || !(r >= 0) || !std::isfinite(r) || !std::isfinite(message))
    throw InputError("r and the message must be numbers of at least 0");
}

}  // namespace

Round best_round(std::uint32_t factor, double message, double r, Ports ports) {
  if (factor < 2) throw InputError("a round must multiply the bridgeheads by at least 2");
  const bool duplex = ports == Ports::all;
  const std::uint32_t least = duplex ? factor / 2 : (factor + 1) / 2;
  // Between the least and the real minimum the time falls, beyond it rises; all depends on the chunks.
  const double surplus = duplex ? factor - 2.0 : (factor > 2 ? least - 2.0 : 0.0);
  double chunks = 1;
  if (surplus > 0) chunks = r > 0 ? std::sqrt(surplus * message / (duplex ? r : 2 * r)) : most_chunks;
  chunks = std::clamp(chunks, 1.0, most_chunks);
  // Chunks to steps: k = 2b − f + 2 for all ports, k = (b − ⌈f/2⌉)/2 + 1 for half duplex.
  const double steps = duplex ? (factor - 2 + chunks) / 2 : factor > 2 ? least + 2 * (chunks - 1) : 1;
  Round best{factor, std::max(1u, least)};
  double time = ins_cost(factor, best.steps, message, ports).time(r);
  for (std::int64_t b = static_cast<std::int64_t>(steps) - 2; b <= static_cast<std::int64_t>(steps) + 3; ++b) {
    if (b < best.steps || b < least) continue;
    const auto candidate = static_cast<std::uint32_t>(b);
    const double now = ins_cost(factor, candidate, message, ports).time(r);
    if (now < time) best.steps = candidate, time = now;
  }
  return best;
}

RingPlan best_circgos(std::uint32_t n, double message, double r, Model model) {
  check(n, message, r);
  Rounds rounds(n * message, r, model.ports);
  RingPlan plan{RingPlan::circgos, model.wraparound || n == 1 ? 1u : 2u, {}};
  double best = INFINITY;
  std::uint32_t last = 0;
  for (std::uint32_t a = plan.a; a <= n; ++a) {
    // Bridgeheads beyond the fewest for a gap only make the circulation longer, except that half-duplex
    // circulation prefers even numbers.
    const std::uint32_t gap = largest_gap(n, a, model.wraparound);
    const bool parity = model.ports == Ports::half_duplex && a % 2 == 0;
    if (gap == last && !parity) continue;
    last = gap;
    double time = 0;
    if (model.wraparound && model.ports == Ports::all) {
      time = (conc_cost(gap, message) + circ_cost(a, gap * message)).time(r) + rounds.time(gap);
    } else {
      if (parity && a > 64 && ceil_div(n, a) == ceil_div(n, a - 2)) continue;
      // On an array, what an end lacks comes through one link, in a − 1 steps at least.
      const double least = (a - 1) * r + (n - gap) * message + rounds.time(gap);
      if (!model.wraparound && least >= best) continue;
      time = ring_cost(n, message, {RingPlan::circgos, a, rounds.list(gap)}, model).time(r);
    }
    if (time < best) {
      best = time;
      plan.a = a;
    }
  }
  plan.rounds = rounds.list(largest_gap(n, plan.a, model.wraparound));
  return plan;
}

RingPlan best_ring_plan(std::uint32_t n, double message, double r, Model model) {
  RingPlan best{RingPlan::approach1, 1, {}};
  double time = ring_cost(n, message, best, model).time(r);
  for (const RingPlan& plan : {RingPlan{RingPlan::approach2, 1, {}}, best_circgos(n, message, r, model)}) {
    const double now = ring_cost(n, message, plan, model).time(r);
    if (now < time) best = plan, time = now;
  }
  return best;
}

namespace {

const RingPlan approach1{RingPlan::approach1, 1, {}};
const RingPlan approach2{RingPlan::approach2, 1, {}};

class GridSearch {
 public:
  GridSearch(const Grid& grid, double r, GossipModel model, std::uint64_t effort)
      : grid_(grid), r_(r), model_(model), effort_(effort), lines_{grid.wraparound, model.ports} {
    bound_ = lower_bound(grid, r, model.ports);
    d_ = grid.sides.size();
  }

  std::vector<GossipPlan> run() {
    if (d_ == 1) {
      ring();
    } else {
      for (const bool coloured : {false, true}) {
        if (coloured && model_.ports == Ports::half_duplex) continue;
        simple(coloured);
        high_dim(coloured);
        if (grid_.wraparound && model_.ports == Ports::all) cubgos(coloured);
      }
      black_white();
    }
    if (model_.shared && grid_.wraparound && model_.ports == Ports::all) stride();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const GossipPlan& a, const GossipPlan& b) { return a.time < b.time; });
    return std::move(found_);
  }

 private:
  void add(GossipPlan plan, Cost cost) {
    plan.cost = cost;
    plan.time = cost.time(r_);
    plan.bound = bound_;
    found_.push_back(std::move(plan));
  }

  void ring() {
    const std::uint32_t n = grid_.sides[0];
    const auto try_plan = [&](const char* name, const RingPlan& plan) {
      GossipPlan found;
      found.name = name;
      found.phases = {{plan}};
      add(std::move(found), ring_cost(n, 1, plan, lines_));
    };
    try_plan("approach 1", approach1);
    try_plan("approach 2", approach2);
    try_plan("CircGos", best_circgos(n, 1, r_, lines_));
  }

  void add_high_dim(std::string name, std::vector<std::vector<RingPlan>> phases, bool coloured) {
    GossipPlan found;
    found.name = std::move(name);
    found.coloured = coloured;
    found.phases = std::move(phases);
    const Cost cost = high_dim_cost(grid_.sides, found.phases, coloured, lines_);
    add(std::move(found), cost);
  }

  /// Approach 2 in the first phases, approach 1 in the last ones.
  void simple(bool coloured) {
    for (std::size_t twos = 0; twos <= d_; ++twos) {
      std::vector<std::vector<RingPlan>> phases(d_, {approach1});
      for (std::size_t phase = 0; phase < twos; ++phase) phases[phase] = {approach2};
      const std::string name = "approach " + std::string(twos, '2') + std::string(d_ - twos, '1');
      add_high_dim(name + (coloured ? " coloured" : ""), std::move(phases), coloured);
    }
  }

  void high_dim(bool coloured) {
    const bool cube =
        std::all_of(grid_.sides.begin(), grid_.sides.end(), [&](std::uint32_t side) { return side == grid_.sides[0]; });
    std::vector<std::vector<RingPlan>> phases(d_);
    double held = 1.0 / (coloured ? static_cast<double>(d_) : 1.0);
    for (std::size_t phase = 0; phase < d_; ++phase) {
      if (cube || !coloured) {
        const std::uint32_t side = grid_.sides[phase];
        phases[phase] = {best_ring_plan(side, held, r_, lines_)};
        held *= side;
      } else {
        phases[phase] = lockstep(phase);
      }
    }
    add_high_dim(coloured ? "HighDimGos'" : "HighDimGos", std::move(phases), coloured);
  }

  /// Plans for all axes at a time. The axis that takes longest decides, so that plans which favour
  /// fewer steps or less volume may serve better than each axis' own best.
  std::vector<RingPlan> lockstep(std::size_t phase) {
    std::vector<double> held(d_);
    std::vector<std::vector<Volumes>> volumes(d_);
    std::vector<std::vector<RingPlan>> choices(d_);
    for (std::size_t colour = 0; colour < d_; ++colour) {
      double message = 1.0 / static_cast<double>(d_);
      for (std::size_t before = 0; before < phase; ++before) message *= grid_.sides[(colour + before) % d_];
      const std::size_t axis = (colour + phase) % d_;
      const std::uint32_t side = grid_.sides[axis];
      choices[axis] = {approach1, approach2};
      for (const double weight : {1.0, 0.1, 0.3, 3.0, 10.0})
        choices[axis].push_back(best_ring_plan(side, message, r_ * weight, lines_));
      for (const RingPlan& plan : choices[axis]) volumes[axis].push_back(ring_volumes(side, message, plan, lines_));
    }
    std::vector<std::size_t> chosen(d_, 2);
    const auto time = [&] {
      Volumes all;
      for (std::size_t axis = 0; axis < d_; ++axis) all = side_by_side(std::move(all), volumes[axis][chosen[axis]]);
      return sum(all).time(r_);
    };
    double best = time();
    for (bool better = true; better;) {
      better = false;
      for (std::size_t axis = 0; axis < d_; ++axis) {
        const std::size_t before = chosen[axis];
        std::size_t kept = before;
        for (chosen[axis] = 0; chosen[axis] < choices[axis].size(); ++chosen[axis])
          if (const double now = time(); now < best) best = now, kept = chosen[axis], better = true;
        chosen[axis] = kept;
      }
    }
    std::vector<RingPlan> plans;
    for (std::size_t axis = 0; axis < d_; ++axis) plans.push_back(choices[axis][chosen[axis]]);
    return plans;
  }

  /// Dynamic programming over the distance of bridgeheads, which the factors of the rounds divide.
  void cubgos(bool coloured) {
    std::uint32_t common = 0;
    for (const std::uint32_t side : grid_.sides) common = std::gcd(common, side);
    const double nodes = grid_.nodes(), colours = coloured ? static_cast<double>(d_) : 1;
    struct Best {
      double time = INFINITY;
      Round first;
    };
    std::map<std::uint32_t, Best> rest{{1, {0, {}}}};
    double least = INFINITY;
    GossipPlan found;
    found.name = d_ == 2 ? "TorGos" : "CubGos";
    if (coloured) found.name += '\'';
    found.method = Method::cubgos;
    found.coloured = coloured;
    for (std::uint32_t spacing = 1; spacing <= common; ++spacing) {
      if (common % spacing != 0) continue;
      const double held = nodes / std::pow(spacing, static_cast<double>(d_ - 1)) / colours;
      for (std::uint32_t factor = 2; factor <= spacing; ++factor) {
        if (spacing % factor != 0) continue;
        const Round round = best_round(factor, held, r_);
        Cost cost = ins_cost(factor, round.steps, held);
        double message = held;
        for (std::size_t i = 1; i < d_; ++i, message *= factor) cost += circ_cost(factor, message);
        const double time = cost.time(r_) + rest[spacing / factor].time;
        if (time < rest[spacing].time) rest[spacing] = {time, round};
      }
      std::vector<Round> rounds;
      for (std::uint32_t s = spacing; s > 1; s /= rounds.back().factor) rounds.push_back(rest[s].first);
      const Cost cost = cubgos_cost(grid_.sides, spacing, rounds, coloured);
      if (cost.time(r_) < least) {
        least = cost.time(r_);
        found.spacing = spacing;
        found.rounds = rounds;
      }
    }
    const Cost cost = cubgos_cost(grid_.sides, found.spacing, found.rounds, coloured);
    add(std::move(found), cost);
  }

  void black_white() {
    const auto even = [](std::uint32_t side) { return side % 2 == 0; };
    if (model_.ports != Ports::half_duplex || d_ != 2 || !std::all_of(grid_.sides.begin(), grid_.sides.end(), even))
      return;
    GossipPlan found;
    found.name = "approach 11 black/white";
    found.method = Method::black_white;
    add(std::move(found), black_white_cost(grid_.sides[0], grid_.sides[1]));
  }

  void stride() {
    GossipPlan found;
    found.name = "StrideGos";
    found.method = Method::stride;
    found.coloured = d_ > 1;
    found.stride = search_stride(grid_.sides, r_, effort_);
    const Cost cost{found.stride.steps.size(), found.stride.volume};
    add(std::move(found), cost);
  }

  const Grid& grid_;
  double r_;
  GossipModel model_;
  std::uint64_t effort_;
  Model lines_;
  double bound_ = 0;
  std::size_t d_ = 1;
  std::vector<GossipPlan> found_;
};

}  // namespace

std::vector<GossipPlan> gossip_candidates(const Grid& grid, double r, GossipModel model, std::uint64_t effort) {
  check_sides(grid.sides);
  if (!(r >= 0) || !std::isfinite(r)) throw InputError("r must be a number of at least 0");
  return GridSearch(grid, r, model, effort).run();
}

GossipPlan best_gossip(const Grid& grid, double r, GossipModel model, std::uint64_t effort) {
  return gossip_candidates(grid, r, model, effort).front();
}

Steps build_gossip(const Grid& grid, const GossipPlan& plan, Ports ports) {
  switch (plan.method) {
    case Method::high_dim:
      return high_dim_gossip(grid, plan.phases, plan.coloured, ports);
    case Method::cubgos:
      return cubgos(grid, plan.spacing, plan.rounds, plan.coloured);
    case Method::black_white:
      return black_white_gossip(grid);
    case Method::stride:
      return build_stride(plan.stride);
  }
  throw InputError("no such gossip algorithm");
}

}  // namespace hocket::gossip
