#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <optional>
#include <tuple>

#include "bindings.hpp"
#include "hocket/choose/evidence.hpp"
#include "hocket/choose/forecast.hpp"
#include "hocket/choose/guard.hpp"
#include "hocket/choose/pair_test.hpp"
#include "hocket/error.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class Value>
using Rows = std::vector<Value>;

/// A whole run of as many calls as `costs` has rows, seconds by arm, all of them agreed on: the arm of each call, the
/// incumbent after it, what was lost and could be lost by then, and what the call took. Of a call that is cut short the
/// rest goes as by the library's own, and then takes the call's `collisions`, seconds, besides; none: nothing.
std::tuple<Rows<std::size_t>, Rows<std::size_t>, Rows<double>, Rows<double>, Rows<double>> play(
    Guard& guard, const Matrix& costs, const std::vector<double>& collisions) {
  if (costs.shape(1) != guard.arms().size()) throw InputError("as many columns of costs as arms are wanted");
  if (!collisions.empty() && collisions.size() != costs.shape(0))
    throw InputError("a collision for each call is wanted");
  if (guard.calls() > 0) throw InputError("a guard that has decided on calls already plays no more");
  Rows<std::size_t> arms, incumbents;
  Rows<double> lost, budgets, measured, taken;
  std::deque<Rows<double>> posts;
  for (std::size_t call = 0; call < costs.shape(0); ++call) {
    if (guard.due()) {
      guard.tell(posts.front());
      posts.pop_front();
    }
    const Turn turn = guard.next();
    const double whole = costs(call, turn.arm);
    const bool cut = whole > turn.limit;
    taken.push_back(cut ? turn.limit + (1 - turn.limit / whole) * costs(call, 0) : whole);
    if (cut && !collisions.empty()) taken.back() += collisions[call];
    if (turn.timed) measured.push_back(taken.back());
    if (turn.post) posts.push_back(std::exchange(measured, {}));
    arms.push_back(turn.arm);
    incumbents.push_back(guard.incumbent());
    lost.push_back(guard.lost());
    budgets.push_back(guard.budget());
  }
  return {std::move(arms), std::move(incumbents), std::move(lost), std::move(budgets), std::move(taken)};
}

void bind_evidence(nb::module_& m) {
  nb::class_<ArmEvidence>(m, "ArmEvidence", "One way of carrying a call out, as it was measured.")
      .def(
          "__init__",
          [](ArmEvidence* self, std::string name, std::uint64_t calls, double seconds, double spread, double better,
             double no_better) { new (self) ArmEvidence{std::move(name), calls, seconds, spread, better, no_better}; },
          "name"_a, "calls"_a = 0, "seconds"_a = 0, "spread"_a = 0, "better"_a = 1, "no_better"_a = 1)
      .def_ro("name", &ArmEvidence::name)
      .def_ro("calls", &ArmEvidence::calls)
      .def_ro("seconds", &ArmEvidence::seconds, "of a typical call")
      .def_ro("spread", &ArmEvidence::spread, "half the distance between the quartiles over the median")
      .def_ro("better", &ArmEvidence::better, "e-value of pairs against the winner: it gains; 1 says nothing")
      .def_ro("no_better", &ArmEvidence::no_better, "that it does not")
      .def("__eq__", [](const ArmEvidence& a, const ArmEvidence& b) { return a == b; })
      .def("__hash__", [](const ArmEvidence& a) { return std::hash<std::string>{}(a.name); });
  nb::class_<Evidence>(m, "Evidence", "What was learned under one key.")
      .def(
          "__init__",
          [](Evidence* self, std::string place, std::string call, std::uint32_t size_class, std::string layout,
             bool settled, std::string winner, std::vector<ArmEvidence> arms, std::uint32_t ranks, std::uint32_t hosts,
             std::string mpi) {
            new (self)
                Evidence{std::move(place), std::move(call), size_class, std::move(layout), settled, std::move(winner),
                         std::move(arms),  ranks,           hosts,      std::move(mpi)};
          },
          "place"_a, "call"_a, "size_class"_a, "layout"_a, "settled"_a, "winner"_a, "arms"_a, "ranks"_a = 0,
          "hosts"_a = 0, "mpi"_a = "unknown")
      .def_ro("place", &Evidence::place)
      .def_ro("call", &Evidence::call)
      .def_ro("size_class", &Evidence::size_class)
      .def_ro("layout", &Evidence::layout)
      .def_ro("settled", &Evidence::settled)
      .def_ro("winner", &Evidence::winner)
      .def_ro("arms", &Evidence::arms)
      .def_ro("ranks", &Evidence::ranks, "0: not told")
      .def_ro("hosts", &Evidence::hosts, "0: not told")
      .def_ro("mpi", &Evidence::mpi)
      .def("__eq__", [](const Evidence& a, const Evidence& b) { return a == b; })
      .def("__hash__", [](const Evidence& a) { return std::hash<std::string>{}(a.place + a.call); });
  m.def("size_class", &size_class, "bytes"_a, "Half an octave.");
  m.def("least_bytes", &least_bytes, "size_class"_a);
  m.def("evidence_text", [](const std::vector<Evidence>& evidence) { return evidence_text(evidence); }, "evidence"_a);
  m.def("parse_evidence", &parse_evidence, "text"_a);
  m.def(
      "merge",
      [](const std::vector<Evidence>& kept, const std::vector<Evidence>& learned) { return merge(kept, learned); },
      "kept"_a, "learned"_a);
}

