#include "core/model/away.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"

namespace hocket {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, odd

/// SplitMix64 (Steele, Lea and Flood 2014): numbers that differ in a bit become unlike each other.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A number from 0 to below 1.
double unit(std::uint64_t x) { return static_cast<double>(x >> 11) * 0x1p-53; }

}  // namespace

Away::Away(std::uint32_t ranks, std::vector<Absence> absences, std::optional<Noise> noise)
    : ranks_(ranks), absences_(std::move(absences)), noise_(noise) {
  for (const Absence& absence : absences_) {
    if (absence.rank >= ranks) throw InputError("there is no rank " + std::to_string(absence.rank));
    if (!(absence.begin >= 0 && std::isfinite(absence.begin) && absence.seconds >= 0 && std::isfinite(absence.seconds)))
      throw InputError("a rank is away from a time of 0 or more seconds on, for 0 or more seconds");
  }
  std::ranges::sort(absences_, {}, &Absence::begin);
  if (!noise_) return;
  if (!(noise_->delay > 0 && std::isfinite(noise_->delay)))
    throw InputError("the delays of noise must be above 0 seconds");
  if (!(noise_->part >= 0 && noise_->part < 1))
    throw InputError("the part of the time that ranks are away must be 0 or more, and below 1");
  calls_ = -std::log1p(-noise_->part);  // so that none has come within a delay in 1 − part of all cases
  const std::uint64_t seed = mixed(noise_->seed + golden);
  for (Rank rank = 0; rank < ranks; ++rank) keys_.push_back(mixed(seed + rank * golden));
}

/// The calls of the rank in a slot, in any order.
template <class Visit>
void Away::each_call(Rank rank, std::uint64_t slot, Visit visit) const {
  const std::uint64_t key = mixed(keys_[rank] + slot * golden);
  const double drawn = unit(key);
  double likely = 1 - noise_->part;  // probability of so many
  double so_far = likely;
  for (std::uint64_t call = 1; drawn >= so_far && likely > 0; ++call) {
    visit((static_cast<double>(slot) + unit(mixed(key + call * golden))) * noise_->delay);
    likely *= calls_ / static_cast<double>(call);
    so_far += likely;
  }
}

double Away::after_noise(Rank rank, double time) const {
  const double delay = noise_->delay;
  for (;;) {
    const auto slot = static_cast<std::uint64_t>(time / delay);
    double back = time;
    const auto prolong = [&](double call) {
      if (call <= time && call + delay > back) back = call + delay;
    };
    if (slot > 0) each_call(rank, slot - 1, prolong);
    each_call(rank, slot, prolong);
    if (back == time) return time;
    time = back;
  }
}

double Away::after(Rank rank, double time) const {
  for (;;) {
    double back = time;
    for (const Absence& absence : absences_)
      if (absence.rank == rank && back >= absence.begin && back < absence.begin + absence.seconds)
        back = absence.begin + absence.seconds;
    if (noise_) back = after_noise(rank, back);
    if (back == time || absences_.empty()) return back;
    time = back;
  }
}

double Away::noise_seconds(Rank rank, double until) const {
  if (!noise_ || !(until > 0)) return 0;
  if (rank >= keys_.size()) throw InputError("there is no rank " + std::to_string(rank));
  double sum = 0, back = 0;
  std::vector<double> calls;
  for (std::uint64_t slot = 0; static_cast<double>(slot) * noise_->delay < until; ++slot) {
    calls.clear();
    each_call(rank, slot, [&](double call) { calls.push_back(call); });
    std::ranges::sort(calls);
    for (const double call : calls) {
      const double end = std::min(call + noise_->delay, until);
      if (end > std::max(call, back)) sum += end - std::max(call, back);
      back = std::max(back, end);
    }
  }
  return sum;
}

}  // namespace hocket
