#pragma once
/// The verifier. It knows networks, demands and schedules, and trusts no algorithm.
#include <cstdint>

#include "core/demand/demand.hpp"
#include "core/network/network.hpp"
#include "core/schedule/certificate.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waits.hpp"

namespace hocket {

/// one_port: a rank sends at most one and receives at most one message in a phase, or as many as its host has ports.
/// all_port: ports do not count, only channels; for blocks in parts, which are cut such that those that a rank sends at
/// once share its links.
enum class PortModel : std::uint8_t { one_port, all_port };

/// Checks every phase and every byte. In a phase a channel carries no more messages than its capacity, or blocks that
/// alone on their routes are together no faster than it. Linear in transfers × route length for direct schedules.
[[nodiscard]] Certificate verify(const Network& network, const Demand& demand, const Schedule& schedule,
                                 PortModel ports = PortModel::one_port);

/// Checks that the waits (with each sender's own order) order every two transfers of different phases
/// that are capacity · `waits.window` places apart on a channel, places taken by phase and sender, and
/// that no wait points forward. So no channel ever carries more than that many at once.
/// Where links differ in rate: that transfers which may be under way together never take more than `waits.window` times
/// a channel, each its share (network.hpp). Adds to the certificate.
void verify_waits(const Network& network, const Schedule& schedule, const Waits& waits, Certificate& certificate);

/// Follows which ranks' parts are in what each rank has added up, byte range by byte range. A transfer carries what its
/// sender had when the phase began. Sums that are added must have no rank in common; what replaces must be complete; in
/// the end the rank whose block it is has every rank's part once, and in an all-reduce everyone has. Adds to the
/// certificate; ports and channels are verify()'s. O(bytes' ranges x transfers of a block x ranks / 64).
void verify_sums(const Demand& demand, const Schedule& schedule, Certificate& certificate);

}  // namespace hocket
