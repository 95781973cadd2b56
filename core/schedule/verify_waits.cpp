/// Check that the waits keep apart what must not meet, from routes and waits alone.
#include <functional>

#include "core/progress/progress.hpp"
#include "core/schedule/verify.hpp"

namespace hocket {

namespace {

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

constexpr std::uint64_t enough_findings = 1000;  // a plan that is this broken needs no exact count
constexpr std::uint32_t no_transfer = ~std::uint32_t{0};

std::string transfer_name(const Schedule& schedule, std::uint64_t transfer) {
  const Hop hop = schedule.hops()[transfer];
  return std::to_string(hop.src) + "->" + std::to_string(hop.dst);
}

/// The transfers of a phase as they take their places on channels: by sender, then as listed.
std::vector<std::uint64_t> places(const Schedule& schedule, std::uint64_t phase) {
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return schedule.hops()[a].src < schedule.hops()[b].src; });
  return order;
}

/// Order of transfers: whether `earlier` is over before `later` starts. Exact depth-first search, along waits and
/// senders' order, through the transfers that have started by then.
class Order {
 public:
  Order(const Schedule& schedule, const Waits& waits, std::uint32_t window)
      : schedule_(schedule),
        waits_(waits),
        started_(schedule.size(), no_transfer),
        over_(schedule.size(), no_transfer),
        seen_for_(schedule.size(), no_transfer) {
    std::vector<std::uint32_t> last(schedule.ranks(), no_transfer);
    for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
      const auto first = static_cast<std::uint32_t>(schedule.phase_begin()[phase]);
      for (std::uint32_t i = first; i < schedule.phase_begin()[phase + 1]; ++i) {
        if (schedule.hops()[i].src >= schedule.ranks()) continue;
        std::uint32_t over = started_[i] = last[schedule.hops()[i].src];
        while (over != no_transfer && over >= first) over = started_[over];
        for (std::uint32_t k = 1; over != no_transfer && k < window; ++k) over = started_[over];
        over_[i] = over;
        last[schedule.hops()[i].src] = i;
      }
    }
  }

  /// Said outright, or by the sender's own order.
  [[nodiscard]] bool said(std::uint32_t earlier, std::uint32_t later) const {
    const auto direct = waits_.of(later);
    if (std::find(direct.begin(), direct.end(), earlier) != direct.end()) return true;
    return over_[later] != no_transfer && earlier <= over_[later] &&
           schedule_.hops()[earlier].src == schedule_.hops()[later].src;
  }

  bool holds(std::uint32_t earlier, std::uint32_t later) {
    // Most are said outright.
    if (said(earlier, later)) return true;
    ++query_;
    stack_.assign(1, later);
    while (!stack_.empty()) {
      const std::uint32_t at = stack_.back();
      stack_.pop_back();
      const auto step = [&](std::uint32_t to) {
        if (to == no_transfer || to >= at || to < earlier || seen_for_[to] == query_) return;
        seen_for_[to] = query_;
        stack_.push_back(to);
      };
      // A sender's own sends are over up to that one.
      if (over_[at] != no_transfer && earlier <= over_[at] && schedule_.hops()[earlier].src == schedule_.hops()[at].src)
        return true;
      for (const std::uint32_t to : waits_.of(at)) {
        if (to == earlier) return true;
        step(to);
      }
      step(over_[at]);
      step(started_[at]);
    }
    return false;
  }

 private:
  const Schedule& schedule_;
  const Waits& waits_;
  std::vector<std::uint32_t> started_, over_;  ///< own sends before one: the last that started, that is over
  std::vector<std::uint32_t> seen_for_;
  std::vector<std::uint32_t> stack_;
  std::uint32_t query_ = 0;
};

/// The last users of every channel, in order. Who is capacity · window places before a transfer must be over.
class ChannelUsers {
 public:
  ChannelUsers(const Network& network, const Schedule& schedule, std::uint32_t window, Order& order)
      : network_(network), schedule_(schedule), order_(order), begin_(network.channels() + std::size_t{1}, 0) {
    for (Channel channel = 0; channel < network.channels(); ++channel)
      begin_[channel + 1] = begin_[channel] + std::size_t{network.capacity(channel)} * window;
    users_.assign(begin_.back(), no_transfer);
    next_.assign(network.channels(), 0);
  }

