#include "runtime/uplinks/probe.hpp"

#include <span>

#include "runtime/agreement/agreement.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

constexpr int stream_tag = 0, greeting_tag = 1;

/// So that the sample finds a connection.
void greet(MPI_Comm comm, int partner) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  check(PMPI_Irecv(nullptr, 0, MPI_BYTE, partner, greeting_tag, comm, &requests[0]));
  check(PMPI_Isend(nullptr, 0, MPI_BYTE, partner, greeting_tag, comm, &requests[1]));
  for (MPI_Request& request : requests) wait_until_done(request);
}

}  // namespace

ProbeStream::ProbeStream(MPI_Comm comm, int partner, Sample sample, const ProbeBuffers& buffers)
    : comm_(comm), partner_(partner), sample_(sample), buffers_(buffers), begun_(Clock::now()) {
  requests_.fill(MPI_REQUEST_NULL);
  for (std::size_t slot = 0; slot < ProbeBuffers::depth; ++slot) receive(slot);
  for (std::size_t slot = 0; slot < ProbeBuffers::depth; ++slot) send(slot, {});
}

ProbeStream::~ProbeStream() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (i < ProbeBuffers::depth) PMPI_Cancel(&requests_[i]);
    PMPI_Request_free(&requests_[i]);
  }
}

bool ProbeStream::advance() {
  std::array<int, 2 * ProbeBuffers::depth> done{};
  std::array<MPI_Status, 2 * ProbeBuffers::depth> statuses;
  int count = 0;
  check(PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done.data(), statuses.data()));
  if (count == MPI_UNDEFINED) return true;
  const auto since = Clock::now() - begun_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    collect(static_cast<std::size_t>(done[i]), statuses[i], since);
  moves_ += static_cast<std::uint64_t>(count);
  return false;
}

void ProbeStream::collect(std::size_t request, const MPI_Status& status, Clock::duration since) {
  if (request >= ProbeBuffers::depth) {
    send(request - ProbeBuffers::depth, since);
    return;
  }
  int bytes = 0;
  check(PMPI_Get_count(&status, MPI_BYTE, &bytes));
  if (bytes == 0) return;
  if (since >= sample_.counted_from() && since < sample_.counted_to()) counted_ += static_cast<std::uint64_t>(bytes);
  receive(request);
}

void ProbeStream::receive(std::size_t slot) {
  check(PMPI_Irecv(buffers_.incoming(slot), static_cast<int>(sample_.message_bytes), MPI_BYTE, partner_, stream_tag,
                   comm_, &requests_[slot]));
}

/// When time is over each slot sends one empty message: as many as there are receives, after everything else.
void ProbeStream::send(std::size_t slot, Clock::duration since) {
  if (last_sent_[slot]) return;
  last_sent_[slot] = since >= sample_.time;
  const int bytes = last_sent_[slot] ? 0 : static_cast<int>(sample_.message_bytes);
  check(PMPI_Issend(buffers_.outgoing(), bytes, MPI_BYTE, partner_, stream_tag, comm_,
                    &requests_[ProbeBuffers::depth + slot]));
}

std::uint64_t ProbeStream::rate() const {
  return static_cast<std::uint64_t>(static_cast<double>(counted_) / sample_.counted().count());
}

std::uint64_t probe(MPI_Comm comm, int partner, Sample sample, const ProbeBuffers& buffers) {
  const bool takes_part = partner >= 0;
  if (takes_part) greet(comm, partner);
  int ready = 1, all_ready = 0;
  reduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, comm);
  std::uint64_t own = 0, all = 0;
  if (takes_part) {
    ProbeStream stream(comm, partner, sample, buffers);
    finish(stream);
    own = stream.rate();
  }
  reduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, comm);  // whole numbers: the same sum in any order
  return all / 2;
}

}  // namespace hocket::runtime
