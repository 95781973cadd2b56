#include "core/algorithms/all_to_all/product/product_form.hpp"

#include <algorithm>

namespace hocket::closed_forms {

namespace {

constexpr std::uint32_t longest_line = 256;  // limits the table of channel users, which grows with the cube of the side

bool is_permutation(const product::Group& group) {
  std::vector<bool> from(group.nodes, false), to(group.nodes, false);
  for (const product::Move& move : group.moves) {
    if (from[move.from] || to[move.to]) return false;
    from[move.from] = to[move.to] = true;
  }
  return group.moves.size() == group.nodes;
}

/// Parts in which everyone stays where they are, of all parts.
std::uint32_t resting_parts(const product::Group& group) {
  std::uint32_t resting = 0;
  for (std::uint32_t part = 0; part < group.parts(); ++part)
    resting += std::ranges::all_of(group.part(part), [](const product::Move& m) { return m.from == m.to; }) ? 1 : 0;
  return resting;
}

/// Groups of one part in which everyone rests may be there once a dimension; other parts must move somebody.
bool has_closed_form(const std::vector<product::Group>& groups) {
  std::uint32_t resting = 0;
  for (const product::Group& group : groups) {
    if (!is_permutation(group) || group.parts() != groups.front().parts()) return false;
    if (const std::uint32_t parts = resting_parts(group); parts > 0) {
      if (group.parts() > 1) return false;
      ++resting;
    }
  }
  return resting <= 1;
}

}  // namespace

std::unique_ptr<ProductForm> ProductForm::make(const Network& network) {
  const std::vector<product::Line> lines = product::lines_of(network);
  const auto too_long = [](const product::Line& line) { return line.side > longest_line; };
  if (std::ranges::any_of(lines, too_long)) return nullptr;
  const product::Dealt dealt = product::deal_quickly(lines);
  if (dealt.empty() || !std::ranges::all_of(dealt, has_closed_form)) return nullptr;
  return std::unique_ptr<ProductForm>(new ProductForm(network, dealt));
}

ProductForm::ProductForm(const Network& network, const product::Dealt& dealt) {
  const std::vector<product::Line> lines = product::lines_of(network);
  bool everyone_may_rest = true;
  std::uint64_t rest = 0;
  for (std::size_t d = 0; d < lines.size(); ++d) {
    add_dimension(lines[d], dealt[d]);
    combinations_ *= dealt[d].size();
    const auto resting = std::ranges::find_if(
        dealt[d], [](const product::Group& group) { return group.parts() == 1 && resting_parts(group) == 1; });
    everyone_may_rest = everyone_may_rest && resting != dealt[d].end();
    rest = rest * dealt[d].size() + static_cast<std::uint64_t>(resting - dealt[d].begin());
  }
  if (everyone_may_rest) rest_ = rest;
  std::uint32_t stride = 1;
  for (std::size_t d = lines.size(); d-- > 0;) {
    dimensions_[d].stride = stride;
    stride *= lines[d].side;
  }
  for (Rank rank = 0; rank < network.ranks(); ++rank)
    for (const Dimension& d : dimensions_) coordinates_.push_back(static_cast<Small>(rank / d.stride % d.line.side));
  for (const LinkSpec& link : network.spec().links) {
    std::size_t d = 0;
    while (coordinate(link.a, d) == coordinate(link.b, d)) ++d;
    dimension_of_.push_back(static_cast<std::uint8_t>(d));
    lower_end_.push_back(link.a);
    upper_end_.push_back(link.b);
  }
}

void ProductForm::add_dimension(const product::Line& line, const std::vector<product::Group>& groups) {
  Dimension d;
  const std::size_t side = line.side;
  d.line = line;
  d.groups = static_cast<std::uint32_t>(groups.size());
  d.parts = groups.front().parts();
  parts_ = std::max<std::uint64_t>(parts_, d.parts);
  d.parts_so_far = static_cast<std::uint32_t>(parts_);
  d.group.assign(side * side, 0);
  for (auto* of : {&d.part, &d.to, &d.from}) of->assign(groups.size() * side, 0);
  d.source.assign(groups.size() * d.parts * 2 * side, nobody);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::uint32_t p = 0; p < d.parts; ++p)
      for (const auto [from, to] : groups[g].part(p)) {
        d.group[from * side + to] = static_cast<Small>(g);
        d.part[g * side + from] = static_cast<Small>(p);
        d.to[g * side + from] = static_cast<Small>(to);
        d.from[g * side + to] = static_cast<Small>(from);
        for (const std::uint32_t channel : line.channels(from, to))
          d.source[(g * d.parts + p) * 2 * side + channel] = static_cast<Small>(from);
      }
  dimensions_.push_back(std::move(d));
}

std::uint64_t ProductForm::combination(Rank src, Rank dst) const {
  std::uint64_t found = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& of = dimensions_[d];
    found = found * of.groups + of.group[coordinate(src, d) * of.line.side + coordinate(dst, d)];
  }
  return found;
}

std::uint64_t ProductForm::phase(Rank src, Rank dst) const {
  std::uint64_t sum = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& of = dimensions_[d];
    const std::size_t from = coordinate(src, d), group = of.group[from * of.line.side + coordinate(dst, d)];
    sum = (sum + of.part[group * of.line.side + from]) % of.parts_so_far;
  }
  const std::uint64_t combined = combination(src, dst);
  return combined * parts_ + sum - (rest_ && *rest_ < combined ? 1 : 0);
}

