/// Elements in shared memory, by the region of the target that they go to.
#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "runtime/beside/beside.hpp"
#include "runtime/progress/waiting.hpp"
#include "sort/core/elements/move.hpp"
#include "sort/mpi/exchange/exchange_blocks.hpp"
#include "sort/mpi/permute/permute.hpp"

namespace hocket::sort {

namespace {

constexpr std::size_t region_slot = 0;  ///< slot for HostSharedContext::block()

/// Rounds up a number of elements or bytes so that streams stay aligned.
constexpr std::uint64_t aligned(std::uint64_t n) {
  constexpr std::uint64_t step = RegionWriter::stream_alignment;
  return (n + step - 1) / step * step;
}

/// Elements for one region, and where in it they go.
struct Piece {
  const std::byte* data;
  std::span<const std::uint32_t> offsets;
};

class RegionBlock {
 public:
  /// Collective. `counts`: elements of this rank for each region.
  RegionBlock(HostSharedContext& place, std::size_t width, std::span<const std::uint64_t> counts)
      : width_(width), regions_(counts.size()), own_(place.host_rank()) {
    std::vector<Row> rows;
    std::uint64_t end = 0;
    for (const std::uint64_t count : counts) {
      rows.push_back({end, count});
      end += aligned(count);
    }
    rows.push_back({end, 0});
    block_ = &place.block(region_slot, aligned(rows.size() * sizeof(Row)) + end * (width + sizeof(std::uint32_t)));
    std::ranges::copy(rows, reinterpret_cast<Row*>(block_->part(own_)));
  }

  /// The destinations of this rank's elements, one per region.
  [[nodiscard]] std::vector<RegionStream> streams() const {
    const Part own = part(own_);
    std::vector<RegionStream> streams;
    for (std::size_t region = 0; region < regions_; ++region) {
      const std::uint64_t begin = own.rows[region].begin;
      streams.push_back({own.data + begin * width_, own.offsets + begin});
    }
    return streams;
  }
  /// The elements that a rank of the host has for a region. Call this only between two HostSharedContext::meet_host().
  [[nodiscard]] Piece piece(int host_rank, std::size_t region) const {
    const Part from = part(host_rank);
    const Row& row = from.rows[region];
    return {from.data + row.begin * width_, {from.offsets + row.begin, row.count}};
  }

 private:
  /// At the beginning of every rank's part, one for each region and one for their end.
  struct Row {
    std::uint64_t begin, count;  ///< elements
  };
  /// A rank's part: rows, elements, offsets.
  struct Part {
    const Row* rows;
    std::byte* data;
    std::uint32_t* offsets;
  };
  [[nodiscard]] Part part(int host_rank) const {
    std::byte* const begin = block_->part(host_rank);
    const Row* const rows = reinterpret_cast<const Row*>(begin);
    std::byte* const data = begin + aligned((regions_ + 1) * sizeof(Row));
    return {rows, data, reinterpret_cast<std::uint32_t*>(data + rows[regions_].begin * width_)};
  }

  std::size_t width_, regions_;
  int own_;
  const SharedBlock* block_;
};

constexpr std::size_t most_chunk_bytes = std::size_t{1} << 18, least_chunk_bytes = std::size_t{1} << 12;
constexpr std::size_t memory_for_chunks = std::size_t{1} << 26;
constexpr int chunk_tag = 0;  // the shared context's communicator has no other messages between two ranks

/// Elements on their way to other ranks, chunk by chunk: while one is being filled others travel, and what arrives
/// meanwhile is taken in.
class ChunkExchange {
 public:
  /// Called for each chunk that has arrived, with its elements and their offsets in this rank's part.
  using TakeIn = std::function<void(const std::byte* data, std::span<const std::uint64_t> offsets)>;

