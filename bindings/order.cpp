#include "core/order/order.hpp"

#include "bindings.hpp"

namespace {

using PlaceArray = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const Rank> span_of(const PlaceArray& places) { return {places.data(), places.size()}; }

/// Throws InputError unless the network has every place.
void check_places(const Network& network, std::span<const Rank> place) {
  if (place.size() != network.ranks()) throw InputError("an order needs one place per rank of the network");
  for (const Rank at : place)
    if (at >= network.ranks()) throw InputError("no such place");
}

auto as_array(std::vector<Rank> values) {
  auto* kept = new std::vector<Rank>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Rank>*>(p); });
  return nb::ndarray<nb::numpy, Rank, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

}  // namespace

void bind_order(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("order", "Orders of a job's ranks.");
  nb::enum_<order::Freedom>(m, "Freedom")
      .value("hosts", order::Freedom::hosts, "ranks fill the hosts one after the other")
      .value("ranks", order::Freedom::ranks, "every rank can be put on any place");
  nb::class_<order::Call>(m, "Call", "A call that ranks are put in order for.").def_ro("weight", &order::Call::weight);
  m.def(
      "native_calls",
      [](const std::string& pattern, Rank ranks, std::uint64_t block, double weight, bool every) {
        std::vector<std::pair<std::string, order::Call>> calls;
        for (const LibraryCall* one :
             order::made_of_steps(parse_pattern(pattern), ranks, every ? std::optional<std::uint64_t>{} : block))
          calls.emplace_back(one->name, order::native_call(*one, ranks, static_cast<double>(block), weight));
        return calls;
      },
      "pattern"_a, "ranks"_a, "block"_a, "weight"_a, "every"_a = true,
      "The libraries' algorithms that are made of steps, by name, on blocks of so many bytes; unless `every`, those "
      "alone that libraries take for so many.");
  m.def("demand_call", &order::demand_call, "demand"_a, "weight"_a, "All messages of an irregular demand at once.");
  m.def(
      "order_ranks",
      [](const Network& network, const std::vector<Node>& hosts, const std::vector<order::Call>& calls,
         order::Freedom freedom) {
        order::Order found;
        {
          const nb::gil_scoped_release release;
          found = order::order_ranks(network, hosts, calls, freedom);
        }
        return std::pair(as_array(std::move(found.place)), found.how);
      },
      "network"_a, "hosts"_a, "calls"_a, "freedom"_a,
      "The place of each rank and how it was found; `hosts`: the given order of the network's hosts.");
  m.def(
      "filled",
      [](const Network& network, const std::vector<Node>& hosts) { return as_array(order::filled(network, hosts)); },
      "network"_a, "hosts"_a, "The places of ranks that fill these hosts one after the other.");
  m.def(
      "seconds",
      [](const Network& network, const PlaceArray& place, const order::Call& call) {
        check_places(network, span_of(place));
        const order::Busiest found = order::Wires(network).call(call, span_of(place));
        return std::pair(found.seconds, found.channel);
      },
      "network"_a, "place"_a, "call"_a,
      "Seconds of the call's steps by link rates alone, and the channel that its longest step keeps busy.");
  m.def("least_ring_step", &order::least_ring_step, "network"_a, "bytes"_a,
        "Seconds that a step of a ring takes at least, whatever the order.");
  m.def(
      "placed",
      [](const Schedule& schedule, const PlaceArray& place) { return order::placed(schedule, span_of(place)); },
      "schedule"_a, "place"_a, "The schedule with each rank in its place.");
}