/// Every rank sends once in each combination but the one in which it stays where it is.
std::uint32_t ProductForm::sends_before(const PhasedMessage& message) const {
  const std::uint64_t now = combination(message.src, message.dst), own = combination(message.src, message.src);
  return static_cast<std::uint32_t>(now - (own < now ? 1 : 0));
}

ProductForm::Now ProductForm::now(std::uint64_t phase) const {
  const std::uint64_t counted = phase + (rest_ && phase >= *rest_ ? 1 : 0);  // everyone's rest is one phase
  Now now{{}, counted % parts_};
  std::uint64_t rest = counted / parts_;
  for (std::size_t d = dimensions_.size(); d-- > 0; rest /= dimensions_[d].groups)
    now.group[d] = static_cast<std::uint32_t>(rest % dimensions_[d].groups);
  return now;
}

std::optional<Rank> ProductForm::target(Rank rank, const Now& now) const {
  std::uint64_t sum = 0;
  Rank found = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& of = dimensions_[d];
    const std::size_t at = now.group[d] * of.line.side + coordinate(rank, d);
    sum = (sum + of.part[at]) % of.parts_so_far;
    found += of.to[at] * of.stride;
  }
  return sum == now.sum && found != rank ? std::optional(found) : std::nullopt;
}

std::optional<Rank> ProductForm::target(Rank rank, std::uint64_t phase) const { return target(rank, now(phase)); }

void ProductForm::append_messages(std::uint64_t phase, std::vector<Hop>& messages) const {
  const Now now = this->now(phase);
  for (Rank rank = 0; rank < ranks(); ++rank)
    if (const auto dst = target(rank, now)) messages.push_back({rank, *dst});
}

std::optional<Rank> ProductForm::source(Rank rank, std::uint64_t phase) const {
  const Now now = this->now(phase);
  Rank found = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& of = dimensions_[d];
    found += of.from[now.group[d] * of.line.side + coordinate(rank, d)] * of.stride;
  }
  return target(found, phase) == rank ? std::optional(found) : std::nullopt;
}

std::optional<PhasedMessage> ProductForm::user_in(Channel channel, std::uint64_t phase) const {
  const std::size_t link = channel / 2, own = dimension_of_[link], count = dimensions_.size();
  const Rank at = channel % 2 == 0 ? lower_end_[link] : upper_end_[link];
  const Now now = this->now(phase);
  const auto& group = now.group;
  std::uint64_t sum = now.sum;
  Small from[most_dimensions];
  for (std::size_t d = count; d-- > own + 1;) {
    const Dimension& of = dimensions_[d];
    from[d] = coordinate(at, d);
    const Small part = of.part[group[d] * of.line.side + from[d]];
    sum = sum >= part ? sum - part : sum + of.parts_so_far - part;
    if (sum >= dimensions_[d - 1].parts_so_far) return std::nullopt;
  }
  std::uint64_t before = 0;
  for (std::size_t d = 0; d < own; ++d) {
    const Dimension& of = dimensions_[d];
    from[d] = of.from[group[d] * of.line.side + coordinate(at, d)];
    before = (before + of.part[group[d] * of.line.side + from[d]]) % of.parts_so_far;
  }
  const Dimension& line = dimensions_[own];
  const std::uint64_t part = sum >= before ? sum - before : sum + line.parts_so_far - before;
  if (part >= line.parts) return std::nullopt;
  const std::size_t position = coordinate(at, own) + (channel % 2 == 0 ? 0 : line.line.side);
  from[own] = line.source[(std::uint64_t{group[own]} * line.parts + part) * 2 * line.line.side + position];
  if (from[own] == nobody) return std::nullopt;
  PhasedMessage user{0, 0, phase};
  for (std::size_t d = 0; d < count; ++d) {
    const Dimension& of = dimensions_[d];
    user.src += from[d] * of.stride;
    user.dst += of.to[group[d] * of.line.side + from[d]] * of.stride;
  }
  return user;
}

std::optional<PhasedMessage> ProductForm::user(Channel channel, std::uint64_t phase, Side side) const {
  const std::uint64_t all = phases();
  const std::uint64_t step = side == Side::before ? ~std::uint64_t{0} : 1;
  for (std::uint64_t at = phase + step; at < all; at += step)  // below 0 is far above all phases
    if (const auto found = user_in(channel, at)) return found;
  return std::nullopt;
}

bool ProductForm::uses(const PhasedMessage& message, Channel channel) const {
  const std::size_t link = channel / 2, own = dimension_of_[link];
  const bool up = channel % 2 == 0;
  const Rank at = up ? lower_end_[link] : upper_end_[link];
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    if (d != own && coordinate(d < own ? message.dst : message.src, d) != coordinate(at, d)) return false;
  const product::Line& line = dimensions_[own].line;
  const std::uint32_t from = coordinate(message.src, own), to = coordinate(message.dst, own),
                      here = coordinate(at, own);
  if (from == to || line.up(from, to) != up) return false;
  const auto along = [&](std::uint32_t a, std::uint32_t b) { return b >= a ? b - a : b + line.side - a; };
  return up ? along(from, here) < along(from, to) : along(here, from) < along(to, from);
}

}  // namespace hocket::closed_forms
