#include "trunk_file.hpp"

#include <mpi.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>

#include "hocket/environment/variables.hpp"
#include "json_line.hpp"
#include "report_file.hpp"
#include "settings.hpp"

namespace hocket::runtime {
namespace {

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// The first line of the library's version.
std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of("\r\n"));
}

std::string text_of(const Network& network, std::uint64_t host_rate,
                    const std::map<std::uint32_t, MeasuredTrunk>& trunks) {
  std::string rows;
  for (const auto& [link, trunk] : trunks) {
    const LinkSpec& ends = network.spec().links[link];
    JsonLine row;
    rows += rows.empty() ? "\n  " : ",\n  ";
    std::string line = row.field("a", network.name(ends.a))
                           .field("b", network.name(ends.b))
                           .field("pairs", trunk.pairs)
                           .field("rate", trunk.rate)
                           .field("width", trunk.width)
                           .end();
    line.pop_back();
    rows += line;
  }
  JsonLine file;
  return file.field("version", 1)
      .field("date", now())
      .field("mpi", mpi_version())
      .field("host_rate", host_rate)
      .json("trunks", "[" + rows + "]")
      .end();
}

}  // namespace

std::string kept(const Network& network, const TrunkMeasurement& found) {
  static std::mutex mutex;
  static std::map<std::uint32_t, MeasuredTrunk> all;
  const std::lock_guard lock(mutex);
  for (const MeasuredTrunk& trunk : found.trunks) all[trunk.link] = trunk;
  const std::string& path = settings().trunks;
  errno = 0;
  if (replace_file(path, text_of(network, found.host_rate, all))) return "; kept in " + shown(path);
  return "; not kept: cannot write " + shown(path) + " (HOCKET_TRUNKS): " + std::strerror(errno);
}

}  // namespace hocket::runtime
