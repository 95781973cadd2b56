#pragma once
/// A vector in the room of a pointer.
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace hocket {

/// For millions of lists, most of them empty or of one element: size and capacity stand before the elements.
template <class T>
class LeanVector {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);

 public:
  using value_type = T;

  LeanVector() = default;
  template <std::forward_iterator It>
  LeanVector(It first, It last) {
    reserve(static_cast<std::size_t>(std::distance(first, last)));
    for (; first != last; ++first) push_back(*first);
  }
  LeanVector(std::initializer_list<T> items) : LeanVector(items.begin(), items.end()) {}
  LeanVector(const LeanVector& other) : LeanVector(other.begin(), other.end()) {}
  LeanVector(LeanVector&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  LeanVector& operator=(LeanVector other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~LeanVector() { ::operator delete(head_); }

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return head_ == nullptr ? 0 : head_->size; }
  [[nodiscard]] T* begin() { return items(); }
  [[nodiscard]] T* end() { return items() + size(); }
  [[nodiscard]] const T* begin() const { return items(); }
  [[nodiscard]] const T* end() const { return items() + size(); }
  [[nodiscard]] const T& front() const { return *begin(); }

  void reserve(std::size_t count) {
    if (count <= capacity()) return;
    if (count > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("a LeanVector has too many elements");
    Head* const head = new (::operator new(sizeof(Head) + count * sizeof(T)))
        Head{static_cast<std::uint32_t>(size()), static_cast<std::uint32_t>(count)};
    std::uninitialized_copy(begin(), end(), reinterpret_cast<T*>(head + 1));
    ::operator delete(std::exchange(head_, head));
  }
  void push_back(T item) {
    if (size() == capacity()) reserve(std::max<std::size_t>(1, 2 * size()));
    new (end()) T(item);
    ++head_->size;
  }

  bool operator==(const LeanVector& other) const { return std::ranges::equal(*this, other); }
  auto operator<=>(const LeanVector& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  struct alignas(8) Head {
    std::uint32_t size = 0, capacity = 0;
  };

  [[nodiscard]] std::size_t capacity() const { return head_ == nullptr ? 0 : head_->capacity; }
  [[nodiscard]] T* items() const { return head_ == nullptr ? nullptr : reinterpret_cast<T*>(head_ + 1); }

  Head* head_ = nullptr;
};

}  // namespace hocket
