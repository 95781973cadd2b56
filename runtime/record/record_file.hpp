#pragma once
/// The file of a rank, in HOCKET_RECORD; python/hocket/measure/recording.py puts the files together.
///
/// Its lines, one for each run of calls with the same row:
///   hocket-rank 1 RANK RANKS
///   comm C ORDINAL SIZE WORLD-RANK...    the C-th communicator of this rank; the ORDINAL-th with these members
///   call C FIRST REPEATED OPERATION N (WORLD-RANK BYTES)...
///   skip C OPERATION                     an intercommunicator, or ranks of another world
///   end
/// REPEATED has 20 digits and is written again in place, so that nothing is lost with a rank that dies.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/buffers/peer_bytes.hpp"

namespace hocket::runtime {

/// The calls of one communicator.
struct RecordedComm {
  int number = 0;
  std::vector<int> world;      ///< ranks of its members; empty: its calls are skipped
  std::string_view operation;  ///< operation of the last run of identical calls
  std::vector<Volume> row;     ///< volumes sent in each of these calls
  std::uint64_t calls = 0;     ///< so far
  std::uint64_t repeated = 0;  ///< number of these calls
  off_t place = 0;             ///< file offset of `repeated`
};

/// Recording ends where the disk does; the program goes on.
class RecordFile {
 public:
  /// The rank is that of MPI_COMM_WORLD.
  RecordFile(const std::string& directory, int rank, int ranks);

  /// `world`: as RecordedComm has it. Communicators of the same members are told apart by the order of these calls.
  [[nodiscard]] RecordedComm add_comm(std::vector<int> world);
  /// The next call of a communicator; receivers by their rank in the world, ascending.
  void add_call(RecordedComm& comm, std::string_view operation, std::vector<Volume> row);
  void end();

 private:
  void write(std::string_view text, off_t place);
  void append(const std::string& line);

  int file_ = -1;  ///< -1: nothing is written any more
  off_t size_ = 0;
  int comms_ = 0;
  std::map<std::vector<int>, int> seen_;  ///< number of communicators with these members so far
};

}  // namespace hocket::runtime
