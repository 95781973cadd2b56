#include "core/algorithms/all_to_all/product/lines.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/algorithms/shared/random.hpp"

namespace hocket::product {

namespace {

using algorithms::Random;

constexpr std::uint64_t steps_per_move = 1500;

constexpr std::uint64_t most_checks = 60'000'000;  // slots × channels looked at per attempt

/// Tried first: they deal out rings of 13, 14 and 15 with few or no spare parts, which few seeds do.
constexpr std::uint64_t good_seeds[] = {57, 29, 10};

constexpr std::uint32_t longest_side = 40;

struct Item {
  std::uint32_t from, to;
  std::vector<std::uint32_t> channels;
};

/// A place for moves: one part, or all parts of a permutation.
struct Place {
  std::uint32_t group, part, capacity;
};

class LineTable {
 public:
  LineTable(const Line& line, const std::vector<GroupSize>& sizes, const std::vector<Item>& moves)
      : side_(line.side), moves_(moves), slot_(moves.size(), none), weight_(moves.size(), 1), stamp_(moves.size(), 0) {
    for (std::uint32_t group = 0; group < sizes.size(); ++group) {
      const bool coloured_later = !line.ring && sizes[group].moves == 1;
      const std::uint32_t slots = coloured_later ? 1 : sizes[group].parts;
      for (std::uint32_t part = 0; part < slots; ++part)
        places_.push_back({group, part, coloured_later ? sizes[group].parts : 1});
    }
    for (const Place& place : places_) {
      for (std::uint32_t end = 0; end < 2 * side_; ++end) add_cell(1);
      for (std::uint32_t channel = 0; channel < 2 * side_; ++channel) add_cell(place.capacity);
    }
    for (const GroupSize& size : sizes)
      for (std::uint32_t end = 0; end < 2 * side_; ++end) add_cell(size.moves);
    users_.resize(begin_.back());
    count_.assign(begin_.size() - 1, 0);
  }

  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slot_; }

  /// True if every move found a place.
  bool fill(Random& random, std::uint64_t& checks) {
    std::vector<std::uint32_t> waiting(moves_.size());
    std::iota(waiting.begin(), waiting.end(), 0u);
    std::vector<std::uint32_t> best;
    for (std::uint64_t steps = steps_per_move * moves_.size(); !waiting.empty(); --steps) {
      if (steps == 0 || checks == 0) return false;
      std::swap(waiting[random.remainder(waiting.size())], waiting.back());
      const std::uint32_t move = waiting.back();
      waiting.pop_back();
      std::uint64_t least = ~std::uint64_t{0};
      for (std::uint32_t slot = 0; slot < places_.size(); ++slot) {
        const std::uint64_t cost = in_the_way(move, slot, least);
        if (cost < least) least = cost, best.clear();
        if (cost == least) best.push_back(slot);
      }
      const std::uint64_t looked_at = places_.size() * (4 + moves_[move].channels.size());
      checks -= std::min(checks, looked_at);
      put(move, best[random.remainder(best.size())], waiting);
    }
    return true;
  }

 private:
  void add_cell(std::uint32_t capacity) { begin_.push_back(begin_.back() + capacity); }

  /// Calls `visit(cell)` for each port, channel and group limit that a move needs in a slot.
  template <class Visit>
  void each_cell(std::uint32_t move, std::uint32_t slot, Visit visit) const {
    const Item& m = moves_[move];
    const std::size_t base = std::size_t{slot} * 4 * side_;
    const std::size_t group = places_.size() * 4 * side_ + std::size_t{places_[slot].group} * 2 * side_;
    visit(base + m.from);
    visit(base + side_ + m.to);
    for (const std::uint32_t channel : m.channels) visit(base + std::size_t{2} * side_ + channel);
    visit(group + m.from);
    visit(group + side_ + m.to);
  }

  /// The lightest move that has to leave a cell, or none: there is room, or one leaves anyway.
  [[nodiscard]] std::uint32_t leaving(std::size_t cell) const {
    if (begin_[cell] + count_[cell] < begin_[cell + 1]) return none;
    std::uint32_t lightest = none;
    for (std::uint32_t i = begin_[cell]; i < begin_[cell] + count_[cell]; ++i) {
      const std::uint32_t user = users_[i];
      if (stamp_[user] == query_) return none;
      if (lightest == none || weight_[user] < weight_[lightest]) lightest = user;
    }
    return lightest;
  }

  std::uint64_t in_the_way(std::uint32_t move, std::uint32_t slot, std::uint64_t give_up_above) {
    ++query_;
    std::uint64_t sum = 0;
    each_cell(move, slot, [&](std::size_t cell) {
      if (sum > give_up_above) return;
      if (const std::uint32_t user = leaving(cell); user != none) stamp_[user] = query_, sum += weight_[user];
    });
    return sum;
  }

