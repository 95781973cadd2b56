/// hocket.h: from destination vectors to a table.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "agreement.hpp"
#include "api.hpp"
#include "concatenate.hpp"
#include "irregular.hpp"
#include "site.hpp"
#include "table.hpp"

using namespace hocket::runtime;

namespace {

struct Wish {
  std::string scheduler;  ///< empty: the default
  std::uint64_t seed;
};

/// Throws InputError unless these are messages of `rank`.
void check_vector(const Partners& targets, int ranks) {
  std::vector<int> sorted = targets.ranks;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw hocket::InputError("rank " + std::to_string(*twice) + " is given twice as a target");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets.ranks[i] < 0 || targets.ranks[i] >= ranks)
      throw hocket::InputError("target " + std::to_string(targets.ranks[i]) + " is no rank: there are " +
                               std::to_string(ranks) + ", from 0");
    if (targets.bytes[i] < 0)
      throw hocket::InputError("the message to rank " + std::to_string(targets.ranks[i]) + " has " +
                               std::to_string(targets.bytes[i]) + " bytes");
  }
}

void check_wish(const Wish& wish, const OwnComm& comm) {
  hocket::ByteWriter out;
  out.text(wish.scheduler);
  out.fixed(wish.seed);
  const std::uint64_t digest = checksum(out.bytes()), mine[] = {digest, ~digest};
  std::uint64_t least[] = {0, 0};
  check(PMPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, comm.get()));
  if (least[0] != ~least[1]) throw ApiError{HOCKET_ERR_ARGUMENT, "ranks differ in scheduler or seed"};
}

std::vector<hocket::Message> row_of(const Partners& targets, int rank) {
  std::vector<hocket::Message> row;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (targets.bytes[i] > 0 && targets.ranks[i] != rank)
      row.push_back({static_cast<hocket::Rank>(rank), static_cast<hocket::Rank>(targets.ranks[i]),
                     static_cast<std::uint64_t>(targets.bytes[i])});
  return row;
}

}  // namespace