  /// `sends`, `receives`: elements per rank. All ranks construct one at the same time, with equal widths. Only
  /// allocates: throws std::bad_alloc before any communication begins.
  ChunkExchange(HostSharedContext& place, std::size_t width, const BlockCounts& sends, const BlockCounts& receives,
                TakeIn take_in)
      : comm_(place.comm()), width_(width), outgoing_(sends.size()), take_in_(std::move(take_in)) {
    // The chunk size must be the same on all ranks, so that both sides of a message agree.
    const std::size_t partners = sends.size() * (in_flight + awaited);
    const std::size_t chunk_bytes = std::clamp(memory_for_chunks / partners, least_chunk_bytes, most_chunk_bytes);
    capacity_ = std::max<std::size_t>(1, chunk_bytes / bytes_of(1));
    for (std::size_t rank = 0; rank < sends.size(); ++rank)
      if (sends[rank] > 0) {
        outgoing_[rank].chunks.resize(in_flight);
        for (Chunk& chunk : outgoing_[rank].chunks) chunk.memory.resize(bytes_of(capacity_));
      }
    for (std::size_t rank = 0; rank < receives.size(); ++rank)
      if (receives[rank] > 0) incoming_.push_back({static_cast<int>(rank), receives[rank]});
    arriving_.resize(incoming_.size() * awaited);
    requests_.assign(arriving_.size(), MPI_REQUEST_NULL);
    indices_.resize(arriving_.size());
    for (Chunk& chunk : arriving_) chunk.memory.resize(bytes_of(capacity_));
  }
  ChunkExchange(const ChunkExchange&) = delete;
  ChunkExchange& operator=(const ChunkExchange&) = delete;