void bind_guard(nb::module_& m) {
  nb::class_<PairTest>(m, "PairTest", "Evidence on the ratio of two ways' costs, from calls in pairs.")
      .def(nb::init<double>(), "margin"_a)
      .def("add", &PairTest::add, "log_ratio"_a)
      .def_prop_ro("better", &PairTest::better)
      .def_prop_ro("no_better", &PairTest::no_better)
      .def_prop_ro("pairs", &PairTest::pairs);
  m.def("exact_log", &exact_log, "x"_a);

  nb::class_<GuardRules>(m, "GuardRules", "What a guard may do.")
      .def(nb::init<>())
      .def_rw("margin", &GuardRules::margin)
      .def_rw("error", &GuardRules::error)
      .def_rw("budget_share", &GuardRules::budget_share)
      .def_rw("budget_calls", &GuardRules::budget_calls)
      .def_rw("drift", &GuardRules::drift)
      .def_rw("retest_after", &GuardRules::retest_after)
      .def_rw("may_change", &GuardRules::may_change)
      .def_rw("calibrated", &GuardRules::calibrated)
      .def_rw("can_be_cut", &GuardRules::can_be_cut)
      .def_rw("post_seconds", &GuardRules::post_seconds)
      .def_rw("timed_seconds", &GuardRules::timed_seconds);
  nb::class_<Turn>(m, "Turn", "What a call does.")
      .def_ro("arm", &Turn::arm)
      .def_ro("timed", &Turn::timed)
      .def_ro("post", &Turn::post)
      .def_ro("limit", &Turn::limit);
  nb::enum_<Verdict>(m, "Verdict")
      .value("open", Verdict::open)
      .value("incumbent", Verdict::incumbent)
      .value("even", Verdict::even)
      .value("worse", Verdict::worse);
  nb::class_<ArmState>(m, "ArmState", "What a guard knows of an arm.")
      .def_ro("predicted", &ArmState::predicted)
      .def_ro("calls", &ArmState::calls)
      .def_ro("timed", &ArmState::timed)
      .def_ro("typical", &ArmState::typical)
      .def_ro("spread", &ArmState::spread)
      .def_ro("ratio", &ArmState::ratio)
      .def_ro("verdict", &ArmState::verdict);
  nb::class_<Guard>(m, "Guard", "The choice between the arms of one key.")
      .def(
          "__init__",
          [](Guard* self, std::vector<double> predicted, const GuardRules& rules, const std::vector<ArmEvidence>& known,
             std::optional<std::size_t> winner) { new (self) Guard(std::move(predicted), rules, known, winner); },
          "predicted"_a, "rules"_a = GuardRules{}, "known"_a = std::vector<ArmEvidence>{}, "winner"_a = nb::none())
      .def("seen", &Guard::seen, "arm"_a, "calls"_a, "seconds"_a)
      .def("due", &Guard::due)
      .def("waste", &Guard::waste, "seconds"_a)
      .def(
          "tell", [](Guard& guard, const std::vector<double>& costs) { guard.tell(costs); }, "costs"_a)
      .def("next", &Guard::next)
      .def(
          "learned",
          [](const Guard& guard, const std::vector<std::string>& names) {
            return guard.learned(std::vector<std::string_view>(names.begin(), names.end()));
          },
          "names"_a, "of this run alone, for a later one")
      .def("play", &play, "costs"_a, "collisions"_a = std::vector<double>{},
           "(arms, incumbents, lost, budgets, seconds) by call; `costs`: seconds, calls x arms; `collisions`: seconds "
           "that a call takes longer if it is cut short")
      .def_prop_ro("incumbent", &Guard::incumbent)
      .def_prop_ro("settled", &Guard::settled)
      .def_prop_ro("lost", &Guard::lost)
      .def_prop_ro("budget", &Guard::budget)
      .def_prop_ro("spent", &Guard::spent)
      .def_prop_ro("calls", &Guard::calls)
      .def_prop_ro("trials", &Guard::trials)
      .def_prop_ro("arms", [](const Guard& guard) {
        const auto arms = guard.arms();
        return std::vector<ArmState>(arms.begin(), arms.end());
      });
}

}  // namespace

void bind_choose(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("choose", "Which way of carrying out a call is used, by evidence.");
  bind_evidence(m);
  bind_guard(m);
  m.def(
      "all_longer", [](const std::vector<double>& seconds, double limit) { return all_longer(seconds, limit); },
      "seconds"_a, "limit"_a, "two or more are costs, and all of those above the limit");
  m.def(
      "forecast",
      [](std::uint64_t phases, double wire, std::uint32_t window, double step, double native, std::uint64_t segments,
         bool rendezvous) { return forecast({phases, wire, window, segments, rendezvous}, {step, native}); },
      "phases"_a, "wire_seconds"_a, "window"_a, "step_seconds"_a, "native_seconds"_a = 0.0, "segments"_a = 1,
      "rendezvous"_a = false);
}
