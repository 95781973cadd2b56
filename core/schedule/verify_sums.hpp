#pragma once
/// Verification of the sums of a reduction.
#include "core/demand/demand.hpp"
#include "core/schedule/certificate.hpp"
#include "core/schedule/schedule.hpp"

namespace hocket {

/// Follows which ranks' parts are in what each rank has added up, byte range by byte range. A transfer carries what its
/// sender had when the phase began. Sums that are added must have no rank in common; what replaces must be complete; in
/// the end the rank whose block it is has every rank's part once, and in an all-reduce everyone has. Adds to the
/// certificate; ports and channels are verify()'s. O(bytes' ranges x transfers of a block x ranks / 64).
void verify_sums(const Demand& demand, const Schedule& schedule, Certificate& certificate);

}  // namespace hocket
