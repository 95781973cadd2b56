#include "sort/mpi/permute/permute.hpp"

#include <array>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/core/elements/partition.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/permute/permute.hpp"

namespace hocket::sort {

constexpr std::uint64_t no_position = UINT64_MAX;

/// The first position in this rank's part of the target that is given twice, by any ranks.
static std::uint64_t first_repeated(HostSharedContext& place, const Permutation& permutation) {
  const Cuts cuts(permutation.target.begins());
  BlockCounts sends(cuts.size(), 0);
  count_positions(cuts, permutation.destinations, sends);
  const BlockCounts receives = exchange_counts(place, sends);
  std::vector<std::uint64_t> out, in;
  collective_try(place, [&] {
    out.resize(permutation.destinations.size());
    in.resize(total_of(receives));
    std::vector<std::uint64_t*> at = block_begins(out.data(), sends, 1);
    divide(cuts, permutation.destinations, at);
  });
  exchange_blocks(place, sizeof(std::uint64_t), reinterpret_cast<const std::byte*>(out.data()), sends,
                  reinterpret_cast<std::byte*>(in.data()), receives);
  std::ranges::sort(in);
  const auto twice = std::ranges::adjacent_find(in);
  return twice == in.end() ? no_position : permutation.target.begin(place.rank()) + *twice;
}

std::vector<std::uint64_t> count_destinations(HostSharedContext& place, const Permutation& permutation,
                                              const Cuts& cuts) {
  std::vector<std::uint64_t> counts(cuts.size(), 0);
  collective_try(place, [&] {
    const std::size_t good = count_positions(cuts, permutation.destinations, counts);
    if (good < permutation.destinations.size())
      refuse_position("destination", permutation.destinations[good], good, "target", cuts.total());
  });
  return counts;
}

void refuse_repeated(HostSharedContext& place, const Permutation& permutation) {
  const std::uint64_t own = first_repeated(place, permutation);
  std::uint64_t position = no_position;
  reduce(&own, &position, 1, MPI_UINT64_T, MPI_MIN, place.comm());

  std::array<std::uint64_t, 2> mine{no_position, no_position};  // this rank's first elements that go there
  std::size_t found = 0;
  for (std::size_t i = 0; i < permutation.destinations.size() && found < mine.size(); ++i)
    if (static_cast<std::uint64_t>(permutation.destinations[i]) == position) mine[found++] = i;
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(place.size()));
  run_collective(PMPI_Iallgather, mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, place.comm());

  std::vector<std::string> culprits;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != no_position)
      culprits.push_back("element " + std::to_string(all[i]) + " of rank " + std::to_string(i / 2));
  throw ApiError{HOCKET_ERR_ARGUMENT, "destination " + std::to_string(position) + " is repeated: " + culprits.at(0) +
                                          " and " + culprits.at(1) + " go there"};
}

template <class Offset>
static bool permute(HostSharedContext& place, const Permutation& permutation) {
  const std::size_t width = permutation.width;
  const Cuts cuts(permutation.target.begins());
  const BlockCounts sends = count_destinations(place, permutation, cuts);
  const BlockCounts receives = exchange_counts(place, sends);
  const std::uint64_t arriving = total_of(receives);
  const std::uint64_t places = permutation.target.count(place.rank());
  PrivateMemory data_in, offsets_in;
  std::vector<std::uint64_t> taken;  // a bit of each place
  {
    PrivateMemory data_out, offsets_out;
    collective_try(place, [&] {
      data_in = PrivateMemory(arriving * width);
      offsets_in = PrivateMemory(arriving * sizeof(Offset));
      data_out = PrivateMemory(total_of(sends) * width);
      offsets_out = PrivateMemory(total_of(sends) * sizeof(Offset));
      taken.resize((places + 63) / 64, 0);
      std::vector<std::byte*> data = block_begins(data_out.data(), sends, width);
      std::vector<Offset*> offsets = block_begins(reinterpret_cast<Offset*>(offsets_out.data()), sends, 1);
      divide(cuts, width, permutation.source, permutation.destinations, data, offsets);
    });
    exchange_blocks(place, sizeof(Offset), offsets_out.data(), sends, offsets_in.data(), receives);
    exchange_blocks(place, width, data_out.data(), sends, data_in.data(), receives);
  }
  if (arriving != places) return false;
  return scatter_once(width, data_in.data(), std::span(reinterpret_cast<const Offset*>(offsets_in.data()), arriving),
                      permutation.own, taken) == arriving;
}

