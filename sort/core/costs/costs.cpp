#include "sort/core/costs/costs.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr double position_bytes = sizeof(std::int64_t);

/// Costs of the pieces that operations on distributed elements are made of, per rank, all ranks working at once.
class MemoryCosts {
 public:
  MemoryCosts(const MemoryProfile& profile, int ranks, int ranks_per_host)
      : profile_(profile), ranks_(std::max(ranks, 1)), host_ranks_(std::clamp(ranks_per_host, 1, ranks_)) {}

  [[nodiscard]] double ranks() const { return ranks_; }
  [[nodiscard]] double host_ranks() const { return host_ranks_; }
  /// The fraction of data sent evenly to all ranks that leaves the host.
  [[nodiscard]] double away() const { return 1 - host_ranks() / ranks(); }

  /// `elements` of `width` bytes that lie, or are reached, in `bytes`.
  [[nodiscard]] double work(Work kind, double elements, double width, double parts, double bytes) const {
    return elements * profile_.seconds(kind, {static_cast<std::uint32_t>(host_ranks_), whole<std::uint32_t>(width),
                                              whole<std::uint64_t>(parts), whole<std::uint64_t>(bytes)});
  }
  [[nodiscard]] double work(Work kind, double elements, double width, double parts = 1) const {
    return work(kind, elements, width, parts, elements * width);
  }
  [[nodiscard]] double copy(double bytes) const { return work(Work::copy, bytes, 1); }
  /// Bytes of fresh private memory, what writing them takes longer.
  [[nodiscard]] double touch(double bytes) const { return work(Work::touch, bytes, 1); }
  /// Bytes copied run by run from all ranks of the host.
  [[nodiscard]] double pull(double bytes, double run_bytes) const {
    return work(Work::pull, bytes, 1, run_bytes, bytes);
  }

  /// All ranks of the host wait for each other.
  [[nodiscard]] double meet() const { return work(Work::meet, 1, 1); }
  /// A small reduction or exchange among all ranks.
  [[nodiscard]] double collective() const {
    const double hosts = ranks() / host_ranks();
    return work(Work::collective, 1, 1) + (hosts > 1 ? std::ceil(std::log2(hosts)) * latency() : 0);
  }
  /// An all-to-all in which every rank sends `bytes` in all, evenly, through MPI within a host too.
  [[nodiscard]] double all_to_all(double bytes) const {
    const double each = bytes / ranks();
    return collective() + (host_ranks() - 1) * work(Work::message, each, 1, 1, each) + wire(bytes);
  }
  /// The part of `bytes` that leaves the host, over the wire that its ranks share.
  [[nodiscard]] double wire(double bytes) const {
    return away() > 0 ? away() * bytes * host_ranks() / profile_.wire().rate + latency() * (ranks() - host_ranks()) : 0;
  }

  /// After work of so many seconds, what a rank waits for the others of its host: those that share a core with it have
  /// taken turns, and end a turn apart.
  [[nodiscard]] double uneven(double seconds) const {
    constexpr double turn = 3e-3;  // time slice of Linux among few processes
    return (std::max(1.0, host_ranks() / profile_.cores()) - 1) * std::min(seconds, turn);
  }

  /// The grouped permute: `n` elements arrive in `runs` runs, but for those that are in their places already.
  [[nodiscard]] double deliver(double n, double width, double runs, double in_place = 0) const {
    const double waits = 2 * collective() + 2 * meet();
    if (n <= 0) return waits;
    constexpr double description = 3 * sizeof(std::uint64_t);
    const double bytes = n * width, run = bytes / std::clamp(runs, 1.0, n), remote = bytes * away();
    const double pulled = pull(bytes - remote - in_place * width, run);
    double seconds = waits + pulled + uneven(pulled) + pull(runs * description, description);
    // Between hosts: packed, sent, unpacked.
    if (remote > 0) seconds += 2 * collective() + 2 * pull(remote, run) + wire(bytes + runs * description);
    return seconds;
  }

 private:
  template <class Number>
  static Number whole(double value) {
    return static_cast<Number>(std::clamp(value, 1.0, 1e9 * 1e6));
  }
  [[nodiscard]] double latency() const { return profile_.wire().latency; }

  const MemoryProfile& profile_;
  int ranks_, host_ranks_;
};

constexpr double count_bytes = sizeof(std::uint64_t), sample_bytes = 3 * sizeof(std::uint64_t);
constexpr double large = 1 << 23;  ///< sort/mpi/sort/radix_sort.cpp
constexpr double part_bytes = sizeof(std::uint16_t);

/// The quantities per rank from which step costs are computed.
struct Sort {
  MemoryCosts costs;
  double n, width;
  bool payload, library;
  double bits;   ///< in which keys differ
  double fetch;  ///< seconds to fetch payload whose positions were sorted

