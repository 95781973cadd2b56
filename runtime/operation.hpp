#pragma once
/// What the runtime moves while the program does something else.

namespace hocket::runtime {

/// A collective that makes progress in steps.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void begin() = 0;  ///< packs and posts what it can; does not block
  /// Moves what can be moved; true when everything is over (received data in place). Never blocks.
  [[nodiscard]] virtual bool advance() = 0;
};

}  // namespace hocket::runtime
