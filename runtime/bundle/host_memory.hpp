#pragma once
/// Memory that the ranks of a host share.
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hocket::runtime {

/// Memory without a name: it lives as long as somebody has it, and nothing stays when ranks are killed. It needs no
/// /dev/shm, which containers often do not have, or only a little of. Others open it through /proc, which takes the
/// same user and the same process namespace.
class HostMemory {
 public:
  /// What the others need to open it.
  struct Handle {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t token = 0;  ///< written at its beginning: whoever finds another one has opened something else
  };

  /// For `ranks` ranks, `bytes` bytes beside what they tell each other. It takes memory where it is written to. Throws
  /// InputError where there is none.
  HostMemory(std::size_t ranks, std::size_t bytes);
  /// What another rank of this host has made. Throws InputError where it cannot be opened.
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
  [[nodiscard]] std::uint64_t next_call() { return ++calls_; }
  /// Rank `local` of the host has come to `stage`; stages grow.
  void arrive(std::size_t local, std::uint64_t stage);
  [[nodiscard]] bool all_at(std::uint64_t stage) const;
  /// The leader has finished a call.
  void complete(std::uint64_t call);
  [[nodiscard]] bool completed(std::uint64_t call) const;

 private:
  /// A cache line for each: ranks that wait look at others' often.
  struct alignas(64) Line {
    std::atomic<std::uint64_t> value;
  };
  enum : std::size_t { token_line, completed_line, first_rank_line };

  void map();

  Handle handle_;
  std::size_t ranks_, bytes_;
  std::uint64_t calls_ = 0;
  std::size_t mapped_ = 0;
  Line* lines_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace hocket::runtime
