/// Splits that a probe tests: which, and what their tests tell.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/network/tree_probe.hpp"

namespace hocket {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr std::uint32_t most_shifts = 4;
constexpr std::size_t most_tests = 12;  ///< of a split, where other traffic may make a bottleneck of none
constexpr double filled = 0.8;          ///< of the most that the others let through: tests that load a split
constexpr double nearly = 0.95;         ///< of what the union of two may explain alone
constexpr double explained = 0.9;       ///< more is what the other bottlenecks let through
constexpr double passes = 0.4;          ///< of a host's rate: less would not fill what is behind a bottleneck

/// Capacities of the bottlenecks of a tree, both ways, that pairs chosen so far leave.
struct Room {
  const MeasuredTree& tree;
  std::vector<double> left;

  explicit Room(const MeasuredTree& of) : tree(of) {
    for (const Bottleneck& each : of.bottlenecks) left.push_back(std::min(each.out, each.in));
  }
  [[nodiscard]] double between(std::uint32_t host, std::uint32_t other) const {
    double rate = std::min(tree.out[other], tree.in[other]);
    for (std::size_t i = 0; i < left.size(); ++i)
      if (tree.bottlenecks[i].hosts[host] != tree.bottlenecks[i].hosts[other]) rate = std::min(rate, left[i]);
    return rate;
  }
  void take(std::uint32_t host, std::uint32_t other, double rate) {
    for (std::size_t i = 0; i < left.size(); ++i)
      if (tree.bottlenecks[i].hosts[host] != tree.bottlenecks[i].hosts[other]) left[i] -= rate;
  }
};

}  // namespace

bool TreeProbe::propose() {
  for (const HostSet& hosts : differences())
    if (!tried(hosts)) return splits_.push_back({hosts, {}, nearly}), true;
  const std::span recent = std::span(rounds_).subspan(loaded_twice_ ? loaded_from_ : 0);
  for (const SplitCandidate& candidate : split_candidates(tree_, recent)) {
    if (candidate.gain < least_gain) continue;
    SplitCandidate best = hosts_ <= 256 ? refined(tree_, rounds_, candidate.hosts) : candidate;
    for (const HostSet& hosts : {best.hosts, candidate.hosts}) {
      if (!tried(hosts)) return splits_.push_back({hosts, {}, bottleneck}), true;
    }
  }
  for (const Split& split : splits_) {  // whether it should be another, now that others are known
    if (!split.accepted || hosts_ > 256) continue;
    const SplitCandidate best = refined(without(split.hosts), rounds_, split.hosts);
    if (!tried(best.hosts)) return splits_.push_back({best.hosts, {}, bottleneck}), true;
  }
  return false;
}

/// The rest of bottlenecks beside those within: two that were taken for one explain each other's rates.
std::vector<HostSet> TreeProbe::differences() const {
  std::vector<HostSet> found;
  const auto keep = [&](const HostSet& hosts) {
    if (const std::uint32_t size = hosts_in(hosts); size >= 2 && size + 2 <= hosts_)
      found.push_back(smaller_side(hosts));
  };
  for (std::size_t at = 0; at <= tree_.bottlenecks.size(); ++at) {
    const HostSet all = at < tree_.bottlenecks.size() ? tree_.bottlenecks[at].hosts : HostSet(hosts_, 1);
    HostSet own = all;
    for (const Bottleneck& each : tree_.bottlenecks) {
      if (around(tree_, each.hosts) != at) continue;
      HostSet rest = all;
      for (std::uint32_t host = 0; host < hosts_; ++host)
        if (each.hosts[host]) own[host] = rest[host] = 0;
      if (at < tree_.bottlenecks.size()) keep(rest);
    }
    if (own != all) keep(own);
  }
  return found;
}

bool TreeProbe::tried(const HostSet& hosts) const {
  return std::any_of(splits_.begin(), splits_.end(), [&](const Split& split) { return split.hosts == hosts; });
}

/// Brings those to the front to which most gets through at once.
void TreeProbe::choose_near(const std::vector<std::uint32_t>& inside, std::vector<std::uint32_t>& outside) const {
  Room room(tree_);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    std::size_t best = i;
    double most = -1;
    for (std::size_t j = i; j < outside.size(); ++j)
      if (const double rate = room.between(inside[i], outside[j]); rate > most * 1.05)
        most = rate, best = j;  // of equal ones the first, which is random
    std::swap(outside[i], outside[best]);
    room.take(inside[i], outside[i], most);
  }
}