  void put(std::uint32_t move, std::uint32_t slot, std::vector<std::uint32_t>& waiting) {
    ++query_;
    std::vector<std::uint32_t> out;
    each_cell(move, slot, [&](std::size_t cell) {
      if (const std::uint32_t user = leaving(cell); user != none) stamp_[user] = query_, out.push_back(user);
    });
    for (const std::uint32_t user : out) {
      ++weight_[user];
      each_cell(user, slot_[user], [&](std::size_t cell) {
        const auto first = users_.begin() + begin_[cell], last = first + count_[cell];
        *std::find(first, last, user) = *(last - 1);
        --count_[cell];
      });
      slot_[user] = none;
      waiting.push_back(user);
    }
    each_cell(move, slot, [&](std::size_t cell) { users_[begin_[cell] + count_[cell]++] = move; });
    slot_[move] = slot;
  }

  std::uint32_t side_;
  const std::vector<Item>& moves_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> begin_{0}, users_, count_;  ///< per cell: its users
  std::vector<std::uint32_t> slot_;
  std::vector<std::uint64_t> weight_, stamp_;
  std::uint64_t query_ = 0;
};

/// Deals the moves of one permutation of a path out to parts: interval graphs need no more colours than
/// the largest load (leftmost end first, each direction by itself).
void colour(const Line& line, const std::vector<const Item*>& moves, std::uint32_t parts,
            std::vector<PlacedMove>& placed) {
  std::vector<std::uint32_t> used_to[2];  // per part: where its last move in this direction ends
  std::vector<const Item*> sorted = moves;
  std::ranges::stable_sort(sorted, {}, [](const Item* m) { return std::min(m->from, m->to); });
  for (const Item* move : sorted) {
    std::vector<std::uint32_t>& used = used_to[line.up(move->from, move->to) ? 0 : 1];
    used.resize(parts, 0);
    std::uint32_t part = 0;
    if (move->from != move->to) {
      while (used[part] > std::min(move->from, move->to)) ++part;
      used[part] = std::max(move->from, move->to);
    }
    placed.push_back({move->from, move->to, part});
  }
}

std::vector<Group> groups_of(const Line& line, const std::vector<GroupSize>& sizes, const std::vector<Item>& moves,
                             const LineTable& table) {
  std::vector<std::vector<PlacedMove>> placed(sizes.size());
  std::vector<std::vector<const Item*>> uncoloured(sizes.size());
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Place& place = table.places()[table.slots()[i]];
    if (place.capacity > 1)
      uncoloured[place.group].push_back(&moves[i]);
    else
      placed[place.group].push_back({moves[i].from, moves[i].to, place.part});
  }
  std::vector<Group> groups;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    colour(line, uncoloured[group], sizes[group].parts, placed[group]);
    groups.push_back(group_of(line.side, sizes[group].parts, placed[group]));
  }
  return groups;
}

/// Groups of these sizes, or none if the search (bounded, deterministic) finds none in so many
/// attempts. `without_rest`: moves from a coordinate to itself are left out.
[[nodiscard]] std::vector<Group> search_groups(const Line& line, const std::vector<GroupSize>& sizes, bool without_rest,
                                               std::uint32_t attempts) {
  if (line.side > longest_side) return {};
  std::vector<Item> moves;
  for (std::uint32_t from = 0; from < line.side; ++from)
    for (std::uint32_t to = 0; to < line.side; ++to)
      if (from != to || !without_rest) moves.push_back({from, to, line.channels(from, to)});
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    Random random(attempt < std::size(good_seeds) ? good_seeds[attempt] : attempt);
    std::uint64_t checks = most_checks;
    LineTable table(line, sizes, moves);
    if (table.fill(random, checks)) return groups_of(line, sizes, moves, table);
  }
  return {};
}

}  // namespace

std::vector<Group> deal(const Line& line, const std::vector<GroupSize>& sizes, std::uint32_t attempts) {
  for (const bool permutations : {false, true})
    if (!sizes.empty() && closed_form_sizes(line, permutations) == sizes) return closed_form_groups(line, permutations);
  return search_groups(line, sizes, false, attempts);
}

std::vector<Group> deal_with_rest(const Line& line) {
  constexpr std::uint32_t attempts = 8;
  Group rest;
  rest.nodes = line.side;
  for (std::uint32_t node = 0; node < line.side; ++node) rest.add(node, node);
  rest.end_part();
  std::vector<Group> groups{std::move(rest)};
  const std::vector<Group> others = search_groups(line, std::vector<GroupSize>(line.side - 1), true, attempts);
  if (others.empty() && line.side > 1) return {};
  groups.insert(groups.end(), others.begin(), others.end());
  return groups;
}

}  // namespace hocket::product
