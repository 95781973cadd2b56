#include "runtime/record/record_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/plan/settings.hpp"

namespace hocket::runtime {
namespace {

std::string twenty_digits(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(20 - digits.size(), '0') + digits;
}

}  // namespace

RecordFile::RecordFile(const std::string& directory, int rank, int ranks) {
  const std::string path = directory + "/rank-" + std::to_string(rank);
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0 && errno == EEXIST)
    say("only the first MPI job is recorded, not those that it starts or that follow it");
  else if (file_ < 0)
    say("cannot write " + path + ": " + std::strerror(errno) + "; it must be in a directory that all hosts see");
  append("hocket-rank 1 " + std::to_string(rank) + " " + std::to_string(ranks));
}

RecordedComm RecordFile::add_comm(std::vector<int> world) {
  RecordedComm comm;
  comm.number = comms_++;
  if (!world.empty()) {
    std::string line = "comm " + std::to_string(comm.number) + " " + std::to_string(seen_[world]++) + " " +
                       std::to_string(world.size());
    for (const int rank : world) line += " " + std::to_string(rank);
    append(line);
  }
  comm.world = std::move(world);
  return comm;
}

void RecordFile::add_call(RecordedComm& comm, std::string_view operation, std::vector<Volume> row) {
  if (comm.world.empty()) {
    if (comm.calls++ == 0) append("skip " + std::to_string(comm.number) + " " + std::string(operation));
    return;
  }
  if (comm.calls > 0 && operation == comm.operation && row == comm.row) {
    write(twenty_digits(++comm.repeated), comm.place);
  } else {
    std::string line = "call " + std::to_string(comm.number) + " " + std::to_string(comm.calls) + " ";
    comm.place = size_ + static_cast<off_t>(line.size());
    line += twenty_digits(1) + " " + std::string(operation) + " " + std::to_string(row.size());
    for (const auto& [peer, bytes] : row) line += " " + std::to_string(peer) + " " + std::to_string(bytes);
    append(line);
    comm.operation = operation;
    comm.row = std::move(row);
    comm.repeated = 1;
  }
  ++comm.calls;
}

void RecordFile::end() {
  append("end");
  if (file_ >= 0) close(std::exchange(file_, -1));
}

void RecordFile::write(std::string_view text, off_t place) {
  while (file_ >= 0 && !text.empty()) {
    const ssize_t done = pwrite(file_, text.data(), text.size(), place);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      say("cannot write to HOCKET_RECORD any more: " + std::string(std::strerror(errno)));
      close(std::exchange(file_, -1));
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(done));
    place += done;
  }
}

void RecordFile::append(const std::string& line) {
  write(line + "\n", size_);
  size_ += static_cast<off_t>(line.size()) + 1;
}

}  // namespace hocket::runtime
