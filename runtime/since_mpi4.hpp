#pragma once
/// Functions that younger standards have brought and this MPI may lack. The shim asks for one only
/// if the MPI library has it.
#include <mpi.h>

extern "C" {
// MPI-4.0
__attribute__((weak)) int PMPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                             MPI_Request* request);
__attribute__((weak)) int PMPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                              MPI_Request* request);
__attribute__((weak)) int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                                       MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                                       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                                       MPI_Info info, MPI_Request* request);
__attribute__((weak)) int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag,
                                                 int source, int recvtag, MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                                                   int source, int recvtag, MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                      MPI_Comm comm);
__attribute__((weak)) int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                       MPI_Comm comm);
__attribute__((weak)) int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                       MPI_Comm comm);
__attribute__((weak)) int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                       MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                        MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                                        MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                      MPI_Status* status);
__attribute__((weak)) int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                                       MPI_Comm comm, MPI_Request* request);
__attribute__((weak)) int PMPI_Mrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                                       MPI_Status* status);
__attribute__((weak)) int PMPI_Imrecv_c(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                                        MPI_Request* request);
__attribute__((weak)) int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                                          int sendtag, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                          int source, int recvtag, MPI_Comm comm, MPI_Status* status);
__attribute__((weak)) int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                                                  int source, int recvtag, MPI_Comm comm, MPI_Status* status);
// MPI-4.1
__attribute__((weak)) int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                                      MPI_Status statuses[]);
__attribute__((weak)) int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                                      MPI_Status* status);
__attribute__((weak)) int PMPI_Request_get_status_some(int incount, const MPI_Request requests[], int* outcount,
                                                       int indices[], MPI_Status statuses[]);
}
