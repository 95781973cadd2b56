#include "runtime/two_level/host_team.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

namespace hocket::runtime {
namespace {

std::size_t width_of(std::size_t data) {
  if (data == 0) return 0;
  if (data <= std::numeric_limits<std::uint8_t>::max()) return 1;
  return data <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4;
}

template <class Number>
std::byte* put(std::byte* at, std::span<const std::size_t> lengths) {
  Number end = 0;
  for (const std::size_t length : lengths) {
    end = static_cast<Number>(end + length);
    std::memcpy(at, &end, sizeof end);
    at += sizeof end;
  }
  return at;
}

template <class Number>
std::size_t get(const std::byte* at) {
  Number number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// The shared memory that a collective needs, in messages.
std::size_t places(const Hosts& hosts, Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return 2 * hosts.fullest * hosts.together;  // outgoing and incoming aggregates
    case Pattern::all_gather:
      return hosts.together;
    case Pattern::all_reduce:
      return (hosts.fullest + 1) * hosts.together;  // vectors of as many blocks as there are ranks, and their sum
    case Pattern::irregular:
    case Pattern::reduce_scatter:
      break;
  }
  return 0;
}

}  // namespace

std::size_t row_bytes(std::size_t ranks, std::size_t data) { return 1 + width_of(data) * ranks + data; }

std::byte* begin_row(std::byte* at, std::span<const std::size_t> lengths) {
  const std::size_t width = width_of(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  *at++ = static_cast<std::byte>(width);
  if (width == 0) return at;
  if (width == 1) return put<std::uint8_t>(at, lengths);
  return width == 2 ? put<std::uint16_t>(at, lengths) : put<std::uint32_t>(at, lengths);
}

Row::Row(std::byte* at, std::size_t room, std::size_t ranks) : at_(at) {
  if (room > 0) width_ = static_cast<std::size_t>(*at);
  head_ = bytes_ = 1 + width_ * ranks;
  if (width_ > 4 || width_ == 3)
    bytes_ = std::numeric_limits<std::size_t>::max();
  else if (head_ <= room && ranks > 0)
    bytes_ += end_of(ranks - 1);
}

std::size_t Row::end_of(std::size_t place) const {
  const std::byte* const at = at_ + 1 + width_ * place;
  if (width_ == 0) return 0;
  if (width_ == 1) return get<std::uint8_t>(at);
  return width_ == 2 ? get<std::uint16_t>(at) : get<std::uint32_t>(at);
}

Span Row::message(std::size_t place) const {
  const std::size_t begin = place > 0 ? end_of(place - 1) : 0, end = end_of(place);
  if (begin > end || head_ + end > bytes_) return {};
  return {at_ + head_ + begin, end - begin};
}

Hosts hosts_of(const Numbering& numbering, std::size_t rank) {
  std::vector<std::uint32_t> node_of(numbering.comm_rank.size());
  std::size_t next = 0;
  for (std::uint32_t node = 0; node < numbering.ranks_per_node.size(); ++node)
    for (std::uint32_t place = 0; place < numbering.ranks_per_node[node]; ++place)
      node_of[static_cast<std::size_t>(numbering.comm_rank[next++])] = node;
  Hosts hosts;
  static_cast<HostGroups&>(hosts) = group_by_host(node_of);
  hosts.host = hosts.host_of[rank];
  hosts.local = hosts.local_of[rank];
  hosts.together = node_of.size();
  hosts.fullest = hosts.fewest = hosts.most();
  for (const std::vector<Rank>& there : hosts.ranks) hosts.fewest = std::min(hosts.fewest, there.size());
  return hosts;
}

std::vector<Carriage> carriages_of(const Hosts& hosts) {
  std::vector<Carriage> carried;
  if (hosts.local >= hosts.fewest) return carried;
  for (std::size_t distance = 1 + hosts.local; distance < hosts.count(); distance += hosts.fewest) {
    const std::size_t to = (hosts.host + distance) % hosts.count();
    const std::size_t from = (hosts.host + hosts.count() - distance) % hosts.count();
    carried.push_back({to, from, hosts.ranks[to][hosts.local], hosts.ranks[from][hosts.local]});
  }
  return carried;
}

Numbering leaders_of(const Numbering& numbering) {
  Numbering leaders;
  leaders.network_rank.resize(numbering.network_rank.size());
  std::size_t next = 0;
  for (const std::uint32_t ranks : numbering.ranks_per_node) {
    leaders.ranks_per_node.push_back(std::min(ranks, 1U));
    for (std::uint32_t place = 0; place < ranks; ++place)
      leaders.network_rank[static_cast<std::size_t>(numbering.comm_rank[next + place])] =
          static_cast<Rank>(leaders.comm_rank.size());
    if (ranks > 0) leaders.comm_rank.push_back(numbering.comm_rank[next]);
    next += ranks;
  }
  return leaders;
}

bool is_two_level(const Collective& collective) {
  return !collective.rooted && collective.pattern != Pattern::irregular &&
         collective.pattern != Pattern::reduce_scatter;
}

std::size_t HostTeam::needed(const Collective& collective, std::size_t bytes) const {
  if (collective.pattern == Pattern::irregular) return VectorPlaces::needed(hosts, bytes);
  constexpr std::size_t alignment = 64 * 4;                             // a cache line before each part
  const std::size_t marks = 2 * hosts.count() * sizeof(std::uint64_t);  // at the ends of aggregates, out and in
  return places(hosts, collective.pattern) * bytes + marks + (hosts.fullest + 4) * alignment;
}

std::size_t HostTeam::aggregate_bytes(const Collective& collective, std::size_t bytes) const {
  if (collective.pattern == Pattern::all_to_all || collective.pattern == Pattern::irregular)
    return hosts.fullest * hosts.fullest * bytes;
  if (collective.pattern == Pattern::all_gather) return hosts.fullest * bytes;
  return bytes * hosts.together / hosts.count();
}

}  // namespace hocket::runtime
