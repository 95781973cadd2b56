#include "core/schedule/schedule.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace hocket {

Schedule::Schedule(std::uint32_t ranks, std::uint64_t message_bytes, std::vector<std::uint64_t> begin,
                   std::vector<Hop> hops, PieceLists pieces)
    : ranks_(ranks),
      bytes_(message_bytes),
      begin_(std::move(begin)),
      hops_(std::move(hops)),
      pieces_(std::move(pieces)) {
  bool ordered = !begin_.empty() && begin_.front() == 0 && begin_.back() == hops_.size();
  for (std::size_t p = 1; ordered && p < begin_.size(); ++p) ordered = begin_[p - 1] <= begin_[p];
  if (!ordered) throw InputError("the phases of a schedule do not cover its transfers in order");
  if (hops_.empty()) pieces_ = {};  // lists that nobody carries
  if (direct() && pieces_.pieces.empty() && pieces_.list.empty()) return;
  const std::size_t carried = pieces_.list.empty() ? pieces_.lists() : pieces_.list.size();
  ordered = carried == hops_.size() && std::ranges::is_sorted(pieces_.begin) && pieces_.begin.front() == 0 &&
            pieces_.begin.back() == pieces_.pieces.size() &&
            std::ranges::all_of(pieces_.list, [&](std::uint32_t list) { return list < pieces_.lists(); });
  if (!ordered) throw InputError("a schedule has pieces for some transfers only");
}

std::uint64_t Schedule::length(std::uint64_t transfer) const {
  if (direct()) return bytes_;
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces(transfer)) sum += piece.length;
  return sum;
}

void check_ranks(const Schedule& schedule) {
  for (const Hop& hop : schedule.hops())
    if (hop.src >= schedule.ranks() || hop.dst >= schedule.ranks())
      throw InputError("a transfer names a rank that the schedule does not have");
}

Schedule group_by_phase(std::uint32_t ranks, std::uint64_t message_bytes, std::uint64_t phases,
                        std::span<const std::uint32_t> phase_of, std::span<const Hop> hops) {
  std::vector<std::uint64_t> begin(phases + 1, 0);
  for (const std::uint32_t phase : phase_of) ++begin[phase + 1];
  for (std::uint64_t p = 0; p < phases; ++p) begin[p + 1] += begin[p];
  std::vector<std::uint64_t> fill(begin.begin(), begin.end() - 1);
  std::vector<Hop> sorted(hops.size());
  for (std::size_t i = 0; i < hops.size(); ++i) sorted[fill[phase_of[i]]++] = hops[i];
  return {ranks, message_bytes, std::move(begin), std::move(sorted)};
}

}  // namespace hocket
