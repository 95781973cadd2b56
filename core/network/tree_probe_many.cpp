/// Rounds that are asked of many hosts, where a tournament and tests of one split at a time would take too long: random
/// matchings within what is known to hang together, and tests of many splits at once.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/network/tree_probe.hpp"

namespace hocket {

constexpr double apart = 0.95;         ///< of the rates within a set: less between it and others is a reason to test it
constexpr double hardly_apart = 0.99;  ///< where none was found lately: small ones use what large ones leave
constexpr double joined = 0.75;   ///< of the predicted rates between its last hosts: less is several that were joined
constexpr double together = 0.9;  ///< of the predicted rates within a set: less is no single bottleneck
constexpr std::uint32_t sweeps = 3;        ///< tests of a split, and one again
constexpr std::uint32_t tested_part = 16;  ///< of the hosts send at once, so that the others' switches are not filled

constexpr double full = 0.6;  ///< streams a host: rounds with fewer do not fill what is shared
constexpr std::uint32_t least_more = 40, least_again = 100;  ///< rounds
constexpr std::uint32_t part_again = 8;                      ///< of the hosts of a group: rounds within it

/// But for a few hosts.
static bool alike(const HostSet& one, const HostSet& other) {
  std::uint32_t both = 0;
  for (std::size_t host = 0; host < one.size(); ++host) both += one[host] && other[host];
  return 10 * both > 9 * std::max(hosts_in(one), hosts_in(other));
}

/// Hosts between the same bottlenecks.
std::vector<std::vector<std::uint32_t>> TreeProbe::groups() const {
  std::vector<std::vector<std::uint32_t>> found(tree_.bottlenecks.size() + 1);
  const Places places(tree_);
  for (std::uint32_t host = 0; host < hosts_; ++host) found[places.at[host]].push_back(host);
  return found;
}

/// Pairs of hosts within each group.
void TreeProbe::ask_within() {
  for (std::vector<std::uint32_t>& hosts : groups()) {
    shuffle(hosts, random_);
    for (std::size_t i = 0; i + 1 < hosts.size(); i += 2) both_ways(asked_, hosts[i], hosts[i + 1]);
  }
}

/// Hosts beside known bottlenecks with one behind each of these in turn, while all others fill these.
void TreeProbe::ask_beside() {
  const Places places(tree_);
  std::vector<std::vector<std::uint32_t>> hosts = groups(), behind(hosts.size());
  for (std::uint32_t i = 0; i < tree_.bottlenecks.size(); ++i) behind[places.parent[i]].push_back(i);
  std::vector<std::uint32_t> others;
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    shuffle(hosts[at], random_);
    others.insert(others.end(), hosts[at].begin(), hosts[at].end());
  }
  ++turn_;
  HostSet paired(hosts_, 0);
  std::vector<std::size_t> next(hosts.size(), 0);
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    const std::vector<std::uint32_t>& sets = behind[places.at[host]];
    if (sets.empty()) continue;
    const std::uint32_t set = sets[(host + turn_) % sets.size()];
    if (next[set] == hosts[set].size()) continue;
    const std::uint32_t other = hosts[set][next[set]++];
    if (paired[host] || paired[other]) continue;
    both_ways(asked_, host, other);
    paired[host] = paired[other] = 1;
  }
  std::erase_if(others, [&](std::uint32_t host) { return paired[host] != 0; });
  shuffle(others, random_);
  for (std::size_t i = 0; i + 1 < others.size(); i += 2) both_ways(asked_, others[i], others[i + 1]);
}

/// Bottlenecks with those hosts beside that reach theirs at their own rates while it is loaded.
void TreeProbe::propose_larger(const Places& places) {
  const std::size_t count = tree_.bottlenecks.size();
  struct Seen {
    float measured = 0, predicted = 0, own = 0;
  };
  std::vector<Seen> seen(hosts_ * count);
  for (std::size_t r = loaded_from_; r < loaded_to_; ++r) {
    const std::vector<double> predicted = fair_rates(tree_, places, rounds_[r].streams);
    for (std::size_t s = 0; s < predicted.size(); ++s) {
      const Stream& stream = rounds_[r].streams[s];
      const double own = std::min(tree_.out[stream.from], tree_.in[stream.to]);
      for (const auto& [host, other] : {std::pair{stream.from, stream.to}, std::pair{stream.to, stream.from}}) {
        const std::size_t to = places.at[other];
        if (to == count || places.at[host] != places.parent[to]) continue;
        Seen& cell = seen[host * count + to];
        cell.measured += static_cast<float>(rounds_[r].rates[s]);
        cell.predicted += static_cast<float>(predicted[s]), cell.own += static_cast<float>(own);
      }
    }
  }
  for (std::size_t to = 0; to < count; ++to) {
    HostSet larger = tree_.bottlenecks[to].hosts;
    for (std::uint32_t host = 0; host < hosts_; ++host) {
      const Seen& cell = seen[host * count + to];
      if (cell.predicted < 0.8F * cell.own && cell.measured - cell.predicted > 0.5F * (cell.own - cell.predicted))
        larger[host] = 1;
    }
    if (larger != tree_.bottlenecks[to].hosts && !tried(larger)) splits_.push_back({larger, {}, bottleneck, true});
  }
}

