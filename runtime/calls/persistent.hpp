#pragma once
/// Scheduled calls that persistent requests stand for.
#include <utility>

#include "runtime/agreement/private_comms.hpp"
#include "runtime/exchange/exchange.hpp"
#include "runtime/plan/settings.hpp"

namespace hocket::runtime {

/// What a persistent request has to itself: others may be under way at once, and what the program gave
/// when it made the request may be gone when it starts again. `Arguments`, made of the call, holds all of
/// that but the communicator and the buffers, and puts it into the call: instead_of(call). `more` is what it needs to
/// know besides the call.
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
