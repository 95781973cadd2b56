#include "core/plan/plan.hpp"

#include <algorithm>

#include "bindings.hpp"
#include "core/algorithms/all_gather/ring_form.hpp"
#include "core/choose/request.hpp"
#include "core/limits.hpp"
#include "core/model/predict.hpp"

template <>
inline constexpr auto fields<Estimate> = std::tuple(&Estimate::name, &Estimate::seconds);
template <>
inline constexpr auto fields<Forecast> = std::tuple(&Forecast::candidates, &Forecast::library);

namespace {

/// A closed form with the network that it asks for routes, which outlives it.
struct NetworkForm {
  const Network& network;
  FoundForm found;

  NetworkForm(const Network& of, const Demand& demand, const std::string& algorithm)
      : network(of), found(closed_form_of(network, demand, algorithm)) {
    if (found.form == nullptr) throw InputError("this all-to-all has no closed form: " + std::string(found.why_not));
  }
  [[nodiscard]] std::uint64_t phase(Rank src, Rank dst) const {
    if (src >= network.ranks() || dst >= network.ranks() || src == dst) throw InputError("no such message");
    return found.form->phase(src, dst);
  }
};

std::pair<double, std::string_view> seconds_and_kind(const Prediction& prediction) {
  return {prediction.seconds, to_string(prediction.kind)};
}

ByteView view(const nb::bytes& data) { return {static_cast<const std::uint8_t*>(data.data()), data.size()}; }

/// Rows round a ring, with the network that its edges are looked up in, which outlives them.
struct Ring {
  const Network& network;
  FoundRing found;

