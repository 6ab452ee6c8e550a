#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "learner/learner_record.h"

namespace pacml::apps {

// What learning says of itself to other threads: the newest line of metrics, with counters that are
// of now. Thread-safe.
class LearningStatus {
 public:
  LearningStatus();

  void count(const learner::LearnerCounters& counters);
  // `line`: as in metrics.jsonl.
  void measure(const nlohmann::json& line);

  // The names are those of metrics.jsonl.
  [[nodiscard]] nlohmann::json json() const;

 private:
  mutable std::mutex mutex_;
  learner::LearnerCounters counters_;           // under mutex_
  std::shared_ptr<const nlohmann::json> line_;  // under mutex_
};

}  // namespace pacml::apps
