#pragma once
/// MPI_Gather and MPI_Scatter, blocking, nonblocking and persistent, as an operation: messages between the root and
/// everyone else.
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/mpi/held_type.hpp"
#include "runtime/mpi/neighbours.hpp"
#include "runtime/plan/call_kind.hpp"

namespace hocket::runtime {

class OwnRootTypes;
class RootOperation;
class Team;

/// The common part of both calls. All messages have the same size, which all ranks know.
struct RootCall {
  using Operation = RootOperation;
  using Own = OwnRootTypes;

  Reach reach;
  /// The message of this rank, and at the root those of all: elements, count and type.
  struct Side {
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
  } own, all;
  MPI_Comm comm;

  [[nodiscard]] CallKind kind() const;
  /// Bytes of every message. Its signature (count × type) is the same on all ranks, so this is too.
  [[nodiscard]] std::size_t message_bytes(const Team& team) const;
  /// Bytes that this rank sends to others.
  [[nodiscard]] std::uint64_t sent_bytes(const Team& team) const;
  /// This call in the form for messages of different sizes.
  [[nodiscard]] VectorCall between(const Neighbours& neighbours) const;

 protected:
  RootCall(Reach with, Side of_rank, Side at_root, MPI_Comm communicator)
      : reach(with), own(of_rank), all(at_root), comm(communicator) {}

 private:
  [[nodiscard]] bool gathers() const { return reach.kind == Reach::into_root; }
};

struct ToRootCall : RootCall {
  ToRootCall(const void* from, MPI_Count sent, MPI_Datatype sent_type, void* to, MPI_Count received,
             MPI_Datatype received_type, int root, MPI_Comm communicator)
      : RootCall({Reach::into_root, root, from == MPI_IN_PLACE}, {const_cast<void*>(from), sent, sent_type},
                 {to, received, received_type}, communicator) {}
};

struct FromRootCall : RootCall {
  FromRootCall(const void* from, MPI_Count sent, MPI_Datatype sent_type, void* to, MPI_Count received,
               MPI_Datatype received_type, int root, MPI_Comm communicator)
      : RootCall({Reach::from_root, root, to == MPI_IN_PLACE}, {to, received, received_type},
                 {const_cast<void*>(from), sent, sent_type}, communicator) {}
};

/// Copies of the datatypes, which the program may free while the call is under way.
class OwnRootTypes {
 public:
  OwnRootTypes(const RootCall& call, const Team& team);

  template <class Call>
  [[nodiscard]] Call instead_of(Call call) const {
    call.own.type = own_.get();
    call.all.type = all_.get();
    return call;
  }

 private:
  HeldType own_, all_;
};

namespace detail {
/// A base, so that it is there before the operation and after it.
struct AroundRoot {
  Neighbours neighbours;
};
}  // namespace detail

class RootOperation : private detail::AroundRoot, public VectorOperation {
 public:
  RootOperation(const Exchange& exchange, const RootCall& call);
};

}  // namespace hocket::runtime
