#pragma once
/// How long calls took, as all ranks know it.
#include <mpi.h>

#include <deque>
#include <vector>

namespace hocket::runtime {

/// Durations on their way to the other ranks. All ranks note, post and collect at the same calls; nobody waits for a
/// rank that has not made its call yet, except in collect().
class AgreedCosts {
 public:
  AgreedCosts() = default;
  AgreedCosts(const AgreedCosts&) = delete;
  AgreedCosts& operator=(const AgreedCosts&) = delete;
  ~AgreedCosts() { drop(); }

  void note(double seconds) { noted_.push_back(seconds); }
  /// Sends what was noted since the last post: the least over the ranks counts, since the last to come waits for
  /// nobody.
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

  std::vector<double> noted_;
  std::deque<Post> posts_;
};

}  // namespace hocket::runtime
