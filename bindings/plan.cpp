#include "hocket/plan/plan.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

ByteView view(const nb::bytes& data) { return {static_cast<const std::uint8_t*>(data.data()), data.size()}; }

}  // namespace

void bind_plan(nb::module_& m) {
  nb::class_<PlanHeader>(m, "PlanHeader")
      .def_ro("scheduler", &PlanHeader::scheduler)
      .def_ro("demand", &PlanHeader::demand)
      .def_ro("phases", &PlanHeader::phases)
      .def_ro("transfers", &PlanHeader::transfers)
      .def_ro("window", &PlanHeader::window)
      .def_ro("bound_phases", &PlanHeader::bound_phases)
      .def_ro("bound_seconds", &PlanHeader::bound_seconds)
      .def_ro("predicted_seconds", &PlanHeader::predicted_seconds);

  nb::class_<RankProgram>(m, "RankProgram", "What one rank does.")
      .def_prop_ro(
          "sends",
          [](const RankProgram& p) {
            std::vector<std::tuple<std::uint64_t, Rank, std::vector<Rank>>> rows;
            for (const auto& send : p.sends) rows.emplace_back(send.phase, send.dst, send.tokens);
            return rows;
          },
          "(phase, dst, releasers) in order")
      .def_prop_ro(
          "send_pieces",
          [](const RankProgram& p) {
            std::vector<std::vector<std::tuple<Rank, Rank, std::uint64_t, std::uint64_t>>> rows;
            for (const auto& send : p.sends) {
              rows.emplace_back();
              for (const Piece& piece : send.pieces)
                rows.back().emplace_back(piece.origin, piece.target, piece.offset, piece.length);
            }
            return rows;
          },
          "per send [(origin, target, offset, length)]; empty: the whole message")
      .def_prop_ro(
          "receives",
          [](const RankProgram& p) {
            std::vector<std::tuple<std::uint64_t, Rank, std::vector<std::tuple<Rank, std::uint32_t>>>> rows;
            for (const auto& receive : p.receives) {
              rows.emplace_back(receive.phase, receive.src, std::vector<std::tuple<Rank, std::uint32_t>>{});
              for (const Release& release : receive.releases)
                std::get<2>(rows.back()).emplace_back(release.rank, release.send);
            }
            return rows;
          },
          "(phase, src, [(waiting rank, its send)]) in order");
  m.def("rank_programs", &rank_programs, "schedule"_a, "waits"_a);

  nb::class_<Plan>(m, "Plan", "Network, demand and every rank's program.")
      .def(
          "__init__",
          [](Plan* self, const Network& network, const Schedule& schedule, const Waits& waits, const Demand& demand,
             const std::string& scheduler, std::uint64_t bound_phases, double bound_seconds, double predicted_seconds) {
            PlanHeader header{scheduler,     demand,       schedule.phases(), schedule.size(),  waits.window,
                              waits.derived, bound_phases, bound_seconds,     predicted_seconds};
            new (self) Plan{std::move(header), network.spec(), schedule, waits};
          },
          "network"_a, "schedule"_a, "waits"_a, "demand"_a, "scheduler"_a, "bound_phases"_a, "bound_seconds"_a,
          "predicted_seconds"_a)
      .def_ro("header", &Plan::header)
      .def_ro("schedule", &Plan::schedule)
      .def_ro("waits", &Plan::waits)
      .def(
          "build_network", [](const Plan& p) { return Network(p.network); }, "The network it was made for.")
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
            return PlanFile(bytes).plan();
          },
          "data"_a, "Raises PlanProblem for anything but an intact plan.");
  m.def(
      "decode_program", [](const nb::bytes& data, Rank rank) { return PlanFile(view(data)).program(rank); }, "data"_a,
      "rank"_a, "One rank's program, without reading the others.");
}
