#include "core/demand/demand.hpp"

#include <array>
#include <limits>
#include <utility>

#include "core/error.hpp"

namespace hocket {

constexpr auto most_bytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

static std::string name(const Message& message) {
  return std::to_string(message.src) + "->" + std::to_string(message.dst);
}

TrafficMatrix::TrafficMatrix(std::uint32_t ranks, std::vector<Message> messages) {
  std::erase_if(messages, [](const Message& m) { return m.bytes == 0 || m.src == m.dst; });
  begin_.assign(std::size_t{ranks} + 1, 0);
  for (const Message& message : messages) {
    if (message.src >= ranks || message.dst >= ranks)
      throw InputError("message " + name(message) + " names a rank beyond the " + std::to_string(ranks) + " ranks");
    if (message.bytes > most_bytes - total_)
      throw InputError("the messages have more than 2^63 - 1 bytes in all (at message " + name(message) + ")");
    total_ += message.bytes;
    largest_ = std::max(largest_, message.bytes);
    ++begin_[message.src + 1];
  }
  const auto place = [](const Message& m) { return std::pair(m.src, m.dst); };
  if (!std::ranges::is_sorted(messages, {}, place)) std::ranges::sort(messages, {}, place);
  for (Rank rank = 0; rank < ranks; ++rank) begin_[rank + 1] += begin_[rank];
  target_.reserve(messages.size());
  bytes_.reserve(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i > 0 && place(messages[i]) == place(messages[i - 1]))
      throw InputError("message " + name(messages[i]) + " is given twice");
    target_.push_back(messages[i].dst);
    bytes_.push_back(messages[i].bytes);
  }
}

std::uint64_t TrafficMatrix::size(Rank src, Rank dst) const {
  if (src >= ranks()) return 0;
  const auto row = targets(src);
  const auto found = std::ranges::lower_bound(row, dst);
  return found != row.end() && *found == dst ? bytes(src)[static_cast<std::size_t>(found - row.begin())] : 0;
}

std::vector<Message> TrafficMatrix::list() const {
  std::vector<Message> messages;
  messages.reserve(target_.size());
  each([&](Rank src, Rank dst, std::uint64_t bytes) { messages.push_back({src, dst, bytes}); });
  return messages;
}

std::string_view to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::all_to_all:
      return "all-to-all";
    case Pattern::all_gather:
      return "all-gather";
    case Pattern::irregular:
      return "irregular";
    case Pattern::reduce_scatter:
      return "reduce-scatter";
    case Pattern::all_reduce:
      return "all-reduce";
  }
  return "?";
}

Pattern parse_pattern(std::string_view text) {
  std::string known;
  for (std::uint8_t i = 0; i < pattern_kinds; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    if (to_string(pattern) == text) return pattern;
    known += (known.empty() ? "" : ", ") + std::string(to_string(pattern));
  }
  throw InputError("no pattern is called '" + std::string(text) + "'; there are " + known);
}

std::optional<Rank> Demand::only_block() const {
  const auto has_some = [](std::uint64_t size) { return size > 0; };
  if (!by_blocks() || std::ranges::count_if(contributions, has_some) != 1) return {};
  return static_cast<Rank>(std::ranges::find_if(contributions, has_some) - contributions.begin());
}

Demand irregular(TrafficMatrix matrix) {
  Demand demand{Pattern::irregular, matrix.ranks(), matrix.largest()};
  demand.matrix = std::move(matrix);
  return demand;
}

Demand gather_of(const Demand& reduction) {
  Demand gather = reduction;
  gather.pattern = Pattern::all_gather;
  return gather;
}

