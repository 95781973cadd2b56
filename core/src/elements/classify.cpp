#include <algorithm>
#include <tuple>

#include "hocket/elements/partition.hpp"
#include "key.hpp"
#include "width.hpp"

namespace hocket {

void classify(RecordType type, const std::byte* records, std::size_t n, std::uint64_t rank, std::uint64_t first,
              std::span<const Splitter> splitters, std::span<std::uint16_t> part) {
  elements::require(type);
  elements::with_key(type.key, [&](auto key) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t order = key.order(records + i * type.width);
      const auto behind = std::partition_point(splitters.begin(), splitters.end(), [&](const Splitter& s) {
        return std::tie(s.order, s.rank, s.index) <= std::make_tuple(order, rank, first + i);
      });
      part[i] = static_cast<std::uint16_t>(behind - splitters.begin());
    }
  });
}

}  // namespace hocket
