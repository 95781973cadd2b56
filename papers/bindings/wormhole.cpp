#include "papers/stricker-hardwick/wormhole/wormhole.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

void bind_wormhole(nb::module_& m) {
  const WormholeParameters d;
  nb::class_<WormholeParameters>(m, "WormholeParameters", "Packets, buffers and costs of the wormhole model.")
      .def(
          "__init__",
          [](WormholeParameters* self, std::uint32_t payload, double header, std::uint32_t train, std::uint32_t buffer,
             const std::string& virtual_channels, std::uint32_t lanes, const std::string& switching,
             const std::string& arbitration, double alpha, double barrier, double hop, double injection_rate,
             double ejection_rate, bool port_per_rank, bool blocking, double memory_rate) {
            new (self) WormholeParameters{payload,
                                          header,
                                          train,
                                          buffer,
                                          parse_virtual_channels(virtual_channels),
                                          lanes,
                                          parse_switching(switching),
                                          parse_arbitration(arbitration),
                                          alpha,
                                          barrier,
                                          hop,
                                          injection_rate,
                                          ejection_rate,
                                          port_per_rank,
                                          blocking,
                                          memory_rate};
          },
          nb::kw_only(), "payload"_a = d.payload, "header"_a = d.header, "train"_a = d.train, "buffer"_a = d.buffer,
          "virtual_channels"_a = "dateline", "lanes"_a = d.lanes, "switching"_a = "cut-through",
          "arbitration"_a = "round-robin", "alpha"_a = d.alpha, "barrier"_a = d.barrier, "hop"_a = d.hop,
          "injection_rate"_a = d.injection_rate, "ejection_rate"_a = d.ejection_rate,
          "port_per_rank"_a = d.port_per_rank, "blocking"_a = d.blocking, "memory_rate"_a = d.memory_rate)
      .def_rw("payload", &WormholeParameters::payload, "bytes of payload in a packet")
      .def_rw("header", &WormholeParameters::header, "bytes on the wire that each packet has besides")
      .def_rw("train", &WormholeParameters::train, "packets of one message that move as one unit")
      .def_rw("buffer", &WormholeParameters::buffer, "packets that fit behind a channel, per virtual channel")
      .def_rw("lanes", &WormholeParameters::lanes, "virtual channels per class")
      .def_rw("alpha", &WormholeParameters::alpha, "seconds that the sender spends on a message")
      .def_rw("barrier", &WormholeParameters::barrier, "seconds between two phases")
      .def_rw("hop", &WormholeParameters::hop, "seconds that a router takes for a packet")
      .def_rw("injection_rate", &WormholeParameters::injection_rate, "bytes per second into a router; 0: host speed")
      .def_rw("ejection_rate", &WormholeParameters::ejection_rate, "bytes per second out of a router; 0: host speed")
      .def_rw("port_per_rank", &WormholeParameters::port_per_rank, "a port for every rank, not for every host")
      .def_rw("blocking", &WormholeParameters::blocking, "a sender goes on when its message has arrived")
      .def_rw("memory_rate", &WormholeParameters::memory_rate, "bytes per second between ranks of one host");

  m.def(
      "simulate_wormhole",
      [](const Network& network, const Schedule& schedule, const std::string& flow,
         const WormholeParameters& parameters) {
        return simulate_wormhole(network, schedule, parse_flow_control(flow), parameters);
      },
      "network"_a, "schedule"_a, "flow"_a = "barrier", "parameters"_a = d, nb::call_guard<nb::gil_scoped_release>(),
      "The time of a schedule on a network whose routers forward packets. `flow`: barrier or free.");
}
