/// Start and end of MPI and of its processes, as the preloaded shim hands them over: the first call is prepared,
/// sessions are counted, a recording ends, and the processes that MPI_Comm_spawn and MPI_Comm_spawn_multiple start get
/// the runtime, too.
///
/// MPICH hands on what its launcher was told to set. Open MPI hands on only variables that begin with OMPI_MCA_, and
/// 255 bytes of others, by an info key: LD_PRELOAD. The shim takes all the rest from one variable.
#include <unistd.h>

#include <cstdlib>

#include "runtime/mpi/attached.hpp"
#include "runtime/mpi/since_mpi4.hpp"
#include "runtime/plan/settings.hpp"
#include "runtime/progress/requests.hpp"
#include "runtime/record/record.hpp"
#include "runtime/team/team.hpp"

namespace hocket::runtime {
namespace {

#ifdef OPEN_MPI
constexpr const char* key = OMPI_MAJOR_VERSION >= 5 ? "PMIX_ENVAR" : "env";  // lines of NAME=VALUE

/// In the environment of this process, from which Open MPI takes it.
void keep_settings() {
  std::string lines;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with("HOCKET_")) lines += std::string(*entry) + '\n';
  setenv("OMPI_MCA_hocket", lines.c_str(), 1);
}

/// Copies of what the program gives about each command, with LD_PRELOAD. All have it or none: processes of one
/// MPI_COMM_WORLD agree with each other.
class Infos {
 public:
  explicit Infos(std::span<const MPI_Info> given) {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    if (preloaded == nullptr) return;
    for (const MPI_Info info : given) {
      int found = 0;
      char before[MPI_MAX_INFO_VAL + 1] = "";
      if (info != MPI_INFO_NULL) check(PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, before, &found));
      std::string lines = found ? std::string(before) + '\n' : "";
      const bool is_taken = lines.starts_with("LD_PRELOAD=") || lines.find("\nLD_PRELOAD=") != std::string::npos;
      lines += std::string("LD_PRELOAD=") + preloaded;
      if (is_taken || lines.size() >= MPI_MAX_INFO_VAL) {
        say_once("processes that the program starts run without Hocket: " +
                 std::string(is_taken ? "they get another LD_PRELOAD" : "LD_PRELOAD is too long for Open MPI"));
        free_all();
        return;
      }
      MPI_Info& copy = copies_.emplace_back(MPI_INFO_NULL);
      check(info != MPI_INFO_NULL ? PMPI_Info_dup(info, &copy) : PMPI_Info_create(&copy));
      check(PMPI_Info_set(copy, key, lines.c_str()));
    }
    keep_settings();
  }
  Infos(const Infos&) = delete;
  Infos& operator=(const Infos&) = delete;
  ~Infos() { free_all(); }
  [[nodiscard]] const MPI_Info* or_else(const MPI_Info* given) const {
    return copies_.empty() ? given : copies_.data();
  }

 private:
  void free_all() {
    for (MPI_Info& copy : copies_) PMPI_Info_free(&copy);
    copies_.clear();
  }

  std::vector<MPI_Info> copies_;
};

/// Infos and commands mean something on the root only.
bool is_root(int root, MPI_Comm comm) {
  int rank = -1;
  return plain_intracommunicator(comm) && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/// Calls `spawn` with the infos of each command.
template <class Spawn>
int with_runtime(std::span<const MPI_Info> given, int root, MPI_Comm comm, Spawn spawn) {
  if (!is_root(root, comm)) return spawn(given.data());
  return guarded(comm, [&] {
    const Infos infos(given);
    return spawn(infos.or_else(given.data()));
  });
}
#else
template <class Spawn>
int with_runtime(std::span<const MPI_Info> given, int, MPI_Comm, Spawn spawn) {
  return spawn(given.data());
}
#endif

}  // namespace
}  // namespace hocket::runtime

HOCKET_CALL hocket_comm_spawn(const char* command, char** argv, int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                              MPI_Comm* inter, int* codes) {
  using namespace hocket::runtime;
  Requests::instance().post_remaining();
  return with_runtime({&info, 1}, root, comm, [&](const MPI_Info* infos) {
    return PMPI_Comm_spawn(command, argv, maxprocs, *infos, root, comm, inter, codes);
  });
}

HOCKET_CALL hocket_comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs,
                                       const MPI_Info* given, int root, MPI_Comm comm, MPI_Comm* inter, int* codes) {
  using namespace hocket::runtime;
  Requests::instance().post_remaining();
  const std::size_t commands_given = given != nullptr && count > 0 ? static_cast<std::size_t>(count) : 0;
  return with_runtime({given, commands_given}, root, comm, [&](const MPI_Info* infos) {
    return PMPI_Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm, inter, codes);
  });
}

/// The first call would pay for this: short ones take less time. Ways are looked at while no port is in use.
HOCKET_CALL hocket_started() {
  using namespace hocket::runtime;
  return guarded(MPI_COMM_WORLD, [] {
    look_at_ways();
    if (settings().choose != Choose::off) (void)Team::known(MPI_COMM_WORLD)->choices();
    return MPI_SUCCESS;
  });
}

HOCKET_CALL hocket_finalize() {
  if (hocket::runtime::recording) hocket::runtime::end_recording();
  return PMPI_Finalize();
}

#ifdef MPI_SESSION_NULL
HOCKET_CALL hocket_session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const int code = PMPI_Session_init(info, errhandler, session);
  if (code == MPI_SUCCESS) hocket::runtime::session_begins();
  return code;
}

HOCKET_CALL hocket_session_finalize(MPI_Session* session) {
  const int code = PMPI_Session_finalize(session);
  if (code == MPI_SUCCESS) hocket::runtime::session_is_over();
  return code;
}
#else
/// The shim asks for them only if the MPI library has sessions.
HOCKET_CALL hocket_session_init() { return MPI_ERR_OTHER; }
HOCKET_CALL hocket_session_finalize() { return MPI_ERR_OTHER; }
#endif
