#pragma once

#include <memory>
#include <string_view>

#include "apps/evaluation/trained_run.h"
#include "env/task.h"
#include "planning/search_agent.h"

namespace pacml::apps {

// A search over what a trained policy would do. `settings` as planning::parse_search reads them; by
// default the horizon is 12, behind which the network says what follows, and the discount the one
// that it was trained for. UserError: other settings, or a policy of which is not known what its
// values are in units of.
[[nodiscard]] std::unique_ptr<planning::SearchAgent> search_agent(const TrainedRun& run,
                                                                  const env::Task& task,
                                                                  std::string_view settings);

}  // namespace pacml::apps
