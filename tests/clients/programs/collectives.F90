! Collectives as a Fortran program calls them, every value checked. Compiled once for each of the bindings:
! -DMPIF_H, -DMODULE_MPI or -DMODULE_F08; -DPERSISTENT where the MPI has persistent collectives.
! Prints the number of wrong values and a sum that must not depend on who served the calls.
#ifdef MODULE_F08
#define COMMUNICATOR type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS_ARRAY(name, n) type(MPI_Status) :: name(n)
#define ONE_STATUS(name) type(MPI_Status) :: name
#else
#define COMMUNICATOR integer
#define REQUEST integer
#define DATATYPE integer
#define STATUS_ARRAY(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define ONE_STATUS(name) integer :: name(MPI_STATUS_SIZE)
#endif
module exchanges
#ifdef MODULE_F08
  use mpi_f08
#elif defined(MODULE_MPI)
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: n = 6
  integer, save :: wrong = 0
  integer(kind=8), save :: total = 0
  ! For MPI_BOTTOM: addresses of variables that stay where they are.
  integer, target, save :: absolute_out(n*64), absolute_in(n*64)
contains

  integer function value(from, to, i)
    integer, intent(in) :: from, to, i
    value = 100000*from + 1000*to + i
  end function

  subroutine expect(found, wanted)
    integer, intent(in) :: found, wanted
    if (found /= wanted) wrong = wrong + 1
    total = total + int(found, 8)
  end subroutine

  subroutine fill(out, me, p)
    integer, intent(out) :: out(:)
    integer, intent(in) :: me, p
    integer :: i, r
    do r = 0, p - 1
      do i = 1, n
        out(r*n + i) = value(me, r, i)
      end do
    end do
  end subroutine

  ! What every rank sent to this one, and nothing else.
  subroutine check(in, me, p)
    integer, intent(in) :: in(:), me, p
    integer :: i, r
    do r = 0, p - 1
      do i = 1, n
        call expect(in(r*n + i), value(r, me, i))
      end do
    end do
  end subroutine

  subroutine all_to_all(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, p, ierr, round
    integer, allocatable :: out(:), in(:)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, p, ierr)
    allocate(out(n*p), in(n*p))
    do round = 1, 2
      call fill(out, me, p)
      in = -1
      call MPI_Alltoall(out, n, MPI_INTEGER, in, n, MPI_INTEGER, comm, ierr)
      call check(in, me, p)
      call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, out, n, MPI_INTEGER, comm, ierr)
      call check(out, me, p)
    end do
  end subroutine

  subroutine all_to_all_bottom(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, p, ierr
    integer(kind=MPI_ADDRESS_KIND) :: place(1), lower, extent
    integer :: lengths(1)
    DATATYPE :: made, out_type, in_type
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, p, ierr)
    call fill(absolute_out(1:n*p), me, p)
    absolute_in = -1
    lengths(1) = n
    lower = 0
    extent = 4*n
    call MPI_Get_address(absolute_out, place(1), ierr)
    call MPI_Type_create_hindexed(1, lengths, place, MPI_INTEGER, made, ierr)
    call MPI_Type_create_resized(made, lower, extent, out_type, ierr)
    call MPI_Type_free(made, ierr)
    call MPI_Get_address(absolute_in, place(1), ierr)
    call MPI_Type_create_hindexed(1, lengths, place, MPI_INTEGER, made, ierr)
    call MPI_Type_create_resized(made, lower, extent, in_type, ierr)
    call MPI_Type_free(made, ierr)
    call MPI_Type_commit(out_type, ierr)
    call MPI_Type_commit(in_type, ierr)
    call MPI_Alltoall(MPI_BOTTOM, 1, out_type, MPI_BOTTOM, 1, in_type, comm, ierr)
    call check(absolute_in(1:n*p), me, p)
    call MPI_Type_free(out_type, ierr)
    call MPI_Type_free(in_type, ierr)
  end subroutine

  subroutine all_gather_v(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, p, ierr, r, i
    integer, allocatable :: in(:), counts(:), starts(:), mine(:)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, p, ierr)
    allocate(counts(p), starts(p))
    do r = 0, p - 1
      counts(r + 1) = n + r
      starts(r + 1) = r*(n + p)
    end do
    allocate(in(p*(n + p)), mine(n + me))
    mine = [(value(me, 0, i), i = 1, n + me)]
    in = -1
    call MPI_Allgatherv(mine, n + me, MPI_INTEGER, in, counts, starts, MPI_INTEGER, comm, ierr)
    call check_gathered()
    in = -1
    in(starts(me + 1) + 1:starts(me + 1) + n + me) = mine
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, starts, MPI_INTEGER, comm, ierr)
    call check_gathered()
  contains
    subroutine check_gathered()
      do r = 0, p - 1
        do i = 1, n + r
          call expect(in(starts(r + 1) + i), value(r, 0, i))
        end do
        do i = n + r + 1, n + p
          call expect(in(starts(r + 1) + i), -1)
        end do
      end do
    end subroutine
  end subroutine

  subroutine all_to_all_v(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, p, ierr, r, i, round
    integer, allocatable :: out(:), in(:), sent(:), got(:), from(:), to(:)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, p, ierr)
    allocate(out(p*2*p), in(p*2*p), sent(p), got(p), from(p), to(p))
    do r = 0, p - 1
      sent(r + 1) = 1 + mod(me + 2*r, 2*p)
      got(r + 1) = 1 + mod(r + 2*me, 2*p)
      from(r + 1) = r*2*p
      to(r + 1) = r*2*p
      do i = 1, 2*p
        out(r*2*p + i) = value(me, r, i)
      end do
    end do
    do round = 1, 3
      in = -1
      call MPI_Alltoallv(out, sent, from, MPI_INTEGER, in, got, to, MPI_INTEGER, comm, ierr)
      do r = 0, p - 1
        do i = 1, 2*p
          if (i <= got(r + 1)) then
            call expect(in(to(r + 1) + i), value(r, me, i))
          else
            call expect(in(to(r + 1) + i), -1)
          end if
        end do
      end do
    end do
  end subroutine

  subroutine nonblocking(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, p, ierr, round, which
    logical :: done, seen(3)
    integer, allocatable, asynchronous :: out(:), in(:,:)
    REQUEST :: requests(3), one
    STATUS_ARRAY(statuses, 3)
    ONE_STATUS(status)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, p, ierr)
    allocate(out(n*p), in(n*p, 3))
    call fill(out, me, p)
    do round = 1, 3
      in = -1
      call MPI_Ialltoall(out, n, MPI_INTEGER, in(:, 1), n, MPI_INTEGER, comm, one, ierr)
      call MPI_Wait(one, status, ierr)
      call check(in(:, 1), me, p)
      if (one /= MPI_REQUEST_NULL) wrong = wrong + 1

      in = -1
      do which = 1, 3
        call MPI_Ialltoall(out, n, MPI_INTEGER, in(1, which), n, MPI_INTEGER, comm, requests(which), ierr)
      end do
      call MPI_Waitall(3, requests, statuses, ierr)
      do which = 1, 3
        call check(in(:, which), me, p)
      end do

      in = -1
      seen = .false.
      do which = 1, 3
        call MPI_Ialltoall(out, n, MPI_INTEGER, in(1, which), n, MPI_INTEGER, comm, requests(which), ierr)
      end do
      ! MPICH 4.0 gives wrong indices here, so the handles tell which one is over.
      do while (.not. all(seen))
        call MPI_Testany(3, requests, which, done, status, ierr)
        do which = 1, 3
          if (.not. seen(which) .and. requests(which) == MPI_REQUEST_NULL) then
            seen(which) = .true.
            call check(in(:, which), me, p)
          end if
        end do
      end do
      ! Synchronises, so that the next round finds what it wished for.
      call MPI_Barrier(comm, ierr)
    end do
  end subroutine

