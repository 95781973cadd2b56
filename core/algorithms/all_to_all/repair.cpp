/// Guided ejection search. A message without a phase takes the place of those in its way where these
/// are easiest to displace; they look for a place in turn. Whoever finds no free phase grows heavier,
/// so that the search learns which messages are hard. After Nagata and Bräysy, "A powerful route
/// minimization heuristic for the vehicle routing problem with time windows" (2009), where vehicles
/// are what phases are here.
#include <algorithm>
#include <limits>

#include "core/algorithms/all_to_all/resources.hpp"
#include "core/algorithms/shared/random.hpp"
#include "core/progress/progress.hpp"

namespace hocket::algorithms {

namespace {

/// Moves for which a phase is closed to a message that left it: a share of those that wait, and up to so many more. The
/// usual values in the literature. With 0.4 and 10 or 0.8 and 3, fewer of the networks in bench/results/true-bounds.md
/// got within 1.05.
constexpr double tenure_share = 0.6;

constexpr std::uint32_t tenure_more = 10;

constexpr std::size_t most_looked_at = 64;  // messages of one move

constexpr std::int16_t dear = std::numeric_limits<std::int16_t>::max();

class TabuSearch {
 public:
  TabuSearch(const Resources& resources, const Packed& packed, std::uint64_t budget)
      : table_(resources, packed.hops, static_cast<std::uint32_t>(packed.phases)),
        barred_(packed.hops.size()),
        budget_(budget),
        steps_("closing phases", budget) {
    for (std::uint32_t message = 0; message < packed.hops.size(); ++message)
      table_.put(message, packed.phase_of[message], displaced_);
    table_.set_phases(static_cast<std::uint32_t>(packed.phases));
  }

  [[nodiscard]] const Timetable& table() const { return table_; }

  /// Closes the phase that is used least; true once all messages have a phase again, false if the budget is spent.
  bool close_one() {
    dissolve();
    while (!waiting_.empty()) {
      const std::uint64_t spent = move();
      if (spent >= budget_) return false;
      budget_ -= spent;
      steps_.tick(spent);
    }
    return true;
  }

 private:
  struct Barred {
    std::uint32_t phase;
    std::uint64_t until;  ///< number of a move
  };

  void dissolve() {
    const std::vector<std::uint32_t> without = table_.close_least_used();
    stride_ = (table_.phases() + Timetable::lanes - 1) / Timetable::lanes * Timetable::lanes;
    for (std::vector<Barred>& of : barred_) of.clear();
    for (const std::uint32_t message : without) wait(message);
  }

  void wait(std::uint32_t message) {
    waiting_.push_back(message);
    rows_.resize(waiting_.size() * stride_, dear);
    table_.prices(message, {&rows_[rows_.size() - stride_], table_.phases()});
  }

  /// Puts one message into one phase; returns the steps that it took.
  std::uint64_t move() {
    ++moves_;
    const std::size_t count = waiting_.size(), looked_at = std::min(count, most_looked_at);
    const std::size_t first = looked_at < count ? random_.below(static_cast<std::uint32_t>(count)) : 0;
    std::int16_t least = dear;
    std::uint32_t ties = 0, phase = 0;
    std::size_t chosen = first;
    for (std::size_t k = 0; k < looked_at; ++k) {
      const std::size_t i = (first + k) % count;
      const std::span<std::int16_t> row{&rows_[i * stride_], stride_};
      std::vector<Barred>& barred = barred_[waiting_[i]];
      std::erase_if(barred, [&](const Barred& of) { return of.until <= moves_; });
      for (const Barred& of : barred) row[of.phase] = dear;
      std::int16_t lowest = dear;
      for (const std::int16_t price : row) lowest = std::min(lowest, price);
      if (lowest <= least && lowest < dear) {
        if (lowest < least) least = lowest, ties = 0;
        const auto equal = static_cast<std::uint32_t>(std::ranges::count(row, lowest));
        ties += equal;
        if (std::uint32_t pick = random_.below(ties); pick < equal) {
          chosen = i;
          for (phase = 0; row[phase] != lowest || pick-- > 0;) ++phase;
        }
      }
      for (const Barred& of : barred) row[of.phase] = table_.price(waiting_[i], of.phase);
    }
    if (least < dear) put(chosen, phase);
    return 100 + looked_at * (20 + stride_ / 8) + waiting_.size() * 10;
  }

