/* Opens MPI after it has started: a plug-in that is linked with MPI, made of this file too (PLUGIN).
 * Usage: late_mpi PLUGIN local|global names|handle|default ; the plug-in's main program says the rest. */
#ifndef PLUGIN
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  void* plugin = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
  int (*run)(const char*) = plugin == NULL ? NULL : (int (*)(const char*))dlsym(plugin, "run");
  if (run == NULL) fputs(dlerror(), stderr);
  return run == NULL ? 2 : run(argv[3]);
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>

#include "persistent_exchange.h"

/* How the plug-in finds MPI_Alltoall: by its name; in the MPI library's handle; in whatever the process has. */
static __typeof__(&MPI_Alltoall) all_to_all(const char* how) {
  Dl_info library;
  if (strcmp(how, "names") == 0) return MPI_Alltoall;
  if (strcmp(how, "default") == 0) return (__typeof__(&MPI_Alltoall))dlsym(RTLD_DEFAULT, "MPI_Alltoall");
  dladdr((void*)MPI_Get_library_version, &library);
  return (__typeof__(&MPI_Alltoall))dlsym(dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL), "MPI_Alltoall");
}

int run(const char* how) {
  MPI_Init(NULL, NULL);
  know_ranks();
  enum { COUNT = 9000 };
  int *out = malloc(sizeof(int) * COUNT * (size_t)n), *in = malloc(sizeof(int) * COUNT * (size_t)n);
  struct exchange x = {COUNT, rank, n, out, in, MPI_REQUEST_NULL};
  fill(&x, 1);
  all_to_all(how)(out, COUNT, MPI_INT, in, COUNT, MPI_INT, MPI_COMM_WORLD);
  check(right(&x, 1));
  free(out);
  free(in);
  return report();
}
#endif
