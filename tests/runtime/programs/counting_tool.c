/* A tool that stands between a program and MPI, and counts. It passes calls on by their PMPI_ names, as the
 * standard has it; with ASKS_THE_LINKER it takes the next function of that name that the dynamic linker knows. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef ASKS_THE_LINKER
#define NEXT(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "PMPI_" #name))
#else
#define NEXT(name) PMPI_##name
#endif

static int exchanges, made, starts, waits, barriers, rank;

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  ++exchanges;
  return NEXT(Alltoall)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  ++made;
  return NEXT(Alltoall_init)(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request);
}

int MPI_Start(MPI_Request* request) {
  ++starts;
  return NEXT(Start)(request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++waits;
  return NEXT(Wait)(request, status);
}

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return NEXT(Barrier)(comm);
}

int MPI_Finalize(void) {
  int (*const comm_rank)(MPI_Comm, int*) = NEXT(Comm_rank);
  comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "tool: rank %d: %d %d %d %d %d\n", rank, exchanges, made, starts, waits, barriers);
  return NEXT(Finalize)();
}
