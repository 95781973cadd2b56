#include "core/network/measured_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace hocket {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double full_rate = 0.8;  ///< of the fastest stream of a host: others that the host's own link held back

bool within(const HostSet& inner, const HostSet& outer) {
  for (std::size_t host = 0; host < inner.size(); ++host)
    if (inner[host] && !outer[host]) return false;
  return true;
}

constexpr int most_passes = 3;  ///< until a set has settled
constexpr std::size_t no_item = static_cast<std::size_t>(-1);
constexpr std::size_t most_looked_at = 1 << 16;  ///< streams by which a candidate is judged

/// Rounds with the rates that a tree predicts.
struct Explained {
  std::span<const StreamRound> rounds;
  std::vector<std::vector<double>> rates;
  double host_rate;
  std::size_t step;  ///< between rounds that are looked at

  Explained(const MeasuredTree& tree, std::span<const StreamRound> of) : rounds(of) {
    const Places places(tree);
    for (const StreamRound& round : of) rates.push_back(fair_rates(tree, places, round.streams));
    std::vector<double> sorted = tree.out;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    host_rate = std::max(sorted[sorted.size() / 2], 1.0);
    step = std::max(rounds.size() * tree.out.size() / most_looked_at, std::size_t{1});
  }

  /// How much better one capacity a direction explains the sums over a split than no bottleneck there.
  [[nodiscard]] double gain(const HostSet& hosts, Bottleneck* fitted = nullptr) const {
    std::vector<std::pair<double, double>> out, in;  // measured, predicted
    for (std::size_t i = rounds.size() % step; i < rounds.size(); i += step) {
      const Across measured = across(hosts, rounds[i].streams, rounds[i].rates);
      const Across predicted = across(hosts, rounds[i].streams, rates[i]);
      if (predicted.out > 0) out.emplace_back(measured.out, predicted.out);
      if (predicted.in > 0) in.emplace_back(measured.in, predicted.in);
    }
    Bottleneck found{hosts, infinite, infinite};
    const double sum = gain_of(out, found.out) + gain_of(in, found.in);
    if (fitted != nullptr) *fitted = std::move(found);
    return sum / host_rate;
  }

 private:
  /// The part of what sums lack of the predicted ones that one capacity explains.
  [[nodiscard]] static double gain_of(std::vector<std::pair<double, double>>& sums, double& fitted) {
    if (sums.empty()) return 0;
    std::sort(sums.begin(), sums.end());
    double best = 0;
    const std::size_t step = std::max<std::size_t>(sums.size() / 16, 1);
    for (std::size_t at = 0; at < sums.size(); at += step) {
      const double capacity = sums[at].first;
      double gain = 0;
      for (const auto& [measured, predicted] : sums) {
        const double with = measured - std::min(capacity, predicted), without = measured - predicted;
        gain += (without * without - with * with) / predicted;
      }
      if (gain > best) best = gain, fitted = capacity;
    }
    return best;
  }
};

/// A switch of the tree as splits see it: what may be on either side, host by host or bottleneck by bottleneck.
struct Parts {
  std::vector<HostSet> items;
  std::size_t hosts = 0;

  Parts(const MeasuredTree& tree, const Places& places, std::size_t at) {
    const std::size_t n = tree.out.size();
    hosts = at < tree.bottlenecks.size() ? hosts_in(tree.bottlenecks[at].hosts) : n;
    for (std::size_t i = 0; i < tree.bottlenecks.size(); ++i)
      if (places.parent[i] == at) items.push_back(tree.bottlenecks[i].hosts);
    for (std::size_t host = 0; host < n; ++host)
      if (places.at[host] == at) items.emplace_back(n, 0), items.back()[host] = 1;
  }
};

/// Average linkage: joins what reaches the rates that the tree predicts between its parts; every join is a candidate.
class Linkage {
 public:
  Linkage(const Explained& explained, std::vector<HostSet> items)
      : items_(std::move(items)), count_(items_.size()), seen_(count_) {
    const std::size_t n = items_.empty() ? 0 : items_[0].size();
    std::vector<std::size_t> item_of(n, count_);
    for (std::size_t i = 0; i < count_; ++i)
      for (std::size_t host = 0; host < n; ++host)
        if (items_[i][host]) item_of[host] = i;
    cells_.assign(count_ * count_, {});
    for (std::size_t r = 0; r < explained.rounds.size(); ++r)
      for (std::size_t s = 0; s < explained.rounds[r].streams.size(); ++s) {
        const Stream& stream = explained.rounds[r].streams[s];
        const std::size_t a = item_of[stream.from], b = item_of[stream.to];
        if (a == b || a == count_ || b == count_ || explained.rates[r][s] <= 0) continue;
        const float reached = static_cast<float>(std::min(explained.rounds[r].rates[s] / explained.rates[r][s], 1.0));
        for (Cell* const cell : {&at(a, b), &at(b, a)}) cell->sum += reached, cell->samples += 1;
        seen_[a].emplace_back(static_cast<std::uint32_t>(b), reached);
        seen_[b].emplace_back(static_cast<std::uint32_t>(a), reached);
      }
    alive_.resize(count_);
    std::iota(alive_.begin(), alive_.end(), 0);
    nearest_.assign(count_, 0), best_.assign(count_, -1);
    for (const std::size_t item : alive_) find_nearest(item);
  }

