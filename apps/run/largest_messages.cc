#include "apps/run/largest_messages.h"

#include <algorithm>

#include "apps/run/most_nodes.h"
#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "common/wire/codec.h"
#include "common/wire/graph_hash.h"
#include "env/graph_message.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

constexpr auto kEpisode = static_cast<std::int64_t>(sizeof(EpisodeRecord));
constexpr std::int64_t kEpisodesOfDraw = 65'536;  // docs/memory.md
constexpr auto kMostBytes = static_cast<std::int64_t>(wire::WireLimits{}.max_payload_bytes);

std::int64_t state_bytes(const ObservationSpec& shown, std::size_t most_nodes) {
  return static_cast<std::int64_t>(
      std::max(shown.row_bytes(), shown.shape().row_bytes(most_nodes)));
}

// Every step may end an episode that is cut off there. Where several agents take turns, each
// decision may be a sequence of its own.
std::int64_t decision_bytes(const TrainConfig& config, const ObservationSpec& shown,
                            std::size_t most_nodes) {
  const std::int64_t rows = shown.agents > 1 ? 3 : 2;
  const bool searches = config.algorithm == AlgorithmKind::kExpertIteration;
  const std::int64_t searched = searches ? 4 * std::int64_t{shown.candidates.most} : 0;
  return rows * state_bytes(shown, most_nodes) + 16 + 4 + 4 + 4 + 4 + 4 + 2 + 1 + searched +
         kEpisode;
}

std::int64_t transition_bytes(const ObservationSpec& shown, std::size_t most_nodes) {
  // Beside itself: key and probability, or priority; an episode that ended.
  return static_cast<std::int64_t>(sizeof(TransitionHead)) + 2 * state_bytes(shown, most_nodes) +
         16 + kEpisode;
}

std::string takes(std::int64_t bytes) {
  return " may take " + std::to_string(bytes) + " bytes; at most " + std::to_string(kMostBytes) +
         " get through";
}

}  // namespace

LargestMessages largest_messages(const TrainConfig& config, const ObservationSpec& shown,
                                 std::size_t most_nodes) {
  const std::int64_t agents = shown.agents;
  LargestMessages out;
  if (uses_replay(config.algorithm)) {
    out.step = transition_bytes(shown, most_nodes);
    // Windows that were open may all close in one message.
    out.beside = config.transitions.n_step * agents;
    out.draw = config.apex.batch_size * out.step + kEpisodesOfDraw * kEpisode;
  } else {
    out.step = decision_bytes(config, shown, most_nodes);
    // What each agent's next decision answers, and what was held back of each.
    out.beside = (1 + held_back(config)) * agents;
  }
  out.experience = config.actor.environments * (config.actor.unroll_length + out.beside) * out.step;
  return out;
}

std::vector<std::string> too_large(const TrainConfig& config, const ObservationSpec& shown,
                                   std::size_t most_nodes) {
  std::vector<std::string> problems;
  const LargestMessages largest = largest_messages(config, shown, most_nodes);
  constexpr SequenceLimits kLimits;
  const std::int64_t held = held_back(config);
  const std::int64_t unroll = config.actor.unroll_length;
  if (held > 0 && (unroll + held >= kLimits.max_length ||
                   config.actor.environments * (unroll + largest.beside) > kLimits.max_decisions)) {
    problems.push_back(
        "reinforce.longest_episode: and actor.unroll_length must together be below " +
        std::to_string(kLimits.max_length) + ", and with it for each agent, times " +
        "actor.environments, at most " + std::to_string(kLimits.max_decisions));
    return problems;
  }
  if (largest.experience > kMostBytes) {
    problems.push_back("actor.unroll_length: a message of " +
                       std::to_string(config.actor.environments) + " x " + std::to_string(unroll) +
                       " decisions" + takes(largest.experience));
  }
  if (largest.draw > kMostBytes) {
    problems.push_back("apex.batch_size: a batch of " + std::to_string(config.apex.batch_size) +
                       " transitions" + takes(largest.draw));
  }
  return problems;
}

void check_messages_fit(const TrainConfig& config, const env::Task& task) {
  const env::EnvironmentSpec& spec = task.spec();
  const auto problems = too_large(config, spec.observation, most_nodes(spec));
  if (!problems.empty()) throw UserError(problems.front());
  for (std::size_t i = 0; i < spec.graphs.size(); ++i) {
    const auto bytes = static_cast<std::int64_t>(wire::bytes_of(env::to_message(*spec.graphs[i])));
    if (bytes > kMostBytes) throw UserError("env: the graph " + spec.graph_names[i] + takes(bytes));
  }
  const auto weights = model::make_layout(model::make_shape(config.network, spec)).total;
  const auto bytes = static_cast<std::int64_t>(weights * sizeof(float));
  if (bytes > kMostBytes) throw UserError("network: its weights' message" + takes(bytes));
}

}  // namespace pacml::apps
