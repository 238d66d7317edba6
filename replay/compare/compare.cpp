#include "replay/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/compare/remarks.hpp"
#include "replay/compare/verdict.hpp"
#include "replay/engine/parallel.hpp"
#include "replay/trace/quantity.hpp"
#include "replay/verify/verify.hpp"

namespace fragcast {
namespace {

constexpr std::size_t pins_shown = 3;

/// Where a row's allocator starts, and what it is held against.
enum class RowKind : std::uint8_t {
  as_recorded,   ///< the recorded settings, from the rebuilt heap
  cold_control,  ///< the recorded settings, from a heap that the model made
  what_if,
};

struct Row {
  RowKind kind = RowKind::what_if;
  RunSpec spec;
  std::vector<std::string> also;
  /// The row that it is held against, by its index; its own where there is none.
  std::size_t reference = 0;
};

/// Bytes free in what was reserved when the trace began.
Bytes initially_cached(const Layout& heap) {
  Bytes cached;
  for (const SegmentPicture& segment : heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.state == BlockState::free) cached += block.size;
    }
  }
  return cached;
}

/// The rows of one comparison in the making: those of one device's memory.
class Plan {
 public:
  Plan(const Subject& subject,
       const CompareOptions& options,
       std::optional<Bytes> device_memory = std::nullopt)
      : subject_{subject},
        options_{options},
        device_memory_{device_memory},
        model_{model_for(subject, options)} {
    release_ = options_.release != nullptr ? options_.release
                                           : subject.history.conditions.release_of(model_);
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  /// The rows as `first`, `first + 1`, … of a comparison: each is held against what was recorded,
  /// cold ones against its cold control where there is one, and named after the device's memory
  /// where `named` says so.
  [[nodiscard]] std::vector<Row> rows_from(std::size_t first, bool named) const {
    std::vector<Row> rows = rows_;
    const bool has_control = rows.size() > 1 && rows[1].kind == RowKind::cold_control;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool against_control = has_control && i > 1 && rows[i].spec.start == Start::cold;
      rows[i].reference = first + (against_control ? 1 : 0);
      if (named) rows[i].spec.name += " @" + human_size(*device_memory_);
    }
    return rows;
  }
  [[nodiscard]] const ModelEntry& model() const { return model_; }
  /// Whether the model is that of the allocator that was recorded, if one was.
  [[nodiscard]] bool same_model() const {
    return model_.name == subject_.history.conditions.model || !subject_.is_recording();
  }

  void add_recorded() {
    Row row{.kind = RowKind::as_recorded,
            .spec = spec(subject_.is_recording() ? "recorded" : "as given", recorded_settings()),
            .also = {},
            .reference = 0};
    if (same_model()) row.spec.start = Start::warm;
    rows_.push_back(std::move(row));
  }

  void add_cold_control() {
    Row row{.kind = RowKind::cold_control,
            .spec = spec("recorded, cold", recorded_settings()),
            .also = {},
            .reference = 0};
    rows_.push_back(std::move(row));
  }

  void add(const NamedSettings& settings) {
    for (Row& row : rows_) {
      const bool same =
          row.kind != RowKind::cold_control && same_settings(*row.spec.settings, settings.text);
      if (!same) continue;
      if (settings.name != row.spec.name) row.also.push_back(settings.name);
      return;
    }
    rows_.push_back({.kind = RowKind::what_if,
                     .spec = spec(settings.name, settings.text),
                     .also = {},
                     .reference = 0});
  }

  /// The only row: warm where its settings are the recorded ones.
  void add_alone(const NamedSettings& settings) {
    const bool as_recorded = same_model() && same_settings(recorded_settings(), settings.text);
    Row row{.kind = RowKind::what_if,
            .spec = spec(settings.name, settings.text),
            .also = {},
            .reference = 0};
    if (as_recorded) row.spec.start = Start::warm;
    rows_.push_back(std::move(row));
  }

