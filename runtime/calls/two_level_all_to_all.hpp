#pragma once
/// MPI_Alltoall with one message between two hosts: p · q · m bytes, of the p ranks of one and the q of the other.
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/buffers/blocks.hpp"
#include "runtime/calls/all_to_all.hpp"
#include "runtime/two_level/two_level_operation.hpp"

namespace hocket::runtime {

/// An aggregate has a row for each rank that sends, in the order of the ranks that get it.
class TwoLevelAllToAll : public TwoLevelOperation {
 public:
  TwoLevelAllToAll(const Exchange& exchange, const AllToAllCall& call);

 private:
  void put() final;
  [[nodiscard]] Traffic traffic() final;
  void carry(MPI_Comm leaders, MPI_Request* request) final;
  [[nodiscard]] Span going_out(std::size_t host) final;
  [[nodiscard]] Span coming_in(std::size_t host) final;
  void take() final;

  /// The aggregate of this host for another one, or from it: they are as long.
  [[nodiscard]] std::byte* going_to(std::size_t host) const;
  [[nodiscard]] std::byte* coming_from(std::size_t host) const;
  [[nodiscard]] std::size_t aggregate_bytes(std::size_t host) const {
    return hosts().here().size() * hosts().ranks[host].size() * sent_ + mark_bytes();
  }
  /// The mark at the end of an aggregate that begins there.
  [[nodiscard]] std::byte* mark_of(std::size_t host, std::byte* aggregate) const {
    return aggregate + aggregate_bytes(host) - mark_bytes();
  }

  AllToAllCall call_;
  std::size_t received_, sent_;       ///< bytes of a message
  std::vector<std::size_t> begins_;   ///< offset of each host's aggregate; aggregates lie in the order of leaders
  std::size_t all_ = 0;               ///< bytes of all aggregates
  std::vector<int> counts_, places_;  ///< sizes and offsets of aggregates, for the MPI library
  std::optional<ReceiveBlocks> receive_;
  std::vector<std::unique_ptr<std::byte[]>> strays_;  ///< aggregates that come to a host whose ranks differ
};

}  // namespace hocket::runtime
