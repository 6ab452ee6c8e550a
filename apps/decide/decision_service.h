#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/decide/cluster_ledger.h"
#include "apps/decide/decision_model.h"
#include "apps/decide/decision_request.h"

namespace pacml::apps {

// Answers lines with lines (docs/decide.md), and keeps the cluster's state from one to the next.
// Thread-confined.
class DecisionService {
 public:
  explicit DecisionService(std::unique_ptr<DecisionModel> model);

  // The answer to a request: one JSON object, without a newline. Any bytes are safe to pass; those
  // that are no request are answered with an error, and change nothing.
  [[nodiscard]] std::string answer(std::string_view line);
  // Another model decides from now on; what runs goes on. What arrived of late is forgotten where
  // the models remember differently. UserError: it is of another cluster, and
  // the former one goes on.
  void take_over(std::unique_ptr<DecisionModel> model);

  [[nodiscard]] const DecisionModel& model() const { return *model_; }
  [[nodiscard]] const ClusterLedger& ledger() const { return ledger_; }

 private:
  [[nodiscard]] Result<std::string> answer(const DecisionRequest& request);
  [[nodiscard]] Result<std::string> decide(const DecisionRequest& request, ClusterLedger& ledger);
  [[nodiscard]] Result<env::ArrivingJob> job_of(const DecisionRequest& request) const;
  [[nodiscard]] std::string describe() const;

  std::unique_ptr<DecisionModel> model_;
  ClusterLedger ledger_;
  env::ClusterMoment moment_;  // scratch
};

}  // namespace pacml::apps
