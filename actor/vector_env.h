#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/ids.h"
#include "env/environment.h"

namespace pacml::actor {

// Environments of which B are stepped in lockstep, their observations in the rows of one batch: all
// at first, then as many as select() says, while the others stand still. A finished environment
// starts its next episode at once: its row is then the new episode's first observation, and the old
// episode's last one is handed out apart. Episode e of environment i is a pure function of (stream,
// i, e). Thread-confined.
class VectorEnv {
 public:
  // Every environment starts its first episode. Pre: size > 0.
  VectorEnv(const env::EnvironmentFactory& make, std::size_t size, Seed stream);

  struct Finished {
    std::size_t row = 0;
    EpisodeRecord summary;
  };

  [[nodiscard]] const env::EnvironmentSpec& spec() const { return environments_.front()->spec(); }
  // B, the environments that are stepped.
  [[nodiscard]] std::size_t size() const { return selected_.size(); }
  // ... and all that there are.
  [[nodiscard]] std::size_t total() const { return environments_.size(); }
  // Which environment is in each row.
  [[nodiscard]] std::span<const std::size_t> selected() const { return selected_; }
  // From now on so many are stepped: in turns, those that follow the present ones, the first after
  // the last. Nothing changes where all are and stay selected. Pre: 1 <= count <= total().
  void select(std::size_t count);
  [[nodiscard]] const Observations& observations() const { return observations_; }

  // Takes actions [B]. Results are borrowed until the next call.
  std::span<const env::StepResult> step(std::span<const int> actions);
  // Of the last step: rows whose environments finished, in order, and the last observation of each
  // (row i belongs to finished()[i]).
  [[nodiscard]] std::span<const Finished> finished() const { return finished_; }
  [[nodiscard]] const Observations& last_observations() const { return last_observations_; }

 private:
  void start_episode(std::size_t environment);

  Seed stream_;
  std::vector<std::unique_ptr<env::Environment>> environments_;
  std::vector<std::uint64_t> episodes_;  // started, per environment
  std::vector<std::size_t> selected_;    // [B]
  Observations observations_;
  Observations last_observations_;
  std::vector<env::StepResult> results_;
  std::vector<Finished> finished_;
};

}  // namespace pacml::actor
