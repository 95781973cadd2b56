#include <charconv>

#include "bindings.hpp"
#include "core/algorithms/plan_exchange.hpp"
#include "core/model/simulate.hpp"
#include "core/schedule/shared_channels.hpp"

void append_line(std::string& text, std::uint64_t phase, Hop hop, const Piece& piece) {
  char line[7 * 21];
  char* at = line;
  int column = 0;
  for (const std::uint64_t value : {phase, std::uint64_t{hop.src}, std::uint64_t{hop.dst}, std::uint64_t{piece.origin},
                                    std::uint64_t{piece.target}, piece.offset, piece.length}) {
    if (value == everyone && column == 4)
      *at++ = '*';
    else
      at = std::to_chars(at, line + sizeof line, value).ptr;
    *at++ = ',';
    ++column;
  }
  at[-1] = '\n';
  text.append(line, at);
}

namespace {

/// Bytes and phases both fit: (phase, src, dst, origin, target, offset, length).
using Row = std::tuple<std::uint64_t, Rank, Rank, Rank, Rank, std::uint64_t, std::uint64_t>;

std::vector<Row> rows_of(const Schedule& schedule) {
  std::vector<Row> rows;
  rows.reserve(schedule.size());
  for (std::uint64_t phase = 0; phase < schedule.phases(); ++phase)
    for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i) {
      const Hop hop = schedule.hops()[i];
      schedule.each_piece(i, [&](const Piece& piece) {
        rows.emplace_back(phase, hop.src, hop.dst, piece.origin, piece.target, piece.offset, piece.length);
      });
    }
  return rows;
}

/// Phases [first, last) as lines of CSV; a piece at a time, so that a long schedule needs little memory.
nb::bytes csv_of(const Schedule& schedule, std::uint64_t first, std::uint64_t last) {
  std::string text;
  last = std::min(last, schedule.phases());
  for (std::uint64_t phase = first; phase < last; ++phase)
    for (std::uint64_t i = schedule.phase_begin()[phase]; i < schedule.phase_begin()[phase + 1]; ++i)
      schedule.each_piece(i, [&](const Piece& piece) { append_line(text, phase, schedule.hops()[i], piece); });
  return nb::bytes(text.data(), text.size());
}

nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>> channel_use_of(const Schedule& schedule, const Network& network,
                                                                  std::uint64_t first,
                                                                  std::optional<std::uint64_t> last) {
  const std::uint64_t end = last.value_or(schedule.phases());
  std::vector<std::uint32_t>* use = nullptr;
  {
    const nb::gil_scoped_release release;
    use = new std::vector<std::uint32_t>(channel_use(network, schedule, first, end));
  }
  const nb::capsule owner(use, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
  return {use->data(), {static_cast<std::size_t>(end - first), network.channels()}, owner};
}

std::vector<std::uint64_t> lengths_of(const Schedule& schedule) {
  std::vector<std::uint64_t> lengths(schedule.size());
  for (std::uint64_t i = 0; i < schedule.size(); ++i) lengths[i] = schedule.length(i);
  return lengths;
}

/// Rows of one all-gather message (same phase, sender and receiver) follow each other.
Schedule schedule_from_rows(std::uint32_t ranks, std::uint64_t bytes, const std::vector<Row>& rows) {
  std::vector<std::uint64_t> begin{0};
  std::vector<Hop> hops;
  PieceLists pieces;
  bool direct = true;
  for (const auto& [phase, src, dst, origin, target, offset, length] : rows) {
    if (phase + 1 < begin.size()) throw InputError("transfers must be sorted by phase");
    if (phase > rows.size() + begin.size() + 1000000) throw InputError("a phase number is absurd");
    while (begin.size() <= phase) begin.push_back(hops.size());
    const bool same_message = target == everyone && hops.size() > begin.back() && hops.back() == Hop{src, dst};
    if (!same_message) {
      if (!hops.empty()) pieces.end_list();
      hops.push_back({src, dst});
    }
    pieces.pieces.push_back({origin, target, offset, length});
    direct = direct && origin == src && target == dst && offset == 0 && length == bytes;
  }
  if (!hops.empty()) {
    begin.push_back(hops.size());
    pieces.end_list();
  }
  if (direct) pieces = {};
  return {ranks, bytes, std::move(begin), std::move(hops), std::move(pieces)};
}

void bind_demand(nb::module_& m) {
  m.attr("EVERYONE") = everyone;
  nb::class_<Demand>(
      m, "Demand",
      "All-to-all of `bytes` bytes per message, all-gather or reduction of `bytes` bytes per rank, or irregular.")
      .def(
          "__init__",
          [](Demand* self, std::uint32_t ranks, std::uint64_t bytes, const std::string& pattern,
             std::vector<std::uint64_t> contributions) {
            new (self) Demand{parse_pattern(pattern), ranks, bytes, std::move(contributions)};
            if (self->by_matrix()) throw InputError("Demand.irregular makes irregular demands");
            if (self->contributions.empty()) return;
            if (!self->by_blocks() || self->contributions.size() != ranks)
              throw InputError("contributions belong to an all-gather or a reduction, one to each rank");
          },
          "ranks"_a, "bytes"_a, "pattern"_a = "all-to-all", "contributions"_a = std::vector<std::uint64_t>{},
          "`contributions`: bytes of each rank's block of an all-gather or reduction; empty: `bytes` each.")
      .def_static(
          "irregular",
          [](std::uint32_t ranks, const std::vector<Rank>& src, const std::vector<Rank>& dst,
             const std::vector<std::uint64_t>& bytes) {
            if (src.size() != dst.size() || src.size() != bytes.size())
              throw InputError("senders, receivers and bytes differ in number");
            std::vector<Message> messages(src.size());
            for (std::size_t i = 0; i < src.size(); ++i) messages[i] = {src[i], dst[i], bytes[i]};
            return irregular(TrafficMatrix(ranks, std::move(messages)));
          },
          "ranks"_a, "src"_a, "dst"_a, "bytes"_a,
          "Message i goes from src[i] to dst[i]; empty ones and those of a rank to itself are dropped.")
      .def(
          "list", [](const Demand& d) { return d.matrix.list(); },
          "(src, dst, bytes) of an irregular demand, by sender and receiver")
      .def_prop_ro("by_blocks", &Demand::by_blocks, "a block for every rank: all-gathers and reductions")
      .def_prop_ro(
          "scheduled_as", [](const Demand& d) { return d.reduces() ? gather_of(d) : d; },
          "the demand that algorithms serve: of a reduction the all-gather of the same blocks")
      .def("size", &Demand::size, "origin"_a, "target"_a, "bytes that target must get from origin")
      .def_prop_ro(
          "total_bytes", [](const Demand& d) { return d.matrix.total_bytes(); }, "of an irregular demand")
      .def_prop_ro("pattern", [](const Demand& d) { return to_string(d.pattern); })
      .def_ro("contributions", &Demand::contributions)
      .def_prop_ro(
          "run_window", [](const Demand& d) { return run_window(d); },
          "messages that a rank may have unacknowledged unless the user says otherwise")
      .def_ro("ranks", &Demand::ranks)
      .def_ro("bytes", &Demand::bytes)
      .def_prop_ro("messages", &Demand::messages);

  nb::class_<Collective>(m, "Collective", "What a collective call asks for, as a demand.")
      .def_ro("name", &Collective::name)
      .def_ro("mpi_calls", &Collective::mpi_calls, "the blocking MPI calls, by commas")
      .def_ro("asks", &Collective::asks, "one sentence, in which SIZE stands for the bytes")
      .def_prop_ro("pattern", [](const Collective& c) { return to_string(c.pattern); })
      .def_prop_ro("forwards", &Collective::forwards, "ranks pass on what they get")
      .def_ro("rooted", &Collective::rooted)
      .def_prop_ro(
          "window", [](const Collective& c) { return run_window(c.pattern, c.rooted); },
          "messages that a rank may have unacknowledged unless the user says otherwise")
      .def_prop_ro("usual_alpha", &Collective::usual_alpha,
                   "seconds that a message is taken to cost its sender unless the user says otherwise")
      .def_prop_ro(
          "by_matrix", [](const Collective& c) { return c.demand == nullptr; }, "a traffic matrix says who sends what")
      .def(
          "demand",
          [](const Collective& c, std::uint32_t ranks, std::uint64_t bytes, Rank root) {
            if (c.demand == nullptr) throw InputError("Demand.irregular makes irregular demands");
            return c.demand(ranks, bytes, root);
          },
          "ranks"_a, "bytes"_a, "root"_a = 0, "`bytes` of each message or contribution")
      .def("can_follow", &Collective::can_follow, "demand"_a, "root"_a = 0,
           "whether calls of any size can follow a plan of this demand")
      .def_static(
          "all",
          [] {
            std::vector<const Collective*> all;
            for (const Collective& collective : collectives()) all.push_back(&collective);
            return all;
          },
          nb::rv_policy::reference, "that can be planned");
}

void bind_bounds(nb::module_& m) {
  nb::class_<Bounds>(m, "Bounds", "What no schedule can beat.")
      .def_ro("load", &Bounds::load, "messages per channel")
      .def_ro("phases", &Bounds::phases)
      .def_ro("seconds", &Bounds::seconds, "no schedule takes less time")
      .def_prop_ro("one_port_seconds", &Bounds::one_port_seconds,
                   "none whose ranks send, and receive, one message at a time")
      .def_ro("bottleneck", &Bounds::bottleneck, "channel")
      .def(
          "least_phases",
          [](const Bounds& bounds, const Network& network, const Demand& demand, PortModel ports) {
            return least_phases(network, demand, bounds, ports);
          },
          "network"_a, "demand"_a, "ports"_a, "no schedule of this port model has fewer phases");
  m.def("lower_bounds", &lower_bounds, "network"_a, "demand"_a, unlocked());
  nb::class_<TrueBounds> bounds(m, "TrueBounds", "Of an all-to-all, each as (seconds, messages that take as long).");
  bounds.def_ro("installed_routes", &TrueBounds::installed_routes)
      .def_ro("ports", &TrueBounds::ports)
      .def_ro("free_routes", &TrueBounds::free_routes)
      .def_ro("balanced_routes", &TrueBounds::balanced_routes, "None where they are no better")
      .def_ro("message_seconds", &TrueBounds::message_seconds, "of a message at a host's full speed")
      .def_ro("in_phases", &TrueBounds::in_phases, "messages of all but the free routes are phases, and whole");
  m.def("true_bounds", &true_bounds, "network"_a, "demand"_a, "direct"_a = true, unlocked(),
        "Of these routes, of the ports, of any and of balanced routes. `direct`: no message is cut.");
  m.def(
      "free_routes",
      [](const Network& network, const Demand& demand) {
        return free_routes(network, demand, lower_bounds(network, demand));
      },
      "network"_a, "demand"_a, unlocked(), "The bound of any routes; None: too large, or only routes are known.");
  nb::class_<FreeRoutesBound>(bounds, "FreeRoutes", "Seconds that no all-to-all takes less, whatever its routes.")
      .def_ro("seconds", &FreeRoutesBound::seconds)
      .def_ro("prices", &FreeRoutesBound::prices, "of the channels: the certificate, which priced_seconds() checks")
      .def_ro("exact", &FreeRoutesBound::exact, "no prices say more than 0.1 % more")
      .def_ro("by", &FreeRoutesBound::by, "how they were found");
  m.def("priced_seconds", &priced_seconds, "network"_a, "demand"_a, "prices"_a, unlocked(),
        "The bound of an all-to-all for all routes that prices of the channels certify.");
}

void bind_algorithms(nb::module_& m) {
  nb::class_<Algorithm>(m, "Algorithm")
      .def_ro("name", &Algorithm::name)
      .def_ro("summary", &Algorithm::summary)
      .def_ro("source", &Algorithm::source)
      .def_ro("contention_free", &Algorithm::contention_free)
      .def_ro("guarantee", &Algorithm::guarantee, "what its schedules are proven to reach; may be empty")
      .def_prop_ro("pattern", [](const Algorithm& s) { return to_string(s.pattern); })
      .def_ro("ports", &Algorithm::ports, "the port model that its schedules keep")
      .def(
          "why_not", [](const Algorithm& s, const Network& n, const Demand& d) { return s.why_not(n, d); }, "network"_a,
          "demand"_a, "empty if it serves them, else the reason")
      .def(
          "make",
          [](const Algorithm& s, const Network& n, const Demand& d, double alpha, std::uint64_t seed) {
            if (const auto reason = s.why_not(n, d); !reason.empty())
              throw InputError("algorithm '" + std::string(s.name) + "' cannot serve this: " + std::string(reason));
            return s.make(n, d, {alpha, seed});
          },
          "network"_a, "demand"_a, "alpha"_a = 0.0, "seed"_a = 1, unlocked())
      .def_static(
          "all", [] { return std::vector<const Algorithm*>(all_algorithms().begin(), all_algorithms().end()); },
          nb::rv_policy::reference)
      .def_static(
          "find",
          [](const std::string& name, const std::string& pattern) -> const Algorithm& {
            return find_algorithm(name, parse_pattern(pattern));
          },
          "name"_a, "pattern"_a = "all-to-all", nb::rv_policy::reference, "Raises InputError.");
}

}  // namespace

