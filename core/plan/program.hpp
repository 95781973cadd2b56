#pragma once
/// Program of one rank: its sends in order, the tokens each waits for, and the ranks to release when a message has come
/// in.
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/demand/demand.hpp"
#include "core/plan/binary.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

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

/// A token: the receiver of an earlier transfer tells the sender of a later one to go.
struct Release {
  Rank rank = 0;           ///< rank that waits
  std::uint32_t send = 0;  ///< index of the send that waits, counted from 0
  bool operator==(const Release&) const = default;
};

struct RankProgram {
  struct Send {
    Rank dst = 0;
    std::uint64_t phase = 0;
    LeanVector<Piece> pieces;  ///< in this order; none: the whole message from sender to receiver
    LeanVector<Rank> tokens;   ///< releasers; the rank itself where its own receive is awaited
    bool operator==(const Send&) const = default;
  };
  struct Receive {
    Rank src = 0;
    std::uint64_t phase = 0;
    LeanVector<Piece> pieces;
    LeanVector<Release> releases;
    bool operator==(const Receive&) const = default;
  };
  std::vector<Send> sends;        ///< sorted by phase
  std::vector<Receive> receives;  ///< sorted by phase
  bool operator==(const RankProgram&) const = default;
};

/// The programs of all ranks, made one at a time: together they take many times the memory of the schedule.
class RankPrograms {
 public:
  /// Schedule and waits must outlive it. `only`: no other rank will be asked for. Throws InputError for transfers
  /// between ranks that there are not, and for waits of another schedule.
  RankPrograms(const Schedule& schedule, const Waits& waits, std::optional<Rank> only = {});

  [[nodiscard]] RankProgram of(Rank rank) const;

 private:
  [[nodiscard]] LeanVector<Piece> pieces(std::uint32_t transfer) const;

  const Schedule& schedule_;
  const Waits& waits_;
  std::vector<std::uint32_t> phase_, send_place_;  ///< per transfer; the place among its sender's
  Grouped sends_, receives_;                       ///< transfers, per rank
  Grouped released_;                               ///< transfers that wait for one
};

[[nodiscard]] std::vector<RankProgram> rank_programs(const Schedule& schedule, const Waits& waits);
[[nodiscard]] RankProgram rank_program(const Schedule& schedule, const Waits& waits, Rank rank);

/// The rank's program, computed from a closed form; it equals that of the whole schedule with its waits for window 1.
/// O(n) memory for n ranks, and time by the routes.
[[nodiscard]] RankProgram rank_program(const Network& network, const ClosedForm& form, Rank rank);

/// Facts of the header that are needed to decode rank programs.
struct ProgramForm {
  const Demand& demand;  ///< without its matrix
  std::uint64_t phases = 0;
  bool direct = true;  ///< every transfer is a whole message from origin to target
};

[[nodiscard]] Bytes encode_program(const RankProgram& program, bool direct);
/// Throws PlanProblem for what is no program, and for transfers that the header's demand does not have; whether the
/// programs of all ranks agree is checked when all are read.
[[nodiscard]] RankProgram decode_program(ByteView bytes, const ProgramForm& form);

}  // namespace hocket
