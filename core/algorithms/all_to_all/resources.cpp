#include "core/algorithms/all_to_all/resources.hpp"

#include <bit>
#include <limits>

#include "core/algorithms/shared/edge_colours.hpp"

namespace hocket::algorithms {

SendPools::SendPools(const Network& network, bool pooled) : of_(network.ranks()) {
  const NetworkSpec& spec = network.spec();
  std::vector<Node> neighbour(network.nodes());
  std::vector<std::uint32_t> links(network.nodes(), 0);
  for (const LinkSpec& link : spec.links) {
    neighbour[link.a] = link.b, neighbour[link.b] = link.a;
    ++links[link.a], ++links[link.b];
  }
  const bool by_destination = network.shape() == Shape::graph || network.shape() == Shape::tree;
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> pool_at(network.nodes(), none);
  for (Rank rank = 0; rank < network.ranks(); ++rank) {
    const Node host = network.host_of(rank);
    const bool shares = pooled && by_destination && spec.ranks[host] == 1 && network.ports(rank) == 1 &&
                        links[host] == 1 && !network.is_host(neighbour[host]);
    std::uint32_t own = none;
    std::uint32_t& pool = shares ? pool_at[neighbour[host]] : own;
    if (pool == none) {
      pool = count();
      members_.emplace_back();
    }
    of_[rank] = pool;
    members_[pool].push_back(rank);
  }
}

void SendPools::deal(std::uint64_t phases, std::vector<Hop>& hops, std::vector<std::uint32_t>& phase_of) const {
  std::vector<std::vector<std::uint32_t>> sent(count());
  for (std::uint32_t i = 0; i < hops.size(); ++i) sent[of_[hops[i].src]].push_back(i);
  BipartiteGraph graph;
  graph.vertices = static_cast<std::uint32_t>(phases + of_.size());
  for (std::uint32_t pool = 0; pool < count(); ++pool) {
    if (members_[pool].size() == 1) continue;
    graph.degree = static_cast<std::uint32_t>(members_[pool].size());
    graph.edges.clear();
    for (const std::uint32_t i : sent[pool])
      graph.edges.push_back({{phase_of[i], static_cast<std::uint32_t>(phases + hops[i].dst)}});
    EdgeColours colours(graph);
    for (std::uint32_t edge = 0; edge < graph.edges.size(); ++edge) colours.add(edge);
    for (std::uint32_t edge = 0; edge < graph.edges.size(); ++edge)
      hops[sent[pool][edge]].src = members_[pool][colours.colour_of()[edge]];
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < hops.size(); ++i)
    if (hops[i].src != hops[i].dst) hops[kept] = hops[i], phase_of[kept++] = phase_of[i];
  hops.resize(kept);
  phase_of.resize(kept);
}

namespace {

/// Per channel: the ranks seen on it, one bit each.
class RankSets {
 public:
  RankSets(std::uint64_t sets, std::uint64_t ranks) : words_((ranks + 63) / 64), bits_(sets * words_, 0) {}
  void add(std::uint64_t set, Rank rank) { bits_[set * words_ + rank / 64] |= std::uint64_t{1} << rank % 64; }
  /// The ports of the ranks in the set.
  [[nodiscard]] std::uint64_t count(std::uint64_t set, const Network& network) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < words_; ++i)
      for (std::uint64_t left = bits_[set * words_ + i]; left != 0; left &= left - 1)
        sum += network.ports(static_cast<Rank>(64 * i) + static_cast<Rank>(std::countr_zero(left)));
    return sum;
  }

