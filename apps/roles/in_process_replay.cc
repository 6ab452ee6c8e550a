#include "apps/roles/in_process_replay.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "apps/roles/actor_seed.h"
#include "apps/roles/composition.h"
#include "common/check.h"
#include "common/heartbeat.h"
#include "model/fused_policy.h"

namespace pacml::apps {
namespace {

constexpr int kMessagesAtOnce = 16;  // then the learner's thread sees to its other work

}  // namespace

InProcessReplay::InProcessReplay(const TrainConfig& config)
    : config_(config),
      task_(config.env.make()),
      policy_(model::make_fused_policy(model::make_shape(config.network, task_->spec()))),
      table_(config.replay.table, Seed{static_cast<std::uint64_t>(config.seed)}) {
  config_.actors = 1;  // the whole ladder of exploration is for its own environments
  nothing_ = task_->spec().make_observations();
  graph_index_.resize(nothing_.graphs().size());
  std::iota(graph_index_.begin(), graph_index_.end(), std::uint16_t{0});
}

InProcessReplay::~InProcessReplay() = default;

void InProcessReplay::act() {
  auto message = std::get<PrioritizedTransitions>(loop_->run_message());
  const Transitions& transitions = message.transitions;
  PACML_CHECK(transitions.observations.graphs() == nothing_.graphs(),
              "an actor names the task's graphs in their order");
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    const double priority = replay::priority_of(config_.replay, message.priorities[i]);
    // What is no priority is counted by the table.
    pack_transition(transitions, i, graph_index_, packed_);
    if (table_.insert(packed_, priority)) ++news_.inserted;
  }
  std::ranges::move(message.episodes, std::back_inserter(news_.episodes));
}

Result<learner::SampledTransitions> InProcessReplay::next(std::stop_token stop,
                                                          Deadline /*deadline*/) {
  PACML_CHECK(loop_ != nullptr, "weights are published before experience is asked for");
  for (int messages = 0; !table_.can_sample() || messages == 0; ++messages) {
    if (stop.stop_requested()) return fail(Errc::kStopped);
    if (messages == kMessagesAtOnce) return fail(Errc::kTimeout);
    beat();
    if (table_.can_insert()) act();
  }
  items_.resize(static_cast<std::size_t>(config_.apex.batch_size));
  const std::span<const replay::SampledItem> items(items_.data(), table_.sample(items_));
  learner::SampledTransitions out;
  out.transitions.observations = nothing_;
  out.transitions.observations.reserve(2 * items.size());
  out.transitions.heads.reserve(items.size());
  drawn_.clear();
  for (const replay::SampledItem& item : items) {
    PACML_CHECK(append_packed(item.payload, out.transitions), "what was packed is read again");
    out.probabilities.push_back(item.probability);
    drawn_.push_back(item.key);
  }
  out.graphs = task_->spec().graphs;
  out.ticket = ++tickets_;
  return out;
}

void InProcessReplay::report_priorities(std::uint64_t ticket, std::span<const float> priorities) {
  if (priorities.empty()) return;
  PACML_CHECK(ticket == tickets_ && priorities.size() == drawn_.size(),
              "priorities are of the batch that was drawn last");
  std::vector<replay::PriorityUpdate> updates;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    updates.push_back({drawn_[i], replay::priority_of(config_.replay, priorities[i])});
  }
  static_cast<void>(table_.update_priorities(updates));
}

learner::TransitionSource::News InProcessReplay::take_news() { return std::exchange(news_, {}); }

void InProcessReplay::publish(model::Parameters parameters) {
  if (!loop_) {
    const Seed run{static_cast<std::uint64_t>(config_.seed)};
    loop_ = make_actor_loop(config_, *task_, *policy_, ActorId{0},
                            actor_seed(run, ActorId{0}, parameters.version));
  }
  loop_->set_parameters(parameters);
}

}  // namespace pacml::apps