  explicit Ring(const Network& of, const Demand& demand) : network(of), found(ring_form_of(network, demand)) {
    if (!found.form)
      throw InputError("this " + std::string(to_string(demand.pattern)) +
                       " does not go round one ring: " + std::string(found.why_not));
  }
};

std::uint64_t transfers_of(const RankProgram& row) { return row.sends.size() + row.receives.size(); }

/// Lines "phase,src,dst,origin,target,offset,length" of what a rank sends and receives, as Schedule.csv() has them: of
/// the transfers from number `first` to before `last`.
nb::bytes row_csv(const RankProgram& row, Rank rank, std::uint64_t bytes, std::uint64_t first, std::uint64_t last) {
  std::string text;
  const auto lines = [&](std::uint64_t phase, Rank src, Rank dst, const LeanVector<Piece>& pieces) {
    if (pieces.empty()) append_line(text, phase, {src, dst}, {src, dst, 0, bytes});
    for (const Piece& piece : pieces) append_line(text, phase, {src, dst}, piece);
  };
  last = std::min(last, transfers_of(row));
  auto send = row.sends.begin();
  auto receive = row.receives.begin();
  for (std::uint64_t transfer = 0; transfer < last; ++transfer) {
    const bool sends = receive == row.receives.end() ||
                       (send != row.sends.end() &&
                        (send->phase < receive->phase || (send->phase == receive->phase && rank < receive->src)));
    if (transfer >= first)
      sends ? lines(send->phase, rank, send->dst, send->pieces)
            : lines(receive->phase, receive->src, rank, receive->pieces);
    sends ? void(++send) : void(++receive);
  }
  return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_plan(nb::module_& m) {
  nb::class_<RankProgram>(m, "RankProgram", "What one rank does.")
      .def_ro("sends", &RankProgram::sends, "(phase, dst, releasers) in order")
      .def_prop_ro(
          "send_pieces",
          [](const RankProgram& p) {
            std::vector<LeanVector<Piece>> rows;
            for (const RankProgram::Send& send : p.sends) rows.push_back(send.pieces);
            return rows;
          },
          "per send [(origin, target, offset, length)]; empty: the whole message")
      .def_ro("receives", &RankProgram::receives, "(phase, src, [(waiting rank, its send)]) in order")
      .def_prop_ro(
          "tokens",
          [](const RankProgram& p) {
            std::uint64_t tokens = 0;
            for (const auto& send : p.sends) tokens += send.tokens.size();
            return tokens;
          },
          "that its sends wait for")
      .def_prop_ro("transfers", &transfers_of, "how many it sends and receives")
      .def("csv", &row_csv, "rank"_a, "bytes"_a, "first"_a, "last"_a,
           "transfers first to before last of the rank's own as lines, as Schedule.csv() has them")
      .def("__eq__", [](const RankProgram& p, const RankProgram& q) { return p == q; });

  nb::class_<NetworkForm> closed(m, "ClosedForm",
                                 "An all-to-all in closed form: any rank's row without the rest of the schedule.");
  closed
      .def(nb::init<const Network&, const Demand&, const std::string&>(), "network"_a, "demand"_a, "algorithm"_a = "",
           nb::keep_alive<1, 2>(), unlocked(),
           "Raises InputError where there is none; that of `algorithm`, where it has one, however far from the bound.")
      .def_prop_ro("phases", [](const NetworkForm& r) { return r.found.form->phases(); })
      .def_prop_ro("algorithm", [](const NetworkForm& r) { return r.found.algorithm; })
      .def("phase", &NetworkForm::phase, "src"_a, "dst"_a, "the phase of a message")
      .def(
          "predict",
          [](const NetworkForm& r, const Demand& demand, double alpha) {
            return seconds_and_kind(predict(r.network, demand, *r.found.form, alpha));
          },
          "demand"_a, "alpha"_a = 0.0, unlocked(), "Seconds of the whole and how they are known, as plan() has them.")
      .def(
          "program", [](const NetworkForm& r, Rank rank) { return rank_program(r.network, *r.found.form, rank); },
          "rank"_a, unlocked())
      .def(
          "verify_sample",
          [](const NetworkForm& r, std::uint64_t messages, std::uint64_t seed) {
            return verify_sample(r.network, *r.found.form, messages, seed);
          },
          "messages"_a, "seed"_a = 1, unlocked(), "Checks random messages.");
  nb::class_<Ring> ring(m, "Ring", "An all-gather, reduce-scatter or all-reduce round one ring: any rank's row alone.");
  ring.def(nb::init<const Network&, const Demand&>(), "network"_a, "demand"_a, nb::keep_alive<1, 2>(), unlocked(),
           "Raises InputError where there is none.")
      .def_prop_ro("phases", [](const Ring& r) { return r.found.form->phases(); })
      .def(
          "predict",
          [](const Ring& r, const Demand& demand) {
            const std::uint64_t phases = r.found.form->phases();
            const double bytes = static_cast<double>(phases) * static_cast<double>(demand.bytes);
            return seconds_and_kind({seconds_by_phases(r.network, phases, bytes), Prediction::Kind::by_phases});
          },
          "demand"_a, unlocked(), "Seconds of the whole and how they are known.")
      .def_prop_ro("algorithm", [](const Ring& r) { return r.found.algorithm; })
      .def(
          "program", [](const Ring& r, Rank rank, std::uint32_t window) { return r.found.form->program(rank, window); },
          "rank"_a, "window"_a = limits::gather_window, unlocked(),
          "`window`: messages in flight that waits allow on a channel.")
      .def_prop_ro(
          "turn_waits", [](const Ring& r) { return r.found.form->turn_waits(); },
          "of an all-reduce: (place that waits, place that releases, capacity of the channel)")
      .def(
          "verify",
          [](const Ring& r) {
            const RingForm& rows = *r.found.form;
            return verify_ring(r.network, rows.order(), rows.pattern(), rows.turn_waits());
          },
          unlocked(), "Looks at every edge, and so at every transfer.");
  nb::class_<RingCertificate>(ring, "Certificate", "What a look at every edge of a ring found.")
      .def_ro("edges", &RingCertificate::edges)
      .def_ro("channels", &RingCertificate::channels, "of the edges' routes")
      .def_ro("collisions", &RingCertificate::collisions)
      .def_ro("missing", &RingCertificate::missing, "ranks that the ring does not visit, or visits twice")
      .def_ro("unordered", &RingCertificate::unordered,
              "channels that both halves of an all-reduce use, without a wait")
      .def_ro("findings", &RingCertificate::findings)
      .def_prop_ro("contention_free", &RingCertificate::contention_free)
      .def_prop_ro("complete", &RingCertificate::complete)
      .def_prop_ro("ok", &RingCertificate::ok);
  nb::class_<SampleCertificate>(closed, "Certificate", "What a check of random messages found.")
      .def_ro("messages", &SampleCertificate::messages)
      .def_ro("channels", &SampleCertificate::channels, "checked, of their routes")
      .def_ro("collisions", &SampleCertificate::collisions)
      .def_ro("unordered", &SampleCertificate::unordered)
      .def_ro("findings", &SampleCertificate::findings)
      .def_prop_ro("ok", &SampleCertificate::ok);

  nb::class_<Plan>(m, "Plan", "A schedule, its waits, and what is known about both: made by planning, or read.")
      .def(
          "__init__",
          [](Plan* self, std::shared_ptr<const Network> network, const Schedule& schedule, const Waits& waits,
             const Demand& demand, const std::string& algorithm, std::uint64_t bound_phases, double bound_seconds,
             double predicted_seconds) {
            new (self) Plan{algorithm,         demand,      bound_phases,      bound_seconds, schedule, waits,
                            predicted_seconds, "simulated", std::move(network)};
          },
          "network"_a, "schedule"_a, "waits"_a, "demand"_a, "algorithm"_a, "bound_phases"_a = 0,
          "bound_seconds"_a = 0.0, "predicted_seconds"_a = 0.0)
      .def_ro("network", &Plan::network)
      .def_ro("demand", &Plan::demand)
      .def_ro("algorithm", &Plan::algorithm)
      .def_ro("schedule", &Plan::schedule)
      .def_ro("waits", &Plan::waits)
      .def_ro("bound_phases", &Plan::bound_phases, "no schedule of the algorithm's port model has fewer")
      .def_ro("bound_seconds", &Plan::bound_seconds, "no schedule takes less time, per-message costs counted")
      .def_ro("predicted_seconds", &Plan::predicted_seconds)
      .def_ro("prediction", &Plan::prediction, "simulated, by phases or by load; empty where it is not known")
      .def_ro("alpha", &Plan::alpha, "seconds that a message was taken to cost its sender")
      .def_ro("seed", &Plan::seed)
      .def_ro("certificate", &Plan::certificate, "of plan(): of schedule and waits")
      .def_ro("plan_seconds", &Plan::plan_seconds, "that schedule and waits took")
      .def_ro("verify_seconds", &Plan::verify_seconds)
      .def_ro("bounds", &Plan::bounds, "of an all-to-all, if asked for")
      .def_ro("forecast", &Plan::forecast,
              "if asked for: (name, seconds) of a run's candidates, and of libraries' calls")
      .def_ro("two_level", &Plan::two_level, "what ranks do, where this is a plan of one rank a host for them")
      .def(
          "predict", [](const Plan& p, const RunCosts& costs, std::uint64_t most) { return forecast(p, costs, most); },
          "costs"_a, "most_compared"_a, unlocked(), "The forecast of a plan that has none.")
      .def(
          "least",
          [](const Plan& p, const Network& network, double alpha) {
            const Least least = least_of(known_algorithm(p.algorithm, p.demand.pattern), network, p.demand,
                                         lower_bounds(network, p.demand), alpha);
            return std::pair(least.phases, least.seconds);
          },
          "network"_a, "alpha"_a = 0.0, unlocked(),
          "No schedule of the algorithm has fewer phases, and none takes fewer seconds, computed anew; of one that "
          "this "
          "version does not know, under the strictest port model.")
      .def("encode",
           [](const Plan& p) {
             const Bytes bytes = [&p] {
               nb::gil_scoped_release release;
               return encode_plan(p);
             }();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_static(
          "decode",
          [](const nb::bytes& data) {
            const ByteView bytes = view(data);
            nb::gil_scoped_release release;
            const PlanFile file(bytes);
            Plan plan = file.plan();
            plan.network = std::make_shared<const Network>(Network::with_routes(file.network()));
            return plan;
          },
          "data"_a,
          "Raises PlanProblem for anything but an intact plan, and NetworkProblem if its network cannot exist.");
}