 private:
  std::uint64_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

Resources::Resources(const Network& network, const SendPools& pools, std::span<const Hop> hops)
    : network_(network), pools_(pools) {
  const std::uint64_t ranks = network.ranks(), channels = network.channels();
  RankSets senders(channels, ranks), receivers(channels, ranks);
  std::vector<std::uint64_t> used(2 * ranks + channels, 0);
  std::vector<Channel> route;
  for (const Hop hop : hops) {
    ++used[pools.of(hop.src)];
    ++used[ranks + hop.dst];
    for (const Channel channel : network.find_route(hop.src, hop.dst, route)) {
      senders.add(channel, hop.src);
      receivers.add(channel, hop.dst);
      ++used[2 * ranks + channel];
    }
  }
  number_.assign(used.size(), never_full);
  for (std::uint64_t i = 0; i < used.size(); ++i) {
    const std::uint64_t channel = i - 2 * ranks;
    if (i >= pools.count() && i < ranks) continue;
    std::uint32_t capacity = 0;
    if (i < ranks)
      for (const Rank rank : pools.members(static_cast<std::uint32_t>(i))) capacity += network.ports(rank);
    else
      capacity =
          i < 2 * ranks ? network.ports(static_cast<Rank>(i - ranks)) : network.capacity(static_cast<Channel>(channel));
    if (i >= 2 * ranks &&
        (senders.count(channel, network) <= capacity || receivers.count(channel, network) <= capacity))
      continue;
    number_[i] = size();
    capacity_.push_back(capacity);
    load_.push_back(used[i]);
  }
}

void Resources::append(Hop hop, std::vector<std::uint32_t>& needs) const {
  const std::uint64_t ranks = network_.ranks();
  needs.push_back(number_[pools_.of(hop.src)]);
  const auto begin = static_cast<std::ptrdiff_t>(needs.size());
  network_.append_route(hop.src, hop.dst, needs);
  std::for_each(needs.begin() + begin, needs.end(), [&](std::uint32_t& need) { need = number_[2 * ranks + need]; });
  needs.erase(std::remove(needs.begin() + begin, needs.end(), never_full), needs.end());
  needs.push_back(number_[ranks + hop.dst]);
}

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

constexpr std::uint16_t no_tag = 0xffff;

constexpr std::uint64_t bit(std::uint32_t phase) { return std::uint64_t{1} << phase % 64; }

/// Adds a row of prices; where the same message stands in the way as at the resource before, it is paid.
static void add_row(std::int16_t* __restrict sum, const std::int16_t* __restrict price,
                    const std::uint16_t* __restrict tag, const std::uint16_t* __restrict before, std::uint64_t phases) {
  for (std::uint64_t i = 0; i < phases; ++i) {  // without branches: compilers make vector instructions of it
    const auto others = static_cast<std::int16_t>(-static_cast<std::int16_t>(tag[i] != before[i]));
    sum[i] = static_cast<std::int16_t>(sum[i] + (price[i] & others));
  }
}

Timetable::Timetable(const Resources& resources, std::span<const Hop> hops, std::uint32_t most_phases)
    : resources_(resources),
      words_((most_phases + 63) / 64),
      stride_((most_phases + lanes - 1) / lanes * lanes),
      phase_of_(hops.size(), nowhere),
      weight_(hops.size(), 1),
      closed_(words_, all_bits),
      full_(resources.size() * words_, 0),
      price_(resources.size() * stride_, 0),
      tag_(resources.size() * stride_, no_tag),
      sum_(stride_, 0) {
  std::size_t longest = 1;
  for (const Hop hop : hops) {
    resources.append(hop, needs_.items);
    needs_.end_list();
    longest = std::max(longest, needs_.of(needs_.size() - 1).size());
  }
  heaviest_ = static_cast<std::int16_t>(std::max<std::size_t>(2, std::numeric_limits<std::int16_t>::max() / longest));
  std::uint64_t slots = 0;
  for (std::uint32_t resource = 0; resource < resources.size(); ++resource) {
    first_slot_.push_back(slots);
    slots += std::uint64_t{most_phases} * resources.capacity(resource);
  }
  slots_.assign(slots, nowhere);
}

std::uint64_t Timetable::bytes(const Resources& resources, std::uint64_t most_phases) {
  std::uint64_t per_phase = 0;
  for (std::uint32_t resource = 0; resource < resources.size(); ++resource)
    per_phase += sizeof(std::int16_t) + sizeof(std::uint16_t) + sizeof(std::uint32_t) * resources.capacity(resource);
  return per_phase * most_phases;
}

void Timetable::set_phases(std::uint32_t phases) {
  phases_ = phases;
  std::fill(closed_.begin(), closed_.end(), all_bits);
  std::fill(closed_.begin(), closed_.begin() + phases / 64, 0);
  if (phases % 64 != 0) closed_[phases / 64] = all_bits << phases % 64;
}

std::uint32_t Timetable::free_phase(std::uint32_t message, std::uint32_t from) const {
  const std::uint64_t words = (phases_ + 63) / 64;
  std::uint64_t word = from / 64;
  for (std::uint64_t i = 0; i <= words; ++i) {
    std::uint64_t taken = closed_[word];
    if (i == 0) taken |= bit(from) - 1;
    for (const std::uint32_t resource : needs(message)) taken |= full_[resource * words_ + word];
    if (taken != all_bits)
      return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_one(taken));
    if (++word == words) word = 0;
  }
  return nowhere;
}

std::uint32_t Timetable::cheapest_phase(std::uint32_t message, std::uint32_t from, std::uint32_t window) {
  const auto route = needs(message);
  std::uint32_t best = nowhere;
  std::int16_t least = std::numeric_limits<std::int16_t>::max();
  // The window may go round the end: up to two stretches.
  for (std::uint32_t begin = from, left = std::min(window, phases_); left > 0;) {
    const std::uint32_t count = std::min(left, phases_ - begin);
    std::int16_t* sum = sum_.data();
    std::copy_n(&price_[route[0] * stride_ + begin], count, sum);
    for (std::size_t i = 1; i < route.size(); ++i)
      add_row(sum, &price_[route[i] * stride_ + begin], &tag_[route[i] * stride_ + begin],
              &tag_[route[i - 1] * stride_ + begin], count);
    std::int16_t lowest = std::numeric_limits<std::int16_t>::max();
    for (std::uint32_t i = 0; i < count; ++i) lowest = std::min(lowest, sum[i]);
    if (best == nowhere || lowest < least) {
      least = lowest;
      best = begin + static_cast<std::uint32_t>(std::find(sum, sum + count, lowest) - sum);
    }
    begin = 0;
    left -= count;
  }
  return best;
}

