#include "core/algorithms/all_to_all/tabu.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "core/algorithms/all_to_all/timetable.hpp"
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
    const std::vector<std::uint32_t>& phase_of = table_.phase_of();
    std::vector<std::uint64_t> used(table_.phases(), 0);
    for (std::uint32_t message = 0; message < phase_of.size(); ++message)
      used[phase_of[message]] += table_.needs(message).size();
    const auto least = static_cast<std::uint32_t>(std::ranges::min_element(used) - used.begin());
    const std::uint32_t last = table_.phases() - 1;
    std::vector<std::uint32_t> without;
    for (std::uint32_t message = 0; message < phase_of.size(); ++message)
      if (phase_of[message] == least) table_.remove(message), without.push_back(message);
    for (std::uint32_t message = 0; message < phase_of.size(); ++message)
      if (phase_of[message] == last) table_.remove(message), table_.put(message, least, displaced_);
    table_.set_phases(last);
    stride_ = (last + Timetable::lanes - 1) / Timetable::lanes * Timetable::lanes;
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

}  // namespace

void close_by_tabu(const Resources& resources, std::uint64_t enough, Packed& packed, std::uint64_t budget) {
  TabuSearch search(resources, packed, budget);
  while (packed.phases > enough && search.close_one()) {
    packed.phases = search.table().phases();
    packed.phase_of = search.table().phase_of();
  }
}

}  // namespace hocket::algorithms
