#pragma once
/// Ways of this host's connections, as found before the job and as they are.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/network/network.hpp"
#include "runtime/paths/ask_routers.hpp"

namespace hocket::runtime {

/// A connection from host to host that takes another way than it was found to: by which switch.
struct ChangedWay {
  Node from = 0, to = 0, by = 0;

  bool operator==(const ChangedWay&) const = default;
};

/// The outcome of the last look at all ways.
struct SeenWays {
  /// Connections that a host asks about, at most: the first to those after it.
  static constexpr std::size_t most_asked = 32;

  std::string found = {};  ///< when the ways were found; empty: there is no table
  std::size_t asked = 0, answered = 0;
  std::vector<ChangedWay> changed = {};
  std::uint64_t number = 0;  ///< grows when `changed` does change
};

/// Asks routers for the ways that connections of this host take. Never throws: what cannot be read is not asked for.
class OwnWays {
 public:
  /// The lines about this host of a table (Settings::paths_table); no path: there are none. Looks at all ways, each by
  /// the first port that is free: a fraction of a second. Must precede all connections of the program, as ports in use
  /// cannot be asked for.
  explicit OwnWays(const std::string& table);
  OwnWays(const OwnWays&) = delete;
  OwnWays& operator=(const OwnWays&) = delete;

  [[nodiscard]] const SeenWays& seen() const { return seen_; }
  /// False where no router tells of any way while connections are in use.
  [[nodiscard]] bool can_glance() const { return !beside_.empty() && seen_.answered > 0; }
  /// Asks for one way, about once a second, and takes the answer of the time before; true if some way is another one
  /// than at the last look. Does not wait.
  [[nodiscard]] bool glance();
  /// Looks at all ways by ports beside those of connections, which are in use. A connection whose ports beside it take
  /// another way now is taken to go with them. Without news since the last such look one counts for a while, as several
  /// communicators ask; glances become half as frequent, as a link may come and go.
  void look_again();

 private:
  using Clock = std::chrono::steady_clock;
  /// Ports of one way, and where they lead.
  struct Asked {
    Probe probe;
    Node by = 0;
  };
  struct Connection {
    Node from = 0, to = 0, by_found = 0;
    Asked own, beside;
  };
  using Question = std::pair<Connection*, Asked Connection::*>;

  void read(const std::string& table);
  /// The switch of an answer; nothing where nobody answered, or somebody else.
  [[nodiscard]] std::optional<Node> switch_of(const std::optional<Address>& answer) const;
  /// Questions that were answered, and by which switch.
  [[nodiscard]] std::vector<std::pair<Question, Node>> answers(std::vector<Question> questions) const;
  void note_changes();

  SeenWays seen_;
  std::vector<Connection> connections_;
  std::vector<Connection*> beside_;  ///< those with ports beside them
  std::vector<std::pair<Address, Node>> routers_;
  double packets_a_second_ = 0;

  std::optional<SentProbe> glance_;
  std::size_t turn_ = 0;  ///< of beside_
  bool is_new_ = false;   ///< a glance has shown another way
  Clock::duration pause_ = std::chrono::seconds(1);
  Clock::time_point next_glance_, looked_until_;
};

/// The routes of these connections in the network of the table. Throws InputError for what the table does not know.
[[nodiscard]] std::vector<RouteSpec> routes_of(const std::string& table, const std::vector<ChangedWay>& changed);

}  // namespace hocket::runtime
