#include "core/network/disjoint_ways.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t least_wait = 10, more_wait = 10;  // moves until one may be taken back, as of Galinier and Hao

class Search {
 public:
  Search(std::size_t channels, const std::vector<std::vector<Way>>& items, std::vector<std::uint32_t> start)
      : items_(items),
        chosen_(std::move(start)),
        users_(channels),
        free_from_(items.size()),
        is_suspect_(items.size(), false) {
    for (std::uint32_t item = 0; item < items.size(); ++item) {
      free_from_[item].resize(items[item].size(), 0);
      suspect(item);
      take(item, chosen_[item]);
    }
  }

  [[nodiscard]] bool run(std::uint64_t budget) {
    for (std::uint64_t move = 0; !suspects_.empty(); ++move) {
      const auto at = static_cast<std::size_t>(random_() % suspects_.size());
      const std::uint32_t item = suspects_[at];
      if (!overlaps(item)) {
        suspects_[at] = suspects_.back();
        suspects_.pop_back();
        is_suspect_[item] = false;
        continue;
      }
      leave(item);
      const std::uint32_t option = best_other(item, move);
      free_from_[item][chosen_[item]] = move + least_wait + random_() % more_wait;
      take(item, option);
      for (const Channel channel : items_[item][option])
        if (users_[channel].size() > 1)
          std::ranges::for_each(users_[channel], [&](std::uint32_t user) { suspect(user); });
      if (looked_ > budget) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint32_t> chosen() && { return std::move(chosen_); }

 private:
  void suspect(std::uint32_t item) {
    if (!is_suspect_[item]) suspects_.push_back(item);
    is_suspect_[item] = true;
  }

  [[nodiscard]] bool overlaps(std::uint32_t item) {
    looked_ += items_[item][chosen_[item]].size();
    return std::ranges::any_of(items_[item][chosen_[item]],
                               [&](Channel channel) { return users_[channel].size() > 1; });
  }

  void take(std::uint32_t item, std::uint32_t option) {
    chosen_[item] = option;
    for (const Channel channel : items_[item][option]) {
      users_[channel].push_back(item);
      looked_ += users_[channel].size();
    }
  }

  void leave(std::uint32_t item) {
    for (const Channel channel : items_[item][chosen_[item]])
      users_[channel].erase(std::ranges::find(users_[channel], item));
  }

  /// Among equals one at random; the same one only where there is no other.
  [[nodiscard]] std::uint32_t best_other(std::uint32_t item, std::uint64_t move) {
    constexpr std::size_t held_back = std::numeric_limits<std::size_t>::max() / 2;
    std::uint32_t best = chosen_[item], equals = 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::uint32_t option = 0; option < items_[item].size(); ++option) {
      if (option == chosen_[item]) continue;
      std::size_t others = free_from_[item][option] > move ? held_back : 0;
      for (const Channel channel : items_[item][option]) others += users_[channel].size();
      looked_ += items_[item][option].size();
      if (others < least) least = others, equals = 0;
      if (others == least && random_() % ++equals == 0) best = option;
    }
    looked_ += items_[item].size();
    return best;
  }

  const std::vector<std::vector<Way>>& items_;
  std::vector<std::uint32_t> chosen_;
  std::vector<std::vector<std::uint32_t>> users_;      ///< items, by channel
  std::vector<std::vector<std::uint64_t>> free_from_;  ///< move, by item and option
  std::vector<std::uint32_t> suspects_;                ///< among these are all items that overlap with others
  std::vector<bool> is_suspect_;
  std::mt19937_64 random_;    ///< the standard fixes its seed and its numbers: the same answer everywhere
  std::uint64_t looked_ = 0;  ///< at options, at channels and at their users: what the time goes by
};

}  // namespace

std::optional<std::vector<std::uint32_t>> disjoint_ways(std::size_t channels,
                                                        const std::vector<std::vector<Way>>& items,
                                                        std::uint64_t budget) {
  const std::vector<double> rates(channels, 1);
  std::vector<std::uint32_t> start = least_load(rates, items);
  if (std::ranges::find(start, no_option) != start.end()) throw InputError("an item has no options");
  Search search(channels, items, std::move(start));
  if (!search.run(budget)) return std::nullopt;
  return std::move(search).chosen();
}

}  // namespace hocket
