#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/ids.h"
#include "env/task.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::apps {

// Scores policies during training, always on the same episodes, so that two scores differ by the
// policies alone. These episodes choose the best policy; comparisons (`pacml eval`) use others.
// Thread-confined.
class HeldOutEvaluator {
 public:
  HeldOutEvaluator(env::TaskPtr task, const model::NetworkShape& shape, Seed run,
                   std::int64_t episodes);

  // As long as this is true, work goes on; it is asked again and again.
  using GoesOn = std::function<bool()>;

  // Means of the task's metrics, the objective first, NaN where undefined: of the greedy policy.
  // nullopt: it was not evaluated to the end, or what the policy says cannot be acted upon
  // (model::UnsoundOutput).
  [[nodiscard]] std::optional<std::vector<double>> score(
      const model::Parameters& parameters, const GoesOn& goes_on = [] { return true; });

  // Every baseline that comparisons show, those that it is chosen from included, and its mean of
  // the objective, the best first; nullopt: they were not evaluated to the end.
  struct ScoredBaseline {
    std::string name;
    double score = 0;
  };
  [[nodiscard]] std::optional<std::vector<ScoredBaseline>> score_baselines(const GoesOn& goes_on);

  [[nodiscard]] const env::EnvironmentSpec& spec() const { return task_->spec(); }

 private:
  [[nodiscard]] std::optional<std::vector<double>> means(env::Agent& agent, const GoesOn& goes_on);

  env::TaskPtr task_;
  model::NetworkShape shape_;
  std::unique_ptr<env::Environment> environment_;
  std::vector<Seed> seeds_;
};

}  // namespace pacml::apps
