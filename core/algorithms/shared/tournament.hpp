#pragma once
/// Round-robin tournament, in which each meets each other once: the circle method.
#include <cstdint>
#include <optional>
#include <utility>

namespace hocket {

/// The perfect matchings of the complete graph of `teams` vertices; of an odd number one rests in each round, another
/// one every time.
class Tournament {
 public:
  explicit Tournament(std::uint32_t teams) : teams_(teams), odd_(teams % 2 == 0 ? teams - 1 : teams) {}

  [[nodiscard]] std::uint32_t rounds() const { return odd_; }
  /// Pairs of one round.
  [[nodiscard]] std::uint32_t pairs() const { return teams_ / 2; }

  struct Place {
    std::uint32_t pair;
    bool second;
  };
  [[nodiscard]] std::uint32_t team(std::uint32_t round, Place at) const {
    if (teams_ % 2 == 0 && at.pair + 1 == pairs()) return at.second ? odd_ : round;
    const std::uint32_t apart = at.pair + 1;
    return wrapped(at.second ? round + odd_ - apart : round + apart);
  }
  /// The pair of a team in a round; none: the team rests.
  [[nodiscard]] std::optional<Place> place(std::uint32_t round, std::uint32_t team) const {
    const bool even = teams_ % 2 == 0;
    if (even && team == odd_) return Place{pairs() - 1, true};
    const std::uint32_t apart = wrapped(team + odd_ - round);
    if (apart == 0) return even ? std::optional(Place{pairs() - 1, false}) : std::nullopt;
    const bool second = 2 * apart > odd_;
    return Place{(second ? odd_ - apart : apart) - 1, second};
  }
  /// The round in which two teams meet: half their sum, by the odd modulus.
  [[nodiscard]] std::uint32_t round_of(std::uint32_t a, std::uint32_t b) const {
    if (teams_ % 2 == 0 && a == odd_) return b;
    if (teams_ % 2 == 0 && b == odd_) return a;
    const std::uint32_t sum = wrapped(a + b);
    return (sum % 2 == 0 ? sum : sum + odd_) / 2;
  }

 private:
  [[nodiscard]] std::uint32_t wrapped(std::uint32_t sum) const { return sum < odd_ ? sum : sum - odd_; }

  std::uint32_t teams_, odd_;
};

}  // namespace hocket
