#include <nlohmann/json.hpp>

#include "replay/report/oom_report.hpp"

namespace fragcast {
namespace {

// Keeps keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

Json json_of(const SizeRange& range) {
  return {{"least", range.least.count()}, {"most", range.most.count()}};
}

Json json_of(const std::optional<SizeRange>& range) {
  return range ? json_of(*range) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json json_of(const PrintedSize& size) {
  return {{"text", size.text},
          {"impossible", size.impossible},
          {"range", size.impossible ? Json(nullptr) : json_of(size.range)}};
}

Json json_of(const OomFinding& finding) {
  return {{"kind", name_of(finding.cause)},
          {"bytes", json_of(finding.bytes)},
          {"certain", finding.certain},
          {"evidence", finding.evidence},
          {"threshold", text_or_null(finding.threshold)},
          {"next", finding.next}};
}

Json json_of(const OomCandidate& candidate) {
  Json json{{"place", text_or_null(candidate.place)},
            {"failed_in_recording", candidate.failed_in_recording},
            {"differences", Json::array()}};
  for (const OomDifference& difference : candidate.differences) {
    json["differences"].push_back({{"figure", name_of(difference.figure)},
                                   {"message", json_of(difference.message)},
                                   {"replay", json_of(difference.replay)}});
  }
  return json;
}

Json json_of(const OomTraceCheck& check) {
  Json json{{"agrees", check.agrees()},
            {"ambiguous", check.agreeing.size() > 1},
            {"figures_compared", check.compared},
            {"failures", check.failures},
            {"only_recorded", check.only_recorded},
            {"agreeing", Json::array()},
            {"closest", check.closest ? json_of(*check.closest) : Json(nullptr)},
            {"verdict", check.verdict}};
  for (const OomCandidate& candidate : check.agreeing) {
    json["agreeing"].push_back(json_of(candidate));
  }
  return json;
}

Json json_of(const ExplainedOom& oom, bool first) {
  const FoundOom& found = oom.found;
  const OomJudgement& judged = oom.judged;
  Json json{{"file", found.file},
            {"line", found.line},
            {"first", first},
            {"writer", text_or_null(found.writer)},
            {"time", text_or_null(found.time)},
            {"times", found.times},
            {"wording", name_of(found.message.wording)},
            {"device", found.message.device ? Json(*found.message.device) : Json(nullptr)},
            {"cut", found.message.cut},
            {"figures", Json::object()},
            {"bounds",
             {{"allocated", json_of(judged.allocated)},
              {"reserved", json_of(judged.reserved)},
              {"cached", json_of(judged.cached)},
              {"pending", json_of(judged.pending)},
              {"others", json_of(judged.others)},
              {"request", json_of(judged.request)},
              {"best", json_of(judged.best)},
              {"best_within_limit", json_of(judged.best_within_limit)}}},
            {"verdicts", Json::array()},
            {"remarks", judged.remarks},
            {"trace", oom.trace ? json_of(*oom.trace) : Json(nullptr)}};
  for (std::size_t i = 0; i < oom_figure_count; ++i) {
    const auto figure = static_cast<OomFigure>(i);
    const auto& printed = found.message.printed(figure);
    if (printed) json["figures"][std::string{name_of(figure)}] = json_of(*printed);
  }
  for (const OomFinding& finding : judged.findings) json["verdicts"].push_back(json_of(finding));
  return json;
}

Json json_of(const OomLog& log) {
  return {{"file", log.file},
          {"lines", log.lines},
          {"mentions", log.mentions},
          {"not_kept", log.not_kept},
          {"binary", log.binary},
          {"cut", text_or_null(log.cut)}};
}

}  // namespace

void write_json(const OomReport& report, std::ostream& out) {
  Json document{{"schema", "fragcast.oom"},
                {"version", 1},
                {"logs", Json::array()},
                {"order", report.ordered_by_time ? "time" : "place"},
                {"thresholds",
                 {{"outside", report.thresholds.outside},
                  {"streams", report.thresholds.streams},
                  {"private_pools", report.thresholds.private_pools}}},
                {"trace", text_or_null(report.trace)},
                {"messages", Json::array()}};
  for (const OomLog& log : report.logs) document["logs"].push_back(json_of(log));
  for (std::size_t i = 0; i < report.messages.size(); ++i) {
    document["messages"].push_back(json_of(report.messages[i], i == 0));
  }
  // What is no UTF-8 in a file's name must not stop the report.
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace fragcast
