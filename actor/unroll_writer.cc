#include "actor/unroll_writer.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace pacml::actor {

UnrollWriter::UnrollWriter(const env::EnvironmentSpec& spec, std::size_t environments,
                           std::size_t steps)
    : num_globals_(static_cast<std::uint32_t>(spec.num_globals)),
      num_actions_(static_cast<std::uint32_t>(spec.num_actions)),
      environments_(static_cast<std::uint32_t>(environments)),
      steps_(static_cast<std::uint32_t>(steps)) {
  for (const auto& graph : spec.graphs) graphs_.push_back(graph->hash);
  start();
}

void UnrollWriter::begin(std::size_t environments) {
  PACML_CHECK(next_ == 0, "a message is of the same environments from its first step to its last");
  if (environments == environments_) return;
  environments_ = static_cast<std::uint32_t>(environments);
  start();
}

void UnrollWriter::start() {
  unrolls_ = {};
  unrolls_.steps = steps_;
  unrolls_.environments = environments_;
  unrolls_.num_globals = num_globals_;
  unrolls_.num_actions = num_actions_;
  resize_columns(unrolls_, graphs_.size(), 0, 0);
  unrolls_.graphs = graphs_;
  next_ = 0;
}

void UnrollWriter::write_row(std::size_t t, const env::ObservationBatch& observations) {
  PACML_CHECK(observations.size() == environments_, "one observation for each environment");
  const auto offset = [&](std::size_t width) {
    return static_cast<std::ptrdiff_t>(t * environments_ * width);
  };
  std::transform(observations.graphs().begin(), observations.graphs().end(),
                 unrolls_.graph.begin() + offset(1),
                 [](std::int32_t graph) { return static_cast<std::uint16_t>(graph); });
  std::copy(observations.globals().begin(), observations.globals().end(),
            unrolls_.globals.begin() + offset(num_globals_));
  std::copy(observations.masks().begin(), observations.masks().end(),
            unrolls_.mask.begin() + offset(num_actions_));
}

void UnrollWriter::observe(const env::ObservationBatch& observations) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  write_row(next_, observations);
}

void UnrollWriter::step(std::span<const int> actions, std::span<const float> log_probs,
                        PolicyVersion version, std::span<const env::StepResult> results,
                        std::span<const VectorEnv::Finished> finished,
                        const env::ObservationBatch& last_observations) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  for (std::size_t b = 0; b < environments_; ++b) {
    const std::size_t i = unrolls_.at(next_, b);
    unrolls_.action[i] = static_cast<std::int16_t>(actions[b]);
    unrolls_.behaviour_log_prob[i] = log_probs[b];
    unrolls_.reward[i] = results[b].reward;
    unrolls_.flags[i] =
        static_cast<std::uint8_t>((results[b].terminated ? Unrolls::kTerminated : 0) |
                                  (results[b].truncated ? Unrolls::kTruncated : 0));
  }
  for (std::size_t f = 0; f < finished.size(); ++f) {
    const auto& [b, summary] = finished[f];
    unrolls_.episodes.push_back({summary.episode_return, summary.decisions, summary.arrived,
                                 summary.completed, summary.blocked});
    if (!results[b].truncated || results[b].terminated) continue;
    auto& last = unrolls_.last_states;
    last.step.push_back(static_cast<std::uint32_t>(unrolls_.at(next_, b)));
    last.graph.push_back(static_cast<std::uint16_t>(last_observations.graph(f)));
    const auto globals = last_observations.globals(f);
    const auto mask = last_observations.mask(f);
    last.globals.insert(last.globals.end(), globals.begin(), globals.end());
    last.mask.insert(last.mask.end(), mask.begin(), mask.end());
  }
  unrolls_.policy_version[next_] = version;
  ++next_;
}

Unrolls UnrollWriter::take(const env::ObservationBatch& next_observations) {
  PACML_CHECK(full(), "only a full message is taken");
  write_row(next_, next_observations);
  Unrolls done = std::move(unrolls_);
  start();
  return done;
}

}  // namespace pacml::actor
