#include <bit>
#include <cstdlib>

#include "core/error.hpp"
#include "core/gossip/steps.hpp"

namespace hocket::gossip {
namespace {

using Word = std::uint64_t;
constexpr std::uint32_t word_bits = 64;

/// Items cut where some parcel of the steps begins or ends. Most items are sent whole, so most are a
/// single atom; what a processor holds is one bit per atom.
class Atoms {
 public:
  Atoms(std::uint32_t origins, const Steps& steps) : cuts_(origins), word_(origins + 1) {
    for (const Parcel& parcel : steps.parcels) {
      for (const std::uint32_t cut : {parcel.begin, parcel.end})
        if (cut != 0 && cut != steps.units) insert(cuts_[parcel.origin], cut);
    }
    for (std::uint32_t origin = 0; origin < origins; ++origin) {
      cuts_[origin].push_back(steps.units);
      word_[origin + 1] = word_[origin] + (cuts_[origin].size() + word_bits - 1) / word_bits;
    }
  }

  [[nodiscard]] std::uint64_t words() const { return word_.back(); }
  [[nodiscard]] std::uint64_t first_word(std::uint32_t origin) const { return word_[origin]; }

  /// Calls use(word, mask) for the atoms of a parcel.
  template <typename Use>
  void each(const Parcel& parcel, Use&& use) const {
    const auto& cuts = cuts_[parcel.origin];
    std::uint64_t from = parcel.begin == 0 ? 0 : index(cuts, parcel.begin) + 1;
    const std::uint64_t to = index(cuts, parcel.end) + 1;
    while (from < to) {
      const std::uint64_t low = from % word_bits, count = std::min(to - from, word_bits - low);
      use(word_[parcel.origin] + from / word_bits, (~Word{0} >> (word_bits - count)) << low);
      from += count;
    }
  }

  [[nodiscard]] std::uint64_t units(std::uint32_t origin, std::uint64_t word, Word mask) const {
    const auto& cuts = cuts_[origin];
    std::uint64_t units = 0;
    for (; mask != 0; mask &= mask - 1) {
      const std::uint64_t atom = (word - word_[origin]) * word_bits + std::countr_zero(mask);
      units += cuts[atom] - (atom == 0 ? 0 : cuts[atom - 1]);
    }
    return units;
  }

  [[nodiscard]] Word full(std::uint32_t origin, std::uint64_t word) const {
    const std::uint64_t before = (word - word_[origin]) * word_bits;
    const std::uint64_t count = std::min<std::uint64_t>(cuts_[origin].size() - before, word_bits);
    return ~Word{0} >> (word_bits - count);
  }

 private:
  static void insert(std::vector<std::uint32_t>& cuts, std::uint32_t cut) {
    const auto at = std::lower_bound(cuts.begin(), cuts.end(), cut);
    if (at == cuts.end() || *at != cut) cuts.insert(at, cut);
  }
  static std::uint64_t index(const std::vector<std::uint32_t>& cuts, std::uint32_t cut) {
    return static_cast<std::uint64_t>(std::lower_bound(cuts.begin(), cuts.end(), cut) - cuts.begin());
  }

  std::vector<std::vector<std::uint32_t>> cuts_;  ///< per item, where its atoms end
  std::vector<std::uint64_t> word_;               ///< per item, the first word of its atoms
};

void check_input(const Grid& grid, const Steps& steps) {
  check_sides(grid.sides);
  if (steps.units == 0) throw InputError("an item needs at least one unit");
  const std::uint32_t nodes = grid.nodes();
  for (const Parcel& parcel : steps.parcels)
    if (parcel.origin >= nodes || parcel.begin >= parcel.end || parcel.end > steps.units)
      throw InputError("there are no units " + std::to_string(parcel.begin) + ".." + std::to_string(parcel.end) +
                       " of item " + std::to_string(parcel.origin));
  if (steps.begin.empty() || steps.begin.front() != 0 || steps.begin.back() != steps.messages.size() ||
      !std::is_sorted(steps.begin.begin(), steps.begin.end()))
    throw InputError("the steps do not divide the messages");
  for (const Message& message : steps.messages) {
    if (message.src >= nodes) throw InputError("there is no processor " + std::to_string(message.src));
    if (message.axis >= grid.axes()) throw InputError("there is no axis " + std::to_string(message.axis));
    if (message.first > message.last || message.last > steps.parcels.size())
      throw InputError("a message of processor " + std::to_string(message.src) + " has parcels that do not exist");
    const std::int64_t side = grid.sides[message.axis],
                       to = grid.coordinate(message.src, message.axis) + std::int64_t{message.displacement};
    const bool leaves = grid.wraparound ? std::abs(std::int64_t{message.displacement}) >= side : to < 0 || to >= side;
    if (message.displacement == 0 || leaves)
      throw InputError("processor " + std::to_string(message.src) + " cannot send " +
                       std::to_string(message.displacement) + " places along axis " + std::to_string(message.axis));
  }
}

/// The ports and channels of one step. Counters carry the step they were last used in, so that
/// nothing is cleared between steps.
class Traffic {
 public:
  Traffic(const Grid& grid, Ports ports, Execution& result)
      : grid_(grid),
        ports_(ports),
        result_(result),
        channels_(std::uint64_t{grid.nodes()} * grid.axes() * 2),
        outs_(channels_.size()),
        ins_(channels_.size()) {}

