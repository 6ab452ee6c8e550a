#include "actor/actor_loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/finite.h"
#include "common/heartbeat.h"
#include "common/result.h"
#include "common/rng.h"

namespace pacml::actor {
namespace {

// How often those who act hear and say what is due, where a message takes longer to make.
constexpr std::chrono::milliseconds kTend{100};

}  // namespace

ActorLoop::ActorLoop(const ActorConfig& config, const env::EnvironmentFactory& make_environment,
                     model::Policy& policy, std::unique_ptr<Behaviour> behaviour, Seed seed)
    : environments_(make_environment, static_cast<std::size_t>(config.environments),
                    derive(seed, Purpose::kEpisode, 0)),
      policy_(&policy),
      behaviour_(std::move(behaviour)) {
  policy_->set_graphs(environments_.spec().graphs);
}

void ActorLoop::set_parameters(const model::Parameters& parameters) {
  if (!model::fits(parameters, policy_->layout())) {
    throw UserError(
        "the learner's weights are of another network than this configuration's: is it of "
        "another version of pacml?");
  }
  if (!all_finite(parameters.values)) return refuse(parameters.version, "are not finite");
  if (newest_.proven) std::swap(newest_, former_);
  newest_.parameters = parameters;
  newest_.proven = false;
  policy_->set_parameters(parameters);
}

void ActorLoop::refuse(PolicyVersion version, const char* why) {
  ++refused_weights_;
  spdlog::warn("the weights of version {} {}: learning diverges; acting with those before them",
               version.get(), why);
}

void ActorLoop::evaluate() {
  ask_policy();
  if (!model::is_sound(output_) && former_.proven) {
    go_back();
    ask_policy();
  }
  if (!model::is_sound(output_)) {
    throw model::UnsoundOutput("the weights of version " +
                               std::to_string(newest_.parameters.version.get()) +
                               " say nothing that can be acted upon: learning has diverged");
  }
  newest_.proven = true;
}

std::span<const int> ActorLoop::decide() {
  evaluate();
  try {
    return behaviour_->choose(environments_, output_, newest_.parameters.version);
  } catch (const model::UnsoundOutput&) {
    if (!former_.proven) throw;
  }
  go_back();
  evaluate();
  return behaviour_->choose(environments_, output_, newest_.parameters.version);
}

void ActorLoop::go_back() {
  refuse(newest_.parameters.version, "say nothing that can be acted upon");
  newest_ = former_;
  policy_->set_parameters(newest_.parameters);
}

void ActorLoop::ask_policy() {
  if (behaviour_->reads_values()) {
    policy_->evaluate(environments_.observations(), output_);
  } else {
    policy_->evaluate_logits(environments_.observations(), output_);
  }
}

void ActorLoop::begin(std::size_t unrolls) {
  PACML_CHECK(!newest_.parameters.values.empty() || refused_weights_ > 0, "weights were given");
  if (newest_.parameters.values.empty()) {
    throw UserError("no weights that are finite have come: learning has diverged");
  }
  environments_.select(std::clamp<std::size_t>(unrolls, 1, environments_.total()));
  behaviour_->begin(environments_.selected());
}

void ActorLoop::step() {
  behaviour_->record(environments_.step(decide()));
  decisions_ += static_cast<std::int64_t>(environments_.size());
}

ActorMessage ActorLoop::run_message(std::size_t unrolls) {
  begin(unrolls);
  while (!behaviour_->full()) step();
  return behaviour_->take(environments_);
}

Result<ActorMessage> ActorLoop::act(std::size_t unrolls, ExperienceSink& sink,
                                    const std::stop_token& stop) {
  Result<void> tended;
  const Chore tending(kTend, [&] {
    if (tended) tended = sink.tend();
  });
  begin(unrolls);
  while (!behaviour_->full()) {
    if (stop.stop_requested()) return fail(Errc::kStopped, "asked to stop");
    if (!tended) return tl::unexpected(tended.error());
    step();
  }
  return behaviour_->take(environments_);
}

Error ActorLoop::run(ExperienceSink& sink, std::stop_token stop) {
  auto first = sink.first_parameters(stop);
  if (!first) return first.error();
  set_parameters(*first);
  while (!stop.stop_requested()) {
    // Weights are taken when we may act, not before: what we do then is as fresh as can be.
    const auto work = sink.next_work(stop);
    if (!work) return work.error();
    if (const auto newer = sink.newest_parameters()) set_parameters(*newer);
    auto message = act(work->unrolls, sink, stop);
    if (!message) return message.error();
    if (auto sent = sink.send(*std::move(message), stop); !sent) return sent.error();
  }
  return {Errc::kStopped, "asked to stop"};
}

}  // namespace pacml::actor
