#include <map>

#include "core/network/routing.hpp"
#include "core/two_level/verify.hpp"

namespace hocket {

HostGroups group_by_host(std::span<const std::uint32_t> host_of) {
  std::map<std::uint32_t, std::vector<Rank>> by_number;
  for (Rank rank = 0; rank < host_of.size(); ++rank) by_number[host_of[rank]].push_back(rank);
  HostGroups groups;
  groups.host_of.resize(host_of.size());
  groups.local_of.resize(host_of.size());
  for (auto& [number, here] : by_number) {
    for (std::uint32_t local = 0; local < here.size(); ++local) {
      groups.host_of[here[local]] = static_cast<std::uint32_t>(groups.ranks.size());
      groups.local_of[here[local]] = local;
    }
    groups.most = std::max(groups.most, here.size());
    groups.fewest = groups.ranks.empty() ? here.size() : std::min(groups.fewest, here.size());
    groups.ranks.push_back(std::move(here));
  }
  for (Rank rank = 0; rank < host_of.size(); ++rank)
    if (groups.local_of[rank] == 0) groups.by_leader.push_back(groups.host_of[rank]);
  return groups;
}

HostGroups groups_of(const Network& network) {
  std::vector<std::uint32_t> place(network.nodes(), 0);
  for (std::uint32_t host = 0; host < network.hosts().size(); ++host) place[network.hosts()[host]] = host;
  std::vector<std::uint32_t> host_of(network.ranks());
  for (Rank rank = 0; rank < network.ranks(); ++rank) host_of[rank] = place[network.host_of(rank)];
  return group_by_host(host_of);
}

Network one_rank_a_host(const Network& network) {
  NetworkSpec spec = network.spec();
  for (std::uint32_t& count : spec.ranks) count = std::min(count, 1u);
  Network part = network.restricted_to(spec.ranks);
  if (spec.shape != Shape::graph || !spec.next_hops.empty() || spec.ranks == network.spec().ranks) return part;
  const Network anew = Network::with_routes(spec);
  NextHops hops(spec);
  bool same = true;
  for (Rank src = 0; src < part.ranks(); ++src)
    for (Rank dst = 0; dst < part.ranks(); ++dst) {
      const std::vector<Channel> route = part.route(src, dst);
      same = same && route == anew.route(src, dst);
      for (const Channel channel : route) hops.set(hops.head(channel ^ 1), part.host_of(dst), channel);
    }
  if (same) return part;
  spec.next_hops = forwarding_entries(spec, hops);
  return Network::with_routes(std::move(spec));
}

std::uint64_t vectors_held(const HostGroups& groups, Pattern pattern) {
  if (pattern == Pattern::all_to_all) return 2 * groups.most;  // what goes out, and what comes in
  if (pattern == Pattern::all_gather) return 1;
  return pattern == Pattern::all_reduce ? groups.most + 1 : 0;
}

std::string_view to_string(MemoryFault kind) {
  constexpr std::array<std::string_view, memory_fault_kinds> names{"rank not on one host",
                                                                   "beyond the memory of the host",
                                                                   "two copies into one place",
                                                                   "copied before it is there",
                                                                   "copy of other bytes",
                                                                   "copy not demanded",
                                                                   "taken twice",
                                                                   "never taken"};
  return names[static_cast<std::size_t>(kind)];
}

void TwoLevelCertificate::add(MemoryFault kind, std::uint64_t phase, std::string text) {
  constexpr std::size_t findings_per_kind = 3;
  if (counts[static_cast<std::size_t>(kind)]++ < findings_per_kind) findings.push_back({kind, phase, std::move(text)});
}

}  // namespace hocket

namespace hocket::two_level_check {

static std::string place_name(std::uint64_t begin, std::uint64_t end, std::uint32_t host) {
  return "bytes " + std::to_string(begin) + ".." + std::to_string(end) + " of the memory of host " +
         std::to_string(host);
}

MemoryTrace::MemoryTrace(const std::vector<std::uint64_t>& bytes, std::uint64_t bound, TwoLevelCertificate& certificate)
    : bytes_(bytes), writes_(bytes.size()), certificate_(certificate) {
  for (std::uint32_t host = 0; host < bytes.size(); ++host)
    if (bytes[host] > bound)
      certificate_.add(MemoryFault::beyond_memory, 0,
                       "host " + std::to_string(host) + " needs " + std::to_string(bytes[host]) + " bytes, " +
                           std::to_string(bound) + " are allowed");
}

void MemoryTrace::put(std::uint32_t host, std::uint64_t at, const Piece& piece, std::uint64_t stage) {
  add(host, {at, at + piece.length, stage, false, 0, 0, piece});
}

void MemoryTrace::carry(std::uint32_t src, std::uint32_t dst, const Carry& carry, std::uint64_t stage) {
  add(dst, {carry.to, carry.to + carry.length, stage, true, src, carry.from, {}});
}

void MemoryTrace::add(std::uint32_t host, Write write) {
  if (write.begin == write.end) return;
  if (write.end < write.begin || write.end > bytes_[host]) {
    certificate_.add(MemoryFault::beyond_memory, write.stage, place_name(write.begin, write.end, host));
    return;
  }
  writes_[host].push_back(write);
}

void MemoryTrace::close() {
  for (std::uint32_t host = 0; host < writes_.size(); ++host) {
    std::vector<Write>& writes = writes_[host];
    std::ranges::stable_sort(writes, {}, &Write::begin);
    std::uint64_t end = 0;
    for (const Write& write : writes) {
      if (write.begin < end)
        certificate_.add(MemoryFault::written_twice, write.stage,
                         place_name(write.begin, std::min(end, write.end), host));
      end = std::max(end, write.end);
    }
  }
}

std::size_t MemoryTrace::find(std::uint32_t host, std::uint64_t at) const {
  // Without overlaps ends ascend as beginnings do; with them the exchange is refused already.
  const auto& writes = writes_[host];
  const auto after = std::ranges::upper_bound(writes, at, {}, &Write::begin);
  const std::size_t i = static_cast<std::size_t>(after - writes.begin());
  return i > 0 && writes[i - 1].end > at ? i - 1 : i;
}

bool MemoryTrace::written(std::uint32_t host, std::uint64_t at, std::uint64_t length, std::uint64_t stage) const {
  const std::uint64_t end = at + length;
  if (end < at || end > bytes_[host]) return false;
  for (std::size_t i = find(host, at); at < end; ++i) {
    if (i == writes_[host].size()) return false;
    const Write& write = writes_[host][i];
    if (write.begin > at || write.end <= at || write.stage >= stage) return false;
    at = write.end;
  }
  return true;
}

}  // namespace hocket::two_level_check