namespace {

template <Pattern pattern>
Demand equal(std::uint32_t ranks, std::uint64_t bytes, Rank) {
  return {pattern, ranks, bytes};
}

/// A demand with all bytes in the block of the root.
template <Pattern pattern>
Demand at_root(std::uint32_t ranks, std::uint64_t bytes, Rank root) {
  Demand demand{pattern, ranks, bytes, std::vector<std::uint64_t>(ranks, 0)};
  if (root < ranks) demand.contributions[root] = bytes;
  return demand;
}

/// A message between the root and every other rank.
template <bool into_root>
Demand with_root(std::uint32_t ranks, std::uint64_t bytes, Rank root) {
  std::vector<Message> messages;
  for (Rank other = 0; root < ranks && other < ranks; ++other)
    if (other != root) messages.push_back({into_root ? other : root, into_root ? root : other, bytes});
  return irregular(TrafficMatrix(ranks, std::move(messages)));
}

/// A vector of `bytes`, a block of it for every rank.
Demand shared_out(std::uint32_t ranks, std::uint64_t bytes, Rank) {
  Demand demand{Pattern::all_reduce, ranks, ranks > 0 ? (bytes + ranks - 1) / ranks : 0};
  if (ranks == 0 || bytes % ranks == 0) return demand;
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    demand.contributions.push_back(bytes * (rank + 1) / ranks - bytes * rank / ranks);
  return demand;
}

constexpr std::array table{
    Collective{"all-to-all", "MPI_Alltoall", "Every rank has a different message of SIZE for every other rank.",
               Pattern::all_to_all, false, equal<Pattern::all_to_all>},
    Collective{"all-gather", "MPI_Allgather, MPI_Allgatherv",
               "Every rank contributes SIZE, and every rank gets all contributions.", Pattern::all_gather, false,
               equal<Pattern::all_gather>},
    Collective{"irregular",
               "MPI_Alltoallv, MPI_Alltoallw, MPI_Gatherv, MPI_Scatterv, MPI_Neighbor_allgather, "
               "MPI_Neighbor_allgatherv, MPI_Neighbor_alltoall, "
               "MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw",
               "Every rank sends to some others what a traffic matrix says.", Pattern::irregular, false, nullptr},
    Collective{"reduce-scatter", "MPI_Reduce_scatter_block, MPI_Reduce_scatter",
               "Every rank has a block of SIZE for every rank, and every rank gets the sum of the blocks for it.",
               Pattern::reduce_scatter, false, equal<Pattern::reduce_scatter>},
    Collective{"all-reduce", "MPI_Allreduce", "Every rank has a vector of SIZE, and every rank gets the sum of all.",
               Pattern::all_reduce, false, shared_out},
    Collective{"broadcast", "MPI_Bcast", "Every rank gets a message of SIZE from the root.", Pattern::all_gather, true,
               at_root<Pattern::all_gather>},
    Collective{"reduce", "MPI_Reduce", "Every rank has a vector of SIZE, and the root gets the sum of all.",
               Pattern::reduce_scatter, true, at_root<Pattern::reduce_scatter>},
    Collective{"gather", "MPI_Gather", "The root gets a message of SIZE from every other rank.", Pattern::irregular,
               true, with_root<true>},
    Collective{"scatter", "MPI_Scatter", "The root has a different message of SIZE for every other rank.",
               Pattern::irregular, true, with_root<false>},
};

}  // namespace

std::span<const Collective> collectives() { return table; }

bool Collective::can_follow(const Demand& planned, Rank root) const {
  if (demand == nullptr || planned.pattern != pattern) return false;
  std::uint64_t bytes = planned.bytes;
  if (pattern == Pattern::all_reduce) {  // all blocks together are its size
    bytes = 0;
    for (Rank rank = 0; rank < planned.ranks; ++rank) {
      if (planned.contribution(rank) == 0) return false;
      bytes += planned.contribution(rank);
    }
  }
  return planned == demand(planned.ranks, bytes, root);
}

const Collective& find_collective(std::string_view name) {
  std::string known;
  for (const Collective& collective : table) {
    if (collective.name == name) return collective;
    known += (known.empty() ? "" : ", ") + std::string(collective.name);
  }
  throw InputError("no collective is called '" + std::string(name.substr(0, 60)) + "'; there are " + known);
}

}  // namespace hocket
