/// Messages of different sizes where only the ports matter: a preemptive open shop (Gonzalez and Sahni, 1976),
/// or the decomposition of a matrix of bytes into matchings with lengths (Birkhoff and von Neumann). The total
/// of the lengths is the largest row or column sum, or a little more with far fewer pieces.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/algorithms/registry.hpp"
#include "core/algorithms/shared/phase_writer.hpp"

namespace hocket::algorithms {

namespace {

/// The jobs of an open shop, in units of time: messages between senders, the vertices 0 … n - 1, and
/// receivers, n … 2n - 1. No vertex has more work than there is time: then a schedule exists that keeps to
/// the time (Gonzalez and Sahni, "Open shop scheduling to minimize finish time", 1976).
class Shop {
 public:
  /// Sizes are rounded up to units of `unit` bytes.
  Shop(const TrafficMatrix& matrix, std::uint64_t unit)
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

  void work(std::uint32_t job, std::uint64_t units) {
    left_[job] -= units;
    for (const std::uint32_t end : ends_[job]) load_[end] -= units;
  }
  void pass(std::uint64_t units) { time_ -= units; }
  /// Forgets the jobs that are done.
  void clear() {
    for (auto& jobs : jobs_) std::erase_if(jobs, [&](std::uint32_t job) { return left_[job] == 0; });
  }

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

  explicit ShopPhases(const Shop& shop)
      : shop_(shop),
        job_(shop.vertices(), none),
        via_(shop.vertices(), none),
        seen_(shop.vertices(), 0),
        order_(shop.vertices()) {}

  /// Chooses the next phase; returns its length in units, at least 1 while there is work. The longest phase
  /// there is, to within 1 %: long phases finish most jobs that they begin.
  std::uint64_t next() {
    length_ = longest();
    choose_jobs();
    std::uint64_t used = 0;
    for (std::uint32_t sender = 0; shop_.is_sender(sender); ++sender)
      if (job_[sender] != none) used = std::max(used, std::min(length_, shop_.left(job_[sender])));
    return used;
  }

  /// The job of a vertex in the phase, or none.
  [[nodiscard]] std::uint32_t job(std::uint32_t vertex) const { return job_[vertex]; }

 private:
  [[nodiscard]] bool must_work(std::uint32_t vertex) const { return shop_.slack(vertex) < length_; }
  [[nodiscard]] bool ends_in_phase(std::uint32_t job) const { return shop_.left(job) <= length_; }
  void match(std::uint32_t job) { job_[shop_.src(job)] = job_[shop_.dst(job)] = job; }
  void unmatch(std::uint32_t job) { job_[shop_.src(job)] = job_[shop_.dst(job)] = none; }
  /// Breadth first along alternating paths, to a vertex that is free or may stop working. Those that had work
  /// on the other side keep some, and so do those on this side that must.
  bool find_work(std::uint32_t vertex) {
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

  bool find_work_for_all() {
    for (std::uint32_t vertex = 0; vertex < shop_.vertices(); ++vertex)
      if (job_[vertex] == none && must_work(vertex) && !find_work(vertex)) return false;
    return true;
  }

  /// Starts from the matching of the last question. A longer phase needs more vertices and allows fewer jobs.
  bool possible(std::uint64_t length) {
    length_ = length;
    for (const std::uint32_t job : job_)
      if (job != none && shop_.lasts(job) < length) unmatch(job);
    return find_work_for_all();
  }

  /// The longest possible duration of a phase with the present matching.
  [[nodiscard]] std::uint64_t limit() const {
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t vertex = 0; vertex < shop_.vertices(); ++vertex)
      limit = std::min(limit, job_[vertex] == none ? shop_.slack(vertex) : shop_.lasts(job_[vertex]));
    return limit;
  }

  /// Length 1 is always possible; no phase lasts longer than the largest job.
  [[nodiscard]] std::uint64_t longest() {
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

  void choose_jobs() {
    std::ranges::fill(job_, none);
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t vertex) { return shop_.slack(vertex); });
    for (const std::uint32_t vertex : order_)
      if (job_[vertex] == none) choose_job(vertex);
    find_work_for_all();
  }

