#include "core/algorithms/all_to_all/fat_tree_form.hpp"

#include <algorithm>

namespace hocket::closed_forms {

std::optional<FatTreeForm::Link> FatTreeForm::link(Channel channel) const {
  Node lower = tree_->head(channel ^ 1), upper = tree_->head(channel);
  const bool up = tree_->level(lower) < tree_->level(upper);
  if (!up) std::swap(lower, upper);
  const std::uint32_t level = tree_->level(lower), first = shifts_.position_of_host(tree_->first_host(lower));
  if (!shifts_.are_left(level) || first == FatTreeShifts::nowhere) return std::nullopt;
  return Link{first, tree_->hosts_below(level), tree_->twin(upper), up};
}

void FatTreeForm::append_messages(std::uint64_t phase, std::vector<Hop>& messages) const {
  for (std::uint64_t position = 0; position < ranks(); ++position)
    messages.push_back({shifts_.at(position), shifts_.at(position + phase + 1)});
}

std::optional<PhasedMessage> FatTreeForm::user(Channel channel, std::uint64_t phase, Side side) const {
  const std::optional<Link> found = link(channel);
  if (!found) return std::nullopt;
  const auto [first, size, digits, up] = *found;
  const std::uint64_t begin = digits, end = shifts_.ranks() - size + digits;  // phases in which it is busy
  std::uint64_t at = phase == before_all ? begin : std::max(phase + 1, begin);
  if (side == Side::before) {
    if (phase == before_all || phase <= begin) return std::nullopt;
    at = std::min(phase, end) - 1;
  }
  if (at >= end) return std::nullopt;
  if (up) {
    const std::uint64_t back = (at + 1) % size;
    const Rank src = shifts_.at(first + (digits + size - back) % size);
    return PhasedMessage{src, shifts_.target(src, at), at};
  }
  const Rank dst = shifts_.at(std::uint64_t{first} + digits);
  return PhasedMessage{shifts_.source(dst, at), dst, at};
}

bool FatTreeForm::uses(const PhasedMessage& message, Channel channel) const {
  const std::optional<Link> found = link(channel);
  if (!found) return false;
  const std::uint32_t src = shifts_.position(message.src), dst = shifts_.position(message.dst);
  const auto below = [&](std::uint32_t position) {
    return position >= found->first && position - found->first < found->size;
  };
  return below(found->up ? src : dst) && !below(found->up ? dst : src) && dst % found->size == found->digits;
}

}  // namespace hocket::closed_forms
