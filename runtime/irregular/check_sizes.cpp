#include "runtime/irregular/check_sizes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/irregular/message_marks.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/progress/agree.hpp"

namespace hocket::runtime {
namespace {

constexpr int digit_bits = 6;
constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits;

/// One side of a message, as one of its ends sees it.
struct View {
  std::uint64_t key;  ///< sorts by receiver, then by sender
  std::uint64_t sent, expected;

  [[nodiscard]] std::uint64_t disagreement() const {
    return (sent > 0 ? mark(key, sent) : 0) - (expected > 0 ? mark(key, expected) : 0);
  }
};

std::vector<View> views_of(const PeerBytes& peer_bytes, std::uint64_t rank, std::uint64_t ranks) {
  std::vector<View> views;
  views.reserve(peer_bytes.sends.size() + peer_bytes.receives.size());
  for (const Volume& volume : peer_bytes.sends) views.push_back({volume.peer * ranks + rank, volume.bytes, 0});
  for (const Volume& volume : peer_bytes.receives) views.push_back({rank * ranks + volume.peer, 0, volume.bytes});
  return views;
}

}  // namespace

std::string why_sizes_disagree(MPI_Comm comm, const PeerBytes& peer_bytes) {
  int rank = 0, size = 0;
  check(PMPI_Comm_rank(comm, &rank));
  check(PMPI_Comm_size(comm, &size));
  const auto ranks = static_cast<std::uint64_t>(size);
  const std::vector<View> views = views_of(peer_bytes, static_cast<std::uint64_t>(rank), ranks);
  // Search for the first mismatch, one digit of its key per step: each reduction sums marks of sent minus expected
  // sizes per value of the next digit, and the first nonzero sum selects that digit.
  const int key_digits = (std::bit_width(ranks * ranks - 1) + digit_bits - 1) / digit_bits;
  std::uint64_t key = 0;
  for (int shift = (key_digits - 1) * digit_bits; shift >= 0; shift -= digit_bits) {
    std::array<std::uint64_t, digits> own{}, all{};
    for (const View& view : views)
      if (view.key >> shift >> digit_bits == key) own[(view.key >> shift) % digits] += view.disagreement();
    reduce(own.data(), all.data(), static_cast<int>(digits), MPI_UINT64_T, MPI_SUM, comm);
    const auto found = std::ranges::find_if(all, [](std::uint64_t sum) { return sum != 0; });
    if (found == all.end()) return {};
    key = key << digit_bits | static_cast<std::uint64_t>(found - all.begin());
  }
  std::array<std::uint64_t, 2> own{0, 0}, all{};
  for (const View& view : views)
    if (view.key == key) own = {own[0] + view.sent, own[1] + view.expected};
  reduce(own.data(), all.data(), 2, MPI_UINT64_T, MPI_SUM, comm);
  return "rank " + std::to_string(key % ranks) + " sends " + std::to_string(all[0]) + " bytes to rank " +
         std::to_string(key / ranks) + ", which expects " + std::to_string(all[1]);
}

}  // namespace hocket::runtime
