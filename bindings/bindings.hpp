#pragma once
/// One function per room; each lives in a file of that name.
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "core/schedule/schedule.hpp"

void bind_network(nanobind::module_& m);
void bind_tree_probe(nanobind::module_& m);
void bind_schedule(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_plan(nanobind::module_& m);
void bind_planning(nanobind::module_& m);
void bind_two_level(nanobind::module_& m);
void bind_memory(nanobind::module_& m);
void bind_elements(nanobind::module_& m);
void bind_element_moves(nanobind::module_& m);
void bind_choose(nanobind::module_& m);
void bind_order(nanobind::module_& m);

/// Appends one line "phase,src,dst,origin,target,offset,length"; a target of everyone is "*".
void append_line(std::string& text, std::uint64_t phase, hocket::Hop hop, const hocket::Piece& piece);