void bind_schedule(nb::module_& m) {
  bind_demand(m);
  nb::class_<Schedule>(m, "Schedule", "Phases of transfers.")
      .def_prop_ro("ranks", &Schedule::ranks)
      .def_prop_ro("message_bytes", &Schedule::message_bytes)
      .def_prop_ro("phases", &Schedule::phases)
      .def_prop_ro("direct", &Schedule::direct, "true if every transfer is a whole message from origin to target")
      .def("__len__", &Schedule::size)
      .def("rows", &rows_of, "(phase, src, dst, origin, target, offset, length) per piece")
      .def("hops", &Schedule::hops, "(src, dst) per transfer")
      .def("phase_begin", &Schedule::phase_begin,
           "the first transfer of each phase, and at last the number of transfers")
      .def("lengths", &lengths_of, "bytes per transfer")
      .def("csv", &csv_of, "first_phase"_a, "last_phase"_a,
           "Lines phase,src,dst,origin,target,offset,length of the phases [first_phase, last_phase)")
      .def(
          "lockstep_seconds",
          [](const Schedule& s, const Network& network, double alpha) { return lockstep_seconds(network, s, alpha); },
          "network"_a, "alpha"_a = 0.0, unlocked(), "if each phase begins when the one before is over, no latencies")
      .def(
          "token_seconds", [](const Schedule& s, const Network& network) { return token_seconds(network, s); },
          "network"_a, unlocked(),
          "if each transfer begins when those before it on its channels are over, no latencies and per-message costs")
      .def(
          "transfers_on",
          [](const Schedule& s, const Network& network, std::span<const Channel> channels) {
            return transfers_on(network, s, channels);
          },
          "network"_a, "channels"_a, unlocked(),
          "per listed channel the transfers whose routes contain it, in schedule order")
      .def("channel_use", &channel_use_of, "network"_a, "first"_a = 0, "last"_a.none() = nb::none(),
           "messages by phase (rows), from `first` to before `last`, and channel (columns)")
      .def("programs", &rank_programs, "waits"_a, "the RankProgram of each rank")
      .def_static("from_rows", &schedule_from_rows, "ranks"_a, "bytes"_a, "rows"_a);
  bind_bounds(m);
  bind_algorithms(m);
}