bool permute_packed(HostSharedContext& place, const Permutation& permutation) {
  std::uint64_t largest = 0;
  for (int rank = 0; rank < place.size(); ++rank) largest = std::max(largest, permutation.target.count(rank));
  return largest <= std::numeric_limits<std::uint32_t>::max() ? permute<std::uint32_t>(place, permutation)
                                                              : permute<std::uint64_t>(place, permutation);
}

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

/// Transposes the block of this rank's columns in the rows of `from` to its place. `stride`: elements from one row of
/// the block to the next.
static void place_block(const HostSharedContext& place, const Transposition& matrix, int from, const std::byte* block,
                        std::uint64_t stride) {
  hocket::transpose(matrix.width, block, stride, matrix.rows.count(from), matrix.columns.count(place.rank()),
                    matrix.own + matrix.rows.begin(from) * matrix.width, matrix.rows.total());
}

/// Exchanges blocks with all ranks that `partner` holds for.
template <class Partner>
static void exchange(HostSharedContext& place, const Transposition& matrix, Partner partner) {
  const std::uint64_t rows = matrix.rows.count(place.rank()), columns = matrix.columns.count(place.rank());
  BlockCounts sends, receives;
  std::uint64_t out = 0, in = 0;
  for (int rank = 0; rank < place.size(); ++rank) {
    sends.push_back(partner(rank) ? rows * matrix.columns.count(rank) : 0);
    receives.push_back(partner(rank) ? columns * matrix.rows.count(rank) : 0);
    out += sends.back();
    in += receives.back();
  }
  PrivateMemory packed, arrived;
  collective_try(place, [&] {
    packed = PrivateMemory(out * matrix.width);
    arrived = PrivateMemory(in * matrix.width);
  });
  std::byte* to = packed.data();
  for (int rank = 0; rank < place.size(); ++rank) {
    if (!partner(rank)) continue;
    const std::size_t bytes = matrix.columns.count(rank) * matrix.width;
    for (std::uint64_t row = 0; row < rows; ++row, to += bytes)
      hocket::copy(matrix.source + (row * matrix.columns.total() + matrix.columns.begin(rank)) * matrix.width, to,
                   bytes);
  }
  exchange_blocks(place, matrix.width, packed.data(), sends, arrived.data(), receives);
  const std::byte* from = arrived.data();
  for (int rank = 0; rank < place.size(); ++rank) {
    if (!partner(rank)) continue;
    place_block(place, matrix, rank, from, columns);
    from += receives[static_cast<std::size_t>(rank)] * matrix.width;
  }
}

void transpose_packed(HostSharedContext& place, const Transposition& matrix) {
  exchange(place, matrix, [](int) { return true; });
}

void transpose_chained(HostSharedContext& place, const Transposition& matrix) {
  const std::vector<const std::byte*> parts =
      shared_or_copied(place, matrix.source, matrix.rows.count(place.rank()) * matrix.columns.total() * matrix.width);
  place.meet_host();
  for (int i = 0; i < place.host_size(); ++i) {
    const auto member = static_cast<std::size_t>(place.in_turn(i));
    place_block(place, matrix, place.members()[member],
                parts[member] + matrix.columns.begin(place.rank()) * matrix.width, matrix.columns.total());
  }
  if (!place.one_host()) exchange(place, matrix, [&](int rank) { return place.host_rank_of(rank) < 0; });
  place.meet_host();  // nobody reads this rank's part any more
}

namespace {

constexpr std::size_t grouped_slot = 0;  ///< slot for HostSharedContext::block()
constexpr std::uint64_t none = UINT64_MAX;

/// Positions from `begin` to `end`.
struct Interval {
  std::uint64_t begin, end;
};

/// All intervals that runs cover of this rank's part, in ascending order.
std::vector<Interval> covered(HostSharedContext& place, std::span<const Run> runs, const Layout& target) {
  BlockCounts sends;
  std::vector<Interval> out, in;
  collective_try(place, [&] {
    for (const std::vector<Run>& part : by_target(runs, target)) {
      sends.push_back(part.size());
      for (const Run& run : part) out.push_back({run.to, run.to + run.count});
    }
  });
  const BlockCounts receives = exchange_counts(place, sends);
  collective_try(place, [&] { in.resize(total_of(receives)); });
  exchange_blocks(place, sizeof(Interval), reinterpret_cast<const std::byte*>(out.data()), sends,
                  reinterpret_cast<std::byte*>(in.data()), receives);
  std::ranges::sort(in, {}, &Interval::begin);
  return in;
}

}  // namespace