  Sort(const MemoryProfile& profile, const SortShape& shape)
      : costs(profile, shape.ranks, shape.ranks_per_host),
        n(static_cast<double>(shape.elements) / costs.ranks()),
        width(static_cast<double>(shape.type.width)),
        payload(shape.type.width > key_bytes(shape.type.key)),
        library(shape.library_sort && !payload),
        bits(shape.order_bits),
        fetch(fetching(profile, shape)) {
    if (shape.type.width < key_bytes(shape.type.key)) throw InputError("records that are narrower than their key");
    if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a sort on no ranks");
  }

  /// Seconds to take the whole payload in random order into fresh memory.
  [[nodiscard]] double fetching(const MemoryProfile& profile, const SortShape& shape) const {
    if (shape.fetched == 0) return 0;
    const TakeShape rows{static_cast<std::uint32_t>(shape.fetched), shape.elements, shape.ranks, shape.ranks_per_host};
    return seconds(predict_take(profile, rows, shape.ranks_per_host >= shape.ranks)) +
           costs.touch(n * static_cast<double>(shape.fetched));
  }

  /// Seconds to sort `elements` of one rank whose keys differ in `different_bits` bits. Keys alone are sorted by
  /// another method than records; records were measured at 16 bytes, and narrower ones take about as long.
  [[nodiscard]] double local(double elements, double different_bits) const {
    constexpr double records = 16;
    return library ? costs.work(Work::library_sort, elements, width)
                   : costs.work(Work::sort, elements, payload ? std::max(width, records) : width, different_bits);
  }

  /// Seconds of one rank's sort in place, including its scratch space.
  [[nodiscard]] double alone() const {
    return local(n, bits) + (payload ? 1 : 2) * costs.touch(n * width) + (payload ? 0 : costs.copy(n * width));
  }

  /// The named steps, with those before and after the sort where there is payload.
  [[nodiscard]] std::vector<StepCost> named(std::span<const char* const> names, std::span<const double> seconds) const {
    std::vector<StepCost> steps;
    for (std::size_t i = 0; i < names.size(); ++i) steps.push_back({names[i], seconds[i]});
    if (payload) {
      const double pack = costs.work(Work::pack, n, width) + costs.touch(n * width);
      const double positions = fetch > 0 ? costs.touch(n * position_bytes) + costs.copy(n * position_bytes) : 0;
      steps.push_back({"pack", pack + positions});
      steps.push_back({"unpack", pack + costs.collective() + fetch});
    }
    return steps;
  }
};

using RadixSeconds = std::array<double, std::size(radix_steps)>;

void require(Digit digit) {
  if (digit.bits < 1 || digit.bits > most_digit_bits) throw InputError("a digit of no bits, or of too many");
}

/// The six steps for one digit. `in_place`: elements of each rank that are put where they belong without being sent.
void pass(const Sort& sort, Digit digit, RadixSeconds& step, double rounds = 1, double in_place = 0) {
  const auto& [costs, n, width, payload, library, bits, fetch] = sort;
  const double buckets = std::ldexp(1, static_cast<int>(digit.bits));
  const double counting = costs.work(Work::count, n, width, buckets);
  const double partition = costs.work(Work::partition, n, width, buckets);
  step[0] += counting;
  step[1] += costs.uneven(counting) + costs.all_to_all(buckets * count_bytes);
  step[2] += costs.collective() + costs.work(Work::scan, buckets, count_bytes);
  step[3] += costs.all_to_all(buckets * count_bytes);
  step[4] += costs.collective() + partition;
  step[5] += costs.uneven(partition) + costs.deliver(n, width, buckets * rounds, in_place) +
             (rounds - 1) * costs.deliver(0, width, 0);
}

}  // namespace

std::vector<StepCost> predict_radix(const MemoryProfile& profile, const SortShape& shape,
                                    std::span<const Digit> digits) {
  const Sort sort(profile, shape);
  for (const Digit& digit : digits) require(digit);
  RadixSeconds step{};
  if (shape.ranks == 1) {
    step[6] = sort.alone();
    return sort.named(radix_steps, step);
  }
  for (const Digit& digit : digits) pass(sort, digit, step);
  if (!sort.payload && !digits.empty()) step[5] += sort.costs.touch(sort.n * sort.width);  // else packed there before
  return sort.named(radix_steps, step);
}

std::vector<StepCost> predict_highest_first(const MemoryProfile& profile, const SortShape& shape, Digit highest) {
  const Sort sort(profile, shape);
  require(highest);
  const auto& [costs, n, width, payload, library, bits, fetch] = sort;
  RadixSeconds step{};
  if (shape.ranks == 1) {
    step[6] = sort.alone();
    return sort.named(radix_steps, step);
  }
  const double in_place = n / costs.ranks(), rounds = n * width > large ? 2 : 1;
  pass(sort, highest, step, rounds, in_place);
  step[4] += 2 * costs.collective() + costs.touch(in_place * width);  // where buckets begin, and room for them
  step[5] += costs.touch((n - in_place) * width);
  // Buckets of all ranks, of which each sorts its share.
  const double buckets = std::ldexp(1, static_cast<int>(highest.bits));
  const double each = std::max(1.0, n * costs.ranks() / buckets);
  step[6] = n / each * sort.local(each, std::max(1.0, bits - highest.bits));
  step[7] = costs.collective() + costs.uneven(step[6]) +
            costs.deliver(each / 2, width, 1);  // ranks begin half a bucket from where they should
  return sort.named(radix_steps, step);
}

