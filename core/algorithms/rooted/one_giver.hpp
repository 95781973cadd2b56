#pragma once
/// All-gathers to which one rank contributes: its pieces follow each other along trees of sends.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/algorithms/registry.hpp"
#include "core/demand/demand.hpp"
#include "core/limits.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/shared_channels.hpp"

namespace hocket::algorithms {

inline constexpr std::uint64_t smallest_piece = 1024;  ///< bytes: less is all header

/// True if the schedule takes so much more time than the bound that other algorithms are tried first.
[[nodiscard]] inline bool is_far_piped(const Network& network, const Bounds& bounds, const Schedule& schedule) {
  return lockstep_seconds(network, schedule) > limits::near_enough_piped * bounds.seconds;
}

/// One send of a piece, so many phases after the piece's first one.
struct Relay {
  Rank src = 0, dst = 0;
  std::uint32_t age = 0;
};

/// Shape of a pipeline, on which the number of pieces depends.
struct Pipeline {
  std::uint32_t lanes = 1;          ///< equal shares of the contribution, under way at the same time
  std::uint32_t depth = 1;          ///< phases that a piece takes
  std::uint32_t sends_at_once = 1;  ///< the most that a rank has in one phase
  double rate = 1;                  ///< rate of the slowest channel in use, bytes/s
};

/// Pieces of each lane; K of them take K + depth − 1 phases. With per-message cost α, (K + D)·(α + B / (K·rate)) is
/// least at K = √(D·B / (α·rate)); without it the D phases in which the pipeline fills may cost 1/64, or 1/16 where
/// sends are many. No piece is shorter than smallest_piece, unless all are.
[[nodiscard]] inline std::uint64_t pieces_of_a_lane(const Demand& demand, const Pipeline& pipeline,
                                                    const AlgorithmOptions& costs) {
  constexpr double fill_share = 64, worst_share = 16;  // pieces for each phase in which the pipeline fills
  constexpr double many_relays = 1e5, most_relays = 4e7;
  const double bytes = static_cast<double>(demand.contribution(demand.only_block().value())) / pipeline.lanes;
  const double fill = pipeline.depth - 1;
  const double sends = std::max(1.0, static_cast<double>(demand.ranks - 1) * pipeline.lanes);  // one piece in each lane
  double pieces = std::clamp(many_relays / sends, worst_share * fill, fill_share * fill);
  pieces = std::min({pieces, bytes / static_cast<double>(smallest_piece), most_relays / sends});
  const double alpha = costs.alpha * pipeline.sends_at_once;
  if (alpha > 0) pieces = std::min(pieces, std::sqrt(fill * bytes / (alpha * pipeline.rate)));
  return static_cast<std::uint64_t>(std::max(1.0, std::round(pieces)));
}

/// The schedule of `pieces` pieces a lane. `each(lane, piece, visit)` visits the relays of a piece; those of all pieces
/// of a lane have the same ages. Phases in which nothing is sent are left out.
template <class Each>
[[nodiscard]] Schedule send_in_pieces(const Demand& demand, const Pipeline& pipeline, std::uint64_t pieces, Each each) {
  const Rank giver = demand.only_block().value();
  const std::uint64_t bytes = demand.contribution(giver), lanes = pipeline.lanes;
  const auto share = [&](std::uint64_t lane) { return part_begin(bytes, lane, lanes); };
  std::vector<std::uint64_t> begin(pieces + pipeline.depth, 0);
  const auto pieces_in = [&](std::uint32_t lane) { return std::min(pieces, share(lane + 1) - share(lane)); };
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    each(lane, std::uint64_t{0}, [&](const Relay& relay) {
      for (std::uint64_t piece = 0; piece < pieces_in(lane); ++piece) ++begin[piece + relay.age + 1];
    });
  for (std::size_t phase = 1; phase < begin.size(); ++phase) begin[phase] += begin[phase - 1];
  std::vector<std::uint64_t> fill(begin.begin(), begin.end() - 1);
  std::vector<Hop> hops(begin.back());
  PieceLists carried;
  carried.list.resize(hops.size());
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t from = share(lane), size = share(lane + 1) - from, count = pieces_in(lane);
    for (std::uint64_t piece = 0; piece < count; ++piece) {
      const std::uint64_t at = part_begin(size, piece, count), end = part_begin(size, piece + 1, count);
      each(lane, piece, [&](const Relay& relay) {
        const std::uint64_t place = fill[piece + relay.age]++;
        hops[place] = {relay.src, relay.dst};
        carried.list[place] = carried.lists();
      });
      carried.pieces.push_back({giver, everyone, from + at, end - at});
      carried.end_list();
    }
  }
  begin.erase(std::unique(begin.begin(), begin.end()), begin.end());  // few pieces: nothing is sent at some ages
  return {demand.ranks, demand.bytes, std::move(begin), std::move(hops), std::move(carried)};
}

}  // namespace hocket::algorithms