  struct Joined {
    std::size_t kept, gone;
    float reached;
  };
  /// The next two that are joined; none where all are one.
  std::optional<Joined> join() {
    if (alive_.size() < 2) return std::nullopt;
    const std::size_t kept = *std::max_element(alive_.begin(), alive_.end(),
                                               [&](auto a, auto b) { return best_[a] < best_[b]; }),
                      gone = nearest_[kept];
    const float reached_by = best_[kept];
    for (std::size_t host = 0; host < items_[kept].size(); ++host) items_[kept][host] |= items_[gone][host];
    alive_.erase(std::find(alive_.begin(), alive_.end(), gone));
    // Rows are read: of thousands of items, each of a column is on a page of its own.
    for (const std::size_t other : alive_) {
      const Cell from = at(gone, other);
      if (from.samples == 0) continue;
      Cell& to = at(kept, other);
      to.sum += from.sum, to.samples += from.samples;
      at(other, kept) = to;
    }
    for (const std::size_t other : alive_)
      if (other == kept || nearest_[other] == kept || nearest_[other] == gone)
        find_nearest(other);
      else if (const float now = reached(kept, other); now > best_[other])
        best_[other] = now, nearest_[other] = kept;
    return Joined{kept, gone, reached_by};
  }
  [[nodiscard]] const HostSet& hosts(std::size_t item) const { return items_[item]; }

  /// The set with those items that reach its hosts rather as these reach each other than as others do.
  [[nodiscard]] HostSet settled(const Parts& parts, HostSet hosts) const {
    for (int pass = 0; pass < most_passes; ++pass) {
      std::vector<char> inside(count_, 0);
      for (std::size_t i = 0; i < count_; ++i) inside[i] = within(parts.items[i], hosts);
      std::vector<double> sum(count_, 0), samples(count_, 0);
      double in = 0, in_samples = 0, out = 0, out_samples = 0;
      for (std::size_t i = 0; i < count_; ++i) {
        if (!inside[i]) continue;
        for (const auto& [other, reached] : seen_[i]) {
          sum[other] += reached, samples[other] += 1;
          (inside[other] ? in : out) += reached, (inside[other] ? in_samples : out_samples) += 1;
        }
      }
      if (in_samples == 0 || out_samples == 0) break;
      const double between = (in / in_samples + out / out_samples) / 2;
      HostSet now(hosts.size(), 0);
      for (std::size_t i = 0; i < count_; ++i)
        if (samples[i] > 0 ? sum[i] > between * samples[i] : inside[i] != 0)
          for (std::size_t host = 0; host < now.size(); ++host) now[host] |= parts.items[i][host];
      if (now == hosts) break;
      hosts = std::move(now);
    }
    return hosts;
  }

 private:
  struct Cell {
    float sum = 0, samples = 0;
  };
  [[nodiscard]] Cell& at(std::size_t a, std::size_t b) { return cells_[a * count_ + b]; }
  [[nodiscard]] float reached(std::size_t a, std::size_t b) {
    const Cell& cell = at(a, b);
    return cell.samples > 0 ? cell.sum / cell.samples : -0.5F;
  }
  void find_nearest(std::size_t item) {
    best_[item] = -1;
    for (const std::size_t other : alive_)
      if (other != item)
        if (const float now = reached(item, other); now > best_[item]) best_[item] = now, nearest_[item] = other;
  }

  std::vector<HostSet> items_;
  std::size_t count_;
  std::vector<std::vector<std::pair<std::uint32_t, float>>> seen_;  ///< by each item: others, and how far they reached
  std::vector<Cell> cells_;                                         ///< of pairs, the same both ways
  std::vector<float> best_;                                         ///< of each with its nearest
  std::vector<std::size_t> alive_, nearest_;
};

