#pragma once
/// Result of simulating a schedule.
#include <cstdint>
#include <vector>

namespace hocket {

/// Times in seconds from the start; one entry per transfer, channel or phase.
struct Simulation {
  double seconds = 0;                 ///< until the last byte arrives
  std::vector<std::uint32_t> phase;   ///< per transfer
  std::vector<double> posted;         ///< per transfer: its sender begins with it
  std::vector<double> start;          ///< per transfer: bytes begin to flow (after per-message cost and latency)
  std::vector<double> end;            ///< per transfer: the last byte has arrived
  std::vector<double> channel_bytes;  ///< per channel: bytes carried, with overhead
  std::vector<double> channel_busy;   ///< per channel: seconds with at least one transfer under way
  std::vector<double> phase_start;    ///< per phase: first post
  std::vector<double> phase_end;      ///< per phase: last arrival
  std::uint64_t tokens = 0;           ///< sent from one rank to another
};

}  // namespace hocket
