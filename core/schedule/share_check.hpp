#pragma once
/// Check that the waits leave room for every transfer on a channel that several share.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace hocket {

/// One channel. What a transfer takes of it, it takes from others that are over before it starts, nothing twice: then
/// transfers that may be under way at once never take more than there is, and the converse holds as well (Dilworth,
/// for weights). Transfers come in the order of their places; who takes from whom is changed where a later one needs
/// it, along augmenting paths.
class ShareCheck {
 public:
  explicit ShareCheck(std::uint64_t whole) : whole_(whole) { users_.push_back({nobody, whole, {}}); }

  /// Adds a transfer; returns false if the waits leave no room for it. `over(earlier, later)`: the one is over before
  /// the other starts; `clearly_over` finds most of these at once, and is asked first.
  /// Transfers of one phase do not wait for each other: where they alone are too much, waits are not to blame.
  template <class ClearlyOver, class Over>
  bool admit(std::uint32_t transfer, std::uint64_t phase, std::uint64_t part, ClearlyOver clearly_over, Over over) {
    if (std::exchange(phase_, phase) != phase) in_phase_ = 0;
    in_phase_ += part;
    const auto me = static_cast<std::uint32_t>(users_.size());
    users_.push_back({transfer, 0, {}});
    std::uint64_t wanted = part;
    const auto supplies = [&](std::uint32_t from, std::uint32_t to) {
      return from == 0 || over(users_[from].transfer, users_[to].transfer);
    };
    for (const std::uint32_t from : spare_)
      if (wanted > 0 && (from == 0 || clearly_over(users_[from].transfer, transfer))) wanted -= give(from, me, wanted);
    for (const std::uint32_t from : spare_)
      if (wanted > 0 && users_[from].left > 0 && supplies(from, me)) wanted -= give(from, me, wanted);
    std::erase_if(spare_, [&](std::uint32_t user) { return users_[user].left == 0; });
    while (wanted > 0) {
      const std::uint64_t moved = augment(me, wanted, supplies);
      if (moved == 0) break;
      wanted -= moved;
    }
    users_[me].left = part;
    spare_.push_back(me);
    return wanted == 0 || in_phase_ > whole_;
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  struct User {
    std::uint32_t transfer;
    std::uint64_t left;  ///< amount that nobody has taken from it
    std::vector<std::pair<std::uint32_t, std::uint64_t>> takers;
  };
  struct Step {
    std::uint32_t from, to;
  };

  std::uint64_t give(std::uint32_t from, std::uint32_t to, std::uint64_t wanted) {
    const std::uint64_t given = std::min(wanted, users_[from].left);
    users_[from].left -= given;
    add(from, to, given);
    return given;
  }

  void add(std::uint32_t from, std::uint32_t to, std::uint64_t amount) {
    if (amount == 0) return;
    auto& takers = users_[from].takers;
    const auto known = std::ranges::find(takers, to, &std::pair<std::uint32_t, std::uint64_t>::first);
    if (known != takers.end())
      known->second += amount;
    else
      takers.emplace_back(to, amount);
  }

  std::uint64_t remove(std::uint32_t from, std::uint32_t to, std::uint64_t amount) {
    auto& takers = users_[from].takers;
    const auto known = std::ranges::find(takers, to, &std::pair<std::uint32_t, std::uint64_t>::first);
    const std::uint64_t removed = std::min(amount, known->second);
    known->second -= removed;
    if (known->second == 0) takers.erase(known);
    return removed;
  }

  /// `me` takes from one who gave to another, and that one from somebody with something left, perhaps by further such
  /// steps. Returns how much.
  template <class Supplies>
  std::uint64_t augment(std::uint32_t me, std::uint64_t wanted, Supplies supplies) {
    std::vector<char> seen(users_.size(), 0);
    std::vector<Step> steps;            // found so far; each continues that of its parent
    std::vector<std::uint32_t> parent;  // per step
    std::vector<std::pair<std::uint32_t, std::uint32_t>> takers{{me, nobody}};  // and the step that came to them
    for (std::size_t next = 0; next < takers.size(); ++next) {
      const auto [taker, before] = takers[next];
      for (std::uint32_t from = taker; from-- > 0;) {
        if (seen[from] || !supplies(from, taker)) continue;
        seen[from] = 1;
        steps.push_back({from, taker});
        parent.push_back(before);
        const auto step = static_cast<std::uint32_t>(steps.size() - 1);
        if (users_[from].left > 0) return shift(steps, parent, step, wanted);
        for (const auto& [other, amount] : users_[from].takers)
          if (other != taker) takers.emplace_back(other, step);
      }
    }
    return 0;
  }

  /// Moves an amount along a path, from the last step back: its taker takes there, and gives back what it had from the
  /// step before. Returns the amount.
  std::uint64_t shift(const std::vector<Step>& steps, const std::vector<std::uint32_t>& parent, std::uint32_t last,
                      std::uint64_t wanted) {
    std::uint64_t amount = std::min(wanted, users_[steps[last].from].left);
    for (std::uint32_t step = last; parent[step] != nobody; step = parent[step]) {
      const std::uint32_t from = steps[parent[step]].from;
      for (const auto& [taker, taken] : users_[from].takers)
        if (taker == steps[step].to) amount = std::min(amount, taken);
    }
    users_[steps[last].from].left -= amount;
    for (std::uint32_t step = last;; step = parent[step]) {
      add(steps[step].from, steps[step].to, amount);
      if (parent[step] == nobody) break;
      remove(steps[parent[step]].from, steps[step].to, amount);
    }
    std::erase_if(spare_, [&](std::uint32_t user) { return users_[user].left == 0; });
    return amount;
  }

  std::uint64_t whole_, phase_ = ~std::uint64_t{0}, in_phase_ = 0;
  std::vector<User> users_;              ///< the first: the channel before anybody used it
  std::vector<std::uint32_t> spare_{0};  ///< users with something left
};

}  // namespace hocket
