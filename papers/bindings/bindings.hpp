#pragma once
/// One function per file of that name.
#include <nanobind/nanobind.h>

void bind_gossip(nanobind::module_& m);
void bind_gossip_search(nanobind::module_& m);
void bind_wormhole(nanobind::module_& m);
