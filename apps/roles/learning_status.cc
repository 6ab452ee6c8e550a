#include "apps/roles/learning_status.h"

#include <cstdint>
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
  visit_fields(counters, [&](const char* name, std::int64_t count) { status[name] = count; });
  return status;
}

}  // namespace pacml::apps