void check_runs(HostSharedContext& place, std::span<const Run> runs, const Layout& target) {
  collective_try(place, [&] {
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i].to > target.total() || runs[i].count > target.total() - runs[i].to)
        throw InputError("run " + std::to_string(i) + " of " + std::to_string(runs[i].count) +
                         " elements from destination " + std::to_string(static_cast<std::int64_t>(runs[i].to)) +
                         " on is out of range: the target has " + std::to_string(target.total()) + " elements");
  });
  std::uint64_t own = none, end = target.begin(place.rank());
  for (const Interval& interval : covered(place, runs, target)) {
    if (interval.begin < end) own = std::min(own, interval.begin);
    end = std::max(end, interval.end);
  }
  std::uint64_t repeated = none;
  reduce(&own, &repeated, 1, MPI_UINT64_T, MPI_MIN, place.comm());
  if (repeated != none)
    throw ApiError{HOCKET_ERR_ARGUMENT, "destination " + std::to_string(repeated) + " is repeated: two runs cover it"};
}

void grouped_permute(HostSharedContext& place, std::size_t width, std::span<const Run> runs, const std::byte* source,
                     const Layout& target, std::byte* own) {
  const std::size_t bytes = runs.empty() ? 0 : (runs.back().from + runs.back().count) * width;
  const SharedBlock& block = place.block(grouped_slot, bytes);
  hocket::copy(source, block.part(place.host_rank()), bytes);
  deliver(place, block, width, runs, target, own);
}

constexpr std::size_t relation_slot = 0;  ///< slot for HostSharedContext::block()

static Arrived allocate(std::size_t bytes) {
  Arrived memory(static_cast<std::byte*>(std::malloc(std::max<std::size_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return memory;
}

static void divide_by_rank(std::size_t width, const std::byte* source, std::span<const std::uint16_t> ranks,
                           const BlockCounts& sends, std::byte* to) {
  std::vector<std::byte*> at = block_begins(to, sends, width);
  partition(width, source, ranks.size(), ranks, at);
}

void FreeMemory::operator()(std::byte* memory) const { std::free(memory); }

std::vector<std::uint16_t> check_ranks(HostSharedContext& place, std::span<const int> ranks) {
  std::vector<std::uint16_t> checked;
  collective_try(place, [&] {
    if (place.size() > std::numeric_limits<std::uint16_t>::max())
      throw InputError("elements can be sent between at most 65,535 ranks");
    checked.resize(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] < 0 || ranks[i] >= place.size())
        throw InputError("rank " + std::to_string(ranks[i]) + " of element " + std::to_string(i) +
                         " is out of range: there are " + std::to_string(place.size()) + " ranks");
      checked[i] = static_cast<std::uint16_t>(ranks[i]);
    }
  });
  return checked;
}

Arrived send_elements(HostSharedContext& place, bool chained, std::size_t width, const std::byte* source,
                      std::span<const std::uint16_t> ranks, std::uint64_t& arrived) {
  BlockCounts sends(static_cast<std::size_t>(place.size()), 0);
  for (const std::uint16_t rank : ranks) ++sends[rank];
  const BlockCounts receives = exchange_counts(place, sends);
  arrived = total_of(receives);
  Arrived target;
  PrivateMemory packed;
  collective_try(place, [&] {
    target = allocate(arrived * width);
    if (chained) return;
    packed = PrivateMemory(ranks.size() * width);
    divide_by_rank(width, source, ranks, sends, packed.data());
  });
  if (!chained) {
    exchange_blocks(place, width, packed.data(), sends, target.get(), receives);
    return target;
  }
  const Layout layout = Layout::gather(place.comm(), arrived);
  const std::vector<Run> runs = runs_of(sends, positions_at_targets(place, receives, layout));
  const SharedBlock& block = place.block(relation_slot, ranks.size() * width);
  divide_by_rank(width, source, ranks, sends, block.part(place.host_rank()));
  deliver(place, block, width, runs, layout, target.get());
  return target;
}

}  // namespace hocket::sort
