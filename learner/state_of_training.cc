#include "learner/state_of_training.h"

#include <cstdint>
#include <map>
#include <string>

namespace pacml::learner {
namespace {

constexpr const char* kRunShare = "run.share";
constexpr const char* kRunDecisions = "run.decisions";

template <class Value>
std::optional<Value> found_in(const std::map<std::string, Value>& entries, const char* name) {
  const auto found = entries.find(name);
  if (found == entries.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> decisions_learned(const Checkpoint& checkpoint) {
  return found_in(checkpoint.algorithm.counts, "decisions");
}

// Of a checkpoint whose state does not say it.
RunPosition position_by_counters(const Checkpoint& checkpoint) {
  const std::int64_t millionths = found_in(checkpoint.counters, "millionths_of_run").value_or(0);
  if (millionths != 0) return {static_cast<double>(millionths) / 1e6, 0};
  return {0, static_cast<double>(decisions_learned(checkpoint).value_or(0))};
}

}  // namespace

AlgorithmState state_to_resume(const Checkpoint& checkpoint) {
  AlgorithmState state = checkpoint.algorithm;
  if (state.reals.contains(kRunShare)) return state;
  const RunPosition position = position_by_counters(checkpoint);
  state.reals[kRunShare] = position.share;
  state.reals[kRunDecisions] = position.decisions;
  return state;
}

std::optional<LearningProgress> progress_of(const Checkpoint& checkpoint) {
  const auto decisions = decisions_learned(checkpoint);
  if (!decisions) return std::nullopt;
  const auto share = found_in(checkpoint.algorithm.reals, kRunShare);
  if (!share) return LearningProgress{*decisions, position_by_counters(checkpoint)};
  const auto beside = found_in(checkpoint.algorithm.reals, kRunDecisions);
  if (!beside) return std::nullopt;
  return LearningProgress{*decisions, {*share, *beside}};
}

const std::vector<float>* parameters_of(const AlgorithmState& state) {
  const auto found = state.vectors.find("parameters");
  return found == state.vectors.end() ? nullptr : &found->second;
}

}  // namespace pacml::learner
