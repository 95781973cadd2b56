#pragma once
/* The MPI library of this process: where it is, and its own functions. The global scope cannot tell,
 * because a preloaded library may define the same names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Nobody but the MPI library defines it: not the shim, not a tool. */
#define HOCKET_LANDMARK "PMPI_Get_library_version"

typedef struct {
  void* handle; /* null: not found */
  uintptr_t begin, end;
} mpi_library;

static inline int is_inside(const mpi_library* library, const void* address) {
  return (uintptr_t)address >= library->begin && (uintptr_t)address < library->end;
}

/* Null if the library itself has no such function. What it depends on does not count. */
static inline void* own_function(const mpi_library* library, const char* name) {
  void* function = library->handle == NULL ? NULL : dlsym(library->handle, name);
  return is_inside(library, function) ? function : NULL;
}

typedef struct {
  uintptr_t address;
  mpi_library found;
  char* name;
} object_search;

static inline int look_at_object(struct dl_phdr_info* object, size_t size, void* data) {
  object_search* search = (object_search*)data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    if (first < begin) begin = first;
    if (first + object->dlpi_phdr[i].p_memsz > end) end = first + object->dlpi_phdr[i].p_memsz;
  }
  if (search->address < begin || search->address >= end) return 0;
  search->found.begin = begin;
  search->found.end = end;
  search->name = strdup(object->dlpi_name);
  return 1;
}

/* The loaded library that holds `function`; not the program itself. */
static inline mpi_library library_with(const void* function) {
  object_search search = {(uintptr_t)function, {NULL, 0, 0}, NULL};
  if (function != NULL && dl_iterate_phdr(look_at_object, &search) && search.name != NULL && search.name[0] != 0)
    search.found.handle = dlopen(search.name, RTLD_LAZY | RTLD_NOLOAD);
  free(search.name);
  return search.found;
}

typedef struct {
  char** list;
  size_t count;
} object_names;

static inline int note_object(struct dl_phdr_info* object, size_t size, void* data) {
  object_names* names = (object_names*)data;
  (void)size;
  if (object->dlpi_name == NULL || object->dlpi_name[0] == 0) return 0;
  char** longer = (char**)realloc(names->list, (names->count + 1) * sizeof *longer);
  if (longer == NULL) return 1;
  names->list = longer;
  names->list[names->count] = strdup(object->dlpi_name);
  names->count += names->list[names->count] != NULL;
  return 0;
}

/* Asks every loaded library: MPI may have been loaded with local scope, as Python extensions are. */
static inline mpi_library search_mpi_library(void) {
  mpi_library found = {NULL, 0, 0};
  object_names names = {NULL, 0};
  dl_iterate_phdr(note_object, &names);
  for (size_t i = 0; i < names.count; ++i) {
    void* object = found.handle == NULL ? dlopen(names.list[i], RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (object != NULL) {
      found = library_with(dlsym(object, HOCKET_LANDMARK));
      dlclose(object);
    }
    free(names.list[i]);
  }
  free(names.list);
  return found;
}

/* `landmark`: where this name leads from here, or null. */
static inline mpi_library find_mpi_library(const void* landmark) {
  const mpi_library library = library_with(landmark);
  return library.handle != NULL ? library : search_mpi_library();
}

/* Tells whether the MPI library of this process is the one that a binary was compiled for. */
typedef int (*mpi_version_fn)(char*, int*);
typedef int (*mpi_abi_fn)(int*, int*);

/* `start` ends at a slash. Blanks do not count: MPICH lines its version string up with them. */
static inline int begins_with(const char* text, const char* start) {
  for (; *start && *start != '/'; ++start) {
    if (*start == ' ') continue;
    while (*text == ' ' || *text == '\t') ++text;
    if (*text++ != *start) return 0;
  }
  return 1;
}

/* `built_for`: "MPI ABI 1." for the ABI of the MPI standard, which any library may speak, else how the library's
 * version begins; a path may follow. The version alone does not do: that of MPICH is the same in both of its ABIs,
 * whose handles differ. `get_version`, `get_abi`: MPI_Get_library_version and MPI_Abi_get_version, NULL where the MPI
 * has none. */
static inline int is_mpi(const char* built_for, mpi_version_fn get_version, mpi_abi_fn get_abi) {
  static const char standard[] = "MPI ABI ";
  int major = -1, minor = -1, length = 0;
  if (get_abi != NULL && get_abi(&major, &minor) == 0 && major > 0) {
    if (strncmp(built_for, standard, sizeof standard - 1) != 0) return 0;
    return strtol(built_for + sizeof standard - 1, NULL, 10) == major;
  }
  enum { MOST = 8192 }; /* MPI_MAX_LIBRARY_VERSION_STRING of every MPI we know is at most this */
  char* const version = (char*)calloc(1, MOST + 1); /* stacks of threads are small */
  const int known = get_version != NULL && version != NULL && get_version(version, &length) == 0;
  const int same = known && begins_with(version, built_for);
  free(version);
  return same;
}

/* MPI calls without any MPI: arguments are carried as machine words. Handles are ints in MPICH and
 * pointers in Open MPI, and both calling conventions in use (System V x86-64, AAPCS64) pass either in
 * one 64-bit slot. */
typedef intptr_t word;

/* Parameters and arguments, by their number. */
#define P0 void
#define P1 word a1
#define P2 P1, word a2
#define P3 P2, word a3
#define P4 P3, word a4
#define P5 P4, word a5
#define P6 P5, word a6
#define P7 P6, word a7
#define P8 P7, word a8
#define P9 P8, word a9
#define P10 P9, word a10
#define P11 P10, word a11
#define P12 P11, word a12
#define A0
#define A1 a1
#define A2 A1, a2
#define A3 A2, a3
#define A4 A3, a4
#define A5 A4, a5
#define A6 A5, a6
#define A7 A6, a7
#define A8 A7, a8
#define A9 A8, a9
#define A10 A9, a10
#define A11 A10, a11
#define A12 A11, a12

/* In a function with parameters P##n: calls what is at `function` with the same arguments. */
#define PASS_TO(function, n) ((int (*)(P##n))(uintptr_t)(function))(A##n)
