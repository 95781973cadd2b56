#pragma once
/// One phase of a preemptive open shop: who sends to whom, and for how long.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/demand/traffic_matrix.hpp"

namespace hocket::algorithms {

/// The jobs of an open shop, in units of time: messages between senders, the vertices 0 … n - 1, and
/// receivers, n … 2n - 1. No vertex has more work than there is time: then a schedule exists that keeps to
/// the time (Gonzalez and Sahni, "Open shop scheduling to minimize finish time", 1976).
class Shop {
 public:
  /// Sizes are rounded up to units of `unit` bytes.
  Shop(const TrafficMatrix& matrix, std::uint64_t unit);

  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(load_.size()); }
  [[nodiscard]] bool is_sender(std::uint32_t vertex) const { return vertex < vertices() / 2; }
  /// Units until the end, at first the largest load of a vertex.
  [[nodiscard]] std::uint64_t time() const { return time_; }
  /// Jobs of a vertex that are not done.
  [[nodiscard]] std::span<const std::uint32_t> jobs(std::uint32_t vertex) const { return jobs_[vertex]; }
  [[nodiscard]] std::uint32_t src(std::uint32_t job) const { return ends_[job][0]; }
  [[nodiscard]] std::uint32_t dst(std::uint32_t job) const { return ends_[job][1]; }
  [[nodiscard]] std::uint32_t other_end(std::uint32_t job, std::uint32_t vertex) const {
    return ends_[job][ends_[job][0] == vertex ? 1 : 0];
  }
  /// Units of a job that are left, and done.
  [[nodiscard]] std::uint64_t left(std::uint32_t job) const { return left_[job]; }
  [[nodiscard]] std::uint64_t done(std::uint32_t job) const { return size_[job] - left_[job]; }
  /// Units that a vertex may stay idle.
  [[nodiscard]] std::uint64_t slack(std::uint32_t vertex) const { return time_ - load_[vertex]; }
  /// The longest possible duration of a phase in which the job runs: until it is done and one of its ends has no more
  /// slack.
  [[nodiscard]] std::uint64_t lasts(std::uint32_t job) const {
    const auto [a, b] = ends_[job];
    return left_[job] + std::min(slack(a), slack(b));
  }

  void work(std::uint32_t job, std::uint64_t units);
  void pass(std::uint64_t units) { time_ -= units; }
  /// Forgets the jobs that are done.
  void clear();

 private:
  std::vector<std::array<std::uint32_t, 2>> ends_;
  std::vector<std::uint64_t> size_, left_;        ///< per job
  std::vector<std::vector<std::uint32_t>> jobs_;  ///< per vertex
  std::vector<std::uint64_t> load_;               ///< per vertex: units left
  std::uint64_t time_ = 0;
};

/// Finds for each phase a length and a matching that leave nobody with more work than time: a vertex whose
/// slack is shorter than the phase must work, for all of it but its slack.
class ShopPhases {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit ShopPhases(const Shop& shop);

  /// Chooses the next phase; returns its length in units, at least 1 while there is work. The longest phase
  /// there is, to within 1 %: long phases finish most jobs that they begin.
  std::uint64_t next();
  /// The job of a vertex in the phase, or none.
  [[nodiscard]] std::uint32_t job(std::uint32_t vertex) const { return job_[vertex]; }

 private:
  [[nodiscard]] bool must_work(std::uint32_t vertex) const { return shop_.slack(vertex) < length_; }
  [[nodiscard]] bool ends_in_phase(std::uint32_t job) const { return shop_.left(job) <= length_; }
  void match(std::uint32_t job);
  void unmatch(std::uint32_t job);
  bool find_work(std::uint32_t vertex);
  bool find_work_for_all();
  bool possible(std::uint64_t length);
  [[nodiscard]] std::uint64_t limit() const;
  [[nodiscard]] std::uint64_t longest();
  void choose_jobs();
  void choose_job(std::uint32_t vertex);

  const Shop& shop_;
  std::uint64_t length_ = 0;
  std::vector<std::uint32_t> job_;   ///< per vertex
  std::vector<std::uint32_t> via_;   ///< per vertex: the job by which the search came to it
  std::vector<std::uint64_t> seen_;  ///< per vertex: the last search that came to it
  std::uint64_t searches_ = 0;
  std::vector<std::uint32_t> queue_, order_;
};

}  // namespace hocket::algorithms
