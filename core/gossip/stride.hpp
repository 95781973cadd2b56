#pragma once
/// StrideGos: gossip on rings and tori for networks whose channels may be shared by messages of one
/// step. A step costs r and its largest channel load, so everyone may send far at the same time.
///
/// Every processor does the same: if one holds the items of processors at offsets H, all do. A step
/// with stride s sends along an axis, both ways, what the processors s places away lack. Far strides
/// go first, while there is little to send.
#include <cstdint>
#include <vector>

#include "core/gossip/steps.hpp"

namespace hocket::gossip {

/// Items are cut into as many colours as there are axes longer than 1.
struct StrideStep {
  static constexpr std::int32_t every_axis = -1;

  std::vector<std::uint32_t> strides;  ///< per axis; 0: nothing is sent along it
  /// every_axis: all colours go along all axes. Else the c-th colour goes along the (c + turn)-th
  /// axis, modulo their number, of those longer than 1.
  std::int32_t turn = every_axis;

  bool operator==(const StrideStep&) const = default;
};

struct StridePlan {
  std::vector<std::uint32_t> sides;
  std::vector<StrideStep> steps;
  double volume = 0;  ///< sum over steps of the largest channel load

  [[nodiscard]] double time(double r) const { return static_cast<double>(steps.size()) * r + volume; }
};

/// The volume of a plan, whatever plan.volume says; negative if not everything reaches everyone.
/// Throws InputError for strides that no axis has.
[[nodiscard]] double stride_volume(const StridePlan& plan);

/// Throws InputError if not everything reaches everyone, or if there are too many parcels for memory.
[[nodiscard]] Steps build_stride(const StridePlan& plan);

/// Default effort of a search, in operations on words of memory: about 1 ms per million.
inline constexpr std::uint64_t default_effort = 60'000'000;

/// The best plan found for this r. Deterministic: it counts its effort and looks at no clock.
[[nodiscard]] StridePlan search_stride(const std::vector<std::uint32_t>& sides, double r,
                                       std::uint64_t effort = default_effort);

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
