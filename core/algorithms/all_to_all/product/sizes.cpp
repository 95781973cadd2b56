/// A line of side k whose busiest channel carries L moves needs L parts for k moves per coordinate: L/k
/// parts per move. Crossing groups of (moves, parts) sizes (g, m) takes max over dimensions of
/// m · (the g of the others) phases, so the ratio m/g should be L/k in every group of every dimension that
/// is about as tight as the tightest, and must not exceed it in the others.
#include <algorithm>
#include <map>

#include "core/algorithms/all_to_all/product/lines.hpp"

namespace hocket::product {
namespace {

using Sizes = std::vector<GroupSize>;
using Counts = std::map<GroupSize, std::uint32_t>;

constexpr std::size_t most_combinations = 200'000;
constexpr std::uint32_t most_spare = 2;  // parts more than the load needs: such groups are easier to find
constexpr double search_penalty = 1.04;  // crossings without a closed form may miss their bound

void append(Sizes& sizes, std::uint32_t count, GroupSize size) { sizes.insert(sizes.end(), count, size); }

/// Permutations of ⌊load/side⌋ and one more part.
Sizes permutations(std::uint32_t side, std::uint32_t load) {
  const std::uint32_t parts = std::max(1u, load / side);
  const std::uint32_t longer = load > parts * side ? load - parts * side : 0;
  Sizes sizes;
  append(sizes, side - longer, {1, parts});
  append(sizes, longer, {1, parts + 1});
  return sizes;
}

/// Adds mixtures for 1 < load/side < 2: n groups of p − 1 moves and p parts, the rest permutations of one and two
/// parts.
void add_mixtures(std::uint32_t side, std::uint32_t load, std::vector<Sizes>& found) {
  for (const std::uint32_t p : {3u, 5u, 7u})
    for (std::uint32_t n = 1; n * (p - 1) <= side; ++n)
      for (std::uint32_t threes = 0; threes * 2 + n * (p - 1) <= side && (p > 3 || threes == 0); ++threes) {
        const std::uint32_t rest = side - n * (p - 1) - 2 * threes, done = n * p + 3 * threes;
        const std::uint32_t longer = load > done + rest ? load - done - rest : 0;
        if (longer > rest) continue;
        Sizes sizes;
        append(sizes, n, {p - 1, p});
        append(sizes, threes, {2, 3});
        append(sizes, rest - longer, {1, 1});
        append(sizes, longer, {1, 2});
        found.push_back(std::move(sizes));
      }
}

std::vector<Sizes> candidates(const Line& line, bool alone) {
  const std::uint32_t side = line.side, load = line.load();
  std::vector<Sizes> found;
  for (const bool permutations_only : {false, true})
    if (Sizes sizes = closed_form_sizes(line, permutations_only); !sizes.empty()) found.push_back(std::move(sizes));
  if (load <= side) {
    found.push_back(Sizes(side));
    return found;
  }
  if (alone) found.push_back({{side, load}});
  for (std::uint32_t spare = 0; spare <= most_spare; ++spare) found.push_back(permutations(side, load + spare));
  const std::uint32_t most = (load + side - 1) / side;
  found.push_back(Sizes(side, {1, most}));
  found.push_back(Sizes(side, {1, most + 1}));
  for (std::uint32_t spare = 0; spare <= most_spare && load < 2 * side; ++spare)
    add_mixtures(side, load + spare, found);
  return found;
}

/// True if the crossing of these groups has a closed form.
bool closed_form(const std::vector<GroupSize>& sizes) {
  std::vector<GroupSize> split;  // groups of one part go along with anything
  for (const GroupSize size : sizes)
    if (size.parts > 1) split.push_back(size);
  std::ranges::sort(split);
  if (split.empty() || split.back().moves == 1 || split.size() == 1) return true;
  if (split.size() == 2 && split[0].moves == 1 && split[1].moves == 2) return 2 * split[0].parts < split[1].parts;
  if (split.front() != split.back()) return false;
  return split[0].moves + 1 == split[0].parts || (split.size() == 2 && split[0].moves == 2);
}

/// Number of different sets of parts that the nodes of a line can have.
double types(GroupSize size, std::uint32_t side) {
  if (size.moves == 1 || size.moves + 1 == size.parts) return size.parts;
  return side;
}

/// max over dimensions of parts · (moves of the others), more where no closed form is known: the search for
/// a crossing is bounded, and beyond it every part meets every other one by itself.
double crossing_phases(const std::vector<GroupSize>& sizes, const std::vector<Line>& lines) {
  double moves = 1, most = 0, meetings = 1, parts = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    moves *= sizes[d].moves;
    parts *= sizes[d].parts;
    if (sizes[d].parts > 1) meetings *= sizes[d].moves * types(sizes[d], lines[d].side);
  }
  for (const GroupSize size : sizes) most = std::max(most, moves / size.moves * size.parts);
  if (closed_form(sizes)) return most;
  return meetings > most_meetings ? parts : most * search_penalty;
}

double total_phases(const std::vector<const Counts*>& counts, const std::vector<Line>& lines) {
  double total = 0;
  std::vector<GroupSize> sizes(counts.size());
  const auto visit = [&](const auto& self, std::size_t d, double times) -> void {
    if (d == counts.size()) {
      total += times * crossing_phases(sizes, lines);
      return;
    }
    for (const auto& [size, count] : *counts[d]) {
      sizes[d] = size;
      self(self, d + 1, times * count);
    }
  };
  visit(visit, 0, 1);
  return total;
}

}  // namespace

std::vector<Choice> choices(const std::vector<Line>& lines) {
  std::size_t loaded = 0;
  for (const Line& line : lines) loaded += line.load() > line.side ? 1 : 0;
  std::vector<std::vector<Sizes>> options;
  std::vector<std::vector<Counts>> counts;
  std::size_t combinations = 1;
  for (const Line& line : lines) {
    options.push_back(candidates(line, loaded == 1));
    counts.emplace_back();
    for (const Sizes& sizes : options.back()) {
      Counts& count = counts.back().emplace_back();
      for (const GroupSize size : sizes) ++count[size];
    }
    combinations *= options.back().size();
  }
  if (combinations > most_combinations)  // keep what needs no mixtures
    for (std::size_t d = 0; d < options.size(); ++d) {
      options[d].resize(std::min<std::size_t>(options[d].size(), 4));
      counts[d].resize(options[d].size());
    }
  std::vector<Choice> found;
  std::vector<std::size_t> pick(lines.size(), 0);
  for (bool more = true; more;) {
    Choice choice;
    std::vector<const Counts*> picked;
    for (std::size_t d = 0; d < lines.size(); ++d) {
      choice.sizes.push_back(options[d][pick[d]]);
      picked.push_back(&counts[d][pick[d]]);
    }
    choice.phases = total_phases(picked, lines);
    found.push_back(std::move(choice));
    more = false;
    for (std::size_t d = 0; d < pick.size() && !more; ++d) {
      more = ++pick[d] < options[d].size();
      if (!more) pick[d] = 0;
    }
  }
  std::ranges::stable_sort(found, {}, &Choice::phases);  // closed forms come first among the candidates
  return found;
}

}  // namespace hocket::product
