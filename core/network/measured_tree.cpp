#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "core/network/tree_probe.hpp"

namespace hocket {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double full_rate = 0.8;  ///< of the fastest stream of a host: others that the host's own link held back

bool within(const HostSet& inner, const HostSet& outer) {
  for (std::size_t host = 0; host < inner.size(); ++host)
    if (inner[host] && !outer[host]) return false;
  return true;
}

constexpr float prior = 1;      ///< samples of the mean, so that one that is high by chance counts less than several
constexpr int most_passes = 3;  ///< until a set has settled
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
  std::vector<std::vector<std::uint32_t>> items;  ///< their hosts
  std::size_t hosts = 0;

  Parts(const MeasuredTree& tree, const Places& places, std::size_t at) {
    for (std::size_t i = 0; i < tree.bottlenecks.size(); ++i) {
      if (places.parent[i] != at) continue;
      items.emplace_back();
      for (std::uint32_t host = 0; host < tree.out.size(); ++host)
        if (tree.bottlenecks[i].hosts[host]) items.back().push_back(host);
    }
    for (std::uint32_t host = 0; host < tree.out.size(); ++host)
      if (places.at[host] == at) items.push_back({host});
    for (const auto& item : items) hosts += item.size();
  }
};

/// Average linkage: joins what reaches the rates that the tree predicts between its parts; every join is a candidate.
class Linkage {
 public:
  struct Join {
    std::vector<std::uint32_t> items;
    std::size_t hosts = 0;
    float within = 1;  ///< reached between its two parts
    float apart = 0;   ///< and between it and the next, of that
  };

  Linkage(const Explained& explained, const Parts& parts, std::size_t hosts)
      : parts_(parts), item_of_(hosts, parts.items.size()), seen_(parts.items.size()) {
    for (std::size_t i = 0; i < seen_.size(); ++i)
      for (const std::uint32_t host : parts.items[i]) item_of_[host] = i;
    for (std::size_t r = 0; r < explained.rounds.size(); ++r)
      for (std::size_t s = 0; s < explained.rounds[r].streams.size(); ++s) {
        const Stream& stream = explained.rounds[r].streams[s];
        const std::size_t a = item_of_[stream.from], b = item_of_[stream.to];
        if (a == b || a == seen_.size() || b == seen_.size() || explained.rates[r][s] <= 0) continue;
        const float reached = static_cast<float>(std::min(explained.rounds[r].rates[s] / explained.rates[r][s], 1.0));
        seen_[a].push_back({static_cast<std::uint32_t>(b), reached, 1});
        seen_[b].push_back({static_cast<std::uint32_t>(a), reached, 1});
        all_.add(seen_[a].back());
      }
  }

  /// One after the other, until all that reach others are one.
  [[nodiscard]] std::vector<Join> joins() const {
    std::vector<Join> made;
    const std::size_t count = seen_.size();
    std::vector<std::uint32_t> into(count);  // of items, then joins: the join that it is in, or itself
    std::iota(into.begin(), into.end(), 0);
    std::vector<std::vector<Seen>> rows = seen_;
    std::vector<Seen> sums(2 * count);
    std::priority_queue<Near> queue;  // of each its nearest, when it was last looked for
    const auto find_nearest = [&](std::uint32_t item) {
      std::vector<std::uint32_t> others;
      for (const Seen& each : rows[item]) {
        std::uint32_t other = each.item;
        while (into[other] != other) other = into[other] = into[into[other]];
        if (other == item) continue;
        if (sums[other].samples == 0) others.push_back(other);
        sums[other].add(each);
      }
      rows[item].clear();
      Near nearest{-1, 0, item, item};
      for (const std::uint32_t other : others) {
        const Seen sum = std::exchange(sums[other], {});
        rows[item].push_back({other, sum.sum, sum.samples});
        nearest = std::max(nearest, {(sum.sum + prior * all_.mean()) / (sum.samples + prior), sum.mean(), item, other});
      }
      if (nearest.other != item) queue.push(nearest);
    };
    for (std::uint32_t item = 0; item < count; ++item) find_nearest(item);
    while (!queue.empty()) {
      const Near next = queue.top();
      queue.pop();
      if (into[next.one] != next.one) continue;
      if (into[next.other] != next.other) {
        find_nearest(next.one);
        continue;
      }
      const std::uint32_t number = static_cast<std::uint32_t>(into.size());
      Join join{{}, 0, next.reached};
      std::vector<Seen>& row = rows.emplace_back();
      for (const std::uint32_t part : {next.one, next.other}) {
        into[part] = number;
        row.insert(row.end(), rows[part].begin(), rows[part].end());
        std::vector<Seen>().swap(rows[part]);
        if (part >= count) made[part - count].apart = next.reached / std::max(made[part - count].within, 1e-6F);
        const std::vector<std::uint32_t> items = part < count ? std::vector{part} : made[part - count].items;
        join.items.insert(join.items.end(), items.begin(), items.end());
      }
      for (const std::uint32_t item : join.items) join.hosts += parts_.items[item].size();
      made.push_back(std::move(join)), into.push_back(number);
      find_nearest(number);
    }
    return made;
  }