/// Unions of sets behind bottlenecks explain more than each; so gains count by hosts.
double score(const SplitCandidate& split) {
  const std::size_t inside = hosts_in(split.hosts);
  return split.gain / std::sqrt(std::min(inside, split.hosts.size() - inside));
}

}  // namespace

std::uint32_t hosts_in(const HostSet& hosts) {
  return static_cast<std::uint32_t>(std::count(hosts.begin(), hosts.end(), 1));
}

HostSet smaller_side(HostSet hosts) {
  const std::size_t inside = hosts_in(hosts), outside = hosts.size() - inside;
  if (inside > outside || (inside == outside && hosts[0]))
    for (char& host : hosts) host = static_cast<char>(1 - host);
  return hosts;
}

Places::Places(const MeasuredTree& tree)
    : at(tree.out.size(), tree.bottlenecks.size()), parent(tree.bottlenecks.size()) {
  std::vector<std::size_t> order(parent.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return hosts_in(tree.bottlenecks[a].hosts) > hosts_in(tree.bottlenecks[b].hosts);
  });
  for (const std::size_t i : order) {
    const HostSet& hosts = tree.bottlenecks[i].hosts;
    parent[i] = at[static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), 1) - hosts.begin())];
    for (std::size_t host = 0; host < at.size(); ++host)
      if (hosts[host]) at[host] = i;
  }
}

std::size_t around(const MeasuredTree& tree, const HostSet& hosts) {
  std::size_t best = tree.bottlenecks.size(), size = hosts.size() + 1;
  for (std::size_t i = 0; i < tree.bottlenecks.size(); ++i) {
    const std::size_t its = hosts_in(tree.bottlenecks[i].hosts);
    if (its < size && tree.bottlenecks[i].hosts != hosts && within(hosts, tree.bottlenecks[i].hosts))
      best = i, size = its;
  }
  return best;
}

Across across(const HostSet& hosts, std::span<const Stream> streams, std::span<const double> rates) {
  Across sum;
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (hosts[streams[i].from] != hosts[streams[i].to]) (hosts[streams[i].from] ? sum.out : sum.in) += rates[i];
  return sum;
}

std::vector<double> fair_rates(const MeasuredTree& tree, std::span<const Stream> streams) {
  return fair_rates(tree, Places(tree), streams);
}

std::vector<double> fair_rates(const MeasuredTree& tree, const Places& places, std::span<const Stream> streams) {
  const std::size_t lines = 2 * tree.bottlenecks.size();
  std::vector<double> rate(streams.size(), 0), free(lines), own(streams.size());
  std::vector<double> open(lines, 0);  // streams without a rate
  std::vector<std::vector<std::uint32_t>> on(lines), path(streams.size());
  for (std::size_t i = 0; i < tree.bottlenecks.size(); ++i)
    free[2 * i] = tree.bottlenecks[i].out, free[2 * i + 1] = tree.bottlenecks[i].in;
  for (std::size_t s = 0; s < streams.size(); ++s)
    for (const bool leaves : {true, false}) {
      const auto [here, there] =
          leaves ? std::pair{streams[s].from, streams[s].to} : std::pair{streams[s].to, streams[s].from};
      for (std::size_t i = places.at[here]; i < tree.bottlenecks.size() && !tree.bottlenecks[i].hosts[there];
           i = places.parent[i]) {
        const std::size_t line = 2 * i + (leaves ? 0 : 1);
        on[line].push_back(static_cast<std::uint32_t>(s)), path[s].push_back(static_cast<std::uint32_t>(line));
        open[line] += 1;
      }
    }
  for (std::size_t s = 0; s < streams.size(); ++s) own[s] = std::min(tree.out[streams[s].from], tree.in[streams[s].to]);
  if (std::all_of(path.begin(), path.end(), [](const auto& lines) { return lines.empty(); })) return own;
  std::vector<std::uint32_t> slowest(streams.size());
  std::iota(slowest.begin(), slowest.end(), 0);
  std::sort(slowest.begin(), slowest.end(), [&](auto a, auto b) { return own[a] < own[b]; });
  std::vector<char> fixed(streams.size(), 0);
  const auto fix = [&](std::uint32_t s, double to) {
    fixed[s] = 1, rate[s] = to;
    for (const std::uint32_t line : path[s]) free[line] = std::max(free[line] - to, 0.0), open[line] -= 1;
  };
  double fullest = 0;
  std::size_t next = 0, full = lines;
  for (bool looked = false;;) {
    while (next < slowest.size() && fixed[slowest[next]]) ++next;
    if (next == slowest.size()) return rate;
    if (!looked) {
      full = lines, fullest = std::numeric_limits<double>::infinity();
      for (std::size_t line = 0; line < lines; ++line)
        if (open[line] > 0 && free[line] / open[line] < fullest) fullest = free[line] / open[line], full = line;
      looked = true;
    }
    const std::uint32_t first = slowest[next];
    if (full == lines || own[first] <= fullest) {
      looked = path[first].empty();
      fix(first, own[first]);
      continue;
    }
    for (const std::uint32_t s : on[full])
      if (!fixed[s]) fix(s, fullest);
    looked = false;
  }
}