RadixPlan by_all_digits(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying, unsigned bits) {
  RadixPlan plan{{digits_over(varying, bits), std::nullopt}, {}};
  plan.cost = predict_radix(profile, shape, plan.digits.all);
  return plan;
}

RadixPlan fastest_radix(const MemoryProfile& profile, const SortShape& shape, std::uint64_t varying) {
  RadixPlan best = by_all_digits(profile, shape, varying, most_digit_bits);
  const auto consider = [&](RadixPlan plan) {
    if (seconds(plan.cost) < seconds(best.cost)) best = std::move(plan);
  };
  for (unsigned bits = most_digit_bits - 1; bits >= 4; --bits) consider(by_all_digits(profile, shape, varying, bits));
  if (varying == 0) return best;
  const std::vector<Digit> all = best.digits.all;
  constexpr unsigned least_highest_bits = 8;  // so that buckets can be cut close to where ranks should begin
  for (unsigned bits = most_digit_bits; bits >= least_highest_bits; --bits) {
    const Digit highest = highest_digit(varying, bits);
    consider({{all, highest}, predict_highest_first(profile, shape, highest)});
  }
  return best;
}

std::vector<StepCost> predict_sample(const MemoryProfile& profile, const SortShape& shape, unsigned oversampling) {
  const Sort sort(profile, shape);
  const auto& [costs, n, width, payload, library, bits, fetch] = sort;
  double step[6] = {};
  if (shape.ranks == 1) {
    step[4] = sort.alone();
    return sort.named(sample_steps, step);
  }
  const double parts = costs.ranks();
  const double samples = std::min(n, (parts - 1) * oversampling);  // samples per rank
  const double all = samples * parts;
  step[0] = costs.work(Work::gather, samples, width, 1, n * width) + 2 * costs.collective() +
            costs.all_to_all(samples * sample_bytes);
  step[1] = costs.collective() + costs.work(Work::classify, all * std::log2(all + 1), count_bytes);  // comparisons
  step[2] = costs.work(Work::classify, n, width, parts - 1) + costs.touch(n * part_bytes) +
            costs.work(Work::divide, n, width, parts);
  step[3] = 4 * costs.collective() + costs.uneven(step[2]) + costs.touch(n * width) + costs.deliver(n, width, parts);
  step[4] = sort.local(n, bits);
  const double unevenness = parts > 1 ? 1 / std::sqrt(std::max(1.0, all / parts)) : 0;  // samples of a part
  step[5] = costs.collective() + costs.uneven(step[4]) + costs.deliver(n * unevenness, width, 1);
  return sort.named(sample_steps, step);
}

std::vector<StepCost> predict_take(const MemoryProfile& profile, const TakeShape& shape, bool chained) {
  if (shape.width < 1) throw InputError("elements of no bytes");
  if (shape.ranks < 1 || shape.ranks_per_host < 1) throw InputError("a take on no ranks");
  const MemoryCosts costs(profile, shape.ranks, shape.ranks_per_host);
  const double n = static_cast<double>(shape.elements) / costs.ranks(), width = shape.width;
  const double away = chained ? costs.away() : 1, asked = n * away;
  const double route = costs.work(Work::route, n, position_bytes, costs.ranks());  // counted by the rank to ask
  /// An exchange of blocks into fresh memory, this rank's own block being copied.
  const auto exchange = [&](double bytes) {
    return costs.all_to_all(bytes) + costs.copy(bytes / costs.ranks()) + costs.touch(bytes);
  };
  std::vector<StepCost> steps = {{"check", route + costs.collective()}};
  if (chained)
    steps.insert(steps.end(),
                 {{"copy in", costs.copy(n * width) + costs.meet()},
                  {"gather", costs.work(Work::shared_gather, n - asked, width, 1, n * width * costs.host_ranks()) +
                                 costs.meet()}});
  if (asked > 0)
    steps.insert(steps.end(),
                 {{"ask", away * (2 * route + exchange(n * position_bytes)) + costs.touch(asked * position_bytes)},
                  {"pack", costs.work(Work::gather, asked, width, 1, n * width) + costs.touch(asked * width)},
                  {"exchange", away * exchange(n * width)},
                  {"unpack", costs.work(Work::split, asked, width, costs.ranks())}});
  return steps;
}

double predict_first_touch(const MemoryProfile& profile, std::uint64_t bytes, int ranks_per_host) {
  const MemoryCosts costs(profile, ranks_per_host, ranks_per_host);
  return costs.work(Work::shared_touch, static_cast<double>(bytes), 1);
}

double seconds(std::span<const StepCost> steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const StepCost& step) { return sum + step.seconds; });
}

}  // namespace hocket
