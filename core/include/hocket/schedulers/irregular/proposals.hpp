#pragma once
/// Phases of an irregular exchange that the ranks find among themselves.
#include <cstdint>
#include <vector>

#include "hocket/demand/traffic_matrix.hpp"

namespace hocket::algorithms {

struct Proposals {
  std::vector<std::uint32_t> phase_of;  ///< per message, row by row
  std::uint32_t phases = 0;             ///< the last of them, and one more
  std::uint32_t rounds = 0;             ///< each with one sum over all ranks
  std::uint64_t most_exchanged = 0;     ///< proposals that a rank sends and answers, the busiest one
  std::uint64_t most_bytes = 0;         ///< that a rank keeps, the busiest one
};

/// Edge colouring by proposals (after Panconesi and Srinivasan, and Grable and Panconesi). A rank knows whom it sends
/// to and who sends to it, the busiest rank's messages, and nothing else. In each round
/// - every sender proposes to each receiver that it has not agreed with a phase that it has free and that the receiver
///   had free when it answered last, another one to each;
/// - every receiver takes of the proposals for a phase that it has free the first one, and answers all with its free
///   phases;
/// - a sum over all ranks tells how many messages are left, and whether phases are short: then there is one more in
///   sixteen.
/// The first phases are one in eight more than the busiest rank needs. Same seed, same phases. As in
/// a run the answers of a round are known in the next one only.
[[nodiscard]] Proposals propose(const TrafficMatrix& matrix, std::uint64_t seed);

}  // namespace hocket::algorithms