  /// `transfer`, of the phase that begins with `first`, takes its places. Calls `unordered(earlier, channel)` for
  /// whoever may not be over by then.
  void take(std::uint32_t transfer, std::uint64_t first, std::span<const Channel> route, const auto& unordered) {
    over_.clear();
    unsaid_.clear();
    std::uint32_t asked = no_transfer;  // asked last: many neighbouring channels have the same user
    bool said = false;
    for (const Channel channel : route) {
      const std::uint32_t earlier = std::exchange(users_[begin_[channel] + next_[channel]], transfer);
      next_[channel] = next_[channel] + 1 < apart(channel) ? next_[channel] + 1 : 0;
      if (earlier == no_transfer) continue;
      if (earlier >= first) {
        in_order_ = false;  // contention within a phase: reported by verify()
        continue;
      }
      if (earlier != asked) said = order_.said(asked = earlier, transfer);
      (said ? over_ : unsaid_).push_back({channel, earlier});
    }
    std::ranges::sort(unsaid_, std::greater<>(), &Use::earlier);  // latest first: one that is over implies those before
    std::uint32_t known = no_transfer;                            // known to be over
    for (const Use& use : unsaid_) {
      if (use.earlier == known || before_one_that_is_over(use.earlier) || order_.holds(use.earlier, transfer)) {
        over_.push_back(use);
        known = use.earlier;
      } else {
        in_order_ = false;
        unordered(use.earlier, use.channel);
      }
    }
  }

 private:
  struct Use {
    Channel channel;
    std::uint32_t earlier;
  };

  [[nodiscard]] std::size_t apart(Channel channel) const { return begin_[channel + 1] - begin_[channel]; }

  /// True if `earlier` is over because a later user of one of its channels is: where a channel carries one message at a
  /// time and all its users so far are in order, those before one that is over are over, too. Most orders that no wait
  /// states follow from that, without a search.
  bool before_one_that_is_over(std::uint32_t earlier) {
    if (!in_order_ || over_.empty()) return false;
    const Hop hop = schedule_.hops()[earlier];
    network_.find_route(hop.src, hop.dst, route_);
    return std::ranges::any_of(over_, [&](const Use& use) {
      return apart(use.channel) == 1 && std::ranges::find(route_, use.channel) != route_.end();
    });
  }

  const Network& network_;
  const Schedule& schedule_;
  Order& order_;
  std::vector<std::size_t> begin_;    ///< begin of each channel's users
  std::vector<std::uint32_t> users_;  ///< last users of each channel, the eldest where the next one goes
  std::vector<std::size_t> next_;
  std::vector<Use> over_, unsaid_;  ///< before the transfer at hand: known to be, and not said by a wait
  std::vector<Channel> route_;
  bool in_order_ = true;  ///< nothing unordered so far
};

}  // namespace

void verify_waits(const Network& network, const Schedule& schedule, const Waits& waits, Certificate& certificate) {
  if (waits.begin.size() != schedule.size() + 1) {
    certificate.add(Violation::unordered, 0, "there are waits for another number of transfers");
    return;
  }
  std::vector<Channel> route;
  const std::uint32_t window = std::max(waits.window, 1u);
  std::vector<ShareCheck> shared;
  if (!network.equal_rates()) shared.assign(network.channels(), ShareCheck(std::uint64_t{whole_channel} * window));
  Order order(schedule, waits, window);
  ChannelUsers users(network, schedule, window, order);
  Steps steps("verifying the waits", schedule.size());
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase) {
    const std::uint64_t first = schedule.phase_begin()[phase];
    for (const std::uint64_t i : places(schedule, phase)) {
      steps.tick();
      const Hop hop = schedule.hops()[i];
      if (hop.src >= network.ranks() || hop.dst >= network.ranks()) continue;  // reported by verify()
      const auto transfer = static_cast<std::uint32_t>(i);
      bool circular = false;
      for (const std::uint32_t earlier : waits.of(transfer)) circular = circular || earlier >= first;
      if (circular)
        certificate.add(Violation::circular_wait, phase,
                        transfer_name(schedule, i) + " waits for a transfer that is not earlier");
      network.find_route(hop.src, hop.dst, route);
      if (shared.empty()) {
        users.take(transfer, first, route, [&](std::uint32_t earlier, Channel channel) {
          if (circular) return;
          certificate.add(Violation::unordered, phase,
                          transfer_name(schedule, i) + " may start before " + transfer_name(schedule, earlier) +
                              " is over on " + network.channel_name(channel));
        });
      } else {
        const double speed = own_speed(network, route);
        for (const Channel channel : route) {
          const auto said = [&](std::uint32_t earlier, std::uint32_t later) { return order.said(earlier, later); };
          const auto over = [&](std::uint32_t earlier, std::uint32_t later) {
            return earlier < later && order.holds(earlier, later);
          };
          if (!shared[channel].admit(transfer, phase, share(network, channel, speed), said, over) && !circular)
            certificate.add(
                Violation::unordered, phase,
                transfer_name(schedule, i) + " may start before it has room on " + network.channel_name(channel));
        }
      }
      if (certificate.count(Violation::unordered) >= enough_findings) return;
    }
  }
}

}  // namespace hocket