/// True if more matchings may tell more: something was found since the last, and there are rounds left.
bool TreeProbe::load_more() {
  const std::uint32_t found = static_cast<std::uint32_t>(tree_.bottlenecks.size());
  const std::uint32_t kept = rounds() + found + 2 * least_more;  // for those beside, and their tests
  std::size_t largest = 0;
  for (const auto& hosts : groups()) largest = std::max(largest, hosts.size());
  stale_ = found == found_ || kept + least_more > most_ ? stale_ + 1 : 0;
  if (stale_ > 1 || rounds() + found + least_more > most_) return false;
  found_ = found, loaded_from_ = rounds_.size();
  loaded_ = stale_ > 0
                ? found
                : std::min(std::max(static_cast<std::uint32_t>(largest / part_again), least_again), most_ - kept);
  return true;
}

/// Splits that are clearly apart, and the order of their tests.
bool TreeProbe::propose_many() {
  const std::size_t first = splits_.size();
  loaded_to_ = rounds_.size();
  const Places places(tree_);
  std::vector<StreamRound> loaded;  // only streams between the same bottlenecks: known ones hide others
  for (std::size_t r = std::size_t{2} * alone_rounds; r < loaded_to_; ++r) {
    if (rounds_[r].streams.size() < full * hosts_) continue;
    StreamRound& round = loaded.emplace_back();
    for (std::size_t s = 0; s < rounds_[r].streams.size(); ++s) {
      const Stream& stream = rounds_[r].streams[s];
      if (places.at[stream.from] != places.at[stream.to]) continue;
      round.streams.push_back(stream), round.rates.push_back(rounds_[r].rates[s]);
    }
  }
  for (const SplitCandidate& candidate : split_candidates(tree_, loaded, joined, stale_ > 0 ? hardly_apart : apart))
    if (candidate.gain >= least_gain && !tried(candidate.hosts) &&
        std::none_of(splits_.begin() + first, splits_.end(),
                     [&](const Split& split) { return alike(split.hosts, candidate.hosts); }))
      splits_.push_back({candidate.hosts, {}, bottleneck});
  if (found_ > 0) propose_larger(places);
  std::vector<std::size_t> all(splits_.size() - first);
  std::iota(all.begin(), all.end(), first);
  std::size_t last_sweep = 0;
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    shuffle(all, random_);
    last_sweep = planned_.size();
    std::vector<std::size_t> left = all;
    while (!left.empty()) {  // nested ones in rounds of their own
      Planned round;
      HostSet active(hosts_, 0);
      std::uint32_t count = 0;
      std::erase_if(left, [&](std::size_t at) {
        const HostSet& hosts = splits_[at].hosts;
        const std::uint32_t size = hosts_in(hosts);
        if (count > 0 && count + size > hosts_ / tested_part) return false;
        for (std::uint32_t host = 0; host < hosts_; ++host)
          if (hosts[host] && active[host]) return false;
        for (std::uint32_t host = 0; host < hosts_; ++host) active[host] |= hosts[host];
        count += size;
        round.splits.push_back(at);
        return true;
      });
      planned_.push_back(std::move(round));
    }
  }
  for (std::size_t at = last_sweep, end = planned_.size(); at < end; ++at) {
    planned_.push_back(planned_[at]);
    planned_.back().repeats = end - last_sweep;
  }
  return !all.empty();
}

