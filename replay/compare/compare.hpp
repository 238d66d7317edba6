#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/compare/comparison.hpp"
#include "replay/engine/replay.hpp"
#include "replay/transforms/changes.hpp"

namespace fragcast {

/// A settings string under the name that its row gets.
struct NamedSettings {
  std::string name;
  std::string text;
};

/// What is to be compared, and under what circumstances. What is absent is as it was recorded.
struct CompareOptions {
  std::vector<NamedSettings> settings;
  /// Null: the model of the allocator that was recorded.
  const ModelEntry* model = nullptr;
  /// Null: the recorded one, where the model is the recorded one, else the model's default.
  const ModelRelease* release = nullptr;
  /// Each row is simulated with each of these.
  std::vector<Bytes> device_memory;
  /// What of it others hold.
  Bytes others;
  std::optional<double> fraction;
  std::optional<Soc> soc;
  TraceChanges changes;
  /// Whose prices device calls are estimated with; null: those of the model's usual device.
  const KnownDevice* profile = nullptr;
  std::vector<PriceOverride> price_overrides;
  OnOom on_oom = OnOom::carry_on;
  KeepSeries series = KeepSeries::no;
  /// 0: one per core. The result is the same for any number.
  unsigned threads = 0;
};

/// A simulation that a comparison makes.
struct PlannedRow {
  RunSpec spec;
  /// Further names of the same settings.
  std::vector<std::string> also;
};

/// What `compare` simulates on a device of one size (the first of the options', if it has any): the
/// recorded settings, the default and the given ones, each once; cold controls are left out. Throws
/// InputError as `compare` does.
[[nodiscard]] std::vector<PlannedRow> planned_rows(const Subject& subject,
                                                   const CompareOptions& options);

/// Simulates a trace under its recorded settings, the default ones and the given ones. Settings
/// that mean the same share a row; refused ones are rows that say why. Throws InputError where
/// there is nothing to simulate, or a place that the trace does not have.
[[nodiscard]] Comparison compare(const Subject& subject, const CompareOptions& options);

/// One simulation ready to be made: a trace, after the transforms that the options ask for, and the
/// conditions. It may point into its subject, which must outlive it.
class PreparedRun {
 public:
  /// Throws InputError as `compare` does.
  PreparedRun(const Subject& subject,
              const std::optional<NamedSettings>& settings,
              const CompareOptions& options);

  [[nodiscard]] const Trace& trace() const { return changed_.trace ? *changed_.trace : *original_; }
  [[nodiscard]] const ChangedTrace& changed() const { return changed_; }
  [[nodiscard]] const RunSpec& spec() const { return spec_; }

 private:
  const Trace* original_ = nullptr;
  ChangedTrace changed_;
  RunSpec spec_;
};

/// That simulation as the only row of a comparison.
[[nodiscard]] Comparison simulate(const Subject& subject,
                                  const PreparedRun& prepared,
                                  const CompareOptions& options);

}  // namespace fragcast
