/// The two NICE algorithms that look at no message: asynchronous communication and linear permutation
/// (Wang, Lin and Ranka, sections 3.1 and 3.2).
#include <bit>
#include <vector>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {
namespace {

/// Pairwise exchange for every number of ranks, in the fewest steps: the ranks of each step form pairs,
/// both directions of a pair are in one step, and any two ranks meet in exactly one.
class PairSteps {
 public:
  explicit PairSteps(std::uint32_t ranks)
      : ranks_(ranks), power_of_two_(std::has_single_bit(ranks)), round_(ranks % 2 == 0 ? ranks - 1 : ranks) {}

  /// Step k of a power of two pairs i with i XOR k (figure 5); step 0 stays empty. Otherwise the paper
  /// leaves the extension open. The next power of two would take up to 2n - 3 steps, in many of which most
  /// ranks have no partner. The tournament takes n - 1, or n if n is odd, and no exchange by pairs takes
  /// fewer: step k pairs i with k - i modulo an odd number, and whoever would meet itself meets the rank
  /// beyond, or rests where there is none.
  [[nodiscard]] std::uint32_t step(Rank a, Rank b) const {
    if (power_of_two_) return a ^ b;
    if (a == round_) return 2 * b % round_;
    if (b == round_) return 2 * a % round_;
    return (a + b) % round_;
  }
  [[nodiscard]] std::uint32_t steps() const { return power_of_two_ ? ranks_ : round_; }

 private:
  std::uint32_t ranks_;
  bool power_of_two_;
  std::uint32_t round_;  ///< the largest odd number up to the number of ranks
};

}  // namespace

static Schedule make_asynchronous(const Network&, const Demand& demand, const AlgorithmOptions&) {
  PhaseWriter writer(demand);
  demand.matrix.each([&](Rank src, Rank dst, std::uint64_t bytes) { writer.send(src, dst, 0, bytes); });
  return writer.finish();
}

static Schedule make_linear_permutation(const Network&, const Demand& demand, const AlgorithmOptions&) {
  const PairSteps pairs(demand.ranks);
  std::vector<std::uint32_t> step_of;
  step_of.reserve(demand.matrix.messages());
  demand.matrix.each([&](Rank src, Rank dst, std::uint64_t) { step_of.push_back(pairs.step(src, dst)); });
  return whole_messages(demand, step_of, pairs.steps());
}

constinit const Algorithm asynchronous{
    .pattern = Pattern::irregular,
    .name = "AC",
    .summary = "post everything at once, in the order of ranks",
    .source = "Wang, Lin and Ranka, section 3.1",
    .make = make_asynchronous,
    .guarantee = "one phase",
};

constinit const Algorithm linear_permutation{
    .pattern = Pattern::irregular,
    .name = "LP",
    .summary = "exchange by pairs, whoever has something to send",
    .source = "Wang, Lin and Ranka, section 3.2; other counts than powers of two: tournament",
    .make = make_linear_permutation,
    .guarantee = "at most one phase per rank, no port overfull",
};

}  // namespace hocket::algorithms
