/// A meeting (left type, right type, left part, right part) needs a phase in which the lines of the right
/// type use the left part and those of the left type the right part. Meetings that agree on these share a
/// phase; the others push each other out, those pushed out most often being the hardest to push out.
#include <algorithm>

#include "core/algorithms/all_to_all/product/lines.hpp"
#include "core/algorithms/shared/random.hpp"

namespace hocket::product {
namespace {

using algorithms::Random;

constexpr std::uint64_t most_steps = 150'000;                                    // per attempt
constexpr double stretches[] = {1, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.5, 2, 3};  // phases tried, times the bound
constexpr std::uint64_t attempts = 2;                                            // per number of phases

struct Meeting {
  std::uint32_t column, row, left, right;
};

/// The part that a line uses in a phase, and the meetings that need it.
struct Slot {
  std::uint32_t part = none;
  std::uint64_t weight = 0;  ///< sum over its meetings
  std::vector<std::uint32_t> meetings;
};

class CrossingTable {
 public:
  CrossingTable(const PartSets& left, const PartSets& right, const std::vector<Meeting>& meetings, std::uint32_t phases)
      : phases_(phases),
        meetings_(meetings),
        rows_(right.sets.size() * phases),
        columns_(left.sets.size() * phases),
        phase_of_(meetings.size(), none),
        weight_(meetings.size(), 1) {}

  /// True if every meeting found a phase.
  bool fill(Random& random) {
    std::vector<std::uint32_t> waiting(meetings_.size());
    for (std::uint32_t i = 0; i < waiting.size(); ++i) waiting[i] = i;
    std::vector<std::uint32_t> best;
    for (std::uint64_t steps = most_steps; !waiting.empty(); --steps) {
      if (steps == 0) return false;
      std::swap(waiting[random.remainder(waiting.size())], waiting.back());
      const std::uint32_t meeting = waiting.back();
      waiting.pop_back();
      std::uint64_t least = ~std::uint64_t{0};
      for (std::uint32_t phase = 0; phase < phases_; ++phase) {
        const std::uint64_t cost = in_the_way(row(meeting, phase), meetings_[meeting].left) +
                                   in_the_way(column(meeting, phase), meetings_[meeting].right);
        if (cost < least) least = cost, best.clear();
        if (cost == least) best.push_back(phase);
      }
      put(meeting, best[random.remainder(best.size())], waiting);
    }
    return true;
  }

  [[nodiscard]] std::vector<CrossPhase> phases() const {
    std::vector<CrossPhase> result(phases_);
    for (std::uint32_t phase = 0; phase < phases_; ++phase) {
      for (std::size_t row = 0; row < rows_.size() / phases_; ++row)
        result[phase].left.push_back(rows_[row * phases_ + phase].part);
      for (std::size_t column = 0; column < columns_.size() / phases_; ++column)
        result[phase].right.push_back(columns_[column * phases_ + phase].part);
    }
    return result;
  }

 private:
  Slot& row(std::uint32_t meeting, std::uint32_t phase) {
    return rows_[std::size_t{meetings_[meeting].row} * phases_ + phase];
  }
  Slot& column(std::uint32_t meeting, std::uint32_t phase) {
    return columns_[std::size_t{meetings_[meeting].column} * phases_ + phase];
  }

  [[nodiscard]] static std::uint64_t in_the_way(const Slot& slot, std::uint32_t part) {
    return slot.part == part ? 0 : slot.weight;
  }

  void put(std::uint32_t meeting, std::uint32_t phase, std::vector<std::uint32_t>& waiting) {
    const auto clear = [&](Slot& slot, std::uint32_t part) {
      if (slot.part != none && slot.part != part)
        for (const std::uint32_t other : std::vector(slot.meetings)) {
          remove(other);
          ++weight_[other];
          waiting.push_back(other);
        }
      slot.part = part;
      slot.meetings.push_back(meeting);
      slot.weight += weight_[meeting];
    };
    clear(row(meeting, phase), meetings_[meeting].left);
    clear(column(meeting, phase), meetings_[meeting].right);
    phase_of_[meeting] = phase;
  }

  void remove(std::uint32_t meeting) {
    for (Slot* slot : {&row(meeting, phase_of_[meeting]), &column(meeting, phase_of_[meeting])}) {
      std::erase(slot->meetings, meeting);
      slot->weight -= weight_[meeting];
      if (slot->meetings.empty()) slot->part = none;
    }
    phase_of_[meeting] = none;
  }

  std::uint32_t phases_;
  const std::vector<Meeting>& meetings_;
  std::vector<Slot> rows_, columns_;
  std::vector<std::uint32_t> phase_of_;
  std::vector<std::uint64_t> weight_;
};

}  // namespace

std::vector<CrossPhase> search_crossing(const PartSets& left, const PartSets& right) {
  std::vector<Meeting> meetings;
  std::size_t most_left = 0, most_right = 0;
  for (std::uint32_t column = 0; column < left.sets.size(); ++column)
    for (std::uint32_t row = 0; row < right.sets.size(); ++row)
      for (const std::uint32_t i : left.sets[column])
        for (const std::uint32_t j : right.sets[row]) meetings.push_back({column, row, i, j});
  if (meetings.size() > most_meetings) return {};
  for (const auto& set : left.sets) most_left = std::max(most_left, set.size());
  for (const auto& set : right.sets) most_right = std::max(most_right, set.size());
  const double bound = static_cast<double>(std::max(left.parts * most_right, right.parts * most_left));
  for (const double stretch : stretches) {
    const auto phases = static_cast<std::uint32_t>(bound * stretch);
    if (phases >= left.parts * right.parts) break;
    for (std::uint64_t seed = 1; seed <= attempts; ++seed) {
      Random random(seed);
      CrossingTable table(left, right, meetings, phases);
      if (table.fill(random)) return table.phases();
    }
  }
  return {};
}

}  // namespace hocket::product
