#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/experience/episode.h"
#include "common/rng.h"
#include "env/task.h"
#include "python/core/observation_layout.h"

namespace pacml::python {

// What becomes of an environment whose episode has ended; the names are Gymnasium's.
enum class Autoreset {
  kNextStep,  // its next step begins a new one, whatever the action
  kSameStep,  // a new one begins at once; what the old one came to is in final_columns()
  kDisabled,  // reset() has to be called before the next step
};

// Environments of one task that are stepped together, each with one agent, and what they show in
// arrays (ObservationLayout), which stay where they are and are overwritten by every call.
// Episode e of an environment that was given seed s is that of derive(s, kEpisode, e), whatever
// the number of environments. Thread-confined: UserError of whatever is called while another thread
// is in a call; and of step() and sample_actions() where environments threw in a call before, until
// a reset of all, which makes them anew.
class EnvBatch {
 public:
  // `strict`: an action that the mask forbids is refused; else the first allowed one is taken in
  // its place. UserError: as ObservationLayout.
  EnvBatch(env::TaskPtr task, std::size_t size, Autoreset autoreset, bool derived, bool strict);

  [[nodiscard]] const ObservationLayout& layout() const { return layout_; }
  [[nodiscard]] const env::EnvironmentSpec& spec() const { return task_->spec(); }
  [[nodiscard]] std::size_t size() const { return seeds_.size(); }

  // A new stream of episodes for an environment: reset() begins the first one of it.
  void seed(std::size_t environment, Seed seed);
  // The episode that an environment begins next is that of this very seed, in the place of the one
  // that its stream has next.
  void set_episode(std::size_t environment, Seed episode);
  // Starts an episode in environments where which[i] is not 0. Pre: which [size].
  void reset(std::span<const std::uint8_t> which);
  // UserError, and no environment has moved: an action out of range, or forbidden where that is
  // refused; an episode that is over and has to be reset. UserError as the environments throw it.
  // Pre: actions [size].
  void step(std::span<const std::int64_t> actions);
  // One allowed action of each environment, all equally likely, into `out` [size].
  void sample_actions(Rng& rng, std::span<std::int64_t> out) const;

  // [columns] of [size, ...]
  [[nodiscard]] const std::vector<std::vector<std::byte>>& columns() const { return columns_; }
  // Of kSameStep: what was to be seen at the end of episodes, where over()[i].
  [[nodiscard]] const std::vector<std::vector<std::byte>>& final_columns() const {
    return final_columns_;
  }
  // Of the last step, [size] each.
  [[nodiscard]] std::span<const double> rewards() const { return rewards_; }
  [[nodiscard]] std::span<const std::uint8_t> terminated() const { return terminated_; }
  [[nodiscard]] std::span<const std::uint8_t> truncated() const { return truncated_; }
  [[nodiscard]] std::span<const float> elapsed() const { return elapsed_; }  // as StepResult's
  // Whose action was replaced.
  [[nodiscard]] std::span<const std::uint8_t> replaced() const { return replaced_; }
  // Whose episode the last step ended, and what those have come to.
  [[nodiscard]] std::span<const std::uint8_t> over() const { return over_; }
  [[nodiscard]] bool any_over() const { return any_over_; }
  [[nodiscard]] std::span<const EpisodeRecord> episodes() const { return episodes_; }

 private:
  // Whoever is in a call has it; from Python, two threads must not be able to break memory.
  class Turn;
  [[nodiscard]] std::span<const std::uint8_t> mask(std::size_t environment) const;
  void check(std::span<const std::int64_t> actions) const;
  [[nodiscard]] int allowed(std::size_t environment, std::int64_t action);
  void step_all(std::span<const std::int64_t> actions);
  [[nodiscard]] std::vector<std::unique_ptr<env::Environment>> make_environments() const;
  void start_episode(std::size_t environment);
  void end_episode(std::size_t environment);
  // What environments where which[i] show, into their rows.
  void show(std::span<const std::uint8_t> which);
  // The same, of what has been observed.
  void write_rows(std::span<const std::uint8_t> which);

  env::TaskPtr task_;
  ObservationLayout layout_;
  Autoreset autoreset_;
  bool strict_;
  std::unique_ptr<env::CandidateReader> reader_;  // null: nothing is derived
  std::vector<std::unique_ptr<env::Environment>> environments_;
  std::vector<Seed> seeds_;               // [size] of their streams of episodes
  std::vector<std::uint64_t> started_;    // [size] episodes of them
  std::vector<std::optional<Seed>> set_;  // [size] what begins next, where that was said
  std::vector<std::uint8_t> waits_;       // [size] for an episode to begin
  std::vector<std::uint8_t> everybody_;   // [size] of 1
  Observations seen_;
  Observations ended_;
  std::vector<std::uint8_t> masks_;  // [size, A] as shown: whoever has the columns may write them
  std::vector<std::vector<std::byte>> columns_;
  std::vector<std::vector<std::byte>> final_columns_;
  std::vector<std::byte*> at_;
  std::vector<std::byte*> final_at_;
  std::vector<double> rewards_;
  std::vector<std::uint8_t> terminated_;
  std::vector<std::uint8_t> truncated_;
  std::vector<float> elapsed_;
  std::vector<std::uint8_t> replaced_;
  std::vector<std::uint8_t> over_;
  bool any_over_ = false;
  std::vector<EpisodeRecord> episodes_;
  bool broken_ = false;  // some have moved, others have not, and rows show neither
  mutable std::atomic<bool> is_used_ = false;
};

}  // namespace pacml::python
