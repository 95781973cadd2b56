#include "core/network/tree_probe.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr std::uint32_t most_hosts = 4096;
constexpr std::uint32_t least_loaded = 24, through_rounds = 16, inside_rounds = 2, check_rounds = 6;
constexpr std::uint32_t most_refutations = 6;
constexpr double steady = 0.8, busy = 0.1;  ///< of a rate that is measured again; of the streams that are not
constexpr double noisy = 0.08;              ///< between repeats of a test: other traffic may make a bottleneck of none
constexpr double wrong = 0.12;  ///< of predictions of permutations: some bottleneck is missing, or too many are there

double middle(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

void both_ways(std::vector<Stream>& streams, std::uint32_t a, std::uint32_t b) {
  streams.push_back({a, b});
  streams.push_back({b, a});
}

TreeProbe::TreeProbe(std::uint32_t hosts, std::uint64_t seed, std::uint32_t most)
    : hosts_(hosts), most_(most), random_(seed), labels_(hosts) {
  if (hosts < 2) throw InputError("a network is measured between two hosts or more");
  if (hosts > most_hosts)
    throw InputError("more than " + std::to_string(most_hosts) + " hosts: measure one of each switch");
  std::iota(labels_.begin(), labels_.end(), 0);
  shuffle(labels_, random_);
  tree_.out.assign(hosts, unbounded);
  tree_.in.assign(hosts, unbounded);
  // A tournament, or several of few hosts; no more than half of what is to be asked.
  const std::uint32_t one = hosts - 1 + hosts % 2;
  loaded_ = hosts < 4 ? 0 : one * ((least_loaded + one - 1) / one);
  loaded_ = std::min(loaded_, std::max(most / 2, 8U));
  loaded_from_ = std::size_t{2} * alone_rounds;
  advance();
}

TreeProbe::TreeProbe(MeasuredTree known, std::uint64_t seed)
    : TreeProbe(static_cast<std::uint32_t>(known.out.size()), seed, 0) {
  const auto is_of_others = [&](const Bottleneck& each) { return each.hosts.size() != hosts_; };
  if (known.in.size() != hosts_ || std::ranges::any_of(known.bottlenecks, is_of_others))
    throw InputError("a tree of bottlenecks needs as many rates as hosts");
  tree_ = std::move(known);
  stage_ = Stage::check;
  advance();
}

const char* TreeProbe::doing() const {
  switch (stage_) {
    case Stage::alone:
      return "rates of hosts";
    case Stage::loaded:
      return "who shares a bottleneck";
    case Stage::split:
    case Stage::again:
      return "rates of bottlenecks";
    case Stage::inside:
      return "rates within";
    default:
      return "check";
  }
}

void TreeProbe::add(std::vector<double> rates) {
  if (rates.size() != asked_.size()) throw InputError("as many rates as streams are needed");
  for (const double rate : rates)
    if (!(rate >= 0) || std::isinf(rate)) throw InputError("a rate is no number of bytes a second");
  if (stage_ == Stage::check) {
    check(rates);
  } else {
    rounds_.push_back({asked_, std::move(rates)});
    if (stage_ == Stage::split) many() ? judge_many() : judge();
  }
  ++step_;
  advance();
}

void TreeProbe::advance() {
  asked_.clear();
  while (asked_.empty() && stage_ != Stage::done) {
    bool more = true;
    switch (stage_) {
      case Stage::alone:
        more = step_ < 2 * std::min(alone_rounds, hosts_ / 2);
        if (more) ask_alone();
        if (!more) busy_ = differ();
        break;
      case Stage::loaded:
        more = step_ < loaded_;
        if (more) ask_loaded();
        break;
      case Stage::split:
      case Stage::again:
        more = ask_split();
        break;
      case Stage::inside:
        more = step_ < inside_rounds && !tree_.bottlenecks.empty();
        if (more) ask_within();
        break;
      case Stage::check:
        more = step_ < check_rounds && hosts_ > 2;
        if (more) ask_permutation();
        break;
      case Stage::done:
        break;
    }
    if (more) {
      if (asked_.empty()) ++step_;  // nothing to be asked of it
      continue;
    }
    if (stage_ == Stage::alone || stage_ == Stage::loaded || stage_ == Stage::inside) estimate_hosts(tree_, rounds_);
    if (stage_ == Stage::split && many() && load_more()) {
      stage_ = Stage::loaded, step_ = 0;
      continue;
    }
    if (stage_ == Stage::split && !many() && !loaded_twice_ && !tree_.bottlenecks.empty() &&
        rounds() + through_rounds + 24 < most_) {
      loaded_twice_ = true;  // some bottlenecks are filled by few matchings
      loaded_ = through_rounds, loaded_from_ = rounds_.size();
      stage_ = Stage::loaded, step_ = 0, refuted_ = 0;
      continue;
    }
    if (stage_ == Stage::again) eliminate();
    const auto off = std::count_if(errors_.begin(), errors_.end(), [](double error) { return error > wrong; });
    if (stage_ == Stage::check && off > 1 && !many() && rounds() + 40 < most_) {  // used now; others will check
      rounds_.insert(rounds_.end(), checked_.begin(), checked_.end());
      checked_.clear(), errors_.clear();
      stage_ = Stage::split, step_ = 0, refuted_ = 0;
      continue;
    }
    stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
    step_ = 0;
  }
}

/// Few pairs at once, so that hosts are seen at their own rates.
void TreeProbe::ask_alone() {
  const std::uint32_t pairs = hosts_ / 2, of = std::min(alone_rounds, pairs);
  for (std::uint32_t pair = step_ % of; pair < pairs; pair += of)
    both_ways(asked_, labels_[std::size_t{2} * pair], labels_[std::size_t{2} * pair + 1]);
}

/// True if the same pairs had other rates the second time, so that other traffic is on the network.
bool TreeProbe::differ() const {
  double streams = 0, differ = 0;
  for (std::size_t first = 0, second = rounds_.size() / 2; second < rounds_.size(); ++first, ++second)
    for (std::size_t i = 0; i < rounds_[first].rates.size(); ++i) {
      const auto [low, high] = std::minmax(rounds_[first].rates[i], rounds_[second].rates[i]);
      streams += 1, differ += low < steady * high;
    }
  return differ > busy * streams;
}

/// The circle method: all pairs once in as many rounds as a host has others; then with other labels.
void TreeProbe::ask_loaded() {
  if (many()) return stale_ == 0 ? ask_within() : ask_beside();
  if (loaded_twice_) return ask_through();
  const std::uint32_t even = hosts_ + hosts_ % 2, round = step_ % (even - 1);
  if (round == 0) shuffle(labels_, random_);
  const auto seat = [&](std::uint32_t at) { return at == 0 ? 0 : 1 + (at - 1 + round) % (even - 1); };
  for (std::uint32_t i = 0; i < even / 2; ++i) {
    const std::uint32_t a = seat(i), b = seat(even - 1 - i);
    if (a < hosts_ && b < hosts_) both_ways(asked_, labels_[a], labels_[b]);
  }
}

bool TreeProbe::ask_split() {
  if (hosts_ < 4) return false;
  if (many()) return stage_ == Stage::split && ask_planned();
  if (stage_ == Stage::again) {  // what was found meanwhile tells who is near
    std::vector<Split*> kept;
    for (Split& split : splits_)
      if (split.accepted) kept.push_back(&split);
    const std::uint32_t times = by_repeat() > noisy ? 5 : 2;
    if (step_ >= times * kept.size()) return false;
    ask_across(*kept[step_ / times], near);
    return true;
  }
  if (splits_.empty() || splits_.back().accepted || splits_.back().refuted) {
    if (refuted_ >= most_refutations || rounds() + check_rounds + 8 > most_ || !propose()) return false;
  }
  Split& split = splits_.back();
  if (split.tests.size() == repeated + 2) {
    const Test& first = split.tests[repeated];
    asked_ = rounds_[first.round].streams;
    split.tests.push_back({rounds_.size(), true});
  } else {
    ask_across(split, split.tests.size() % 2 == 0 ? near : spread);
  }
  return true;
}

/// All hosts of the split send to others and back: to near ones, so that no bottleneck behind is in the way, or to any.
void TreeProbe::ask_across(Split& split, Pairing pairing) {
  std::vector<std::uint32_t> inside, outside;
  for (std::uint32_t host = 0; host < hosts_; ++host) (split.hosts[host] ? inside : outside).push_back(host);
  shuffle(inside, random_);
  shuffle(outside, random_);
  if (pairing == near) choose_near(inside, outside);
  for (std::size_t i = 0; i < inside.size(); ++i) both_ways(asked_, inside[i], outside[i]);
  split.tests.push_back({rounds_.size()});
}

void TreeProbe::ask_permutation() {
  shuffle(labels_, random_);
  for (std::uint32_t i = 0; i < hosts_; ++i) asked_.push_back({labels_[i], labels_[(i + 1) % hosts_]});
}

void TreeProbe::check(const std::vector<double>& rates) {
  const std::vector<double> predicted = fair_rates(tree_, asked_);
  double worst = 0;
  const auto compare = [&](double measured, double expected, double of) {
    if (of > 0 && std::isfinite(of)) worst = std::max(worst, std::abs(measured - expected) / of);
  };
  const double all = std::accumulate(predicted.begin(), predicted.end(), 0.0);
  compare(std::accumulate(rates.begin(), rates.end(), 0.0), all, all);
  for (const Bottleneck& each : tree_.bottlenecks) {
    const Across measured = across(each.hosts, asked_, rates), expected = across(each.hosts, asked_, predicted);
    compare(measured.out, expected.out, each.out);
    compare(measured.in, expected.in, each.in);
  }
  errors_.push_back(worst);
  checked_.push_back({asked_, rates});
}

std::vector<double> TreeProbe::changes(bool repeats) const {
  std::vector<double> found;
  for (const Split& split : splits_) {
    if (!split.accepted) continue;
    std::vector<double> parts;  // of what the tree predicts
    for (const Test& test : split.tests) {
      const StreamRound& round = rounds_[test.round];
      const Across sums = across(split.hosts, round.streams, round.rates);
      const Across rates = across(split.hosts, round.streams, fair_rates(tree_, round.streams));
      parts.push_back((sums.out + sums.in) / std::max(rates.out + rates.in, 1.0));
    }
    if (repeats) {
      const auto again =
          std::find_if(split.tests.begin(), split.tests.end(), [](const Test& test) { return test.repeats; });
      if (again == split.tests.end()) continue;
      const std::size_t at = static_cast<std::size_t>(again - split.tests.begin());
      parts = {parts[at], parts[many() ? at - 1 : repeated]};
    }
    const auto [low, high] = std::minmax_element(parts.begin(), parts.end());
    found.push_back((*high - *low) / std::max(*high, 1e-9));
  }
  return found;
}

double TreeProbe::by_pairing() const { return middle(changes(false)); }
double TreeProbe::by_repeat() const { return middle(changes(true)); }

}  // namespace hocket
