#pragma once
/// Sets of offsets in a torus, as bits. If every processor v holds the items of v + h for all h in a
/// set, one set describes them all.
#include <cstdint>
#include <vector>

#include "core/gossip/steps.hpp"

namespace hocket::gossip {

using Bits = std::vector<std::uint64_t>;

class OffsetSpace {
 public:
  explicit OffsetSpace(std::vector<std::uint32_t> sides);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] Bits origin() const;  ///< the set of offset 0
  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::uint32_t axes() const { return static_cast<std::uint32_t>(sides_.size()); }

  /// out ∪= in + s e_axis, 0 < s < side.
  void add_shifted(Bits& out, const Bits& in, std::uint32_t axis, std::uint32_t s);
  /// out ∪= in ± s e_axis
  void add_both(Bits& out, const Bits& in, std::uint32_t axis, std::uint32_t s);

 private:
  const Bits& at_least(std::uint32_t axis, std::uint32_t s);

  std::vector<std::uint32_t> sides_, strides_;
  std::uint32_t size_ = 1;
  std::uint64_t words_ = 0;
  std::vector<std::vector<Bits>> at_least_;  ///< per axis and s: offsets whose coordinate is s or more
};

[[nodiscard]] std::uint32_t count(const Bits& bits);

}  // namespace hocket::gossip
