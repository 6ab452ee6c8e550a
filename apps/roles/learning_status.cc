#include "apps/roles/learning_status.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace pacml::apps {

LearningStatus::LearningStatus()
    : line_(std::make_shared<const nlohmann::json>(nlohmann::json::object())) {}

void LearningStatus::count(const learner::LearnerCounters& counters) {
  const std::scoped_lock lock(mutex_);
  counters_ = counters;
}

void LearningStatus::measure(const nlohmann::json& line) {
  auto copy = std::make_shared<const nlohmann::json>(line);
  const std::scoped_lock lock(mutex_);
  line_ = std::move(copy);
}

nlohmann::json LearningStatus::json() const {
  std::unique_lock lock(mutex_);
  const auto counters = counters_;
  const auto line = line_;
  lock.unlock();
  nlohmann::json status = *line;
  status["updates"] = counters.updates;
  status["decisions"] = counters.decisions;
  status["samples"] = counters.samples;
  status["stale"] = counters.stale;
  status["misfits"] = counters.misfits;
  status["episodes"] = counters.episodes;
  status["skipped"] = counters.skipped;
  status["unfinished"] = counters.unfinished;
  return status;
}

}  // namespace pacml::apps
