#include "core/algorithms/irregular/shop_phases.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace hocket::algorithms {

Shop::Shop(const TrafficMatrix& matrix, std::uint64_t unit)
    : jobs_(2 * std::size_t{matrix.ranks()}), load_(jobs_.size(), 0) {
  matrix.each([&](Rank src, Rank dst, std::uint64_t bytes) {
    const auto job = static_cast<std::uint32_t>(ends_.size());
    ends_.push_back({src, matrix.ranks() + dst});
    size_.push_back((bytes - 1) / unit + 1);
    for (const std::uint32_t end : ends_.back()) {
      jobs_[end].push_back(job);
      load_[end] += size_.back();
      time_ = std::max(time_, load_[end]);
    }
  });
  left_ = size_;
}

void Shop::work(std::uint32_t job, std::uint64_t units) {
  left_[job] -= units;
  for (const std::uint32_t end : ends_[job]) load_[end] -= units;
}

void Shop::clear() {
  for (auto& jobs : jobs_) std::erase_if(jobs, [&](std::uint32_t job) { return left_[job] == 0; });
}

ShopPhases::ShopPhases(const Shop& shop)
    : shop_(shop),
      job_(shop.vertices(), none),
      via_(shop.vertices(), none),
      seen_(shop.vertices(), 0),
      order_(shop.vertices()) {}

void ShopPhases::match(std::uint32_t job) { job_[shop_.src(job)] = job_[shop_.dst(job)] = job; }
void ShopPhases::unmatch(std::uint32_t job) { job_[shop_.src(job)] = job_[shop_.dst(job)] = none; }

/// Breadth first along alternating paths, to a vertex that is free or may stop working. Those that had work
/// on the other side keep some, and so do those on this side that must.
bool ShopPhases::find_work(std::uint32_t vertex) {
  ++searches_;
  queue_.assign(1, vertex);
  for (std::size_t i = 0; i < queue_.size(); ++i)
    for (const bool whole : {true, false})  // rather jobs that need no split
      for (const std::uint32_t job : shop_.jobs(queue_[i])) {
        if (ends_in_phase(job) != whole || shop_.lasts(job) < length_) continue;
        std::uint32_t partner = shop_.other_end(job, queue_[i]);
        if (seen_[partner] == searches_) continue;
        seen_[partner] = searches_;
        via_[partner] = job;
        if (const std::uint32_t before = job_[partner]; before != none) {
          const std::uint32_t rival = shop_.other_end(before, partner);
          if (must_work(rival)) {
            queue_.push_back(rival);
            continue;
          }
          job_[rival] = none;
        }
        for (;;) {
          const std::uint32_t worker = shop_.other_end(via_[partner], partner), before = job_[worker];
          match(via_[partner]);
          if (worker == vertex) return true;
          partner = shop_.other_end(before, worker);
        }
      }
  return false;
}

bool ShopPhases::find_work_for_all() {
  for (std::uint32_t vertex = 0; vertex < shop_.vertices(); ++vertex)
    if (job_[vertex] == none && must_work(vertex) && !find_work(vertex)) return false;
  return true;
}

/// Starts from the matching of the last question. A longer phase needs more vertices and allows fewer jobs.
bool ShopPhases::possible(std::uint64_t length) {
  length_ = length;
  for (const std::uint32_t job : job_)
    if (job != none && shop_.lasts(job) < length) unmatch(job);
  return find_work_for_all();
}

/// The longest possible duration of a phase with the present matching.
std::uint64_t ShopPhases::limit() const {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t vertex = 0; vertex < shop_.vertices(); ++vertex)
    limit = std::min(limit, job_[vertex] == none ? shop_.slack(vertex) : shop_.lasts(job_[vertex]));
  return limit;
}

/// Length 1 is always possible; no phase lasts longer than the largest job.
std::uint64_t ShopPhases::longest() {
  std::uint64_t largest = 0;
  for (std::uint32_t sender = 0; shop_.is_sender(sender); ++sender)
    for (const std::uint32_t job : shop_.jobs(sender)) largest = std::max(largest, shop_.left(job));
  std::uint64_t low = 0, high = largest + 1;
  std::uint64_t guess = std::clamp<std::uint64_t>(length_, 1, largest);
  while (high - low > std::max<std::uint64_t>(1, low / 128)) {
    if (possible(guess)) {
      low = std::min(std::max(guess, limit()), largest);
      guess = std::min(low + std::max<std::uint64_t>(1, low / 16), high - 1);
    } else {
      high = guess;
      guess = low + (high - low) / 2;
    }
  }
  return low;
}

/// The largest job that ends in the phase: it leaves the least time unused. Those that must work and have
/// none such take the largest of all, whose rest may fill a phase later.
void ShopPhases::choose_job(std::uint32_t vertex) {
  std::uint32_t best = none;
  for (const std::uint32_t job : shop_.jobs(vertex)) {
    if (job_[shop_.other_end(job, vertex)] != none || shop_.lasts(job) < length_) continue;
    if (!ends_in_phase(job) && !must_work(vertex)) continue;
    const auto rank = [&](std::uint32_t j) { return std::pair(ends_in_phase(j), shop_.left(j)); };
    if (best == none || rank(job) > rank(best)) best = job;
  }
  if (best != none) match(best);
}

void ShopPhases::choose_jobs() {
  std::ranges::fill(job_, none);
  std::iota(order_.begin(), order_.end(), 0u);
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t vertex) { return shop_.slack(vertex); });
  for (const std::uint32_t vertex : order_)
    if (job_[vertex] == none) choose_job(vertex);
  find_work_for_all();
}

std::uint64_t ShopPhases::next() {
  length_ = longest();
  choose_jobs();
  std::uint64_t used = 0;
  for (std::uint32_t sender = 0; shop_.is_sender(sender); ++sender)
    if (job_[sender] != none) used = std::max(used, std::min(length_, shop_.left(job_[sender])));
  return used;
}

}  // namespace hocket::algorithms
