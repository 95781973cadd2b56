#pragma once
/// The MPI call that the program is in.

namespace hocket::runtime {

/// One call of this thread, by its name, while this lives.
class Called {
 public:
  explicit Called(const char* name) { now_ = name; }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;
  ~Called() { now_ = nullptr; }

  [[nodiscard]] static const char* now() { return now_ != nullptr ? now_ : "an exchange"; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit const char* now_ = nullptr;
};

}  // namespace hocket::runtime
