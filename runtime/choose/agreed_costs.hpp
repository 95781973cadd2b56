#pragma once
/// How long calls took, as all ranks know it.
#include <mpi.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace hocket::runtime {

/// Durations on their way to the other ranks. All ranks note, post and collect at the same calls; nobody waits for a
/// rank that has not made its call yet, except in collect().
class AgreedCosts {
 public:
  /// What a call cost, of its durations on the ranks.
  enum class Cost : std::uint8_t {
    least,  ///< where every rank gets something from every other: the last to come waits for nobody
    mean,   ///< elsewhere: a rank that few others wait for says little, all of them together do
  };
  explicit AgreedCosts(Cost cost = Cost::least) : cost_(cost) {}
  AgreedCosts(const AgreedCosts&) = delete;
  AgreedCosts& operator=(const AgreedCosts&) = delete;
  ~AgreedCosts() { drop(); }

  void note(double seconds) { noted_.push_back(seconds); }
  /// Sends what was noted since the last post.
  void post(MPI_Comm comm);
  [[nodiscard]] bool outstanding() const { return !posts_.empty(); }
  /// Waits for all posts and forgets them.
  void drop();
  /// Of the oldest post that has not been collected.
  [[nodiscard]] std::vector<double> collect();

 private:
  struct Post {
    std::vector<double> own, all;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Cost cost_;
  std::vector<double> noted_;
  std::deque<Post> posts_;
};

}  // namespace hocket::runtime
