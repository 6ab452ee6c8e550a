#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "env/tasks/ramp/task.h"

namespace pacml::testing {

// The task's memos, but without what is kept from one decision to the next.
inline std::shared_ptr<env::RampMemos> forgetful_memos(const env::RampTask& task) {
  std::vector<env::ExecutionMemo::Setting> settings;
  for (const env::RampCluster& cluster : task.clusters()) {
    settings.push_back(cluster.setting);
    settings.back().max_bytes = 0;
  }
  return std::make_shared<env::RampMemos>(task.graphs(), std::move(settings));
}

}  // namespace pacml::testing