  [[nodiscard]] HostSet hosts(const std::vector<std::uint32_t>& items) const {
    HostSet found(item_of_.size(), 0);
    for (const std::uint32_t item : items)
      for (const std::uint32_t host : parts_.items[item]) found[host] = 1;
    return found;
  }

  /// Those items that reach these rather as these reach each other than as others do.
  [[nodiscard]] std::vector<std::uint32_t> settled(std::vector<std::uint32_t> items) const {
    for (int pass = 0; pass < most_passes; ++pass) {
      std::vector<char> inside(seen_.size(), 0);
      for (const std::uint32_t item : items) inside[item] = 1;
      std::vector<Seen> with(seen_.size());
      Seen in, out;
      for (const std::uint32_t item : items)
        for (const Seen& each : seen_[item]) with[each.item].add(each), (inside[each.item] ? in : out).add(each);
      if (in.samples == 0 || out.samples == 0) break;
      const float between = (3 * in.mean() + out.mean()) / 4;  // of some others much more is reached than of most
      std::vector<std::uint32_t> now;
      for (std::uint32_t item = 0; item < seen_.size(); ++item)
        if (with[item].samples > 0 ? with[item].mean() > between : inside[item] != 0) now.push_back(item);
      if (now == std::exchange(items, now)) break;
    }
    return items;
  }

 private:
  struct Seen {
    std::uint32_t item = 0;  ///< the other
    float sum = 0, samples = 0;
    void add(const Seen& more) { sum += more.sum, samples += more.samples; }
    [[nodiscard]] float mean() const { return sum / samples; }
  };
  struct Near {
    float rank, reached;
    std::uint32_t one, other;
    [[nodiscard]] auto operator<=>(const Near&) const = default;
  };

  const Parts& parts_;
  std::vector<std::size_t> item_of_;     ///< each host
  std::vector<std::vector<Seen>> seen_;  ///< by each item
  Seen all_;
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
                                             double joined, double apart) {
  const Explained explained(tree, rounds);
  std::vector<SplitCandidate> found;
  const Places places(tree);
  const std::size_t n = tree.out.size();
  for (std::size_t at = 0; at <= tree.bottlenecks.size(); ++at) {
    const Parts parts(tree, places, at);
    const Linkage linkage(explained, parts, n);
    for (const Linkage::Join& join : linkage.joins()) {
      if (join.hosts >= parts.hosts || join.hosts + 2 > n || join.within <= joined || join.apart >= apart) continue;
      HostSet hosts = linkage.hosts(joined > 0 ? linkage.settled(join.items) : join.items);
      const std::uint32_t size = hosts_in(hosts);
      if (size < 2 || size >= parts.hosts || size + 2 > n) hosts = linkage.hosts(join.items);
      const double gain = explained.gain(hosts);
      found.push_back({smaller_side(std::move(hosts)), gain, join.within, join.apart});
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
    for (const std::vector<std::uint32_t>& item : parts.items) {
      SplitCandidate moved = best;
      for (const std::uint32_t host : item) moved.hosts[host] = static_cast<char>(1 - moved.hosts[host]);
      const std::uint32_t size = hosts_in(moved.hosts);
      if (size < 2 || size >= parts.hosts || size + 2 > moved.hosts.size()) continue;
      if (const double now = error(moved); now < least) best = moved, least = now, better = true;
    }
  }
  best.hosts = smaller_side(best.hosts);
  return best;
}

}  // namespace hocket