void Timetable::prices(std::uint32_t message, std::span<std::int16_t> of_phases) const {
  const auto route = needs(message);
  std::copy_n(&price_[route[0] * stride_], of_phases.size(), of_phases.data());
  for (std::size_t i = 1; i < route.size(); ++i)
    add_row(of_phases.data(), &price_[route[i] * stride_], &tag_[route[i] * stride_], &tag_[route[i - 1] * stride_],
            of_phases.size());
}

std::int16_t Timetable::price(std::uint32_t message, std::uint32_t phase) const {
  std::int16_t sum = 0;
  std::uint16_t before = no_tag;
  for (const std::uint32_t resource : needs(message)) {
    const std::uint64_t at = resource * stride_ + phase;
    if (tag_[at] != before) sum = static_cast<std::int16_t>(sum + price_[at]);
    before = tag_[at];
  }
  return sum;
}

std::uint32_t Timetable::lightest(std::uint32_t resource, std::uint32_t phase) {
  const std::uint32_t* users = slots(resource, phase);
  return *std::min_element(users, users + resources_.capacity(resource),
                           [&](auto a, auto b) { return weight_[a] < weight_[b]; });
}

void Timetable::set_full(std::uint32_t resource, std::uint32_t phase) {
  const std::uint32_t cheapest = lightest(resource, phase);
  full_[resource * words_ + phase / 64] |= bit(phase);
  price_[resource * stride_ + phase] = weight_[cheapest];
  tag_[resource * stride_ + phase] = static_cast<std::uint16_t>(cheapest);
}

void Timetable::set_room(std::uint32_t resource, std::uint32_t phase) {
  full_[resource * words_ + phase / 64] &= ~bit(phase);
  price_[resource * stride_ + phase] = 0;
  tag_[resource * stride_ + phase] = no_tag;
}

void Timetable::put(std::uint32_t message, std::uint32_t phase, std::vector<std::uint32_t>& displaced) {
  // Whoever leaves a port often leaves an inter-switch link too, which then has room.
  for (const bool wide : {false, true})
    for (const std::uint32_t resource : needs(message)) {
      if ((resources_.capacity(resource) > 1) != wide) continue;
      if ((full_[resource * words_ + phase / 64] & bit(phase)) == 0) continue;
      const std::uint32_t other = lightest(resource, phase);
      remove(other);
      displaced.push_back(other);
    }
  phase_of_[message] = phase;
  for (const std::uint32_t resource : needs(message)) {
    const std::uint32_t capacity = resources_.capacity(resource);
    std::uint32_t *users = slots(resource, phase), *room = users;
    while (*room != nowhere) ++room;
    *room = message;
    if (room + 1 == users + capacity) set_full(resource, phase);
  }
}

void Timetable::remove(std::uint32_t message) {
  const std::uint32_t phase = phase_of_[message];
  for (const std::uint32_t resource : needs(message)) {
    std::uint32_t* users = slots(resource, phase);
    std::uint32_t *end = users + resources_.capacity(resource), *last = end;
    if (*(end - 1) != nowhere)
      set_room(resource, phase);
    else
      last = std::find(users, end, nowhere);
    *std::find(users, last, message) = *(last - 1);
    *(last - 1) = nowhere;
  }
  phase_of_[message] = nowhere;
}

std::vector<std::uint32_t> Timetable::close_least_used() {
  std::vector<std::uint64_t> used(phases_, 0);
  for (std::uint32_t message = 0; message < phase_of_.size(); ++message)
    used[phase_of_[message]] += needs(message).size();
  const auto least = static_cast<std::uint32_t>(std::ranges::min_element(used) - used.begin());
  const std::uint32_t last = phases_ - 1;
  std::vector<std::uint32_t> without, displaced;
  for (std::uint32_t message = 0; message < phase_of_.size(); ++message)
    if (phase_of_[message] == least) remove(message), without.push_back(message);
  for (std::uint32_t message = 0; message < phase_of_.size(); ++message)
    if (phase_of_[message] == last) remove(message), put(message, least, displaced);
  set_phases(last);
  return without;
}

void Timetable::weigh_down(std::uint32_t message) {
  if (weight_[message] >= heaviest_) halve_weights();
  ++weight_[message];
}

void Timetable::halve_weights() {
  for (std::int16_t& weight : weight_) weight = static_cast<std::int16_t>((weight + 1) / 2);
  for (std::uint32_t resource = 0; resource < resources_.size(); ++resource)
    for (std::uint32_t phase = 0; phase < phases_; ++phase)
      if ((full_[resource * words_ + phase / 64] & bit(phase)) != 0) set_full(resource, phase);
}

}  // namespace hocket::algorithms