/// Pairs across the bottlenecks that are known as long as these let them through, which fills others behind; then pairs
/// within.
void TreeProbe::ask_through() {
  shuffle(labels_, random_);
  Room room(tree_);
  const Places places(tree_);
  std::vector<std::uint32_t> left = labels_;
  while (!left.empty()) {
    const std::uint32_t host = left.back();
    left.pop_back();
    std::size_t with = left.size();
    for (std::size_t i = left.size(); i-- > 0;) {
      const bool same = places.at[left[i]] == places.at[host];
      if (same && with == left.size()) with = i;
      if (same || room.between(host, left[i]) < passes * std::min(tree_.out[left[i]], tree_.in[left[i]])) continue;
      with = i;
      break;
    }
    if (with == left.size()) continue;
    both_ways(asked_, host, left[with]);
    room.take(host, left[with], room.between(host, left[with]));
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(with));
  }
}

MeasuredTree TreeProbe::without(const HostSet& hosts) const {
  MeasuredTree tree = tree_;
  std::erase_if(tree.bottlenecks, [&](const Bottleneck& each) { return each.hosts == hosts; });
  return tree;
}

/// Rates that the split let through, out and in, in each test, and that the other bottlenecks would: of tests in which
/// these let much through, the best first, as other traffic takes from some.
std::array<std::vector<TreeProbe::Through>, 2> TreeProbe::through(const Split& split, const MeasuredTree& tree) const {
  std::array<std::vector<Through>, 2> both;
  const Places places(tree);
  for (const Test& test : split.tests) {
    const StreamRound& round = rounds_[test.round];
    const Across sums = across(split.hosts, round.streams, round.rates);
    const Across rates = across(split.hosts, round.streams, fair_rates(tree, places, round.streams));
    both[0].push_back({sums.out, rates.out}), both[1].push_back({sums.in, rates.in});
  }
  for (std::vector<Through>& all : both) {
    double most = 0;
    for (const Through& each : all) most = std::max(most, each.predicted);
    std::erase_if(all, [&](const Through& each) { return each.predicted < filled * most; });
    std::sort(all.begin(), all.end(), [](const Through& a, const Through& b) { return a.part() > b.part(); });
  }
  return both;
}

/// In the direction where less came through.
double TreeProbe::reached(const Split& split, const MeasuredTree& tree) const {
  const auto both = through(split, tree);
  return std::min(both[0][0].part(), both[1][0].part());
}

Bottleneck TreeProbe::capacity(const Split& split, const MeasuredTree& tree) const {
  const auto rate = [](const std::vector<Through>& all) {
    const std::size_t best = (all.size() + 3) / 4;  // streams that have just begun may leave some of it unused
    double measured = 0, predicted = 0;
    for (std::size_t i = 0; i < best; ++i) measured += all[i].measured, predicted += all[i].predicted;
    return measured < explained * predicted ? measured / static_cast<double>(best) : no_limit;
  };
  const auto both = through(split, tree);
  return {split.hosts, rate(both[0]), rate(both[1])};
}

void TreeProbe::judge() {
  Split& split = splits_.back();
  if (split.tests.size() == 2 && split.moved < most_shifts && hosts_ <= 256) {
    const SplitCandidate best = refined(tree_, rounds_, split.hosts);
    if (!tried(best.hosts) && best.gain >= least_gain) split.hosts = best.hosts, split.tests.clear(), ++split.moved;
    return;
  }
  if (split.tests.size() >= repeated + 2 && reached(split, tree_) >= split.below) split.refuted = true, ++refuted_;
  if (split.refuted || split.tests.size() < repeated + 3) return;
  if (busy_ && split.tests.size() < most_tests) return;
  const Bottleneck found = capacity(split, tree_);
  split.accepted = true, refuted_ = 0;
  tree_.bottlenecks.push_back(found);
}

/// Splits that others explain go, as a switch between two bottlenecks has none of its own; the rates of the rest
/// follow.
void TreeProbe::eliminate() {
  if (many()) {  // in one pass
    for (Split& split : splits_)
      if (split.accepted && reached(split, without(split.hosts)) >= bottleneck) {
        tree_ = without(split.hosts);
        split.accepted = false, split.refuted = true;
      }
    return;
  }
  while (true) {
    Split* best = nullptr;
    double most = bottleneck;
    for (Split& split : splits_)
      if (split.accepted)
        if (const double part = reached(split, without(split.hosts)); part >= most) best = &split, most = part;
    if (best == nullptr) break;
    tree_ = without(best->hosts);
    best->accepted = false, best->refuted = true;
  }
  MeasuredTree settled = tree_;
  settled.bottlenecks.clear();
  for (const Split& split : splits_)
    if (split.accepted) settled.bottlenecks.push_back(capacity(split, without(split.hosts)));
  tree_ = std::move(settled);
}

}  // namespace hocket
