#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "apps/roles/replay_source.h"
#include "common/clock.h"
#include "common/fault_counter.h"
#include "common/json_lines.h"
#include "env/metric.h"
#include "learner/learner_record.h"
#include "learner/serving/experience_server.h"
#include "replay/client.h"

namespace pacml::apps {

// What the metrics say of the processes around the learner; nothing in a single process.
struct ServiceFigures {
  std::function<serving::ServerCounters()> server = {};
  std::function<std::optional<replay::ClientStatus>()> replay = {};  // nullopt: there is none
  // The server's own account of itself, a JSON object; empty: there is none yet.
  std::function<std::string()> account = {};
  ReplaySource* drawn = nullptr;  // where the replay is drawn from
};

// The lines of metrics.jsonl (docs/monitoring.md): what was learned, in all and since the line
// before, and how the processes around it are. Thread-confined, but for faults().
class MetricsLog {
 public:
  // A line is due each `every`. Borrows the clock. UserError: the file cannot be opened.
  MetricsLog(const std::filesystem::path& file, ServiceFigures figures, Duration every,
             const Clock& clock);

  // The rates of the first line begin here. `metrics`: what the task reports of episodes.
  void start(const learner::LearnerCounters& counters, std::vector<env::MetricSpec> metrics);
  [[nodiscard]] bool due() const { return clock_->now() >= next_; }
  // `line`: what else it says; becomes the whole line. A line that cannot be written is lost, and
  // counted.
  void write(nlohmann::json& line, const learner::LearnerCounters& counters,
             const learner::LearnerStatistics& statistics);
  // Thread-safe.
  [[nodiscard]] FaultCounter::Status faults() const { return faults_.status(); }

 private:
  void count_from(const learner::LearnerCounters& counters);

  ServiceFigures figures_;
  Duration every_;
  const Clock* clock_;
  JsonLinesWriter file_;
  FaultCounter faults_{"metrics could not be written"};
  std::vector<env::MetricSpec> metrics_;
  learner::LearnerCounters before_;
  TimePoint last_;
  TimePoint next_;
};

}  // namespace pacml::apps