  /// Whether some row cannot start from the rebuilt heap.
  [[nodiscard]] bool any_cold() const {
    return std::any_of(
        rows_.begin(), rows_.end(), [](const Row& row) { return row.spec.start == Start::cold; });
  }
  /// Puts the cold control behind the recorded row.
  void insert_cold_control() {
    add_cold_control();
    std::rotate(rows_.begin() + 1, rows_.end() - 1, rows_.end());
  }

 private:
  static const ModelEntry& model_for(const Subject& subject, const CompareOptions& options) {
    if (options.model != nullptr) return *options.model;
    const ModelEntry* model = find_model(subject.history.conditions.model);
    if (model == nullptr) {
      throw InputError{{.file = subject.source.file, .line = {}, .byte = {}},
                       "no model for the allocator that was recorded; name one with --model, and "
                       "take the result for a comparison of allocators"};
    }
    return *model;
  }

  [[nodiscard]] bool same_settings(std::string_view a, std::string_view b) const {
    return fragcast::same_settings(
        release_ != nullptr ? *release_ : model_.default_release(), a, b);
  }
  [[nodiscard]] std::string recorded_settings() const {
    return subject_.trace().conditions.settings.value_or("");
  }
  [[nodiscard]] RunSpec spec(std::string name, std::string settings) const {
    return {.name = std::move(name),
            .model = &model_,
            .release = release_,
            .settings = std::move(settings),
            .device_memory = device_memory_,
            .others = options_.others,
            .fraction = options_.fraction,
            .soc = options_.soc,
            .on_oom = options_.on_oom,
            .start = Start::cold};
  }

  const Subject& subject_;
  const CompareOptions& options_;
  std::optional<Bytes> device_memory_;
  const ModelEntry& model_;
  /// Null: the model's default.
  const ModelRelease* release_ = nullptr;
  std::vector<Row> rows_;
};

/// Of a simulation that is made with one only.
std::optional<Bytes> memory_of(const CompareOptions& options) {
  if (options.device_memory.empty()) return std::nullopt;
  return options.device_memory.front();
}

void require_history(const Subject& subject) {
  if (!subject.state_only()) return;
  throw InputError{{.file = subject.source.file, .line = {}, .byte = {}},
                   "the file holds a state without a history, so there is nothing to replay; "
                   "`fragcast layout` shows the state (record with "
                   "torch.npu.memory._record_memory_history() or its CUDA twin before the run)"};
}

/// The trace as each row replays it. Rows share one unless it depends on the run.
std::vector<ChangedTrace> traces_of(const std::vector<Row>& rows,
                                    const Trace& trace,
                                    const CompareOptions& options) {
  if (!options.changes.depend_on_run()) {
    return {rows.size(), change(trace, options.changes, rows.front().spec)};
  }
  return parallel_map(rows.size(), options.threads, [&](std::size_t i) {
    return change(trace, options.changes, rows[i].spec);
  });
}

std::vector<ComparedRun> run_rows(const std::vector<Row>& rows,
                                  const Trace& original,
                                  std::vector<ChangedTrace> traces,
                                  const CompareOptions& options) {
  return parallel_map(rows.size(), options.threads, [&](std::size_t i) {
    const Trace& trace = traces[i].trace ? *traces[i].trace : original;
    ComparedRun compared{.run = replay(trace, rows[i].spec, options.series),
                         .also = rows[i].also,
                         .changed = std::move(traces[i]),
                         .difference = {},
                         .pins = {},
                         .cost = {},
                         .diagnostics = {}};
    if (!compared.refused()) {
      const Layout& peak = compared.run.at_peak_reserved.heap;
      compared.pins = find_pins(peak, trace, pins_shown);
      compared.run.at_peak_reserved.heap = {};
    }
    compared.diagnostics = remarks_on(compared.run.conditions, facts_of(trace));
    return compared;
  });
}

void set_differences(const std::vector<Row>& rows, std::vector<ComparedRun>& runs) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t reference = rows[i].reference;
    if (reference == i || runs[i].refused() || runs[reference].refused()) continue;
    runs[i].difference =
        Difference{.reference = reference,
                   .peak_reserved = runs[i].run.peak.reserved - runs[reference].run.peak.reserved};
  }
}