bool TreeProbe::ask_planned() {
  if (next_planned_ == planned_.size()) {
    planned_.clear(), next_planned_ = 0;
    proposed_ = !proposed_ && propose_many();
    if (!proposed_) return false;
  }
  const Planned& round = planned_[next_planned_++];
  if (round.repeats > 0) {
    asked_ = rounds_[rounds_.size() - round.repeats].streams;
    for (const std::size_t at : round.splits) splits_[at].tests.push_back({rounds_.size(), true});
    return true;
  }
  HostSet taken(hosts_, 0);
  for (const std::size_t at : round.splits)
    for (std::uint32_t host = 0; host < hosts_; ++host) taken[host] |= splits_[at].hosts[host];
  shuffle(labels_, random_);
  std::size_t next = 0;
  for (const std::size_t at : round.splits) {
    std::vector<std::uint32_t> inside;
    for (std::uint32_t host = 0; host < hosts_; ++host)
      if (splits_[at].hosts[host]) inside.push_back(host);
    shuffle(inside, random_);
    // A quarter at least: so few are left to send across that this test says nothing of what gets through.
    const std::size_t within = splits_[at].tests.empty() ? (inside.size() + 7) / 8 * 2 : 0;
    for (std::size_t i = 0; i < within; i += 2) both_ways(asked_, inside[i], inside[i + 1]);
    for (std::size_t i = within; i < inside.size(); ++i) {
      const std::uint32_t host = inside[i];
      while (next < hosts_ && taken[labels_[next]]) ++next;
      if (next < hosts_) both_ways(asked_, host, labels_[next++]);
    }
    splits_[at].tests.push_back({rounds_.size()});
  }
  return true;
}

/// Smaller ones first: unions of sets behind bottlenecks are explained by these.
void TreeProbe::judge_many() {
  if (next_planned_ < planned_.size()) return;
  std::vector<Split*> tested;
  for (Split& split : splits_)
    if (!split.accepted && !split.refuted) tested.push_back(&split);
  std::stable_sort(tested.begin(), tested.end(),
                   [](const Split* a, const Split* b) { return hosts_in(a->hosts) < hosts_in(b->hosts); });
  for (Split* split : tested) {
    split->refuted = true;
    MeasuredTree others = tree_;  // but those that it is to replace
    if (split->larger)
      std::erase_if(others.bottlenecks, [&](const Bottleneck& each) { return alike(each.hosts, split->hosts); });
    split->part = reached(*split, others);
    if (split->part >= split->below || within(*split) < together) continue;
    drop_strangers(*split);
    if (hosts_in(split->hosts) < 2 || !make_room(*split)) continue;
    split->accepted = true, split->refuted = false;
    tree_.bottlenecks.push_back(capacity(*split, others));
  }
}

/// Rates between the hosts of a split while it was loaded, of those predicted: less where it is several.
double TreeProbe::within(const Split& split) const {
  const StreamRound& round = rounds_[split.tests[0].round];
  const std::vector<double> predicted = fair_rates(tree_, round.streams);
  double sum = 0, of = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const auto [from, to] = round.streams[i];
    const double own = std::min(tree_.out[from], tree_.in[to]);
    if (split.hosts[from] && split.hosts[to] && predicted[i] > together * own) sum += round.rates[i], of += own;
  }
  return of > 0 ? sum / of : 1;
}

/// True if no bottleneck is the same or crosses this one but weaker ones, which go: some hosts are in the wrong set.
bool TreeProbe::make_room(const Split& split) {
  std::vector<Split*> going;
  for (Split& other : splits_) {
    if (!other.accepted) continue;
    std::uint32_t both = 0;
    for (std::uint32_t host = 0; host < hosts_; ++host) both += split.hosts[host] && other.hosts[host];
    if (other.hosts != split.hosts && (both == 0 || both == hosts_in(split.hosts) || both == hosts_in(other.hosts)))
      continue;
    if (other.part <= split.part) return false;
    going.push_back(&other);
  }
  for (Split* other : going) {
    other->accepted = false, other->refuted = true;
    tree_ = without(other->hosts);
  }
  return true;
}

/// Hosts that keep their rate while the others share a bottleneck are not behind it.
void TreeProbe::drop_strangers(Split& split) const {
  std::vector<double> sum(hosts_, 0), parts;
  for (const Test& test : split.tests)
    for (std::size_t i = 0; i < rounds_[test.round].streams.size(); ++i) {
      const Stream& stream = rounds_[test.round].streams[i];
      const double part = rounds_[test.round].rates[i] / std::min(tree_.out[stream.from], tree_.in[stream.to]);
      if (split.hosts[stream.from]) sum[stream.from] += part;
      if (split.hosts[stream.to]) sum[stream.to] += part;
    }
  const double tests = 2.0 * static_cast<double>(split.tests.size());
  for (std::uint32_t host = 0; host < hosts_; ++host)
    if (split.hosts[host]) parts.push_back(sum[host] / tests);
  std::nth_element(parts.begin(), parts.begin() + parts.size() / 2, parts.end());
  const double limit = (1 + parts[parts.size() / 2]) / 2;
  for (std::uint32_t host = 0; host < hosts_; ++host)
    if (split.hosts[host] && sum[host] / tests > limit) split.hosts[host] = 0;
}

}  // namespace hocket
