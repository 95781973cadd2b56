#include "runtime/report/report_file.hpp"

#include <string>

#include "runtime/report/json_line.hpp"

namespace hocket::runtime {
namespace {

std::string row_text(const CallKey& kind, const CallRow& row) {
  JsonLine line;
  line.field("call", call_name(kind.call))
      .field("object", row.site.object)
      .field("offset", row.site.offset)
      .field("function", row.site.function)
      .field("into", row.site.into)
      .field("communicator", kind.ranks)
      .field("least", row.least)
      .field("most", row.most)
      .field("scheduled", kind.outcome.kind == Outcome::Kind::scheduled)
      .field("why", reason(kind.outcome))
      .field("detail", kind.outcome.detail)
      .field("calls", row.calls)
      .field("exchanges", row.exchanges)
      .field("bytes", row.bytes)
      .field("seconds", row.seconds)
      .field("under_way", row.under_way)
      .field("predicted", row.figures.predicted)
      .field("bound", row.figures.bound);
  return line.end();
}

std::string row_text(const ChoiceRow& row) {
  JsonLine line;
  return line.field("choice", row.collective)
      .field("candidate", row.candidate)
      .field("communicator", row.ranks)
      .field("hosts", row.hosts)
      .field("message", row.bytes)
      .field("calls", row.calls)
      .field("trials", row.trials)
      .field("native", row.native)
      .field("predicted", row.predicted)
      .field("measured", row.measured)
      .end();
}

}  // namespace

std::string report_text(const Reporter& reporter, const CallTable& table, std::span<const ChoiceRow> choices,
                        bool finished) {
  JsonLine first;
  std::string text = first.field("hocket_report", 1)
                         .field("rank", reporter.rank)
                         .field("host", reporter.host)
                         .field("pid", reporter.pid)
                         .field("spawned", reporter.spawned)
                         .field("finished", finished)
                         .field("rows", table.size())
                         .field("choices", choices.size())
                         .end();
  for (const auto& [kind, row] : table) text += row_text(kind, row);
  for (const ChoiceRow& row : choices) text += row_text(row);
  return text;
}

}  // namespace hocket::runtime
