#pragma once
/// Memory for many elements.
#include <cstddef>
#include <utility>

namespace hocket::sort {

/// Memory of this process, in huge pages where the system has them: elements that go to thousands of places need an
/// address translation each. Not initialised.
class PrivateMemory {
 public:
  PrivateMemory() = default;
  /// Throws std::bad_alloc.
  explicit PrivateMemory(std::size_t bytes);
  PrivateMemory(PrivateMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        dropped_(std::exchange(other.dropped_, 0)) {}
  PrivateMemory& operator=(PrivateMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(dropped_, other.dropped_);
    return *this;
  }
  ~PrivateMemory();

  /// Forgets the first bytes; they are given back with the rest.
  void drop_front(std::size_t bytes) {
    if (bytes == 0) return;
    data_ += bytes;
    bytes_ -= bytes;
    dropped_ += bytes;
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;  ///< null: no bytes
  std::size_t bytes_ = 0, dropped_ = 0;
};

}  // namespace hocket::sort
