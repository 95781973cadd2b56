#pragma once
/// The one decision on who serves a call: a schedule or the MPI library, on all ranks alike. Of irregular calls only
/// the nonblocking ones come here: for the others ranks find out about sizes first (entry_vector.cpp).
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/buffers/vector_call.hpp"
#include "runtime/calls/block_calls.hpp"
#include "runtime/calls/reduce.hpp"
#include "runtime/calls/vector_operation.hpp"
#include "runtime/choose/choices.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/mpi/refusals.hpp"
#include "runtime/plan/planned.hpp"
#include "runtime/report/report.hpp"

namespace hocket::runtime {

class PrivateChannel;
class Team;

/// A call, as far as it decides on who serves it. The same on all ranks.
struct Facts {
  MPI_Comm comm;
  CallKind kind;
  Form form;
  std::size_t bytes;     ///< of a message; of nonblocking irregular calls nobody knows it
  bool waits = false;    ///< a rank cannot end it before all others have begun it; only then they agree on anything
  bool settled = false;  ///< its result depends on who serves it: one candidate serves all calls like it
  bool has_two_level = false;                  ///< ranks of a host can serve it together
  std::optional<FallbackReason> refused = {};  ///< the reason why ranks can do it in no way
};

struct Server {
  const Exchange* exchange = nullptr;  ///< null: the MPI library
  FallbackReason why = FallbackReason::no_plan;
  Choices::Call chosen = {};                          ///< to be told when a blocking call is over
  std::shared_ptr<PrivateChannel> channel = nullptr;  ///< of a nonblocking call that a schedule serves
};

/// Local for nonblocking calls. Others are collective where all ranks wait, or where the user has said who serves
/// calls; else they take what is there.
[[nodiscard]] Server who_serves(Team& team, const Facts& call);

/// True of a call in whose arguments the MPI library finds an error before it waits for any
/// other rank. Such a call goes to the library at once: it is not counted, and nothing is agreed, voted on, met or
/// looked at for it, since other ranks may not make it at all
/// (docs/decisions/0050-local-errors-never-move-collective-state.md).
///
/// Other ranks may count every call that is not erroneous here, so this one takes part in what becomes of it.
/// `name`: of the call, whatever its form. Local; well below a microsecond.
[[nodiscard]] bool erroneous(LibraryCall name, const AllToAllCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const GatherCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const BroadcastCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const AllReduceCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const ReduceScatterCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const ReduceCall& call, const Team& team);
[[nodiscard]] bool erroneous(LibraryCall name, const RootCall& call, const Team& team);
/// `reach`: as the neighbours of the call were found by it.
[[nodiscard]] bool erroneous(LibraryCall name, const VectorCall& call, const Neighbours& neighbours, Reach reach);

}  // namespace hocket::runtime
