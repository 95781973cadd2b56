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

/// For millions of lists, most of them empty or of one element: one element stands alone, more of them behind their
/// number.
template <class T>
class LeanVector {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8 && alignof(T) > 1);

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
  LeanVector(LeanVector&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
  LeanVector& operator=(LeanVector other) noexcept {
    std::swap(place_, other.place_);
    return *this;
  }
  ~LeanVector() { release(); }

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return alone() ? 1 : place_ == nullptr ? 0 : head()->size; }
  [[nodiscard]] T* begin() { return items(); }
  [[nodiscard]] T* end() { return items() + size(); }
  [[nodiscard]] const T* begin() const { return items(); }
  [[nodiscard]] const T* end() const { return items() + size(); }
  [[nodiscard]] const T& front() const { return *begin(); }

  void reserve(std::size_t count) {
    if (count <= std::max<std::size_t>(capacity(), 1)) return;
    if (count > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("a LeanVector has too many elements");
    auto* const place = static_cast<std::byte*>(::operator new(sizeof(Head) + count * sizeof(T)));
    new (place) Head{static_cast<std::uint32_t>(size()), static_cast<std::uint32_t>(count)};
    std::uninitialized_copy(begin(), end(), reinterpret_cast<T*>(place + sizeof(Head)));
    release();
    place_ = place;
  }
  void push_back(T item) {
    if (place_ == nullptr) {
      place_ = reinterpret_cast<std::byte*>(new (::operator new(sizeof(T))) T(item)) + 1;
      return;
    }
    if (size() == capacity()) reserve(2 * size());
    new (end()) T(item);
    ++head()->size;
  }

  bool operator==(const LeanVector& other) const { return std::ranges::equal(*this, other); }
  auto operator<=>(const LeanVector& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  struct alignas(8) Head {
    std::uint32_t size = 0, capacity = 0;
  };

  /// The address of an element that stands alone is kept odd, by one too high.
  [[nodiscard]] bool alone() const { return reinterpret_cast<std::uintptr_t>(place_) % 2 == 1; }
  [[nodiscard]] Head* head() const { return reinterpret_cast<Head*>(place_); }
  [[nodiscard]] std::size_t capacity() const { return alone() ? 1 : place_ == nullptr ? 0 : head()->capacity; }
  [[nodiscard]] T* items() const {
    if (place_ == nullptr) return nullptr;
    return reinterpret_cast<T*>(alone() ? place_ - 1 : place_ + sizeof(Head));
  }
  void release() { ::operator delete(alone() ? place_ - 1 : place_); }

  std::byte* place_ = nullptr;
};

}  // namespace hocket
