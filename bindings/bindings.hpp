#pragma once
/// Includes and casters that the rooms of the bindings share: one function a room, in a file of that name.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "core/network/tree_probe.hpp"
#include "core/plan/program.hpp"
#include "core/schedule/bounds.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/verify.hpp"
#include "runtime/environment/variables.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

using unlocked = nb::call_guard<nb::gil_scoped_release>;  // other threads of Python go on

/// Structs that are tuples in Python: their fields, in order.
template <class T>
inline constexpr std::tuple<> fields{};
template <>
inline constexpr auto fields<Hop> = std::tuple(&Hop::src, &Hop::dst);
template <>
inline constexpr auto fields<Message> = std::tuple(&Message::src, &Message::dst, &Message::bytes);
template <>
inline constexpr auto fields<Piece> = std::tuple(&Piece::origin, &Piece::target, &Piece::offset, &Piece::length);
template <>
inline constexpr auto fields<RankProgram::Send> =
    std::tuple(&RankProgram::Send::phase, &RankProgram::Send::dst, &RankProgram::Send::tokens);
template <>
inline constexpr auto fields<RankProgram::Receive> =
    std::tuple(&RankProgram::Receive::phase, &RankProgram::Receive::src, &RankProgram::Receive::releases);
template <>
inline constexpr auto fields<Release> = std::tuple(&Release::rank, &Release::send);
template <>
inline constexpr auto fields<RouteSpec> = std::tuple(&RouteSpec::src, &RouteSpec::dst, &RouteSpec::channels);
template <>
inline constexpr auto fields<Stream> = std::tuple(&Stream::from, &Stream::to);
template <>
inline constexpr auto fields<LinkSpec> = std::tuple(&LinkSpec::a, &LinkSpec::b, &LinkSpec::rate, &LinkSpec::latency);
template <>
inline constexpr auto fields<TrueBound> = std::tuple(&TrueBound::seconds, &TrueBound::phases);
template <>
inline constexpr auto fields<TurnWait> = std::tuple(&TurnWait::waiting, &TurnWait::releasing, &TurnWait::capacity);

template <class T>
concept AsTuple = std::is_class_v<T> && std::tuple_size_v<std::remove_cv_t<decltype(fields<T>)>> > 0;

namespace nanobind::detail {

template <AsTuple T>
struct type_caster<T> {
  static auto values(const T& from) {
    return std::apply([&](auto... field) { return std::tuple(from.*field...); }, fields<T>);
  }
  using Row = make_caster<decltype(values(std::declval<T>()))>;
  NB_TYPE_CASTER(T, Row::Name)
  bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    Row row;
    if (!row.from_python(from, flags, cleanup)) return false;
    const auto set = [&](auto... field) { std::tie(value.*field...) = row.operator decltype(values(value))(); };
    std::apply(set, fields<T>);
    return true;
  }
  static handle from_cpp(const T& from, rv_policy policy, cleanup_list* cleanup) noexcept {
    return Row::from_cpp(values(from), policy, cleanup);
  }
};

template <class T>
struct type_caster<LeanVector<T>> : list_caster<LeanVector<T>, T> {};

/// A list that lasts as long as the call.
template <class T>
struct type_caster<std::span<const T>> {
  using List = make_caster<std::vector<T>>;
  NB_TYPE_CASTER(std::span<const T>, List::Name)
  bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!list.from_python(from, flags, cleanup)) return false;
    value = list.value;
    return true;
  }
  static handle from_cpp(std::span<const T> from, rv_policy policy, cleanup_list* cleanup) noexcept {
    return List::from_cpp(from, policy, cleanup);
  }
  List list;
};

}  // namespace nanobind::detail

void bind_network(nb::module_& m);
void bind_tree_probe(nb::module_& m);
void bind_schedule(nb::module_& m);
void bind_model(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_planning(nb::module_& m);
void bind_two_level(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_elements(nb::module_& m);
void bind_element_moves(nb::module_& m);
void bind_choose(nb::module_& m);
void bind_order(nb::module_& m);

/// Bytes that an exchange in two levels may use on a host: two calls of a communicator may be under way, and share it.
inline std::uint64_t host_memory() { return runtime::find_variable("HOCKET_HOST_MEMORY")->fallback / 2; }

/// Appends one line "phase,src,dst,origin,target,offset,length"; a target of everyone is "*".
void append_line(std::string& text, std::uint64_t phase, Hop hop, const Piece& piece);

/// Violations by the names of their kinds; zero counts are left out.
nb::dict counts_by_kind(const auto&... certificates) {
  nb::dict found;
  const auto add = [&](const auto& of) {
    using Kind = std::remove_cvref_t<decltype(of.findings.front().kind)>;
    for (std::size_t i = 0; i < of.counts.size(); ++i)
      if (of.counts[i] > 0) found[nb::cast(to_string(static_cast<Kind>(i)))] = of.counts[i];
  };
  (add(certificates), ...);
  return found;
}

/// (kind, phase, text) of each finding.
nb::list findings_of(const auto&... certificates) {
  nb::list found;
  const auto add = [&](const auto& of) {
    for (const auto& [kind, phase, text] : of.findings) found.append(nb::make_tuple(to_string(kind), phase, text));
  };
  (add(certificates), ...);
  return found;
}
