#pragma once
/// Memory that the ranks of a host share.
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hocket::runtime {

/// Memory without a name: it lives as long as somebody has it, and nothing stays when ranks are killed. It needs no
/// /dev/shm, which containers often do not have, or only a little of. Others open it through /proc, which takes the
/// same user and the same process namespace.
class HostMemory {
 public:
  /// The data by which other ranks of the host open this memory.
  struct Handle {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t token = 0;  ///< written at its beginning: whoever finds another one has opened something else
  };

  /// For `ranks` ranks, `bytes` bytes beside what they tell each other. It takes memory where it is written to. Throws
  /// InputError where there is none.
  HostMemory(std::size_t ranks, std::size_t bytes);
  /// Maps memory made by another rank of this host. Throws InputError where it cannot be opened.
  HostMemory(const Handle& handle, std::size_t ranks, std::size_t bytes);
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  [[nodiscard]] Handle handle() const { return handle_; }
  /// All have opened it: from here on nobody else can.
  void seal();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Numbers the calls that use it, from 1 on. All ranks of the host make the same ones.
  [[nodiscard]] std::uint32_t next_call() { return ++calls_; }
  /// This rank has come to where all ranks of the host must come before any of them goes on.
  void arrive();
  [[nodiscard]] bool all_here() const;
  /// Publishes the digest of this rank's arguments before it arrives; the call fails unless all ranks give the same.
  /// Returns false if this digest differs from that of the first rank.
  bool give(std::uint32_t call, std::uint32_t digest, std::uint64_t bytes);
  /// The `bytes` that the first rank gave. Valid once all have arrived.
  [[nodiscard]] std::uint64_t given_bytes(std::uint32_t call) const { return header_->given_bytes[call % 2]; }
  /// All ranks of the host are to know, before the last of them arrives or the leader completes the call.
  void spoil(std::uint32_t call) { header_->spoilt[call % 2].store(call, std::memory_order_release); }
  [[nodiscard]] bool spoilt(std::uint32_t call) const {
    return header_->spoilt[call % 2].load(std::memory_order_acquire) == call;
  }
  /// The leader has finished a call.
  void complete(std::uint32_t call);
  [[nodiscard]] bool completed(std::uint32_t call) const;
  /// Sleep until all are here, or the call is completed; for `longest`, less than a second, at most.
  void await_all(std::chrono::microseconds longest) const;
  void await_completion(std::uint32_t call, std::chrono::microseconds longest) const;

 private:
  struct Header {
    std::atomic<std::uint64_t> token;
    alignas(64) std::atomic<std::uint32_t> arrivals;  ///< total over all ranks and barriers
    alignas(64) std::atomic<std::uint32_t> last_completed;
    // Two calls may be under way.
    alignas(64) std::atomic<std::uint64_t> given[2];  ///< the number of the call, and what the first rank gave
    std::uint64_t given_bytes[2];
    std::atomic<std::uint32_t> spoilt[2];  ///< number of the last call that was
  };

  [[nodiscard]] static std::size_t mapped(std::size_t bytes) { return sizeof(Header) + bytes; }
  void map();

  Handle handle_;
  std::size_t ranks_, bytes_;
  std::uint32_t calls_ = 0, places_ = 0;  ///< calls so far, and places where all had to come; they may wrap around
  Header* header_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace hocket::runtime
