#include "runtime/choose/kept_timings_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/error.hpp"
#include "core/plan/binary.hpp"
#include "runtime/mpi/mpi_call.hpp"
#include "runtime/plan/plan_store.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"

namespace hocket::runtime {
namespace {

constexpr std::uint64_t most_file_bytes = 1 << 20;  // limit per file, enough for thousands of keys

std::string path_of(const std::string& place) { return settings().choices + "/" + place + ".txt"; }

/// Empty where nothing is kept, or nothing that can be used, which is said.
std::vector<KeptTimings> read(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return {};
  try {
    std::ifstream file;
    if (bytes_of_file(path).value_or(most_file_bytes + 1) <= most_file_bytes) file.open(path, std::ios::binary);
    if (!file.is_open()) throw InputError("cannot be read");
    return parse_kept_timings(std::string(std::istreambuf_iterator<char>(file), {}));
  } catch (const InputError& problem) {
    say_once(shown(path) + " (HOCKET_CHOICES): " + problem.what() + "; calls are measured again");
    return {};
  }
}

/// Holds a lock file as long as it lives, where that can be had.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (file_ >= 0) (void)flock(file_, LOCK_EX);
  }
  ~Lock() {
    if (file_ >= 0) close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

std::string eight_digits(const ByteWriter& out) {
  char digits[9] = "";
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(checksum(out.bytes())));
  return digits;
}

/// The local part of a configuration's digest, which needs no communication.
std::string known_alone(std::uint64_t wiring_digest, std::size_t ranks) {
  ByteWriter out;
  out.fixed(wiring_digest);
  out.text(library_version());
  out.fixed(static_cast<std::uint64_t>(ranks));
  const Settings& s = settings();
  for (const std::uint64_t value : {static_cast<std::uint64_t>(s.flow_control), s.segment}) out.fixed(value);
  return eight_digits(out);
}

}  // namespace

std::string layout_of(CallKind kind, const MessageSizes& sizes) {
  if (kind != irregular_calls()) return "any";
  return "sparse-" + std::to_string(sizes.sparse) + "-skewed-" + std::to_string(sizes.skewed);
}

std::string call_name(CallKind kind) {
  const std::string_view calls = kind.collective->mpi_calls;
  std::string name(calls.substr(0, calls.find(',')));
  name.erase(0, std::string_view("MPI_").size());
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

std::string place_digest(std::uint64_t wiring_digest, const Numbering& numbering) {
  ByteWriter out;
  for (const std::uint32_t ranks : numbering.ranks_per_node) out.fixed(ranks);
  for (const Rank rank : numbering.network_rank) out.fixed(rank);
  return known_alone(wiring_digest, numbering.network_rank.size()) + eight_digits(out);
}

bool is_anything_kept(int ranks) {
  if (settings().choices.empty()) return false;
  const std::string begin = known_alone(PlanStore::instance().wiring_digest(), static_cast<std::size_t>(ranks));
  DIR* const folder = opendir(settings().choices.c_str());
  if (folder == nullptr) return false;
  bool found = false;
  for (const dirent* file = readdir(folder); file != nullptr && !found; file = readdir(folder))
    found = std::string_view(file->d_name).starts_with(begin);
  closedir(folder);
  return found;
}

std::string mpi_name() {
  const std::string version = library_version();
  for (const auto& [begin, name] : {std::pair("MPICH Version:", "mpich-"), std::pair("Open MPI v", "openmpi-")}) {
    if (!version.starts_with(begin)) continue;
    const std::size_t first = version.find_first_of("0123456789");
    if (first == std::string::npos) break;
    return name + version.substr(first, version.find_first_not_of("0123456789.abrc", first) - first);
  }
  return "unknown";
}

std::vector<KeptTimings> kept_timings(MPI_Comm comm, const std::string& place) {
  std::string text;
  if (rank_in(comm) == 0 && !settings().choices.empty()) {
    std::vector<KeptTimings> of_place;
    for (KeptTimings& timings : read(path_of(place)))
      if (timings.place == place) of_place.push_back(std::move(timings));
    if (!of_place.empty()) text = kept_timings_text(of_place);
  }
  std::uint64_t bytes = text.size();
  run_collective(PMPI_Ibcast, &bytes, 1, MPI_UINT64_T, 0, comm);
  if (bytes == 0) return {};
  text.resize(bytes);
  run_collective(PMPI_Ibcast, text.data(), static_cast<int>(bytes), MPI_CHAR, 0, comm);
  return parse_kept_timings(text);
}

void keep_timings(const std::string& place, std::span<const KeptTimings> learned) {
  const std::string& directory = settings().choices;
  if (directory.empty()) return;
  make_folders(directory);
  const std::string path = path_of(place);
  const Lock lock(directory + "/lock");
  errno = 0;
  const std::vector<KeptTimings> all = merge(read(path), learned);
  if (!replace_file(path, kept_timings_text(all)))
    say_once("cannot write " + shown(path) + " (HOCKET_CHOICES): " + std::strerror(errno) +
             "; the timings of this run are lost");
}

}  // namespace hocket::runtime
