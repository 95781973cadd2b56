/// Crossings in closed form where the sets of parts have a known structure, else by search.
#include <algorithm>

#include "core/algorithms/all_to_all/product/lines.hpp"
#include "core/algorithms/shared/random.hpp"

namespace hocket::product {

// By search: a meeting (left type, right type, left part, right part) needs a phase in which the lines of the right
// type use the left part and those of the left type the right part. Meetings that agree on these share a phase; the
// others push each other out, those pushed out most often being the hardest to push out.

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

namespace {

using Phases = std::vector<CrossPhase>;

bool contains(const std::vector<std::uint32_t>& set, std::uint32_t part) {
  return part != none && std::binary_search(set.begin(), set.end(), part);
}

/// Structure of the sets, on which the closed forms depend. `label` tells types of one structure apart.
enum class Form { single, missing, cyclic, other };

struct Structure {
  Form form = Form::other;
  std::vector<std::uint32_t> label;  ///< per type: its one part; the one it lacks; the first of its two
};

bool is_prime(std::uint32_t n) {
  for (std::uint32_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

Structure structure_of(const PartSets& sets) {
  Structure found;
  const std::uint32_t n = sets.parts;
  const auto all = [&](auto predicate) { return std::ranges::all_of(sets.sets, predicate); };
  if (all([](const auto& set) { return set.size() == 1; })) {
    found.form = Form::single;
    for (const auto& set : sets.sets) found.label.push_back(set[0]);
  } else if (all([n](const auto& set) { return set.size() + 1 == n; }) && is_prime(n)) {
    found.form = Form::missing;
    for (const auto& set : sets.sets) {
      std::uint32_t lacking = 0;
      while (contains(set, lacking)) ++lacking;
      found.label.push_back(lacking);
    }
  } else if (all([n](const auto& set) {
               return set.size() == 2 && (set[0] + 1 == set[1] || (set[0] == 0 && set[1] + 1 == n));
             })) {
    found.form = Form::cyclic;
    for (const auto& set : sets.sets) found.label.push_back(set[0] + 1 == set[1] ? set[0] : set[1]);
  }
  return found;
}

/// A phase in which the parts follow from the labels.
template <class Left, class Right>
CrossPhase phase_of(const Structure& left, const Structure& right, Left left_part, Right right_part) {
  CrossPhase phase;
  for (const std::uint32_t label : right.label) phase.left.push_back(left_part(label));
  for (const std::uint32_t label : left.label) phase.right.push_back(right_part(label));
  return phase;
}

/// Permutations with m and m' parts: part i meets part j in phase i + j.
Phases latin(const PartSets& left, const Structure& l, const PartSets& right, const Structure& r) {
  const std::uint32_t n = std::max(left.parts, right.parts);
  const auto rest = [n](std::uint32_t phase, std::uint32_t part, std::uint32_t parts) {
    const std::uint32_t other = (phase + n - part) % n;
    return other < parts ? other : none;
  };
  Phases phases;
  for (std::uint32_t phase = 0; phase < n; ++phase)
    phases.push_back(phase_of(
        l, r, [&](auto j) { return rest(phase, j, left.parts); }, [&](auto i) { return rest(phase, i, right.parts); }));
  return phases;
}

/// Each node lacks one of p parts, p prime: the affine maps z → az + b modulo p are sharply doubly
/// transitive, so that exactly one takes (i, the part the turning point lacks) to (the part its line
/// lacks, j). Those with one a lack one phase per node again.
std::vector<Phases> affine(std::uint32_t p, const Structure& l, const Structure& r) {
  std::vector<Phases> groups;
  for (std::uint32_t a = 1; a < p; ++a) {
    std::uint32_t inverse = 1;
    while (inverse * a % p != 1) ++inverse;
    Phases phases;
    for (std::uint32_t b = 0; b < p; ++b)
      phases.push_back(phase_of(
          l, r, [&](auto lacking) { return (lacking + p - b) * inverse % p; },
          [&](auto lacking) { return (a * lacking + b) % p; }));
    groups.push_back(std::move(phases));
  }
  return groups;
}

/// Each node has two neighbouring ones of q parts on both sides: a reflection and a rotation per phase.
Phases dihedral(std::uint32_t q, const Structure& l, const Structure& r) {
  Phases phases;
  for (std::uint32_t s = 0; s < q; ++s) {
    const auto against = [&](auto label) { return (s + q - label) % q; };
    phases.push_back(phase_of(l, r, against, against));
    phases.push_back(phase_of(
        l, r, [&](auto label) { return (s + label) % q; }, [&](auto label) { return (label + q - s + 1) % q; }));
  }
  return phases;
}

/// Two neighbouring ones of q parts on one side, a permutation of m ≤ (q − 1) / 2 parts on the other:
/// the lines of the m types use parts that are two apart, so that nobody hears two of them.
Phases spread(std::uint32_t q, std::uint32_t m, const Structure& l, const Structure& r, bool left_cyclic) {
  Phases phases;
  for (std::uint32_t phase = 0; phase < q; ++phase) {
    const auto apart = [&](std::uint32_t type) { return (phase + 2 * type) % q; };
    const auto heard = [&](std::uint32_t first) {
      for (std::uint32_t type = 0; type < m; ++type)
        if (apart(type) == first || apart(type) == (first + 1) % q) return type;
      return none;
    };
    phases.push_back(left_cyclic ? phase_of(l, r, apart, heard) : phase_of(l, r, heard, apart));
  }
  return phases;
}

std::vector<Phases> closed_form(const PartSets& left, const PartSets& right) {
  const Structure l = structure_of(left), r = structure_of(right);
  const auto both = [&](Form form) { return l.form == form && r.form == form; };
  if (both(Form::single)) return {latin(left, l, right, r)};
  if (both(Form::missing) && left.parts == right.parts) return affine(left.parts, l, r);
  if (both(Form::cyclic) && left.parts == right.parts) return {dihedral(left.parts, l, r)};
  if (l.form == Form::cyclic && r.form == Form::single && 2 * right.parts < left.parts)
    return {spread(left.parts, right.parts, l, r, true)};
  if (l.form == Form::single && r.form == Form::cyclic && 2 * left.parts < right.parts)
    return {spread(right.parts, left.parts, l, r, false)};
  return {};
}

/// A group of one part goes along with whatever the other does.
Phases alongside(const PartSets& left, const PartSets& right) {
  Phases phases;
  const auto first_if = [](const auto& set, std::uint32_t part) { return contains(set, part) ? 0 : none; };
  for (std::uint32_t part = 0; part < std::max(left.parts, right.parts); ++part) {
    CrossPhase phase;
    for (const auto& set : right.sets) phase.left.push_back(right.parts == 1 ? part : first_if(set, part));
    for (const auto& set : left.sets) phase.right.push_back(right.parts == 1 ? first_if(set, part) : part);
    phases.push_back(std::move(phase));
  }
  return phases;
}

/// Marks who sends in each phase; a pair of moves that meets again is left out the second time.
void mark(const PartSets& left, const PartSets& right, Phases& phases, std::vector<bool>& met) {
  const std::size_t rows = right.sets.size(), columns = left.sets.size();
  for (CrossPhase& phase : phases) {
    phase.fires.assign(columns * rows, false);
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t i = phase.left[row], j = phase.right[column];
        if (!contains(left.sets[column], i) || !contains(right.sets[row], j)) continue;
        const std::size_t pair = ((column * rows + row) * left.parts + i) * right.parts + j;
        if (met[pair]) continue;
        met[pair] = true;
        phase.fires[column * rows + row] = true;
      }
  }
}

/// True if every move of one meets every move of the other in these phases; marks who sends.
bool complete(const PartSets& left, const PartSets& right, std::vector<Phases>& groups) {
  std::vector<bool> met(left.sets.size() * right.sets.size() * left.parts * right.parts, false);
  for (Phases& phases : groups) mark(left, right, phases, met);
  std::size_t wanted = 0;
  for (const auto& x : left.sets)
    for (const auto& y : right.sets) wanted += x.size() * y.size();
  return static_cast<std::size_t>(std::ranges::count(met, true)) == wanted;
}

/// One part of either side at a time.
Phases one_by_one(const PartSets& left, const PartSets& right) {
  Phases phases;
  for (std::uint32_t i = 0; i < left.parts; ++i)
    for (std::uint32_t j = 0; j < right.parts; ++j)
      phases.push_back({std::vector(right.sets.size(), i), std::vector(left.sets.size(), j), {}});
  return phases;
}

}  // namespace

std::vector<Phases> cross(const PartSets& left, const PartSets& right) {
  std::vector<Phases> groups;
  if (left.parts == 1 || right.parts == 1)
    groups = {alongside(left, right)};
  else
    groups = closed_form(left, right);
  if (!groups.empty() && complete(left, right, groups)) return groups;
  groups = {search_crossing(left, right)};
  if (!groups[0].empty() && complete(left, right, groups)) return groups;
  groups = {one_by_one(left, right)};
  (void)complete(left, right, groups);
  return groups;
}

Group compose(const Group& left, const PartSets& left_targets, const Group& right, const PartSets& right_sources,
              const std::vector<CrossPhase>& phases) {
  // Per source of the right group: its targets, in the order of its set of parts.
  std::vector<std::vector<std::uint32_t>> onward(right.nodes);
  for (std::uint32_t part = 0; part < right.parts(); ++part)
    for (const Move& move : right.part(part)) onward[move.from].push_back(move.to);
  std::vector<std::uint32_t> place(right.parts());  // position of each part in the set of the current row

  Group plane;
  plane.nodes = left.nodes * right.nodes;
  const std::size_t rows = right_sources.sets.size();
  for (const CrossPhase& phase : phases) {
    for (std::uint32_t y = 0; y < right.nodes; ++y) {
      const std::uint32_t row = right_sources.type[y];
      if (phase.left[row] == none) continue;
      const std::vector<std::uint32_t>& set = right_sources.sets[row];
      for (std::uint32_t i = 0; i < set.size(); ++i) place[set[i]] = i;
      for (const Move& move : left.part(phase.left[row])) {
        const std::uint32_t column = left_targets.type[move.to];
        if (!phase.fires[column * rows + row]) continue;
        plane.add(move.from * right.nodes + y, move.to * right.nodes + onward[y][place[phase.right[column]]]);
      }
    }
    plane.end_part();
  }
  return plane;
}

}  // namespace hocket::product