  void put(std::size_t at, std::uint32_t phase) {
    const std::uint32_t message = waiting_[at];
    waiting_[at] = waiting_.back();
    waiting_.pop_back();
    std::copy_n(rows_.end() - static_cast<std::ptrdiff_t>(stride_), stride_, &rows_[at * stride_]);
    rows_.resize(waiting_.size() * stride_);
    displaced_.clear();
    table_.put(message, phase, displaced_);
    for (std::size_t i = 0; i < waiting_.size(); ++i) rows_[i * stride_ + phase] = table_.price(waiting_[i], phase);
    for (const std::uint32_t other : displaced_) {
      wait(other);
      const auto share = static_cast<std::uint64_t>(tenure_share * static_cast<double>(waiting_.size()));
      barred_[other].push_back({phase, moves_ + 1 + share + random_.below(tenure_more)});
    }
  }

  Timetable table_;
  std::vector<std::uint32_t> waiting_, displaced_;
  std::vector<std::int16_t> rows_;           ///< per message that waits and phase: messages that it would drive out
  std::uint64_t stride_ = 0;                 ///< length of such a row
  std::vector<std::vector<Barred>> barred_;  ///< per message
  std::uint64_t moves_ = 0, budget_;
  Random random_{1};
  Steps steps_;
};

/// Closes one phase after the other until `enough` are left or the budget, in steps of about a nanosecond, is spent.
/// Deterministic. Of the messages that wait, and the phases, that pair comes next which drives the fewest messages out;
/// those may not come back to the phase for a while. Where every port is busy in every phase this goes further
/// than looking at one message after the other. After Blöchliger and Zufferey, "A graph coloring heuristic using
/// partial solutions and a reactive tabu scheme" (2008).
void close_by_tabu(const Resources& resources, std::uint64_t enough, Packed& packed, std::uint64_t budget) {
  TabuSearch search(resources, packed, budget);
  while (packed.phases > enough && search.close_one()) {
    packed.phases = search.table().phases();
    packed.phase_of = search.table().phase_of();
  }
}

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
// Measured: four times as many steps bring 0 to 0.8 % fewer phases to networks of up to 512 hosts. The largest networks
// would lose 3 % without steps of their own.
constexpr std::uint64_t most_steps = 1'000'000'000;  // some three seconds
constexpr std::uint64_t steps_per_message = 200'000, least_steps_per_message = 3'500;
constexpr std::uint32_t first_window = 256;  // phases looked at for one message: more find more, and cost more
constexpr std::uint64_t most_above = 20;     // part of the bound above which phases are closed by tabu search
constexpr int most_failures = 20;            // consecutive failures to dissolve a phase

class EjectionSearch {
 public:
  EjectionSearch(const Resources& resources, const Packed& packed, std::uint64_t budget)
      : table_(resources, packed.hops, static_cast<std::uint32_t>(packed.phases)), steps_("closing phases", budget) {}

  [[nodiscard]] const Timetable& table() const { return table_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size() - next_; }

  /// Starts again from the given phases, as many as are open; the other messages wait.
  void load(const std::vector<std::uint32_t>& phase_of, std::uint32_t phases) {
    waiting_.clear();
    next_ = 0;
    for (std::uint32_t message = 0; message < phase_of.size(); ++message)
      if (table_.phase_of()[message] != Timetable::nowhere) table_.remove(message);
    table_.set_phases(phases);
    for (std::uint32_t message = 0; message < phase_of.size(); ++message) {
      if (phase_of[message] < phases)
        table_.put(message, phase_of[message], waiting_);
      else
        waiting_.push_back(message);
    }
  }

  /// True once every message has a phase; false if the number of those waiting has not fallen for
  /// `patience` messages, or the budget is spent.
  bool run(std::uint64_t patience, std::uint64_t& budget) {
    std::size_t fewest = waiting();
    for (std::uint64_t since = 0; waiting() > 0; ++since) {
      if (since > patience || budget == 0) return false;
      const std::uint64_t spent = std::min(budget, place(waiting_[next_++]));
      budget -= spent;
      steps_.tick(spent);
      if (next_ > 4096 && next_ > waiting_.size() / 2) {
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(next_));
        next_ = 0;
      }
      if (waiting() < fewest) fewest = waiting(), since = 0;
    }
    return true;
  }

  /// Looks at more phases per message from now on; false if it looked at all already, or if so many
  /// wait that it would take too long.
  bool widen() {
    if (window_ >= table_.phases() || waiting() > table_.phase_of().size() / 100) return false;
    window_ *= 4;
    return true;
  }

  /// Opens phases for about half of what waits; true if there were as many to open.
  bool grow(std::uint64_t needs_per_phase, std::uint64_t most_phases) {
    std::uint64_t needs = 0;
    for (std::size_t i = next_; i < waiting_.size(); ++i) needs += table_.needs(waiting_[i]).size();
    const std::uint64_t phases = table_.phases() + std::max<std::uint64_t>(1, needs / needs_per_phase / 2);
    if (phases > most_phases) return false;
    table_.set_phases(static_cast<std::uint32_t>(phases));
    return true;
  }

