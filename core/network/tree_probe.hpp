#pragma once
/// Which streams to measure next, so that the rates of few rounds tell a network's bottlenecks.
///
/// Pairs alone tell the rates of hosts; matchings in which all send suggest who shares a bottleneck; of each suggested
/// split all hosts of one side send to the other and back, which proves or refutes it. Permutations at the end check
/// what was found.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/network/measured_tree.hpp"

namespace hocket {

class TreeProbe {
 public:
  /// `most`: rounds that may be asked for, about. Throws InputError for fewer than 2 hosts or too many.
  TreeProbe(std::uint32_t hosts, std::uint64_t seed, std::uint32_t most);

  /// The streams of the next round; none when all is done.
  [[nodiscard]] const std::vector<Stream>& next() const { return asked_; }
  /// The purpose of these.
  [[nodiscard]] const char* doing() const;
  /// Takes the rates of next(). Throws InputError for another number of them.
  void add(std::vector<double> rates);

  [[nodiscard]] const MeasuredTree& tree() const { return tree_; }
  [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(rounds_.size()) + checks(); }
  /// Errors of the permutations that were not used: the most that a sum over a bottleneck was mispredicted, relative
  /// to its rate, or that of all streams.
  [[nodiscard]] const std::vector<double>& errors() const { return errors_; }
  /// How much the sums over bottlenecks differ between pairings of the same hosts, and between repeats of one: several
  /// paths differ by pairing alone, other traffic by both. The medians, relative.
  [[nodiscard]] double by_pairing() const;
  [[nodiscard]] double by_repeat() const;

 private:
  enum class Stage : std::uint8_t { alone, loaded, split, again, inside, check, done };
  enum Pairing : std::uint8_t { near, spread };
  static constexpr std::size_t repeated = 2;  ///< test of a split that is made again after the next
  struct Test {
    std::size_t round;
    bool repeats = false;  ///< the streams of another test
  };
  struct Split {
    HostSet hosts;
    std::vector<Test> tests;
    double below;  ///< of what is predicted without it: then it is accepted
    std::uint32_t moved = 0;
    bool accepted = false, refuted = false;
  };

  [[nodiscard]] std::uint32_t checks() const { return static_cast<std::uint32_t>(errors_.size()); }
  void advance();
  void ask_alone();
  void ask_loaded();
  [[nodiscard]] bool ask_split();
  [[nodiscard]] bool propose();
  [[nodiscard]] bool tried(const HostSet& hosts) const;
  void ask_across(Split& split, Pairing pairing);
  void choose_near(const std::vector<std::uint32_t>& inside, std::vector<std::uint32_t>& outside) const;
  void judge();
  void eliminate();
  void ask_inside();
  void ask_permutation();
  void check(const std::vector<double>& rates);
  struct Through {
    double measured, predicted;
    [[nodiscard]] double part() const { return predicted > 0 ? measured / predicted : 1; }
  };
  [[nodiscard]] std::vector<Through> through(const Split& split, const MeasuredTree& tree, bool out) const;
  [[nodiscard]] double reached(const Split& split, const MeasuredTree& without) const;
  [[nodiscard]] bool differ() const;
  [[nodiscard]] Bottleneck capacity(const Split& split, const MeasuredTree& without) const;
  [[nodiscard]] MeasuredTree without(const HostSet& hosts) const;
  [[nodiscard]] std::vector<HostSet> differences() const;
  [[nodiscard]] std::vector<double> changes(bool repeats) const;

  std::uint32_t hosts_, most_, loaded_ = 0, refuted_ = 0;
  bool loaded_twice_ = false, busy_ = false;
  std::mt19937_64 random_;
  Stage stage_ = Stage::alone;
  std::uint32_t step_ = 0;  ///< of the stage
  std::vector<std::uint32_t> labels_;
  std::vector<Stream> asked_;
  std::vector<StreamRound> rounds_, checked_;
  std::vector<Split> splits_;
  std::vector<double> errors_;
  MeasuredTree tree_;
};

}  // namespace hocket
