#pragma once
/// A base for objects that keep results when the calls are over.
namespace hocket::runtime {

/// Tells and keeps what was learned, once: when MPI ends, or before, when its communicator does. Communicators that the
/// program never frees live until then.
class Keeper {
 public:
  Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// The calls are over.
  void end() noexcept;

 protected:
  /// Derived classes must call end() in their destructor: here it would be too late.
  ~Keeper();

 private:
  virtual void keep() const = 0;

  bool ended_ = false;
};

}  // namespace hocket::runtime
