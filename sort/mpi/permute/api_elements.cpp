/// hocket_elements.h
#include <string>

#include "hocket_elements.h"
#include "runtime/progress/waiting.hpp"
#include "sort/mpi/permute/permute.hpp"

using namespace hocket::sort;

namespace {

const std::byte* bytes_of(const void* memory) { return static_cast<const std::byte*>(memory); }
std::byte* bytes_of(void* memory) { return static_cast<std::byte*>(memory); }

void check_method(int method) {
  if (method < HOCKET_AUTO || method > HOCKET_CHAINED)
    throw hocket::InputError("method " + std::to_string(method) +
                             " is none of HOCKET_AUTO, HOCKET_PACKED, HOCKET_CHAINED");
}

Layout layout_of(HostSharedContext& place, std::int64_t count) {
  return Layout::gather(place.comm(), static_cast<std::uint64_t>(count));
}

/// Calls `run(chained)`. Chained where ranks share memory or, between hosts, no schedule of the exchange of blocks
/// could help; packed also where a host has too little shared memory, which all ranks hear of before anything is
/// written.
template <class Run>
void choose(HostSharedContext& place, int method, Run run) {
  if (method == HOCKET_PACKED) return run(false);
  if (method == HOCKET_CHAINED) return run(true);
  if (!place.one_host() && place.could_collide()) return run(false);
  try {
    run(true);
  } catch (const ApiError& error) {
    if (error.code != HOCKET_ERR_MEMORY) throw;
    run(false);
  }
}

void check_equal(const char* what, std::uint64_t sources, std::uint64_t targets) {
  if (sources != targets)
    throw ApiError{HOCKET_ERR_ARGUMENT, "the source has " + std::to_string(sources) + " " + what +
                                            " in all, the target " + std::to_string(targets)};
}

}  // namespace

int hocket_alloc(MPI_Comm comm, size_t bytes, void** memory) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    collective_try(place, [&] { need(static_cast<const void*>(memory), "memory"); });
    *memory = nullptr;
    *memory = allocate_shared(place, bytes);
  });
}

int hocket_release(MPI_Comm comm, void** memory) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    collective_try(place, [&] { need(static_cast<const void*>(memory), "memory"); });
    release_shared(place, *memory);
    *memory = nullptr;
  });
}

int hocket_permute(MPI_Comm comm, int method, size_t width, int64_t count, const void* source,
                   const int64_t destinations[], int64_t target_count, void* target) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    collective_try(place, [&] {
      check_method(method);
      check_width(width);
      check_elements("source", width, count, source);
      check_elements("target", width, target_count, target);
      if (count > 0) need(destinations, "destinations");
    });
    same_everywhere(place, {{"method", static_cast<std::uint64_t>(method)}, {"width", width}});
    const Permutation permutation{width,
                                  bytes_of(source),
                                  {destinations, static_cast<std::size_t>(count)},
                                  layout_of(place, target_count),
                                  bytes_of(target)};
    check_equal("elements", layout_of(place, count).total(), permutation.target.total());
    int whole = 0, all_whole = 0;
    choose(place, method,
           [&](bool chained) { whole = (chained ? permute_chained : permute_packed)(place, permutation) ? 1 : 0; });
    reduce(&whole, &all_whole, 1, MPI_INT, MPI_MIN, place.comm());
    if (!all_whole) refuse_repeated(place, permutation);
  });
}

int hocket_take(MPI_Comm comm, int method, size_t width, int64_t count, const void* source, int64_t target_count,
                const int64_t indices[], void* target) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    collective_try(place, [&] {
      check_method(method);
      check_width(width);
      check_elements("source", width, count, source);
      check_elements("target", width, target_count, target);
      if (target_count > 0) need(indices, "indices");
    });
    same_everywhere(place, {{"method", static_cast<std::uint64_t>(method)}, {"width", width}});
    const Taking taking{width,
                        layout_of(place, count),
                        bytes_of(source),
                        {indices, static_cast<std::size_t>(target_count)},
                        bytes_of(target)};
    check_indices(place, taking);
    choose(place, method, [&](bool chained) { (chained ? take_chained : take_packed)(place, taking); });
  });
}

