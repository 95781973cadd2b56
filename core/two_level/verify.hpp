#pragma once
/// The verifier of exchanges in two levels. It trusts neither who laid out the memory nor who made the schedule: it
/// follows every byte through the memory of the hosts.
#include <cstdint>

#include "core/network/network.hpp"
#include "core/schedule/verify.hpp"
#include "core/schedule/waits.hpp"
#include "core/two_level/exchange.hpp"
#include "core/two_level/memory_trace.hpp"

namespace hocket {

/// `between`: the network with one rank a host. `waits`: of the schedule; null: phases are kept apart. `bound`: bytes
/// of memory that a host may use.
///
/// - Every rank is on one host, once.
/// - Between hosts no port and no channel is overfull in a phase, or ever under the waits; every aggregate comes, once.
/// - No copy goes beyond the memory of its host, and none into a place that has been written to. So what a place holds
///   does not depend on when it is read, if it has been written before.
/// - What a message takes has been written in an earlier phase.
/// - Every byte that a rank takes is traced back to the rank that put it; it must be the byte that is asked for. All
///   that is demanded is taken, once.
/// - Of an all-reduce: each byte of a host's sum has been added once of every rank of the host, the sums of all hosts
///   are added once (verify_sums), and every rank takes the whole vector.
[[nodiscard]] TwoLevelCertificate verify_two_level(const Network& between, const TwoLevelExchange& exchange,
                                                   const Waits* waits, std::uint64_t bound,
                                                   PortModel ports = PortModel::one_port);

}  // namespace hocket
