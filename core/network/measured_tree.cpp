#include "core/network/measured_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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

/// Rounds with the rates that a tree predicts.
struct Explained {
  std::span<const StreamRound> rounds;
  std::vector<std::vector<double>> rates;
  double host_rate;

  Explained(const MeasuredTree& tree, std::span<const StreamRound> of) : rounds(of) {
    for (const StreamRound& round : of) rates.push_back(fair_rates(tree, round.streams));
    std::vector<double> sorted = tree.out;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    host_rate = std::max(sorted[sorted.size() / 2], 1.0);
  }

  /// How much better one capacity a direction explains the sums over a split than no bottleneck there.
  [[nodiscard]] double gain(const HostSet& hosts, Bottleneck* fitted = nullptr) const {
    std::vector<std::pair<double, double>> out, in;  // measured, predicted
    for (std::size_t i = 0; i < rounds.size(); ++i) {
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

  Parts(const MeasuredTree& tree, std::size_t at) {
    const std::size_t n = tree.out.size();
    HostSet left = at < tree.bottlenecks.size() ? tree.bottlenecks[at].hosts : HostSet(n, 1);
    hosts = hosts_in(left);
    for (std::size_t i = 0; i < tree.bottlenecks.size(); ++i) {
      const HostSet& inner = tree.bottlenecks[i].hosts;
      if (i == at || around(tree, inner) != at) continue;
      items.push_back(inner);
      for (std::size_t host = 0; host < n; ++host) left[host] = left[host] && !inner[host];
    }
    for (std::size_t host = 0; host < n; ++host)
      if (left[host]) items.emplace_back(n, 0), items.back()[host] = 1;
  }
};

/// Average linkage: joins what reaches the rates that the tree predicts between its parts; every join is a candidate.
void join(const Explained& explained, const Parts& parts, std::vector<SplitCandidate>& found) {
  std::vector<HostSet> items = parts.items;
  const std::size_t count = items.size(), n = items.empty() ? 0 : items[0].size();
  std::vector<std::size_t> item_of(n, count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t host = 0; host < n; ++host)
      if (items[i][host]) item_of[host] = i;
  std::vector<double> sum(count * count, 0), samples(count * count, 0);
  for (std::size_t r = 0; r < explained.rounds.size(); ++r)
    for (std::size_t s = 0; s < explained.rounds[r].streams.size(); ++s) {
      const Stream& stream = explained.rounds[r].streams[s];
      const std::size_t a = item_of[stream.from], b = item_of[stream.to];
      if (a == b || a == count || b == count || explained.rates[r][s] <= 0) continue;
      const double reached = std::min(explained.rounds[r].rates[s] / explained.rates[r][s], 1.0);
      for (const std::size_t cell : {a * count + b, b * count + a}) sum[cell] += reached, samples[cell] += 1;
    }
  std::vector<std::size_t> alive(count);
  std::iota(alive.begin(), alive.end(), 0);
  while (alive.size() > 1) {
    double best = -1;
    std::size_t a = 0, b = 1;
    for (std::size_t i = 0; i < alive.size(); ++i)
      for (std::size_t j = i + 1; j < alive.size(); ++j) {
        const std::size_t cell = alive[i] * count + alive[j];
        const double reached = samples[cell] > 0 ? sum[cell] / samples[cell] : -0.5;
        if (reached > best) best = reached, a = i, b = j;
      }
    const std::size_t kept = alive[a], gone = alive[b];
    for (std::size_t host = 0; host < n; ++host) items[kept][host] |= items[gone][host];
    for (const std::size_t other : alive) {
      for (const auto& [to, from] : {std::pair{kept * count + other, gone * count + other},
                                     std::pair{other * count + kept, other * count + gone}})
        sum[to] += sum[from], samples[to] += samples[from];
    }
    alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(b));
    const std::uint32_t size = hosts_in(items[kept]);
    if (size < parts.hosts && size + 2 <= n) found.push_back({smaller_side(items[kept]), explained.gain(items[kept])});
  }
}

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
  const std::size_t lines = 2 * tree.bottlenecks.size();
  std::vector<double> rate(streams.size(), 0), free(lines), own(streams.size());
  std::vector<double> open(lines, 0);  // streams without a rate
  std::vector<std::vector<std::uint32_t>> on(lines), path(streams.size());
  for (std::size_t i = 0; i < tree.bottlenecks.size(); ++i) {
    const Bottleneck& each = tree.bottlenecks[i];
    free[2 * i] = each.out, free[2 * i + 1] = each.in;
    for (std::size_t s = 0; s < streams.size(); ++s)
      if (each.hosts[streams[s].from] != each.hosts[streams[s].to]) {
        const std::size_t line = 2 * i + (each.hosts[streams[s].from] ? 0 : 1);
        on[line].push_back(static_cast<std::uint32_t>(s)), path[s].push_back(static_cast<std::uint32_t>(line));
        open[line] += 1;
      }
  }
  for (std::size_t s = 0; s < streams.size(); ++s) own[s] = std::min(tree.out[streams[s].from], tree.in[streams[s].to]);
  std::vector<std::uint32_t> slowest(streams.size());
  std::iota(slowest.begin(), slowest.end(), 0);
  std::sort(slowest.begin(), slowest.end(), [&](auto a, auto b) { return own[a] < own[b]; });
  std::vector<char> fixed(streams.size(), 0);
  const auto fix = [&](std::uint32_t s, double to) {
    fixed[s] = 1, rate[s] = to;
    for (const std::uint32_t line : path[s]) free[line] = std::max(free[line] - to, 0.0), open[line] -= 1;
  };
  std::size_t next = 0;
  while (true) {
    while (next < slowest.size() && fixed[slowest[next]]) ++next;
    if (next == slowest.size()) return rate;
    double level = own[slowest[next]];
    std::size_t full = lines;
    for (std::size_t line = 0; line < lines; ++line)
      if (open[line] > 0 && free[line] / open[line] < level) level = free[line] / open[line], full = line;
    if (full == lines) {
      fix(slowest[next], level);
    } else {
      for (const std::uint32_t s : on[full])
        if (!fixed[s]) fix(s, level);
    }
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

std::vector<SplitCandidate> split_candidates(const MeasuredTree& tree, std::span<const StreamRound> rounds) {
  const Explained explained(tree, rounds);
  std::vector<SplitCandidate> found;
  for (std::size_t at = 0; at <= tree.bottlenecks.size(); ++at) join(explained, Parts(tree, at), found);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return score(a) > score(b); });
  return found;
}

SplitCandidate refined(const MeasuredTree& tree, std::span<const StreamRound> rounds, HostSet hosts) {
  const Explained explained(tree, rounds);
  const Parts parts(tree, around(tree, hosts));
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
