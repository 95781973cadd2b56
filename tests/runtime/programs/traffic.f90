! Collective calls of known traffic, for 'hocket record', on 4 ranks.
program traffic
  use mpi
  implicit none
  integer, parameter :: ranks = 4
  integer :: rank, i, request, error
  integer :: sent(ranks), got(ranks), at(ranks)
  integer :: from(100 * ranks), to(100 * ranks)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  from = 0
  do i = 1, ranks
    sent(i) = 10 * rank + i - 1
    got(i) = 10 * (i - 1) + rank
    at(i) = 100 * (i - 1)
  end do
  call MPI_Alltoallv(from, sent, at, MPI_INTEGER, to, got, at, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, to, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
  call MPI_Iallgather(from, 3, MPI_INTEGER, to, 3, MPI_INTEGER, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Finalize(error)
end program traffic
