#include "runtime/mpi/datatypes.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/mpi/world.hpp"

namespace hocket::runtime {
namespace {

/// A size that MPI's int arguments can describe, with a margin.
constexpr std::size_t most_packed_bytes = std::size_t{1} << 30;

/// The envelope of a datatype. MPI_Type_get_envelope fails for types made with large counts, so the large-count
/// function is used where it exists.
struct Made {
  explicit Made(MPI_Datatype type) {
    if (PMPI_Type_get_envelope_c == nullptr) {
      check(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
      return;
    }
    MPI_Count of_each[4];
    check(PMPI_Type_get_envelope_c(type, &of_each[0], &of_each[1], &of_each[2], &of_each[3], &combiner));
    integers = static_cast<int>(of_each[0]);
    addresses = static_cast<int>(of_each[1]);
    with_large_counts = of_each[2] > 0;
    types = static_cast<int>(of_each[3]);
  }

  /// True for types predefined by MPI, which must not be freed.
  [[nodiscard]] bool predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }

  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  bool with_large_counts = false;
};

/// The type that a derived one is made of.
class Inner {
 public:
  Inner(MPI_Datatype type, const Made& how) {
    std::vector<int> integers(static_cast<std::size_t>(how.integers) + 1);
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(how.addresses) + 1);
    check(PMPI_Type_get_contents(type, how.integers, how.addresses, 1, integers.data(), addresses.data(), &type_));
    count_ = integers.front();
    if (!Made(type_).predefined()) derived_.emplace(type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }
  /// The number of elements in a contiguous type.
  [[nodiscard]] int count() const { return count_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int count_ = 0;
  std::optional<MadeType> derived_;  ///< the same
};

/// True if the bytes of one element, which has no gaps, lie in the order in which they are sent. Types for which this
/// is not obvious return false and are packed.
bool in_order(MPI_Datatype type) {
  const Made how(type);
  if (how.predefined()) return true;
  if (how.with_large_counts || how.types != 1) return false;
  switch (how.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return layout_of(Inner(type, how).get()).run;
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_SUBARRAY: {  // elements in the order of their addresses, multiples of the extent
      const Inner inner(type, how);
      const Layout layout = layout_of(inner.get());
      return how.combiner == MPI_COMBINER_CONTIGUOUS ? layout.runs(inner.count()) : layout.runs(2);
    }
    default:
      return false;
  }
}

/// Elements as MPI_Pack takes them: of a type that is committed, since programs get by without where the MPI library
/// does not look; at an address that is not null, which MPI_BOTTOM is and MPICH refuses. The type is then one that
/// begins so much earlier.
class Elements {
 public:
  Elements(const void* at, MPI_Datatype type) : at_(static_cast<std::byte*>(const_cast<void*>(at))), type_(type) {
    if (at != nullptr && committed(type)) return;
    static std::byte anchor;
    const int one = 1;
    const MPI_Aint back = at == nullptr ? -reinterpret_cast<MPI_Aint>(&anchor) : 0;
    if (at == nullptr) at_ = &anchor;
    check(PMPI_Type_create_hindexed(1, &one, &back, type, &type_));
    made_.emplace(type_);
    check(PMPI_Type_commit(&type_));
  }
  [[nodiscard]] std::byte* at() const { return at_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  std::byte* at_;
  MPI_Datatype type_;
  std::optional<MadeType> made_;  ///< the same
};

/// Bytes as one element, however many.
MadeType all_bytes(std::size_t bytes) {
  constexpr std::size_t width = std::size_t{1} << 20;
  const MadeType run = run_of(width);
  const std::array<int, 2> counts{static_cast<int>(bytes / width), static_cast<int>(bytes % width)};
  const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(bytes - bytes % width)};
  const std::array<MPI_Datatype, 2> types{run.get(), MPI_BYTE};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(PMPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &type));
  check(PMPI_Type_commit(&type));
  return MadeType(type);
}

/// Copies what MPI_Pack cannot count: by a message of this rank to itself.
void send_to_self(const void* from, MPI_Datatype type, void* to, MPI_Datatype as) {
  const MPI_Comm own = alone();
  if (own == MPI_COMM_NULL) throw MpiFailure{MPI_ERR_COUNT};
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  check(PMPI_Sendrecv(from, 1, type, 0, 0, to, 1, as, 0, 0, own, MPI_STATUS_IGNORE));
}

/// Calls `part(elements, their number, type, bytes, their number)` for parts that MPI's int arguments can describe, or
/// of one element.
template <class Part>
void in_parts(const void* at, MPI_Count count, MPI_Datatype type, Part part) {
  const std::size_t size = bytes_of(1, type);
  if (size == 0) return;
  MPI_Aint lower = 0, extent = 0;
  check(PMPI_Type_get_extent(type, &lower, &extent));
  const Elements elements(at, type);
  const auto most = static_cast<MPI_Count>(std::max<std::size_t>(1, most_packed_bytes / size));
  std::byte* element = elements.at();
  std::size_t bytes = 0;
  for (MPI_Count n = 0; count > 0; count -= n) {
    n = std::min(count, most);
    const std::size_t length = size * static_cast<std::size_t>(n);
    part(element, n, elements.type(), bytes, length);
    element += static_cast<MPI_Aint>(n) * extent;
    bytes += length;
  }
}

}  // namespace

std::size_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  check(PMPI_Type_size_x(type, &size));
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

bool is_predefined(MPI_Datatype type) { return Made(type).predefined(); }

/// No function says so, but one that packs nothing looks at the type first.
bool committed(MPI_Datatype type) {
  if (is_predefined(type)) return true;
  const MPI_Comm own = alone();
  if (own == MPI_COMM_NULL) return true;
  char nothing = 0;
  int position = 0;
  return PMPI_Pack(&nothing, 0, type, &nothing, 0, &position, own) == MPI_SUCCESS;
}

Layout layout_of(MPI_Datatype type) {
  Layout layout;
  MPI_Aint lower = 0, true_extent = 0;
  layout.size = bytes_of(1, type);
  check(PMPI_Type_get_extent(type, &lower, &layout.extent));
  check(PMPI_Type_get_true_extent(type, &layout.true_lower, &true_extent));
  layout.run = true_extent == static_cast<MPI_Aint>(layout.size) && in_order(type);
  return layout;
}

void pack(const void* elements, MPI_Count count, MPI_Datatype type, std::byte* bytes, MPI_Comm comm) {
  in_parts(elements, count, type,
           [&](const std::byte* from, MPI_Count n, MPI_Datatype of, std::size_t done, std::size_t room) {
             if (room <= most_packed_bytes) {
               int position = 0;
               check(PMPI_Pack(from, static_cast<int>(n), of, bytes + done, static_cast<int>(room), &position, comm));
             } else if (PMPI_Pack_c == nullptr) {
               send_to_self(from, of, bytes + done, all_bytes(room).get());
             } else {
               MPI_Count position = 0;
               check(PMPI_Pack_c(from, n, of, bytes + done, static_cast<MPI_Count>(room), &position, comm));
             }
           });
}

void unpack(const std::byte* bytes, void* elements, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
  in_parts(elements, count, type, [&](std::byte* to, MPI_Count n, MPI_Datatype of, std::size_t done, std::size_t size) {
    if (size <= most_packed_bytes) {
      int position = 0;
      check(PMPI_Unpack(bytes + done, static_cast<int>(size), &position, to, static_cast<int>(n), of, comm));
    } else if (PMPI_Unpack_c == nullptr) {
      send_to_self(bytes + done, all_bytes(size).get(), to, of);
    } else {
      MPI_Count position = 0;
      check(PMPI_Unpack_c(bytes + done, static_cast<MPI_Count>(size), &position, to, n, of, comm));
    }
  });
}

MPI_Comm alone() {
  if (!in_world()) return MPI_COMM_NULL;
  static const MPI_Comm made = [] {
    const int own = 0, weight = 1;
    MPI_Comm fresh = MPI_COMM_NULL;
    check(PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &own, &weight, 1, &own, &weight, MPI_INFO_NULL, 0, &fresh));
    check(PMPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN));
    return fresh;
  }();
  return made;
}

std::size_t detail::ask_size(MPI_Datatype type) {
  const std::size_t bytes = bytes_of(1, type);
  if (is_predefined(type)) last_size = {type, bytes};
  return bytes;
}

}  // namespace hocket::runtime
