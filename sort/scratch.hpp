#pragma once
/// Private memory for what a call keeps for itself, in huge pages where the system has them.
#include <cstddef>
#include <utility>

namespace hocket::runtime {

class Scratch {
 public:
  /// Zeros. Throws std::bad_alloc.
  explicit Scratch(std::size_t bytes);
  Scratch(Scratch&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  [[nodiscard]] std::byte* data() const { return memory_; }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(memory_);
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
};

}  // namespace hocket::runtime