  void begin_step(std::uint64_t step) {
    step_ = step;
    largest_load_ = largest_message_ = 0;
  }

  void add(const Message& message, std::uint32_t dst, std::uint64_t units) {
    const bool forward = message.displacement > 0;
    largest_message_ = std::max(largest_message_, units);
    std::uint32_t node = message.src;
    for (std::int64_t hops = std::abs(std::int64_t{message.displacement}); hops > 0; --hops) {
      Use& use = touch(channels_[channel(node, message.axis, forward)], units);
      largest_load_ = std::max(largest_load_, use.units);
      if (use.count > 1) broken(result_.link_disjoint, node, "a channel out of it is shared");
      node = grid_.moved(node, message.axis, forward ? 1 : -1);
    }
    if (ports_ == Ports::half_duplex) {
      for (const std::uint32_t end : {message.src, dst})
        if (touch(outs_[end], units).count > 1)
          broken(result_.ports_respected, end, "it has more than one message in a step");
    } else {
      if (touch(outs_[channel(message.src, message.axis, forward)], units).count > 1)
        broken(result_.ports_respected, message.src, "it sends two messages on a port");
      if (touch(ins_[channel(dst, message.axis, forward)], units).count > 1)
        broken(result_.ports_respected, dst, "it receives two messages on a port");
    }
  }

  void broken(bool& flag, std::uint32_t node, const char* what) {
    flag = false;
    if (result_.problem.empty())
      result_.problem = "step " + std::to_string(step_) + ", processor " + std::to_string(node) + ": " + what;
  }

  [[nodiscard]] std::uint64_t largest_message() const { return largest_message_; }
  [[nodiscard]] std::uint64_t largest_load() const { return largest_load_; }

 private:
  struct Use {
    std::uint64_t step = ~std::uint64_t{0};
    std::uint64_t units = 0;
    std::uint32_t count = 0;
  };

  [[nodiscard]] std::uint64_t channel(std::uint32_t node, std::uint32_t axis, bool forward) const {
    return (std::uint64_t{node} * grid_.axes() + axis) * 2 + (forward ? 1 : 0);
  }
  Use& touch(Use& use, std::uint64_t units) const {
    if (use.step != step_) use = {step_, 0, 0};
    use.units += units;
    ++use.count;
    return use;
  }

  const Grid& grid_;
  Ports ports_;
  Execution& result_;
  std::uint64_t step_ = 0, largest_load_ = 0, largest_message_ = 0;
  std::vector<Use> channels_, outs_, ins_;
};

}  // namespace

Execution execute(const Grid& grid, const Steps& steps, Ports ports) {
  check_input(grid, steps);
  const std::uint32_t nodes = grid.nodes();
  const Atoms atoms(nodes, steps);
  const std::uint64_t words = atoms.words();
  std::vector<Word> held(nodes * words);
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint64_t word = atoms.first_word(node); word < atoms.first_word(node + 1); ++word)
      held[node * words + word] = atoms.full(node, word);
  std::vector<std::uint64_t> units_before(steps.parcels.size() + 1);
  for (std::size_t i = 0; i < steps.parcels.size(); ++i)
    units_before[i + 1] = units_before[i] + steps.parcels[i].end - steps.parcels[i].begin;

  Execution result;
  result.steps = steps.size();
  Traffic traffic(grid, ports, result);
  std::uint64_t messages = 0, loads = 0;
  std::vector<std::pair<const Message*, std::uint32_t>> arriving;
  for (std::uint64_t step = 0; step < steps.size(); ++step) {
    traffic.begin_step(step);
    arriving.clear();
    for (const Message& message : steps.step(step)) {
      const std::uint32_t dst = grid.moved(message.src, message.axis, message.displacement);
      traffic.add(message, dst, units_before[message.last] - units_before[message.first]);
      const Word* row = held.data() + message.src * words;
      bool all = true;
      for (const Parcel& parcel : steps.content(message))
        atoms.each(parcel, [&](std::uint64_t word, Word mask) { all = all && (row[word] & mask) == mask; });
      if (all)
        arriving.emplace_back(&message, dst);
      else
        traffic.broken(result.held, message.src, "it sends what it does not hold");
    }
    for (const auto& [message, dst] : arriving) {
      Word* row = held.data() + dst * words;
      for (const Parcel& parcel : steps.content(*message))
        atoms.each(parcel, [&](std::uint64_t word, Word mask) {
          if (const Word known = row[word] & mask) result.redundant += atoms.units(parcel.origin, word, known);
          row[word] |= mask;
        });
    }
    messages += traffic.largest_message();
    loads += traffic.largest_load();
  }
  result.strict_volume = static_cast<double>(messages) / steps.units;
  result.shared_volume = static_cast<double>(loads) / steps.units;

  result.complete = true;
  for (std::uint32_t node = 0; node < nodes && result.complete; ++node)
    for (std::uint32_t origin = 0; origin < nodes && result.complete; ++origin)
      for (std::uint64_t word = atoms.first_word(origin); word < atoms.first_word(origin + 1); ++word)
        if (held[node * words + word] != atoms.full(origin, word)) {
          result.complete = false;
          if (result.problem.empty())
            result.problem = "processor " + std::to_string(node) + " never has all of item " + std::to_string(origin);
          break;
        }
  return result;
}

}  // namespace hocket::gossip
