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
