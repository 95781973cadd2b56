#include "bindings.hpp"
#include "core/choose/chooser.hpp"
#include "core/choose/forecast.hpp"
#include "core/choose/kept_timings.hpp"

namespace {

void bind_kept_timings(nb::module_& m) {
  nb::class_<CandidateTimings>(m, "CandidateTimings", "One way of carrying a call out, as it was measured.")
      .def(nb::init<std::string, std::uint64_t, double, double>(), "name"_a, "calls"_a = 0, "seconds"_a = 0,
           "spread"_a = 0)
      .def_ro("name", &CandidateTimings::name)
      .def_ro("calls", &CandidateTimings::calls)
      .def_ro("seconds", &CandidateTimings::seconds, "of a typical call")
      .def_ro("spread", &CandidateTimings::spread, "standard deviation of its logarithm")
      .def("__eq__", [](const CandidateTimings& a, const CandidateTimings& b) { return a == b; })
      .def("__hash__", [](const CandidateTimings& a) { return std::hash<std::string>{}(a.name); });
  nb::class_<KeptTimings>(m, "KeptTimings", "What was learned under one key.")
      .def(nb::init<std::string, std::string, std::uint32_t, std::string, std::string, std::vector<CandidateTimings>,
                    std::uint32_t, std::uint32_t, std::string>(),
           "place"_a, "call"_a, "size_class"_a, "layout"_a, "winner"_a, "candidates"_a, "ranks"_a = 0, "hosts"_a = 0,
           "mpi"_a = "unknown")
      .def_ro("place", &KeptTimings::place)
      .def_ro("call", &KeptTimings::call)
      .def_ro("size_class", &KeptTimings::size_class)
      .def_ro("layout", &KeptTimings::layout)
      .def_ro("winner", &KeptTimings::winner)
      .def_ro("candidates", &KeptTimings::candidates)
      .def_ro("ranks", &KeptTimings::ranks, "0: not told")
      .def_ro("hosts", &KeptTimings::hosts, "0: not told")
      .def_ro("mpi", &KeptTimings::mpi)
      .def("__eq__", [](const KeptTimings& a, const KeptTimings& b) { return a == b; })
      .def("__hash__", [](const KeptTimings& a) { return std::hash<std::string>{}(a.place + a.call); });
  m.def("least_bytes", &least_bytes, "size_class"_a);
  m.def("parse_kept_timings", &parse_kept_timings, "text"_a);
}

void bind_chooser(nb::module_& m) {
  nb::class_<Decision>(m, "Decision", "Who serves a call.").def_ro("candidate", &Decision::candidate);
  nb::class_<Chooser>(m, "Chooser", "The choice between candidates of one key; 0 is the library's own call.")
      .def(nb::init<std::span<const double>, double, double, double>(), "predicted"_a, "agree_seconds"_a = 0.0,
           "setup_seconds"_a = 0.0, "opening_seconds"_a = std::numeric_limits<double>::infinity())
      .def("next", &Chooser::next)
      .def("learn", &Chooser::learn, "seconds"_a)
      .def_prop_ro("best", &Chooser::best);
}

void bind_candidates(nb::module_& m) {
  nb::class_<Candidate>(m, "Candidate", "A way in which a call can be served.")
      .def_ro("name", &Candidate::name)
      .def_ro("window", &Candidate::window, "messages of a rank that may be unacknowledged; 0: the library's own call")
      .def_ro("free", &Candidate::free, "nobody waits for a turn")
      .def_ro("large", &Candidate::large, "segments of large_segment bytes")
      .def_ro("two_level", &Candidate::two_level, "one message between two hosts")
      .def_ro("all_lead", &Candidate::all_lead, "every rank of a host carries some of its aggregates");
  m.attr("large_segment") = large_segment;
}

}  // namespace

void bind_choose(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("choose", "Which way of carrying out a call is used, by timings.");
  bind_kept_timings(m);
  bind_chooser(m);
  bind_candidates(m);
  m.def(
      "offered",
      [](std::size_t bytes, int ranks, std::uint32_t usual_window, std::size_t segment) {
        const CallFacts facts{.bytes = bytes, .ranks = ranks, .usual_window = usual_window, .segment = segment};
        std::vector<Candidate> found;
        for (const Candidate& one : all_candidates)
          if (is_offered(one, facts)) found.push_back(one);
        return found;
      },
      "bytes"_a, "ranks"_a, "usual_window"_a, "segment"_a,
      "The candidates of a call whose messages have segments as usual, in the table's order; aggregates need hosts "
      "with several ranks.");
  m.def("simulated_seconds", &simulated_seconds, "network"_a, "schedule"_a, "candidate"_a, "costs"_a,
        "None: the library carries the messages, or there are too many.", unlocked());
}
