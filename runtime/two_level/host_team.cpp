#include "runtime/two_level/host_team.hpp"

#include <cstdint>

#include "runtime/two_level/vector_places.hpp"

namespace hocket::runtime {
namespace {

/// The shared memory that a collective needs, in messages.
std::size_t places(const Hosts& hosts, Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return 2 * hosts.most * hosts.together;  // outgoing and incoming aggregates
    case Pattern::all_gather:
      return hosts.together;
    case Pattern::all_reduce:
      return (hosts.most + 1) * hosts.together;  // vectors of as many blocks as there are ranks, and their sum
    case Pattern::irregular:
    case Pattern::reduce_scatter:
      break;
  }
  return 0;
}

}  // namespace

bool is_two_level(const Collective& collective) {
  return !collective.rooted && places({.ranks = {}, .host_of = {}, .most = 1, .together = 1}, collective.pattern) > 0;
}

std::size_t HostTeam::needed(const Collective& collective, std::size_t bytes) const {
  if (collective.pattern == Pattern::irregular) return VectorPlaces::needed(hosts, bytes);
  constexpr std::size_t alignment = 64 * 4;                             // a cache line before each part
  const std::size_t marks = 2 * hosts.count() * sizeof(std::uint64_t);  // at the ends of aggregates, out and in
  return places(hosts, collective.pattern) * bytes + marks + (hosts.most + 4) * alignment;
}

std::size_t HostTeam::aggregate_bytes(const Collective& collective, std::size_t bytes) const {
  if (collective.pattern == Pattern::all_to_all || collective.pattern == Pattern::irregular)
    return hosts.most * hosts.most * bytes;
  if (collective.pattern == Pattern::all_gather) return hosts.most * bytes;
  return bytes * hosts.together / hosts.count();
}

}  // namespace hocket::runtime