#ifdef PERSISTENT
  subroutine persistent(comm)
    COMMUNICATOR, intent(in) :: comm
    integer :: me, p, ierr, round
    integer, allocatable, asynchronous :: out(:), in(:)
    REQUEST :: request
    ONE_STATUS(status)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, p, ierr)
    allocate(out(n*p), in(n*p))
    call MPI_Alltoall_init(out, n, MPI_INTEGER, in, n, MPI_INTEGER, comm, MPI_INFO_NULL, request, ierr)
    do round = 1, 3
      call fill(out, me, p)
      in = -1
      call MPI_Start(request, ierr)
      call MPI_Wait(request, status, ierr)
      call check(in, me, p)
    end do
    call MPI_Request_free(request, ierr)
  end subroutine
#endif

  subroutine everything(comm)
    COMMUNICATOR, intent(in) :: comm
    call all_to_all(comm)
    call all_to_all_bottom(comm)
    call all_gather_v(comm)
    call all_to_all_v(comm)
    call nonblocking(comm)
#ifdef PERSISTENT
    call persistent(comm)
#endif
  end subroutine
end module

program collectives
  use exchanges
  implicit none
  integer :: me, p, ierr, sums(1), sum_of_wrong(1)
  integer(kind=8) :: mine(1), everybody(1)
  COMMUNICATOR :: half
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierr)
  call everything(MPI_COMM_WORLD)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), -me, half, ierr)
  call everything(half)
  call MPI_Comm_free(half, ierr)
  sums(1) = wrong
  mine(1) = total
  call MPI_Reduce(sums, sum_of_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  call MPI_Reduce(mine, everybody, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,i0,a,i0)', 'ok ', everybody(1), ', wrong ', sum_of_wrong(1)
  call MPI_Finalize(ierr)
end program
