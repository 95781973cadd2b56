#include <algorithm>
#include <bit>
#include <numeric>

#include "hocket/schedulers/irregular/proposals.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t all_free = ~std::uint64_t{0};

/// Of the bits of `from`, number `which` from below.
std::uint32_t nth_bit(std::uint64_t from, std::uint32_t which) {
  for (; which > 0; --which) from &= from - 1;
  return static_cast<std::uint32_t>(std::countr_zero(from));
}

std::uint32_t spare_phases(std::uint32_t degree) { return (std::bit_width(degree) + 1u) / 2; }

}  // namespace

ProposalPace::ProposalPace(std::uint32_t degree)
    : phases_(std::min(degree + spare_phases(degree), 2 * degree - 1)), most_(2 * degree - 1) {}

void ProposalPace::count(std::uint64_t left) {
  const bool slow = left > left_ / 2;
  left_ = left;
  if (!slow) return;
  // With 2 d - 1 phases, every message finds one that both its ends have free.
  if (taking_ && phases_ < most_) ++phases_;
  taking_ = phases_ < most_;
}

ProposingRank::ProposingRank(std::uint32_t sends, std::uint32_t receives, std::uint32_t phases, std::uint64_t seed)
    : phases_(0), left_(sends), random_(seed), sends_(sends), receive_phase_(receives, no_phase), order_(sends) {
  allow(phases);
  for (Send& send : sends_) send = {no_phase, window(), all_free};
  std::iota(order_.begin(), order_.end(), 0u);
}

void ProposingRank::allow(std::uint32_t phases) {
  for (Send& send : sends_)  // what is new is free everywhere
    for (std::uint32_t phase = std::max(phases_, send.first); phase < std::min(phases, send.first + 64); ++phase)
      send.free |= std::uint64_t{1} << (phase - send.first);
  phases_ = phases;
  for (auto* bits : {&sends_in_, &receives_in_, &proposed_}) bits->resize((phases + 63) / 64, 0);
}

/// The 64 phases from `first` on that are not busy. Bits of phases that there are not are 0.
std::uint64_t ProposingRank::free_from(const std::vector<std::uint64_t>& busy, std::uint32_t first) const {
  const std::uint32_t word = first / 64, shift = first % 64;
  std::uint64_t taken = busy[word] >> shift;
  if (shift > 0 && word + 1 < busy.size()) taken |= busy[word + 1] << (64 - shift);
  const std::uint32_t there = phases_ - first;
  return ~taken & (there < 64 ? (std::uint64_t{1} << there) - 1 : all_free);
}

/// A phase in which this rank neither sends nor has proposed to. There is one, as there are more phases than sends.
std::uint32_t ProposingRank::pick_free() {
  std::uint32_t count = 0;
  for (std::uint32_t first = 0; first < phases_; first += 64)
    count += static_cast<std::uint32_t>(std::popcount(free_from(proposed_, first)));
  std::uint32_t which = random_.below(count);
  for (std::uint32_t first = 0;; first += 64) {
    const std::uint64_t free = free_from(proposed_, first);
    const auto here = static_cast<std::uint32_t>(std::popcount(free));
    if (which < here) return first + nth_bit(free, which);
    which -= here;
  }
}

void ProposingRank::propose(bool taking, std::span<PhaseProposal> proposals) {
  proposed_ = sends_in_;
  random_.shuffle(std::span(order_));
  for (const std::uint32_t i : order_) {
    const Send& send = sends_[i];
    if (send.phase != no_phase) continue;
    const std::uint64_t common = free_from(proposed_, send.first) & send.free;
    PhaseProposal& proposal = proposals[i];
    proposal = {};
    if (common != 0)
      proposal.phase = send.first + nth_bit(common, random_.below(static_cast<std::uint32_t>(std::popcount(common))));
    else if (taking || phases_ > 64)
      proposal = {pick_free(), taking ? 1u : 0u};
    if (proposal.phase != no_phase) set(proposed_, proposal.phase);
  }
}

void ProposingRank::reply(std::span<const PhaseProposal> proposals, std::span<PhaseReply> replies) {
  const auto count = static_cast<std::uint32_t>(receive_phase_.size());
  if (count == 0) return;
  const std::uint32_t start = random_.below(count);
  std::vector<std::uint64_t> granted_now(receives_in_.size(), 0);
  const auto bit = [](const std::vector<std::uint64_t>& bits, std::uint32_t phase) {
    return (bits[phase / 64] >> phase % 64 & 1) != 0;
  };
  const auto grant = [&](std::uint32_t i, std::uint32_t phase) {
    receive_phase_[i] = phase;
    set(receives_in_, phase);
    set(granted_now, phase);
  };
  const std::vector<std::uint32_t> before = receive_phase_;
  for (const bool by_force : {false, true})  // who finds room comes first
    for (std::uint32_t turn = 0; turn < count; ++turn) {
      const std::uint32_t i = start + turn < count ? start + turn : start + turn - count;
      if (before[i] != no_phase || receive_phase_[i] != no_phase) continue;
      const auto [phase, insists] = proposals[i];
      if (phase >= phases_ || (by_force && insists == 0)) continue;
      if (!bit(receives_in_, phase)) {
        grant(i, phase);
      } else if (by_force && !bit(granted_now, phase)) {
        *std::ranges::find(receive_phase_, phase) = no_phase;
        grant(i, phase);
      }
    }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t first = window();
    replies[i] = {receive_phase_[i] != no_phase ? 1u : 0u, first, free_from(receives_in_, first)};
  }
}

void ProposingRank::learn(bool taking, std::span<const PhaseProposal> proposals, std::span<const PhaseReply> replies) {
  for (std::uint32_t i = 0; i < sends_.size(); ++i) {
    Send& send = sends_[i];
    if (send.phase != no_phase && !taking) continue;
    const PhaseReply& reply = replies[i];
    send.first = std::min(reply.first, phases_ - 1);
    send.free = reply.free;
    if (send.phase == no_phase && reply.granted != 0) {
      send.phase = proposals[i].phase;
      set(sends_in_, send.phase);
      --left_;
    } else if (send.phase != no_phase && reply.granted == 0) {
      clear(sends_in_, send.phase);
      send.phase = no_phase;
      ++left_;
    }
  }
}

std::uint64_t ProposingRank::bytes() const {
  return sizeof(*this) + sends_.size() * (sizeof(Send) + sizeof(std::uint32_t)) +
         receive_phase_.size() * sizeof(std::uint32_t) + 3 * sends_in_.size() * sizeof(std::uint64_t);
}

}  // namespace hocket