  /// Before anything else: begins to receive.
  void start() {
    for (std::size_t place_of = 0; place_of < arriving_.size(); ++place_of) await(place_of);
  }
  void put(int rank, std::uint64_t offset, const std::byte* element) {
    Outgoing& to = outgoing_[static_cast<std::size_t>(rank)];
    Chunk& chunk = to.chunks[to.filling];
    std::memcpy(chunk.memory.data() + chunk.elements * sizeof offset, &offset, sizeof offset);
    std::memcpy(chunk.memory.data() + capacity_ * sizeof offset + chunk.elements * width_, element, width_);
    if (++chunk.elements == capacity_) send(rank);
  }
  /// Takes in what has arrived; does not block. True if anything moved.
  bool advance() {
    int done = 0;
    const bool moved = move_active();
    check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, indices_.data(),
                        MPI_STATUSES_IGNORE));
    if (done == MPI_UNDEFINED || done == 0) return moved;
    for (const int index : std::span(indices_).first(static_cast<std::size_t>(done))) {
      const Chunk& chunk = arriving_[static_cast<std::size_t>(index)];
      take_in_(chunk.memory.data() + chunk.elements * sizeof(std::uint64_t),
               {reinterpret_cast<const std::uint64_t*>(chunk.memory.data()), chunk.elements});
      await(static_cast<std::size_t>(index));
    }
    return true;
  }
  /// Everything has been put: sends the rest, and waits for all that comes.
  void finish() {
    for (std::size_t rank = 0; rank < outgoing_.size(); ++rank) {
      const Outgoing& to = outgoing_[rank];
      if (!to.chunks.empty() && to.chunks[to.filling].elements > 0) send(static_cast<int>(rank));
    }
    wait_for([&] {
      const bool moved = advance();
      bool over = std::ranges::all_of(requests_, [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
      for (Outgoing& to : outgoing_)
        for (Chunk& chunk : to.chunks) over = sent(chunk) && over;
      if (over) return Progress::over;
      return moved ? Progress::some : Progress::none;
    });
  }

 private:
  static constexpr std::size_t in_flight = 3, awaited = 2;  ///< chunks per partner

  /// Offsets, then elements.
  struct Chunk {
    std::vector<std::byte> memory;
    std::size_t elements = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Outgoing {
    std::vector<Chunk> chunks;
    std::size_t filling = 0;
  };
  struct Incoming {
    int rank = 0;
    std::uint64_t left = 0;  ///< elements for which no chunk is awaited yet
  };

  void send(int rank) {
    Outgoing& to = outgoing_[static_cast<std::size_t>(rank)];
    Chunk& chunk = to.chunks[to.filling];
    if (chunk.elements < capacity_)
      std::memmove(chunk.memory.data() + chunk.elements * sizeof(std::uint64_t),
                   chunk.memory.data() + capacity_ * sizeof(std::uint64_t), chunk.elements * width_);
    check(PMPI_Isend(chunk.memory.data(), static_cast<int>(bytes_of(chunk.elements)), MPI_BYTE, rank, chunk_tag, comm_,
                     &chunk.request));
    to.filling = (to.filling + 1) % in_flight;
    Chunk& next = to.chunks[to.filling];
    wait_for([&] {
      const bool moved = advance();
      if (sent(next)) return Progress::over;
      return moved ? Progress::some : Progress::none;
    });
    next.elements = 0;
  }
  void await(std::size_t place) {
    Incoming& from = incoming_[place / awaited];
    Chunk& chunk = arriving_[place];
    chunk.elements = std::min<std::uint64_t>(from.left, capacity_);
    if (chunk.elements == 0) return;
    from.left -= chunk.elements;
    check(PMPI_Irecv(chunk.memory.data(), static_cast<int>(bytes_of(chunk.elements)), MPI_BYTE, from.rank, chunk_tag,
                     comm_, &requests_[place]));
  }
  [[nodiscard]] bool sent(Chunk& chunk) {
    int done = 0;
    check(PMPI_Test(&chunk.request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }
  [[nodiscard]] std::size_t bytes_of(std::size_t elements) const { return elements * (sizeof(std::uint64_t) + width_); }

  MPI_Comm comm_;
  std::size_t width_, capacity_;    ///< capacity: elements per chunk
  std::vector<Outgoing> outgoing_;  ///< indexed by rank
  std::vector<Incoming> incoming_;
  std::vector<Chunk> arriving_;        ///< `awaited` for each of incoming_
  std::vector<MPI_Request> requests_;  ///< one per chunk of arriving_
  std::vector<int> indices_;           ///< indices of completed requests
  TakeIn take_in_;
};

// Measured: docs/decisions/0009-elements-within-a-host-go-by-regions.md.
constexpr std::size_t region_bytes = std::size_t{1} << 19;  ///< a quarter of a second-level cache
constexpr std::uint64_t most_regions = 2048;                ///< so that one line of each stays there, too
constexpr std::size_t wide = 64;                            ///< whole cache lines gain nothing by regions
constexpr std::size_t slice = std::size_t{1} << 15;         ///< elements between two looks at what has arrived

Cuts regions_of(const Permutation& permutation) {
  const std::uint64_t most = permutation.width < wide ? region_bytes / permutation.width : std::uint64_t{1} << 31;
  return Cuts::regions(permutation.target.begins(), most, most_regions);
}

bool all_taken(std::span<const std::uint8_t> takes) {
  return takes.empty() || std::memchr(takes.data(), 0, takes.size()) == nullptr;
}

class Chained {
 public:
  Chained(HostSharedContext& place, const Permutation& permutation)
      : place_(place), permutation_(permutation), regions_(regions_of(permutation)) {}

  bool run() {
    std::vector<std::uint64_t> counts = count_destinations(place_, permutation_, regions_);
    find_owners();
    const BlockCounts sends = split_off_remote(counts);
    RegionBlock block(place_, permutation_.width, counts);
    const BlockCounts receives = place_.one_host() ? BlockCounts{} : exchange_counts(place_, sends);
    std::optional<RegionWriter> writer;
    std::optional<ChunkExchange> chunks;
    collective_try(place_, [&] {
      takes_.resize(largest_take(), 0);
      writer.emplace(regions_, permutation_.width, streams_of(block));
      if (place_.one_host()) return;
      chunks.emplace(place_, permutation_.width, sends, receives,
                     [this](const std::byte* data, std::span<const std::uint64_t> offsets) { take_in(data, offsets); });
    });
    if (chunks) chunks->start();
    send(*writer, chunks);
    writer.reset();
    place_.meet_host();
    bool whole = receive(block, chunks);
    if (chunks) {
      chunks->finish();
      whole = all_taken(takes_);
    }
    place_.meet_host();  // nobody reads this rank's part any more
    return whole;
  }

 private:
  void find_owners() {
    for (std::size_t region = 0; region < regions_.size(); ++region)
      owners_.push_back(regions_.total() == 0 ? 0 : permutation_.target.rank_of(regions_.begin(region)));
  }
  [[nodiscard]] bool is_remote(std::size_t region) const { return place_.host_rank_of(owners_[region]) < 0; }

  /// Elements for each rank of other hosts; those for their regions are taken out of `counts`.
  [[nodiscard]] BlockCounts split_off_remote(std::vector<std::uint64_t>& counts) const {
    BlockCounts sends(static_cast<std::size_t>(place_.size()), 0);
    for (std::size_t region = 0; region < counts.size(); ++region)
      if (is_remote(region)) sends[static_cast<std::size_t>(owners_[region])] += std::exchange(counts[region], 0);
    return sends;
  }

  /// Within one host regions are completed one after the other; else elements come for all of them at once.
  [[nodiscard]] std::uint64_t largest_take() const {
    if (!place_.one_host()) return permutation_.target.count(place_.rank());
    std::uint64_t largest = 0;
    for (std::size_t region = 0; region < regions_.size(); ++region)
      largest = std::max(largest, regions_.count(region));
    return largest;
  }

  /// Elements for other hosts are left out.
  [[nodiscard]] std::vector<RegionStream> streams_of(const RegionBlock& block) const {
    std::vector<RegionStream> streams = block.streams();
    for (std::size_t region = 0; region < streams.size(); ++region)
      if (is_remote(region)) streams[region] = {};
    return streams;
  }

  void send(RegionWriter& writer, std::optional<ChunkExchange>& chunks) {
    const std::size_t n = permutation_.destinations.size();
    for (std::size_t begin = 0; begin < n; begin += slice) {
      const auto destinations = permutation_.destinations.subspan(begin, std::min(slice, n - begin));
      const std::byte* const elements = permutation_.source + begin * permutation_.width;
      writer.add(elements, destinations);
      if (!chunks) continue;
      for (std::size_t i = 0; i < destinations.size(); ++i) {
        const auto position = static_cast<std::uint64_t>(destinations[i]);
        const std::size_t region = regions_.of(position);
        if (!is_remote(region)) continue;
        const int owner = owners_[region];
        chunks->put(owner, position - permutation_.target.begin(owner), elements + i * permutation_.width);
      }
      chunks->advance();
    }
    writer.finish();
  }

  /// Puts the elements of this host's ranks in place. False if a region has not been filled.
  bool receive(const RegionBlock& block, std::optional<ChunkExchange>& chunks) {
    const std::uint64_t own_begin = permutation_.target.begin(place_.rank());
    bool whole = true;
    for (std::size_t region = 0; region < regions_.size(); ++region) {
      if (owners_[region] != place_.rank()) continue;
      const std::uint64_t begin = regions_.begin(region) - own_begin;
      const std::span<std::uint8_t> takes =
          chunks ? std::span(takes_).subspan(begin) : std::span(takes_).first(regions_.count(region));
      for (int i = 0; i < place_.host_size(); ++i) {
        const Piece piece = block.piece(place_.in_turn(i), region);
        scatter_marking(permutation_.width, piece.data, piece.offsets, permutation_.own + begin * permutation_.width,
                        takes);
      }
      if (chunks) {
        chunks->advance();
        continue;
      }
      whole = all_taken(takes) && whole;
      std::ranges::fill(takes, 0);
    }
    return whole;
  }

  void take_in(const std::byte* data, std::span<const std::uint64_t> offsets) {
    scatter_marking(permutation_.width, data, offsets, permutation_.own, takes_);
  }

  HostSharedContext& place_;
  const Permutation& permutation_;
  Cuts regions_;
  std::vector<int> owners_;  ///< owner of each region
  std::vector<std::uint8_t> takes_;
};

}  // namespace

bool permute_chained(HostSharedContext& place, const Permutation& permutation) {
  return Chained(place, permutation).run();
}

}  // namespace hocket::sort
