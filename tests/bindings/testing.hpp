#pragma once
/// One function per file of that name.
#include <nanobind/nanobind.h>

void add_to_core(nanobind::module_& m);
void add_to_sort(nanobind::module_& m);
void add_element_cuts(nanobind::module_& m);
