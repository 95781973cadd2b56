#pragma once
/// Functions that younger standards have brought and this MPI may lack. The shim asks for one only
/// if the MPI library has it.
#include <mpi.h>

#include "runtime/mpi/sized_calls.h"

extern "C" {
// MPI-4.0
#define DECLARE_LATE(Name, name, which, shape, Place)                                                                \
  __attribute__((weak)) int PMPI_##Name##_c(shape##_PARAMETERS(MPI_Count, MPI_Aint));                                \
  __attribute__((weak)) int PMPI_##Name##_init(shape##_PARAMETERS(int, Place), MPI_Info info, MPI_Request* request); \
  __attribute__((weak)) int PMPI_##Name##_init_c(shape##_PARAMETERS(MPI_Count, MPI_Aint), MPI_Info info,             \
                                                 MPI_Request* request);                                              \
  __attribute__((weak)) int PMPI_I##name##_c(shape##_PARAMETERS(MPI_Count, MPI_Aint), MPI_Request* request);
SIZED_CALLS(DECLARE_LATE)
#undef DECLARE_LATE
__attribute__((weak)) int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                                      MPI_Count outsize, MPI_Count* position, MPI_Comm comm);
__attribute__((weak)) int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                                        MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm);
__attribute__((weak)) int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers,
                                                   MPI_Count* num_addresses, MPI_Count* num_large_counts,
                                                   MPI_Count* num_datatypes, int* combiner);
#ifdef MPI_SESSION_NULL
__attribute__((weak)) int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session);
__attribute__((weak)) int PMPI_Session_finalize(MPI_Session* session);
__attribute__((weak)) int PMPI_Group_from_session_pset(MPI_Session session, const char* pset, MPI_Group* group);
#endif
#define DECLARE_SEND(Name, Iname)                                                                                    \
  __attribute__((weak)) int PMPI_##Name##_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,  \
                                            MPI_Comm comm);                                                          \
  __attribute__((weak)) int PMPI_##Iname##_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, \
                                             MPI_Comm comm, MPI_Request* request);
DECLARE_SEND(Send, Isend)
DECLARE_SEND(Ssend, Issend)
DECLARE_SEND(Rsend, Irsend)
#undef DECLARE_SEND
__attribute__((weak)) int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                       MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                      MPI_Status* status);
__attribute__((weak)) int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                                          int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                          int source, int recvtag, MPI_Comm comm, MPI_Status* status);
// MPI-4.1
__attribute__((weak)) int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                                      MPI_Status statuses[]);
__attribute__((weak)) int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                                      MPI_Status* status);
__attribute__((weak)) int PMPI_Request_get_status_some(int incount, const MPI_Request requests[], int* outcount,
                                                       int indices[], MPI_Status statuses[]);
}
