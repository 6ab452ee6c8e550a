#include "actor/unroll_writer.h"

#include <utility>

#include "common/check.h"

namespace pacml::actor {

UnrollWriter::UnrollWriter(const env::EnvironmentSpec& spec, std::size_t environments,
                           std::size_t steps)
    : nothing_(spec.make_observations()),
      environments_(static_cast<std::uint32_t>(environments)),
      steps_(static_cast<std::uint32_t>(steps)),
      last_states_(nothing_) {
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
  unrolls_.observations = nothing_;
  unrolls_.observations.reserve(unrolls_.num_rows());
  resize_columns(unrolls_, 0, 0);
  last_states_.clear();
  next_ = 0;
}

void UnrollWriter::write_rows(const Observations& observations) {
  PACML_CHECK(observations.size() == environments_, "one observation for each environment");
  unrolls_.observations.append_rows(observations, 0, observations.size());
}

void UnrollWriter::observe(const Observations& observations) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  write_rows(observations);
}

void UnrollWriter::step(std::span<const int> actions, std::span<const float> log_probs,
                        PolicyVersion version, std::span<const env::StepResult> results,
                        std::span<const VectorEnv::Finished> finished,
                        const Observations& last_observations) {
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
    unrolls_.episodes.push_back(summary);
    if (!results[b].truncated || results[b].terminated) continue;
    unrolls_.cut.push_back(static_cast<std::uint32_t>(unrolls_.at(next_, b)));
    last_states_.append_row(last_observations, f);
  }
  unrolls_.policy_version[next_] = version;
  ++next_;
}

Unrolls UnrollWriter::take(const Observations& next_observations) {
  PACML_CHECK(full(), "only a full message is taken");
  write_rows(next_observations);
  unrolls_.observations.append_rows(last_states_, 0, last_states_.size());
  Unrolls done = std::move(unrolls_);
  start();
  return done;
}

}  // namespace pacml::actor
