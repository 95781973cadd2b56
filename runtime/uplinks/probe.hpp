#pragma once
/// Measures the bandwidth of pairs of ranks that exchange data at the same time.
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/mpi/mpi_call.hpp"

namespace hocket::runtime {

/// Duration and message size of a sample, equal on all ranks.
struct Sample {
  std::chrono::microseconds time;
  std::size_t message_bytes;

  /// Data that arrives earlier is not counted, since connections are opened and rates settle.
  [[nodiscard]] std::chrono::microseconds counted_from() const { return time / 4; }
  /// Nor is what arrives after: some pairs have begun earlier than others and stop earlier.
  [[nodiscard]] std::chrono::microseconds counted_to() const { return time - time / 6; }
  [[nodiscard]] std::chrono::duration<double> counted() const { return counted_to() - counted_from(); }
};

/// Memory for the messages of one rank.
class ProbeBuffers {
 public:
  /// Messages that a rank has under way at once, each way.
  static constexpr std::size_t depth = 4;
  static constexpr std::size_t most_message_bytes = std::size_t{1} << 20;

  ProbeBuffers() : memory_(std::make_unique_for_overwrite<std::byte[]>((depth + 1) * most_message_bytes)) {}
  [[nodiscard]] std::byte* outgoing() const { return memory_.get(); }
  [[nodiscard]] std::byte* incoming(std::size_t slot) const { return memory_.get() + (slot + 1) * most_message_bytes; }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

/// One rank's part of a sample: bytes to a partner and from it, both ways at once, for a given time and not for a given
/// amount, so that a pair which gets less than others does not go on alone at the end. Synchronous sends bound what is
/// under way.
class ProbeStream {
 public:
  ProbeStream(MPI_Comm comm, int partner, Sample sample, const ProbeBuffers& buffers);
  ProbeStream(const ProbeStream&) = delete;
  ProbeStream& operator=(const ProbeStream&) = delete;
  /// After an error: gives up what is under way.
  ~ProbeStream();

  /// A step; true when both sides have ended.
  [[nodiscard]] bool advance();
  [[nodiscard]] std::uint64_t moves() const { return moves_; }
  /// Bytes per second that came in.
  [[nodiscard]] std::uint64_t rate() const;

 private:
  using Clock = std::chrono::steady_clock;
  void send(std::size_t slot, Clock::duration since);
  void receive(std::size_t slot);
  void collect(std::size_t request, const MPI_Status& status, Clock::duration since);

  MPI_Comm comm_;
  int partner_;
  Sample sample_;
  const ProbeBuffers& buffers_;
  Clock::time_point begun_;
  std::array<MPI_Request, 2 * ProbeBuffers::depth> requests_;  ///< receives, then sends
  std::array<bool, ProbeBuffers::depth> last_sent_{};          ///< per send slot: the empty last message was sent
  std::uint64_t counted_ = 0, moves_ = 0;
};

/// Total bandwidth of all pairs in one direction, in bytes per second. `partner`: −1 on ranks without one. Collective
/// over `comm`, which must not be used for anything else meanwhile; exactly the same result on all ranks.
[[nodiscard]] std::uint64_t probe(MPI_Comm comm, int partner, Sample sample, const ProbeBuffers& buffers);

}  // namespace hocket::runtime
