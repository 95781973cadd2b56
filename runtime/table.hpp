#pragma once
/// What a hocket_table of the public interface is made of.
#include <mpi.h>

#include <memory>
#include <vector>

#include "exchange.hpp"
#include "nested_exchange.hpp"
#include "phase_table.hpp"
#include "requests.hpp"

namespace hocket::runtime {

/// A communicator of the same ranks that nobody else uses. Made and destroyed collectively.
class OwnComm {
 public:
  explicit OwnComm(MPI_Comm comm);
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  ~OwnComm();
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
};

}  // namespace hocket::runtime

struct hocket_table {
  using Phases = hocket::runtime::PhaseTable;
  using Served = hocket::runtime::Served;

  /// The table must have passed check_table().
  hocket_table(std::unique_ptr<hocket::runtime::OwnComm> own, Phases made);
  /// Refused while it is under way, or if a buffer is missing.
  void start(const void* const* send, void* const* receive);
  [[nodiscard]] bool under_way() const { return served->state != Served::State::inactive; }
  /// A step of everything that is under way in this process; true if this exchange is over.
  [[nodiscard]] bool test();
  void wait();

  std::unique_ptr<hocket::runtime::OwnComm> comm;
  Phases phases;
  std::vector<hocket_phase> rows;
  hocket::runtime::Exchange exchange;
  std::shared_ptr<Served> served;  ///< makes progress whenever one of the runtime's waits does

 private:
  void collect();
  hocket::runtime::NestedExchange* operation_;  ///< of `served`
};
