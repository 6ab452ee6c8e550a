#include "python/core/policy_batch.h"

#include <utility>

#include "common/check.h"
#include "env/feature_check.h"
#include "model/fused_policy.h"

namespace pacml::python {

PolicyBatch::PolicyBatch(env::TaskPtr task, const std::string& run)
    : task_(std::move(task)), layout_(task_->spec(), false) {
  const apps::TrainedRun trained = apps::load_trained_run(run, task_->spec());
  const auto make = [&](const model::Parameters& parameters) {
    auto policy = model::make_fused_policy(trained.shape);
    policy->set_graphs(task_->spec().graphs);
    policy->set_parameters(parameters);
    return policy;
  };
  acting_ = make(trained.parameters);
  learns_values_ = apps::learns_values(trained.config);
  if (trained.valued && learns_values_) valued_ = make(*trained.valued);
  heads_ = trained.heads;
  file_ = trained.file.string();
  warning_ = trained.warning;
  batch_ = Observations(model::input_shape(trained.shape));
  batch_.set_graphs(task_->spec().graph_hashes());
}

void PolicyBatch::evaluate(const std::vector<const std::byte*>& columns, std::size_t rows,
                           bool valued,
                           const std::function<void(const model::PolicyOutput&)>& read) {
  const std::scoped_lock lock(mutex_);
  PACML_CHECK(!valued || has_values(), "the checkpoint says what its values are");
  batch_.clear();
  for (std::size_t row = 0; row < rows; ++row) layout_.read_row(columns, row, batch_);
  env::require_finite_features(task_->spec(), batch_);
  (valued ? *valued_ : *acting_).evaluate(batch_, output_);
  if (!model::is_sound(output_)) {
    throw model::UnsoundOutput(file_ +
                               " says nothing that can be acted upon: its training had diverged");
  }
  read(output_);
}

}  // namespace pacml::python