  /// Gives those that wait the first free phases behind the last; true if `most_phases` are enough.
  bool give_up(std::uint64_t most_phases) {
    const std::uint32_t last = table_.phases();
    table_.set_phases(static_cast<std::uint32_t>(most_phases));
    std::stable_sort(waiting_.begin() + static_cast<std::ptrdiff_t>(next_), waiting_.end(),
                     [&](auto a, auto b) { return table_.needs(a).size() > table_.needs(b).size(); });
    std::uint32_t used = last;
    for (; waiting() > 0; ++next_) {
      const std::uint32_t message = waiting_[next_];
      const std::uint32_t phase = table_.free_phase(message, 0);
      if (phase == Timetable::nowhere) return false;
      table_.put(message, phase, waiting_);
      used = std::max(used, phase + 1);
    }
    table_.set_phases(used);
    return true;
  }

  /// Closes the phase that is used least; its messages wait. All others must have a phase.
  void dissolve() {
    const std::vector<std::uint32_t> without = table_.close_least_used();
    waiting_.insert(waiting_.end(), without.begin(), without.end());
  }

 private:
  /// Returns the steps that it took.
  std::uint64_t place(std::uint32_t message) {
    const std::uint32_t phases = table_.phases();
    const std::uint64_t route = table_.needs(message).size();
    std::uint64_t steps = 128 + 64 * route;  // measured: tables of large networks do not fit into caches
    // Anywhere, but always the same way: the first phases must not collect the trouble.
    std::uint32_t phase = table_.free_phase(message, random_.below(phases));
    if (phase == Timetable::nowhere) {
      steps += route * (phases / 64);
      table_.weigh_down(message);
      phase = table_.cheapest_phase(message, random_.below(phases), window_);
      steps += route * std::min(phases, window_) / 2;
    }
    table_.put(message, phase, waiting_);
    return steps;
  }

  Timetable table_;
  std::vector<std::uint32_t> waiting_;  ///< first come, first served; those before next_ are done
  std::size_t next_ = 0;
  std::uint32_t window_ = first_window;
  Random random_{1};
  Steps steps_;
};

/// Fills phases from the bound upwards: more of them whenever the search stalls.
bool fill(EjectionSearch& search, const Packed& packed, std::uint64_t bound, std::uint64_t needs_per_phase,
          std::uint64_t patience, std::uint64_t& budget) {
  search.load(packed.phase_of, static_cast<std::uint32_t>(bound));
  while (!search.run(patience, budget)) {
    if (budget > 0 && search.widen()) continue;
    if (budget == 0 || !search.grow(needs_per_phase, packed.phases - 1)) return search.give_up(packed.phases - 1);
  }
  return true;
}

}  // namespace

std::uint64_t repair_budget(std::uint64_t messages) {
  return std::min(std::max(most_steps, least_steps_per_message * messages), steps_per_message * messages);
}

void repair(const Network& network, const SendPools& pools, std::uint64_t bound, Packed& packed, std::uint64_t budget) {
  if (packed.phases <= bound) return;
  const Resources resources(network, pools, packed.hops);
  if (Timetable::bytes(resources, packed.phases) > most_bytes) return;
  std::uint64_t needs = 0;
  for (std::uint32_t resource = 0; resource < resources.size(); ++resource) needs += resources.load(resource);
  const std::uint64_t needs_per_phase = std::max<std::uint64_t>(1, needs / std::max<std::uint64_t>(1, bound));
  const std::uint64_t patience = 20'000 + 2 * packed.hops.size();

  EjectionSearch search(resources, packed, budget);
  const auto keep = [&] {
    packed.phases = search.table().phases();
    packed.phase_of = search.table().phase_of();
  };
  const auto restore = [&] { search.load(packed.phase_of, static_cast<std::uint32_t>(packed.phases)); };

  // A quarter of the budget is kept for the second part. The third, which few plans need, has half as much besides:
  // with as much it closed no phase more on seven networks.
  const std::uint64_t for_closing = budget / 2;
  std::uint64_t for_filling = budget - budget / 4;
  budget /= 4;
  if (fill(search, packed, bound, needs_per_phase, patience, for_filling))
    keep();
  else
    restore();
  budget += for_filling;
  for (int failures = 0; packed.phases > bound && failures < most_failures && budget > 0;) {
    search.dissolve();
    if (search.run(patience, budget)) {
      keep();
      failures = 0;
    } else {
      restore();
      if (!search.widen()) ++failures;
    }
  }
  const std::uint64_t enough = bound + bound / most_above;
  if (packed.phases > enough) close_by_tabu(resources, enough, packed, for_closing);
}

}  // namespace hocket::algorithms
