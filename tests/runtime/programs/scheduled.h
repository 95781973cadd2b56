/* How many calls of this process Hocket has scheduled, in programs that know nothing of it. */
#ifndef SCHEDULED_H
#define SCHEDULED_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* 0 without Hocket. */
static inline uint64_t scheduled_calls(void) {
  const char* named = getenv("HOCKET_RUNTIME");
  const char* path = named != NULL ? strchr(named, '/') : NULL;
  void* runtime = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  uint64_t (*ask)(void) = NULL;
  if (runtime != NULL) *(void**)&ask = dlsym(runtime, "hocket_scheduled_calls");
  const uint64_t calls = ask != NULL ? ask() : 0;
  if (runtime != NULL) dlclose(runtime);
  return calls;
}

#endif