/// All rows have one model and one chip, so one set of prices.
void set_costs(Comparison& comparison, const CompareOptions& options) {
  const RunConditions& conditions = comparison.runs.front().run.conditions;
  comparison.pricing =
      choose_prices(*conditions.model, conditions.soc, options.profile, options.price_overrides);
  for (ComparedRun& row : comparison.runs) {
    if (!row.refused()) row.cost = estimate(row.run.counts, comparison.pricing.prices);
  }
}

/// The rows of a comparison, with what all of them share filled in.
Comparison run_rows_of(const Subject& subject,
                       const std::vector<Row>& rows,
                       std::vector<ChangedTrace> traces,
                       const CompareOptions& options) {
  Comparison comparison{.subject = &subject,
                        .fidelity = {},
                        .runs = run_rows(rows, subject.trace(), std::move(traces), options),
                        .pricing = {},
                        .initially_cached = initially_cached(subject.trace().initial.heap),
                        .verdict = {}};
  set_differences(rows, comparison.runs);
  set_costs(comparison, options);
  return comparison;
}

/// What was recorded, its cold control where one is needed, the default and the given settings.
Plan plan_for(const Subject& subject,
              const CompareOptions& options,
              std::optional<Bytes> device_memory) {
  Plan plan{subject, options, device_memory};
  plan.add_recorded();
  plan.add({.name = "default", .text = ""});
  for (const NamedSettings& settings : options.settings) plan.add(settings);
  const bool warm = plan.rows().front().spec.start == Start::warm;
  if (warm && plan.any_cold() && initially_cached(subject.trace().initial.heap) > Bytes{0}) {
    plan.insert_cold_control();
  }
  return plan;
}

}  // namespace

std::vector<PlannedRow> planned_rows(const Subject& subject, const CompareOptions& options) {
  require_history(subject);
  const Plan plan = plan_for(subject, options, memory_of(options));
  std::vector<PlannedRow> rows;
  for (const Row& row : plan.rows()) {
    if (row.kind == RowKind::cold_control) continue;
    rows.push_back({.spec = row.spec, .also = row.also});
  }
  return rows;
}

Comparison compare(const Subject& subject, const CompareOptions& options) {
  require_history(subject);
  std::vector<std::optional<Bytes>> memories{options.device_memory.begin(),
                                             options.device_memory.end()};
  if (memories.empty()) memories.emplace_back();
  std::vector<Row> rows;
  bool same_model = true;
  for (const std::optional<Bytes>& memory : memories) {
    const Plan plan = plan_for(subject, options, memory);
    same_model = plan.same_model();
    const std::vector<Row> more = plan.rows_from(rows.size(), memories.size() > 1);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  Comparison comparison =
      run_rows_of(subject, rows, traces_of(rows, subject.trace(), options), options);
  if (subject.is_recording() && same_model) {
    comparison.fidelity = verify(subject.history, *comparison.runs.front().run.conditions.model);
  }
  comparison.verdict = pass_verdict(comparison);
  return comparison;
}

PreparedRun::PreparedRun(const Subject& subject,
                         const std::optional<NamedSettings>& settings,
                         const CompareOptions& options)
    : original_{&subject.trace()} {
  require_history(subject);
  Plan plan{subject, options, memory_of(options)};
  if (settings) {
    plan.add_alone(*settings);
  } else {
    plan.add_recorded();
  }
  spec_ = plan.rows().front().spec;
  changed_ = change(subject.trace(), options.changes, spec_);
}

Comparison simulate(const Subject& subject,
                    const PreparedRun& prepared,
                    const CompareOptions& options) {
  Comparison comparison =
      run_rows_of(subject,
                  {{.kind = RowKind::what_if, .spec = prepared.spec(), .also = {}, .reference = 0}},
                  {prepared.changed()},
                  options);
  comparison.verdict = pass_verdict(comparison);
  return comparison;
}

}  // namespace fragcast
