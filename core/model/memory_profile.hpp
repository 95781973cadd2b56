#pragma once
/// Measured costs of memory operations and messages on a machine (`hocket calibrate memory`).
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket {

/// The operations that are measured. Private memory lies in huge pages where the system has them, memory that ranks
/// share mostly does not; hence two figures where a kernel works on either.
enum class Work : std::uint8_t {
  copy,            ///< 1C1
  strided_read,    ///< sC1
  strided_write,   ///< 1Cs
  gather,          ///< wC1
  scatter,         ///< 1Cw
  shared_gather,   ///< wS0 || Nadp || 0R1 within a host: fetched from all ranks' parts of shared memory
  shared_scatter,  ///< 1S0 || Nadp || 0Rw within a host: put into all ranks' parts of shared memory
  pull,            ///< runs of `parts` bytes from all ranks' parts of shared memory into private memory
  count,           ///< count_digits() into `parts` buckets
  partition,       ///< partition() by a digit into `parts` buckets of shared memory
  divide,          ///< partition() by given parts into shared memory
  classify,        ///< classify() by `parts` splitters
  scan,            ///< bucket counts added up
  route,           ///< positions counted by `parts` regions
  split,           ///< elements and their places divided among `parts` ranks
  sort,            ///< sort_records()
  library_sort,    ///< keys that nothing goes with, by the sort of numpy
  pack,            ///< keys and payload from two arrays into records
  touch,           ///< a byte of fresh private memory written for the first time
  shared_touch,    ///< a byte of fresh shared memory written for the first time
  message,         ///< a byte of an MPI message of `bytes` to another rank of the host
  meet,            ///< all ranks of the host wait for each other
  collective,      ///< MPI_Allreduce of one number
};
inline constexpr std::size_t works = 23;
[[nodiscard]] const char* name(Work work);

/// Conditions under which a figure holds. A dimension of no use for a work is 1.
struct WorkShape {
  std::uint32_t ranks = 1;  ///< ranks of the host that do the same at the same time
  std::uint32_t width = 1;  ///< bytes of an element
  std::uint64_t parts = 1;  ///< buckets, splitters, or bytes of a run
  std::uint64_t bytes = 1;  ///< memory that one rank works through, or that its indices reach
  bool operator==(const WorkShape&) const = default;
  auto operator<=>(const WorkShape&) const = default;
};

struct WorkFigure {
  Work work;
  WorkShape shape;
  double seconds;  ///< per element; of copy, pull, touch and message per byte; of meet and collective per call
};

/// Network between hosts: each has one wire, which its ranks share.
struct Wire {
  double rate = 125e6;     ///< bytes/s
  double latency = 50e-6;  ///< s, of a small message
};

/// Figures of every work. Between measured shapes they are interpolated on logarithmic scales; beyond them the
/// nearest holds, except that wider elements take as much longer as they are wider, and that ranks beyond the
/// cores take turns.
class MemoryProfile {
 public:
  /// Throws InputError unless there is a figure of every work, all of them positive, and none twice.
  MemoryProfile(std::string origin, std::uint32_t cores, Wire wire, std::vector<WorkFigure> figures);

  /// Parses the text form (docs/formats.md). Throws InputError that names the line.
  [[nodiscard]] static MemoryProfile parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  /// Serves where nothing has been calibrated: rough estimates for a virtual server with two cores.
  [[nodiscard]] static const MemoryProfile& built_in();

  [[nodiscard]] double seconds(Work work, const WorkShape& shape) const;
  [[nodiscard]] const std::string& origin() const { return origin_; }  ///< machine and date, one line
  [[nodiscard]] std::uint32_t cores() const { return cores_; }         ///< cores of the host
  [[nodiscard]] const Wire& wire() const { return wire_; }
  [[nodiscard]] std::span<const WorkFigure> figures() const { return figures_; }  ///< sorted by work and shape

 private:
  std::string origin_;
  std::uint32_t cores_;
  Wire wire_;
  std::vector<WorkFigure> figures_;
};

}  // namespace hocket