  /// The largest job that ends in the phase: it leaves the least time unused. Those that must work and have
  /// none such take the largest of all, whose rest may fill a phase later.
  void choose_job(std::uint32_t vertex) {
    std::uint32_t best = none;
    for (const std::uint32_t job : shop_.jobs(vertex)) {
      if (job_[shop_.other_end(job, vertex)] != none || shop_.lasts(job) < length_) continue;
      if (!ends_in_phase(job) && !must_work(vertex)) continue;
      const auto rank = [&](std::uint32_t j) { return std::pair(ends_in_phase(j), shop_.left(j)); };
      if (best == none || rank(job) > rank(best)) best = job;
    }
    if (best != none) match(best);
  }

  const Shop& shop_;
  std::uint64_t length_ = 0;
  std::vector<std::uint32_t> job_;   ///< per vertex
  std::vector<std::uint32_t> via_;   ///< per vertex: the job by which the search came to it
  std::vector<std::uint64_t> seen_;  ///< per vertex: the last search that came to it
  std::uint64_t searches_ = 0;
  std::vector<std::uint32_t> queue_, order_;
};

constexpr std::uint64_t most_pieces_exact = 3;  // per message
constexpr std::uint64_t tolerance = 100;        // coarse units may take this part of the time more

/// The schedule in units of so many bytes, none left over; none if that takes more than `most_pieces`.
std::optional<Schedule> in_units(const Demand& demand, std::uint64_t unit, std::uint64_t most_pieces) {
  Shop shop(demand.matrix, unit);
  ShopPhases phases(shop);
  PhaseWriter writer(demand);
  for (std::uint64_t pieces = 0; shop.time() > 0;) {
    const std::uint64_t length = phases.next();
    for (std::uint32_t sender = 0; shop.is_sender(sender); ++sender) {
      const std::uint32_t job = phases.job(sender);
      if (job == ShopPhases::none) continue;
      if (++pieces > most_pieces) return std::nullopt;
      const Rank dst = shop.dst(job) - demand.ranks;
      const std::uint64_t offset = shop.done(job) * unit, units = std::min(length, shop.left(job));
      const std::uint64_t bytes = demand.matrix.size(sender, dst);
      writer.send(sender, dst, offset, std::min(units * unit, bytes - offset));
      shop.work(job, units);
    }
    shop.pass(length);
    shop.clear();
    writer.end_phase();
  }
  return writer.finish();
}

/// The largest unit, doubling from `least`, with which rounding up costs no more than the tolerance.
std::uint64_t coarse_unit(const Demand& demand, std::uint64_t least) {
  const std::uint64_t time = Shop(demand.matrix, least).time() * least, most = time + time / tolerance;
  std::uint64_t unit = least;
  while (Shop(demand.matrix, 2 * unit).time() <= most / (2 * unit)) unit *= 2;
  return unit;
}

}  // namespace

/// The exact time first, in units of the greatest common divisor. As soon as no rank has slack, sizes that
/// have little in common make ever shorter phases, which move few bytes and split everything. Where that comes
/// to more than two splits per message, coarser units take a fraction of them, for a hundredth more time.
static Schedule make_open_shop(const Network&, const Demand& demand, const AlgorithmOptions&) {
  std::uint64_t divisor = 0;
  demand.matrix.each([&](Rank, Rank, std::uint64_t bytes) { divisor = std::gcd(divisor, bytes); });
  if (divisor == 0) return PhaseWriter(demand).finish();
  if (auto exact = in_units(demand, divisor, most_pieces_exact * demand.messages())) return *std::move(exact);
  return *in_units(demand, coarse_unit(demand, divisor), std::numeric_limits<std::uint64_t>::max());
}

constinit const Algorithm open_shop{
    .pattern = Pattern::irregular,
    .name = "open-shop",
    .summary = "phases of just the right lengths where only the ports matter",
    .source = "Gonzalez and Sahni; Birkhoff and von Neumann; longest phase first: own",
    .make = make_open_shop,
    .guarantee =
        "exactly the largest row or column sum if that takes at most two splits per message, at most 1 % above it "
        "otherwise",
};

}  // namespace hocket::algorithms
