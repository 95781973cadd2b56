#pragma once
/// What a hocket_table of the public interface is made of.
#include <mpi.h>

#include <memory>
#include <optional>
#include <vector>

#include "exchange.hpp"
#include "nested_exchange.hpp"
#include "phase_table.hpp"

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

  hocket_table(std::unique_ptr<hocket::runtime::OwnComm> own, Phases made);
  /// Copies what a rank sends to itself, and begins the rest.
  void start(const void* const* send, void* const* receive);

  std::unique_ptr<hocket::runtime::OwnComm> comm;
  Phases phases;
  std::vector<hocket_phase> rows;
  hocket::runtime::Exchange exchange;
  hocket::runtime::NestedExchange operation;
  bool under_way = false;
};
