#include "runtime/calls/reduce.hpp"

#include <cstring>
#include <numeric>

#include "runtime/mpi/datatypes.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {
namespace {

std::byte* bytes_at(void* buffer) { return static_cast<std::byte*>(buffer); }

std::uint64_t ranks_of(const Team& team) { return static_cast<std::uint64_t>(team.size()); }

}  // namespace

std::optional<FallbackReason> ReductionCall::refused(Form form) const {
  const Reducible can = reducible(op, type);
  if (form == Form::blocking ? can.at_all : can.later) return std::nullopt;
  return FallbackReason::operation;
}

bool ReductionCall::settled() const { return settings().sums != Sums::free && !reducible(op, type).exactly; }

const std::byte* ReductionCall::contribution() const {
  return static_cast<const std::byte*>(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
}

std::size_t AllReduceCall::message_bytes(const Team& team) const {
  return rounded_up(quick_bytes_of(count, type), ranks_of(team));
}

std::uint64_t AllReduceCall::sent_bytes(const Team& team) const {
  return 2 * quick_bytes_of(count, type) / ranks_of(team) * (ranks_of(team) - 1);
}

ReductionBuffers AllReduceCall::buffers(std::size_t, std::size_t ranks) const {
  std::vector<std::int64_t> elements(ranks, count / static_cast<std::int64_t>(ranks));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count) % ranks; ++i) ++elements[i];
  return {contribution(), bytes_at(recvbuf), nullptr, std::move(elements)};
}

void ReduceScatterCall::hold(HeldArguments& held, const Team& team) {
  counts = held.numbers(counts, static_cast<std::size_t>(team.size()));
}

std::size_t ReduceScatterCall::different_counts(const Team& team) const { return equal_ ? 1 : ranks_of(team); }

std::size_t ReduceScatterCall::message_bytes(const Team& team) const {
  MPI_Count elements = 0;
  for (std::size_t i = 0; i < different_counts(team); ++i) elements += counts[i];
  return rounded_up(quick_bytes_of(elements, type), different_counts(team));
}

std::uint64_t ReduceScatterCall::sent_bytes(const Team& team) const {
  return message_bytes(team) * (ranks_of(team) - 1);
}

ReductionBuffers ReduceScatterCall::buffers(std::size_t, std::size_t ranks) const {
  std::vector<std::int64_t> elements;
  for (std::size_t i = 0; i < ranks; ++i) elements.push_back(counts[i]);
  return {contribution(), nullptr, bytes_at(recvbuf), std::move(elements)};
}

std::size_t ReduceCall::message_bytes(const Team&) const { return quick_bytes_of(count, type); }

std::uint64_t ReduceCall::sent_bytes(const Team& team) const {
  return team.rank() == root ? 0 : quick_bytes_of(count, type);
}

ReductionBuffers ReduceCall::buffers(std::size_t rank, std::size_t ranks) const {
  const auto of_root = static_cast<std::size_t>(root);
  std::vector<std::int64_t> elements(ranks, 0);
  elements[of_root] = count;
  return {contribution(), rank == of_root ? bytes_at(recvbuf) : nullptr, nullptr, std::move(elements)};
}

Traffic Reduce::pack() {
  const std::size_t element = reduction_.element();
  std::byte* at = buffers_.in;
  const auto elements = std::accumulate(buffers_.elements.begin(), buffers_.elements.end(), std::int64_t{0});
  const std::size_t bytes = static_cast<std::size_t>(elements) * element;
  if (at == nullptr) {
    if (!copy_) copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    at = copy_.get();
  }
  if (at != buffers_.from) std::memcpy(at, buffers_.from, bytes);
  blocks_.clear();
  for (const std::int64_t count : buffers_.elements) {
    blocks_.push_back({at, static_cast<std::size_t>(count) * element});
    at += blocks_.back().length;
  }
  return reduction_traffic(planned(), blocks_, element, reduction_);
}

void Reduce::unpack() {
  const Span& own = blocks_[exchange().rank()];
  if (buffers_.result != nullptr) std::memcpy(buffers_.result, own.at, own.length);
}

}  // namespace hocket::runtime