int hocket_send_elements(MPI_Comm comm, int method, size_t width, int64_t count, const void* source, const int ranks[],
                         int64_t* arrived, void** target) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    collective_try(place, [&] {
      need(arrived, "arrived");
      need(static_cast<const void*>(target), "target");
      check_method(method);
      check_width(width);
      check_elements("source", width, count, source);
      if (count > 0) need(ranks, "ranks");
    });
    *arrived = 0;
    *target = nullptr;
    same_everywhere(place, {{"method", static_cast<std::uint64_t>(method)}, {"width", width}});
    const std::vector<std::uint16_t> checked = check_ranks(place, {ranks, static_cast<std::size_t>(count)});
    std::uint64_t elements = 0;
    choose(place, method, [&](bool chained) {
      *target = send_elements(place, chained, width, bytes_of(source), checked, elements).release();
    });
    *arrived = static_cast<std::int64_t>(elements);
  });
}

void hocket_free_elements(void** target) {
  if (target == nullptr) return;
  FreeMemory()(bytes_of(*target));
  *target = nullptr;
}

int hocket_grouped_permute(MPI_Comm comm, size_t width, int64_t runs, const int64_t lengths[],
                           const int64_t destinations[], const void* source, int64_t target_count, void* target) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    std::vector<Run> list;
    std::uint64_t count = 0;
    collective_try(place, [&] {
      check_width(width);
      check_elements("target", width, target_count, target);
      if (runs < 0) throw hocket::InputError(std::to_string(runs) + " runs");
      if (runs > 0) need(lengths, "lengths");
      if (runs > 0) need(destinations, "destinations");
      for (std::int64_t i = 0; i < runs; ++i) {
        if (lengths[i] < 0)
          throw hocket::InputError("run " + std::to_string(i) + " has " + std::to_string(lengths[i]) + " elements");
        if (lengths[i] == 0) continue;
        const auto length = static_cast<std::uint64_t>(lengths[i]);
        if (length > INT64_MAX - count) throw hocket::InputError("the runs have more elements than memory can have");
        list.push_back({count, length, static_cast<std::uint64_t>(destinations[i])});
        count += length;
      }
      check_elements("source", width, static_cast<std::int64_t>(count), source);
    });
    same_everywhere(place, {{"width", width}});
    const Layout layout = layout_of(place, target_count);
    check_equal("elements", layout_of(place, static_cast<std::int64_t>(count)).total(), layout.total());
    check_runs(place, list, layout);
    grouped_permute(place, width, list, bytes_of(source), layout, bytes_of(target));
  });
}

int hocket_transpose(MPI_Comm comm, int method, size_t width, int64_t rows, int64_t columns, const void* source,
                     int64_t target_rows, void* target) {
  return c_boundary([&] {
    HostSharedContext& place = HostSharedContext::of(comm);
    collective_try(place, [&] {
      check_method(method);
      check_width(width);
      if (rows < 0) throw hocket::InputError(std::to_string(rows) + " rows");
      if (columns < 0) throw hocket::InputError(std::to_string(columns) + " columns");
      if (target_rows < 0) throw hocket::InputError(std::to_string(target_rows) + " rows of the target");
      std::int64_t elements = 0;
      if (__builtin_mul_overflow(rows, columns, &elements)) throw hocket::InputError("the matrix is too large");
      check_elements("source", width, elements, source);
    });
    same_everywhere(place, {{"method", static_cast<std::uint64_t>(method)},
                            {"width", width},
                            {"columns", static_cast<std::uint64_t>(columns)}});
    const Transposition matrix{width, layout_of(place, rows), layout_of(place, target_rows), bytes_of(source),
                               bytes_of(target)};
    if (matrix.columns.total() != static_cast<std::uint64_t>(columns))
      throw ApiError{HOCKET_ERR_ARGUMENT, "the matrix has " + std::to_string(columns) +
                                              " columns, and the target rows are " +
                                              std::to_string(matrix.columns.total()) + " in all"};
    collective_try(place, [&] {
      std::int64_t elements = 0;
      if (__builtin_mul_overflow(target_rows, static_cast<std::int64_t>(matrix.rows.total()), &elements))
        throw hocket::InputError("the matrix is too large");
      check_elements("target", width, elements, target);
    });
    choose(place, method, [&](bool chained) { (chained ? transpose_chained : transpose_packed)(place, matrix); });
  });
}
