#pragma once
/// A proof by samples for schedules too large to write down.
#include <cstdint>
#include <string>
#include <vector>

#include "core/network/network.hpp"
#include "core/schedule/closed_form.hpp"

namespace hocket {

struct SampleCertificate {
  std::uint64_t messages = 0;         ///< drawn
  std::uint64_t channels = 0;         ///< channels on their routes, each checked
  std::uint64_t collisions = 0;       ///< messages that do not have a channel or a port to themselves
  std::uint64_t unordered = 0;        ///< messages whose tokens do not keep them behind those before them
  std::vector<std::string> findings;  ///< the first few

  [[nodiscard]] bool ok() const { return collisions == 0 && unordered == 0; }
};

/// Draws messages, with repetition. For each, on every channel of its route (by the network) and at both ports, it asks
/// the inverted closed form which message is there in the phase that the formula gives. The answer can name one message
/// only, so of two that meet at least one is found out, whether the inversion is right or not: if nothing is found in n
/// draws, fewer than 6 in n messages meet another, with a probability of 95 %. Then it checks the tokens: each
/// neighbour in time must name the message in turn, and release it at the right one of its sends. Equal seeds draw
/// equal messages.
[[nodiscard]] SampleCertificate verify_sample(const Network& network, const ClosedForm& form, std::uint64_t messages,
                                              std::uint64_t seed = 1);

}  // namespace hocket