void estimate_hosts(MeasuredTree& tree, std::span<const StreamRound> rounds) {
  const auto estimate = [&](std::vector<double>& of, bool sends) {
    std::vector<std::vector<double>> seen(of.size());
    for (const StreamRound& round : rounds)
      for (std::size_t i = 0; i < round.streams.size(); ++i)
        seen[sends ? round.streams[i].from : round.streams[i].to].push_back(round.rates[i]);
    for (std::size_t host = 0; host < of.size(); ++host) {
      double sum = 0, count = 0, fastest = 0;
      for (const double rate : seen[host]) fastest = std::max(fastest, rate);
      for (const double rate : seen[host])
        if (rate >= full_rate * fastest) sum += rate, count += 1;
      of[host] = count > 0 ? sum / count : infinite;
    }
  };
  estimate(tree.out, true);
  estimate(tree.in, false);
}

std::vector<SplitCandidate> split_candidates(const MeasuredTree& tree, std::span<const StreamRound> rounds,
                                             double settle) {
  const Explained explained(tree, rounds);
  std::vector<SplitCandidate> found;
  const Places places(tree);
  const std::size_t n = tree.out.size();
  for (std::size_t at = 0; at <= tree.bottlenecks.size(); ++at) {
    const Parts parts(tree, places, at);
    const std::size_t first = found.size();
    Linkage linkage(explained, parts.items);
    std::vector<std::size_t> made(parts.items.size(), no_item);  // candidate that an item is
    std::vector<float> within(parts.items.size(), 1);
    while (const auto joined = linkage.join()) {
      for (const std::size_t item : {joined->kept, joined->gone})
        if (made[item] != no_item) found[made[item]].apart = joined->reached / std::max(within[item], 1e-6F);
      const HostSet& hosts = linkage.hosts(joined->kept);
      within[joined->kept] = joined->reached, made[joined->kept] = no_item;
      const std::uint32_t size = hosts_in(hosts);
      if (size >= parts.hosts || size + 2 > n) continue;
      made[joined->kept] = found.size();
      found.push_back({hosts, 0, joined->reached, 1});
    }
    for (std::size_t i = first; i < found.size(); ++i) {
      if (found[i].apart < settle) {
        const HostSet hosts = linkage.settled(parts, found[i].hosts);
        const std::uint32_t size = hosts_in(hosts);
        if (size >= 2 && size < parts.hosts && size + 2 <= n) found[i].hosts = hosts;
      }
      if (settle == 0 || found[i].apart < settle) found[i].gain = explained.gain(found[i].hosts);
      found[i].hosts = smaller_side(std::move(found[i].hosts));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return score(a) > score(b); });
  return found;
}

SplitCandidate refined(const MeasuredTree& tree, std::span<const StreamRound> rounds, HostSet hosts) {
  const Explained explained(tree, rounds);
  const Parts parts(tree, Places(tree), around(tree, hosts));
  SplitCandidate best{std::move(hosts), 0};
  const auto error = [&](SplitCandidate& split) {
    MeasuredTree with = tree;
    split.gain = explained.gain(split.hosts, &with.bottlenecks.emplace_back());
    double sum = 0;
    for (const StreamRound& round : rounds) {
      const std::vector<double> rates = fair_rates(with, round.streams);
      for (std::size_t i = 0; i < rates.size(); ++i) sum += (rates[i] - round.rates[i]) * (rates[i] - round.rates[i]);
    }
    return sum;
  };
  double least = error(best);
  for (bool better = true; better;) {
    better = false;
    for (const HostSet& item : parts.items) {
      SplitCandidate moved = best;
      for (std::size_t host = 0; host < item.size(); ++host)
        if (item[host]) moved.hosts[host] = static_cast<char>(1 - moved.hosts[host]);
      const std::uint32_t size = hosts_in(moved.hosts);
      if (size < 2 || size >= parts.hosts || size + 2 > item.size()) continue;
      if (const double now = error(moved); now < least) best = moved, least = now, better = true;
    }
  }
  best.hosts = smaller_side(best.hosts);
  return best;
}

}  // namespace hocket
