#include <vector>

#include "sort/core/elements/cuts.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/permute/permute.hpp"
#include "sort/mpi/place/host_shared_context.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {
namespace {

/// An index that this rank wants from another host.
struct Wanted {
  std::vector<std::int64_t> indices, slots;
};

Wanted from_other_hosts(HostSharedContext& place, const Cuts& parts, std::span<const std::int64_t> indices) {
  Wanted wanted;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (place.host_rank_of(static_cast<int>(parts.of(static_cast<std::uint64_t>(indices[i])))) >= 0) continue;
    wanted.indices.push_back(indices[i]);
    wanted.slots.push_back(static_cast<std::int64_t>(i));
  }
  return wanted;
}

}  // namespace

void check_indices(HostSharedContext& place, const Taking& taking) {
  const std::uint64_t total = taking.source.total();
  collective_try(place, [&] {
    for (std::size_t i = 0; i < taking.indices.size(); ++i)
      if (static_cast<std::uint64_t>(taking.indices[i]) >= total)
        refuse_position("index", taking.indices[i], i, "source", total);
  });
}

void take_packed(HostSharedContext& place, const Taking& taking) {
  const Cuts parts(taking.source.begins());
  BlockCounts wanted(parts.size(), 0);
  count_positions(parts, taking.indices, wanted);
  const BlockCounts asked = exchange_counts(place, wanted);
  PrivateMemory answers, elements;
  {
    PrivateMemory requests, arrived;
    collective_try(place, [&] {
      answers = PrivateMemory(total_of(asked) * taking.width);
      elements = PrivateMemory(total_of(wanted) * taking.width);
      requests = PrivateMemory(total_of(wanted) * sizeof(std::uint64_t));
      arrived = PrivateMemory(total_of(asked) * sizeof(std::uint64_t));
      std::vector<std::uint64_t*> at = block_begins(reinterpret_cast<std::uint64_t*>(requests.data()), wanted, 1);
      divide(parts, taking.indices, at);
    });
    exchange_blocks(place, sizeof(std::uint64_t), requests.data(), wanted, arrived.data(), asked);
    hocket::gather(taking.width, taking.own,
                   std::span(reinterpret_cast<const std::int64_t*>(arrived.data()), total_of(asked)), answers.data());
  }
  exchange_blocks(place, taking.width, answers.data(), asked, elements.data(), wanted);
  std::vector<const std::byte*> next =
      block_begins(static_cast<const std::byte*>(elements.data()), wanted, taking.width);
  collect(parts, taking.width, taking.indices, next, taking.target);
}

void take_chained(HostSharedContext& place, const Taking& taking) {
  const Cuts parts(taking.source.begins());
  const std::vector<const std::byte*> of_host =
      shared_or_copied(place, taking.own, taking.source.count(place.rank()) * taking.width);
  place.meet_host();
  std::vector<const std::byte*> data(static_cast<std::size_t>(place.size()), nullptr);
  for (int member = 0; member < place.host_size(); ++member)
    data[static_cast<std::size_t>(place.members()[static_cast<std::size_t>(member)])] =
        of_host[static_cast<std::size_t>(member)];
  hocket::gather(parts, taking.width, data, taking.indices, taking.target);
  if (!place.one_host()) {
    Wanted wanted;
    PrivateMemory fetched;
    collective_try(place, [&] {
      wanted = from_other_hosts(place, parts, taking.indices);
      fetched = PrivateMemory(wanted.indices.size() * taking.width);
    });
    take_packed(place, {taking.width, taking.source, taking.own, wanted.indices, fetched.data()});
    hocket::scatter(taking.width, fetched.data(), std::span<const std::int64_t>(wanted.slots), taking.target);
  }
  place.meet_host();  // nobody reads this rank's elements any more
}

}  // namespace hocket::sort
