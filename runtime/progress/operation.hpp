#pragma once
/// An asynchronously progressed collective.
#include <cstdint>

namespace hocket::runtime {

/// A collective that makes progress in steps. It can begin again when it is over.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void begin() = 0;  ///< packs and posts what it can; does not block
  /// Moves what can be moved; true when everything is over (received data in place). Never blocks.
  [[nodiscard]] virtual bool advance() = 0;
  /// Grows when advance() moved something: who waits then tries again before he sleeps.
  [[nodiscard]] virtual std::uint64_t moves() const { return 0; }
  /// Waits until advance() may have something to do, or for some milliseconds, without taking the processor; false: it
  /// knows no better way than to look now and then. There is nothing else to move.
  [[nodiscard]] virtual bool wait() { return false; }
  /// The rank is about to wait inside the MPI library, where nobody advances this: hands over all that
  /// is left, so that the other ranks can finish. advance() goes on afterwards.
  virtual void post_remaining() = 0;
  /// It takes longer than it may: from here on it waits for no rank's turn, only for bytes. Where nothing can be done
  /// about it nothing changes.
  virtual void give_up_order() {}
  /// True if other ranks can finish without this rank's advancing the operation. False, even after post_remaining(),
  /// while this rank must still forward data that has not arrived.
  [[nodiscard]] virtual bool handed_over() const = 0;
};

}  // namespace hocket::runtime
