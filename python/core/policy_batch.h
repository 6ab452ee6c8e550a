#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/evaluation/trained_run.h"
#include "env/task.h"
#include "model/policy.h"
#include "python/core/observation_layout.h"

namespace pacml::python {

// A trained policy on observations that lie in arrays (ObservationLayout). Any thread: one is
// served after the other.
class PolicyBatch {
 public:
  // UserError: as load_trained_run, and as ObservationLayout.
  PolicyBatch(env::TaskPtr task, const std::string& run);

  [[nodiscard]] const ObservationLayout& layout() const { return layout_; }
  // "value": the network values states and its logits are preferences; "duelling", "actions": it
  // values actions.
  [[nodiscard]] model::ValueHeads heads() const { return heads_; }
  // Whether its algorithm learns what states or actions are worth.
  [[nodiscard]] bool learns_values() const { return learns_values_; }
  // Whether values can be had: they were learned, and the checkpoint says in what unit.
  [[nodiscard]] bool has_values() const { return valued_ != nullptr; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& warning() const { return warning_; }

  // Calls `read` with what the network says of `rows` observations, of which `columns` are the
  // first num_sent(): [rows, A]. It is the network that acts, or the one whose values are in the
  // unit of rewards. UserError: as ObservationLayout::read_row, features that are not finite, or a
  // network that has diverged. Pre of `valued`: has_values().
  void evaluate(const std::vector<const std::byte*>& columns, std::size_t rows, bool valued,
                const std::function<void(const model::PolicyOutput&)>& read);

 private:
  env::TaskPtr task_;
  ObservationLayout layout_;
  std::unique_ptr<model::Policy> acting_;
  bool learns_values_ = false;
  std::unique_ptr<model::Policy> valued_;  // null: values mean nothing
  model::ValueHeads heads_ = model::ValueHeads::kValue;
  std::string file_;
  std::string warning_;
  std::mutex mutex_;  // of what follows, and of the networks
  Observations batch_;
  model::PolicyOutput output_;
};

}  // namespace pacml::python
