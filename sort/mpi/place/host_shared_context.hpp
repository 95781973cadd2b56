#pragma once
/// Where ranks meet: what permuting and sorting keep on a communicator, steps that succeed on all ranks or on none, and
/// memory that the ranks of a host share.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/agreement/agreement.hpp"
#include "runtime/c_api/api.hpp"
#include "sort/mpi/place/layout.hpp"

namespace hocket::sort {

using namespace hocket::runtime;

/// Memory of which every rank of a host owns a part and sees all parts. Collective to make and to destroy.
class SharedBlock {
 public:
  /// `host`: ranks that share memory. `bytes` of this rank, the parts begin at cache lines.
  SharedBlock(MPI_Comm host, std::size_t bytes);
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  ~SharedBlock();

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The part of a rank of the host.
  [[nodiscard]] std::byte* part(int host_rank) const { return parts_[static_cast<std::size_t>(host_rank)]; }
  /// Memory barrier: this rank's earlier writes become visible to ranks that synchronise with it afterwards, and theirs
  /// to it.
  void sync() const;
  /// Collective. Touches all parts, each rank its own first and all at once: the system makes pages faster together
  /// than one by one while elements are scattered over them.
  void touch(MPI_Comm host) const;

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::size_t bytes_;
  std::vector<std::byte*> parts_;
};

class HostSharedContext {
 public:
  /// The context of `comm`, made on first use, collectively, and freed with the communicator. Throws ApiError if `comm`
  /// is null or an intercommunicator.
  [[nodiscard]] static HostSharedContext& of(MPI_Comm comm);
  HostSharedContext(const HostSharedContext&) = delete;
  HostSharedContext& operator=(const HostSharedContext&) = delete;

  /// A private communicator of the same ranks. Its messages go through the runtime's own entry points
  /// (hocket_alltoallv), so that exchanges over wires that collide follow a schedule.
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] int rank() const { return comm_.rank(); }
  [[nodiscard]] int size() const { return comm_.size(); }

  /// Ranks that share memory with this one, in the order of comm().
  [[nodiscard]] MPI_Comm host() const { return host_.get(); }
  [[nodiscard]] int host_rank() const { return host_.rank(); }
  [[nodiscard]] int host_size() const { return host_.size(); }
  /// The largest host_size(); the same on all ranks.
  [[nodiscard]] int largest_host_size() const { return largest_host_size_; }
  /// Ranks in comm() of the ranks of this host.
  [[nodiscard]] const std::vector<int>& members() const { return members_; }
  /// The rank in host() of a rank in comm(); -1: on another host.
  [[nodiscard]] int host_rank_of(int rank) const { return host_rank_of_[static_cast<std::size_t>(rank)]; }
  /// The rank of the host to read from i-th: every rank begins with itself, so that not all read from the same one.
  [[nodiscard]] int in_turn(int i) const { return (host_rank() + i) % host_size(); }
  [[nodiscard]] bool one_host() const { return host_size() == size(); }

  /// Collective. All ranks have plans of a network, by which messages between hosts may share a link: exchanges of
  /// blocks may be scheduled.
  [[nodiscard]] bool could_collide() const;

  /// Collective: at least `bytes` of this rank, kept for the next call and only made anew on hosts where some
  /// rank needs more. `slot`: callers that need several blocks at once number them from 0. Contents are lost.
  /// Throws ApiError (HOCKET_ERR_MEMORY), on all ranks alike, if a host has not enough shared memory.
  [[nodiscard]] SharedBlock& block(std::size_t slot, std::size_t bytes);
  /// Memory newly made by block() since the last call; nothing, on all ranks alike, if no rank needed any.
  struct Fresh {
    std::uint64_t bytes = 0;  ///< this rank's bytes
    double seconds = 0;       ///< time to make and touch them
  };
  [[nodiscard]] std::optional<Fresh> take_fresh() { return std::exchange(fresh_, std::nullopt); }
  /// Collective over the host: memory that belongs to the caller. Throws ApiError (HOCKET_ERR_MEMORY) on all ranks of
  /// the host if it has not enough.
  [[nodiscard]] std::unique_ptr<SharedBlock> share(std::size_t bytes) const;

  /// All ranks of the host, or of the communicator, have come here, and what they wrote to shared memory before is
  /// seen after. Sleeps while it waits.
  void meet_host();
  void meet();

 private:
  explicit HostSharedContext(MPI_Comm comm);
  void make_anew(std::unique_ptr<SharedBlock>& place, std::size_t bytes);
  void meet(MPI_Comm comm);

  PrivateComm comm_, host_;
  int largest_host_size_ = 0;
  bool has_plans_ = false;
  std::vector<int> members_, host_rank_of_;
  std::vector<std::unique_ptr<SharedBlock>> blocks_;
  std::optional<Fresh> fresh_;
};

using runtime::collective_try;

/// Collective. Does something on every rank; if it throws on any, it throws on all.
template <class Step>
void collective_try(HostSharedContext& place, Step step) {
  collective_try(place.comm(), HOCKET_ERR_ARGUMENT, step);
}

/// An argument that is the same on all ranks.
struct Common {
  const char* name;  ///< used in messages: "rank 1 gives width 4, rank 0 width 8"
  std::uint64_t value;
};

/// Collective. Throws, on all ranks alike, where ranks differ.
void same_everywhere(HostSharedContext& place, const std::vector<Common>& arguments);

/// Throws unless it is a count of elements of `width` bytes, and there is memory with them.
void check_elements(const char* name, std::size_t width, std::int64_t count, const void* memory);

/// Throws unless the width is between 1 and the largest int.
void check_width(std::size_t width);

/// "destination 17 of element 5 is out of range: the target has 10 elements"
[[noreturn]] void refuse_position(const char* name, std::int64_t position, std::size_t element, const char* array,
                                  std::uint64_t total);

/// Collective. `bytes` of this rank; nullptr where it is none.
[[nodiscard]] std::byte* allocate_shared(HostSharedContext& place, std::size_t bytes);
/// Collective. Throws on all ranks if `memory` is not what they got together (nullptr: where it was).
void release_shared(HostSharedContext& place, const void* memory);

/// Collective. Where the `bytes` at `memory` of every rank of this host are for this rank, in the order of host();
/// empty, on all ranks alike, unless all of them come from one hocket_alloc() of the same host's ranks.
[[nodiscard]] std::vector<const std::byte*> find_shared(HostSharedContext& place, const void* memory,
                                                        std::size_t bytes);

/// Collective. What find_shared() finds, or else a copy in a block of the shared context; of every rank of the host. To
/// be read after HostSharedContext::meet_host().
[[nodiscard]] std::vector<const std::byte*> shared_or_copied(HostSharedContext& place, const void* memory,
                                                             std::size_t bytes);

}  // namespace hocket::sort
