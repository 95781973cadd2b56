#pragma once
/// Scheduled calls that persistent requests stand for.
#include <utility>

#include "runtime/agreement/private_comms.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

/// The resources of one persistent request: its own communicator, since several requests may be active at once, and
/// copies of arguments that the program may free before the request starts again. `Arguments` is built from the call
/// and `more`; it holds those copies (not the communicator and the buffers), and instead_of(call) puts them into a
/// call.
template <class Arguments>
struct Own {
  template <class Call, class... More>
  Own(PrivateComms::Lease&& leased, Planned planned, const Call& call, const More&... more)
      : lease(std::move(leased)), exchange(lease.comm(), std::move(planned), settings()), arguments(call, more...) {}

  template <class Call>
  [[nodiscard]] Call instead_of(const Call& call) const {
    Call own = arguments.instead_of(call);
    own.comm = lease.comm();
    return own;
  }

  PrivateComms::Lease lease;
  Exchange exchange;
  Arguments arguments;
};

template <class Scheduled, class Arguments>
class Persistent final : private Own<Arguments>, public Scheduled {
 public:
  template <class Call, class... More>
  Persistent(PrivateComms::Lease&& leased, Planned planned, const Call& call, const More&... more)
      : Own<Arguments>(std::move(leased), std::move(planned), call, more...),
        Scheduled(Own<Arguments>::exchange, Own<Arguments>::instead_of(call)) {}
};

}  // namespace hocket::runtime
