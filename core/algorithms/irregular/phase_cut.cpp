#include "core/algorithms/irregular/phase_cut.hpp"

#include <algorithm>

namespace hocket::algorithms {

PhaseCut::PhaseCut(const Network& network, const Demand& demand, double alpha) {
  const std::uint64_t messages = std::max<std::uint64_t>(1, demand.matrix.messages());
  const double alpha_bytes = std::min(alpha * network.host_rate(), 0x1p62);
  overhead_ =
      std::max<std::uint64_t>({1, demand.matrix.total_bytes() / messages / 5, static_cast<std::uint64_t>(alpha_bytes)});
}

std::uint64_t PhaseCut::best_cut(const std::vector<std::uint64_t>& sizes) {
  sorted_ = sizes;
  std::ranges::sort(sorted_);
  double best = 0, below = 0;  // bytes of the messages that are through before
  std::uint64_t cut = 0;
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    const auto size = static_cast<double>(sorted_[i]);
    const double moved = below + size * static_cast<double>(sorted_.size() - i);
    const double pace = moved / (size + static_cast<double>(overhead_));
    if (pace >= best) best = pace, cut = sorted_[i];
    below += size;
  }
  return cut;
}

void PhaseCut::operator()(std::vector<std::uint64_t>& sizes) {
  const std::uint64_t cut = best_cut(sizes);
  std::uint64_t longest = cut;  // with the small rests that go along
  for (const std::uint64_t size : sizes)
    if (size - std::min(size, cut) < overhead_) longest = std::max(longest, size);
  for (std::uint64_t& size : sizes)
    if (size > longest) size = std::min(longest, size - overhead_);
}

}  // namespace hocket::algorithms
