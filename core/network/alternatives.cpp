#include "core/network/alternatives.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/network/shortest_paths.hpp"

namespace hocket {
namespace {

constexpr int most_sweeps = 100;

double fourth_power(double value) { return value * value * value * value; }

class Loads {
 public:
  explicit Loads(std::span<const double> rates) : rates_(rates), count_(rates.size(), 0) {}

  void add(const Way& way, int times) {
    for (const Channel channel : way) count_[channel] += times;
  }
  /// Growth of the sum by the way, each channel counted once.
  [[nodiscard]] double cost(const Way& way) const {
    double sum = 0;
    for (const Channel channel : way) {
      const double now = count_[channel] / rates_[channel], then = (count_[channel] + 1) / rates_[channel];
      sum += fourth_power(then * unit()) - fourth_power(now * unit());
    }
    return sum;
  }

 private:
  /// Rates are of any size: loads are in messages of the first channel's.
  [[nodiscard]] double unit() const { return rates_.front(); }

  std::span<const double> rates_;
  std::vector<double> count_;
};

}  // namespace

std::vector<Way> equal_ways(const NetworkSpec& spec, Node src, Node dst, std::size_t most) {
  ShortestPaths paths(spec);
  paths.find(dst);
  if (src == dst || !paths.reaches(src)) throw InputError("no way leads from one host to the other");
  struct Begun {
    Node at;
    Way way;
  };
  std::vector<Begun> begun{{src, {}}};
  // Level by level, as all are equally long.
  for (std::uint32_t left = paths.distance(src); left > 0; --left) {
    std::vector<Begun> longer;
    for (const Begun& one : begun)
      for (const Channel channel : paths.best(one.at)) {
        longer.push_back({paths.head(channel), one.way});
        longer.back().way.push_back(channel);
        if (longer.size() > most)
          throw InputError("more than " + std::to_string(most) + " equally short ways between two hosts");
      }
    begun = std::move(longer);
  }
  std::vector<Way> ways;
  for (Begun& one : begun) ways.push_back(std::move(one.way));
  return ways;
}

std::vector<std::uint32_t> least_load(std::span<const double> rates, const std::vector<std::vector<Way>>& items) {
  for (const auto& options : items)
    for (const Way& way : options)
      if (std::ranges::any_of(way, [&](Channel channel) { return channel >= rates.size(); }))
        throw InputError("an option has an unknown channel");
  Loads loads(rates);
  std::vector<std::uint32_t> chosen(items.size(), no_option);
  for (std::size_t item = 0; item < items.size(); ++item)
    if (!items[item].empty()) loads.add(items[item][chosen[item] = 0], 1);
  bool changed = true;
  for (int sweep = 0; changed && sweep < most_sweeps; ++sweep) {
    changed = false;
    for (std::size_t item = 0; item < items.size(); ++item) {
      const auto& options = items[item];
      if (options.size() < 2) continue;
      loads.add(options[chosen[item]], -1);
      std::uint32_t best = chosen[item];
      double least = loads.cost(options[best]);
      for (std::uint32_t option = 0; option < options.size(); ++option)
        if (const double cost = loads.cost(options[option]); cost < least * (1 - 1e-9)) least = cost, best = option;
      changed = changed || best != chosen[item];
      loads.add(options[chosen[item] = best], 1);
    }
  }
  return chosen;
}

}  // namespace hocket
