#include "python/core/env_batch.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/feature_check.h"

namespace pacml::python {

class EnvBatch::Turn {
 public:
  explicit Turn(const EnvBatch& batch) : batch_(batch) {
    if (batch_.is_used_.exchange(true)) {
      throw UserError("another thread is using these environments: each needs its own");
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { batch_.is_used_ = false; }

 private:
  const EnvBatch& batch_;
};

EnvBatch::EnvBatch(env::TaskPtr task, std::size_t size, Autoreset autoreset, bool derived,
                   bool strict)
    : task_(std::move(task)),
      layout_(task_->spec(), derived),
      autoreset_(autoreset),
      strict_(strict),
      seeds_(size),
      started_(size, 0),
      set_(size),
      waits_(size, 1),
      everybody_(size, 1),
      seen_(task_->spec().make_observations()),
      ended_(task_->spec().make_observations()),
      rewards_(size, 0),
      terminated_(size, 0),
      truncated_(size, 0),
      elapsed_(size, 0),
      replaced_(size, 0),
      over_(size, 0),
      episodes_(size) {
  if (size == 0) throw UserError("num_envs: must be at least 1");
  if (layout_.has_derived()) {
    reader_ = spec().candidate_view->make_reader();
    reader_->set_graphs(spec().graphs);
  }
  masks_.resize(size * layout_.num_actions());
  environments_ = make_environments();
  for (const ColumnSpec& column : layout_.columns()) {
    at_.push_back(columns_.emplace_back(size * column.row_bytes()).data());
    if (autoreset_ != Autoreset::kSameStep) continue;
    final_at_.push_back(final_columns_.emplace_back(size * column.row_bytes()).data());
  }
}

std::vector<std::unique_ptr<env::Environment>> EnvBatch::make_environments() const {
  const auto make = task_->make_factory();
  std::vector<std::unique_ptr<env::Environment>> made;
  for (std::size_t i = 0; i < size(); ++i) made.push_back(make());
  return made;
}

std::span<const std::uint8_t> EnvBatch::mask(std::size_t environment) const {
  return std::span(masks_).subspan(environment * layout_.num_actions(), layout_.num_actions());
}

void EnvBatch::seed(std::size_t environment, Seed seed) {
  const Turn turn(*this);
  seeds_[environment] = seed;
  started_[environment] = 0;
  set_[environment].reset();
}

void EnvBatch::set_episode(std::size_t environment, Seed episode) {
  const Turn turn(*this);
  set_[environment] = episode;
}

void EnvBatch::start_episode(std::size_t environment) {
  const Seed next = derive(seeds_[environment], Purpose::kEpisode, started_[environment]++);
  environments_[environment]->reset(std::exchange(set_[environment], std::nullopt).value_or(next));
  waits_[environment] = 0;
}

void EnvBatch::show(std::span<const std::uint8_t> which) {
  seen_.clear();
  for (std::size_t i = 0; i < size(); ++i) {
    if (which[i] != 0) environments_[i]->observe(seen_);
  }
  write_rows(which);
}

void EnvBatch::write_rows(std::span<const std::uint8_t> which) {
  env::require_finite_features(spec(), seen_);
  std::size_t b = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (which[i] == 0) continue;
    layout_.write_row(seen_, b++, reader_.get(), i, at_);
    const std::size_t actions = layout_.num_actions();
    std::memcpy(masks_.data() + i * actions, at_.front() + i * actions, actions);
  }
}

void EnvBatch::reset(std::span<const std::uint8_t> which) {
  PACML_CHECK(which.size() == size(), "one flag for each environment");
  const Turn turn(*this);
  if (broken_ && std::ranges::count(which, std::uint8_t{0}) > 0) {
    throw UserError("environments failed before: all of them have to be reset");
  }
  // What they run in may be gone, as Python's interpreter is after an answer that came too late.
  if (broken_) environments_ = make_environments();
  broken_ = true;
  for (std::size_t i = 0; i < size(); ++i) {
    if (which[i] != 0) start_episode(i);
  }
  show(which);
  broken_ = false;
}

void EnvBatch::check(std::span<const std::int64_t> actions) const {
  PACML_CHECK(actions.size() == size(), "one action for each environment");
  for (std::size_t i = 0; i < size(); ++i) {
    if (waits_[i] != 0) {
      // Before the first reset there is nothing to go on from, whatever follows an episode.
      if (autoreset_ == Autoreset::kNextStep && started_[i] > 0) continue;
      throw UserError("environment " + std::to_string(i) + " has no episode: call reset first");
    }
    const std::int64_t action = actions[i];
    if (action < 0 || action >= static_cast<std::int64_t>(layout_.num_actions())) {
      throw UserError("action " + std::to_string(action) + " of environment " + std::to_string(i) +
                      " is not in 0.." + std::to_string(layout_.num_actions() - 1));
    }
    if (strict_ && mask(i)[static_cast<std::size_t>(action)] == 0) {
      throw UserError("action " + std::to_string(action) + " of environment " + std::to_string(i) +
                      " is masked");
    }
  }
}

int EnvBatch::allowed(std::size_t environment, std::int64_t action) {
  const auto valid = mask(environment);
  replaced_[environment] = valid[static_cast<std::size_t>(action)] == 0 ? 1 : 0;
  if (replaced_[environment] == 0) return static_cast<int>(action);
  return static_cast<int>(std::ranges::find(valid, std::uint8_t{1}) - valid.begin());
}

void EnvBatch::end_episode(std::size_t environment) {
  over_[environment] = 1;
  any_over_ = true;
  waits_[environment] = 1;
  episodes_[environment] = environments_[environment]->summary();
  if (autoreset_ != Autoreset::kSameStep) return;
  ended_.clear();
  environments_[environment]->observe(ended_);
  env::require_finite_features(spec(), ended_);
  layout_.write_row(ended_, 0, reader_.get(), environment, final_at_);
  start_episode(environment);
}

void EnvBatch::step(std::span<const std::int64_t> actions) {
  const Turn turn(*this);
  if (broken_) throw UserError("environments failed before: call reset first");
  check(actions);
  broken_ = true;
  step_all(actions);
  broken_ = false;
}

void EnvBatch::step_all(std::span<const std::int64_t> actions) {
  any_over_ = false;
  std::ranges::fill(over_, std::uint8_t{0});
  seen_.clear();
  for (std::size_t i = 0; i < size(); ++i) {
    env::StepResult result;
    if (waits_[i] != 0) {
      start_episode(i);
      replaced_[i] = 0;
      result.elapsed = 0;
    } else {
      result = environments_[i]->step(allowed(i, actions[i]));
    }
    rewards_[i] = static_cast<double>(result.reward);
    terminated_[i] = result.terminated ? 1 : 0;
    truncated_[i] = result.truncated ? 1 : 0;
    elapsed_[i] = result.elapsed;
    if (result.final()) end_episode(i);
    environments_[i]->observe(seen_);  // while it is in the nearer caches
  }
  write_rows(everybody_);
}

void EnvBatch::sample_actions(Rng& rng, std::span<std::int64_t> out) const {
  const Turn turn(*this);
  if (broken_) throw UserError("environments failed before: call reset first");
  for (std::size_t i = 0; i < size(); ++i) {
    const auto valid = mask(i);
    const auto count = std::ranges::count(valid, std::uint8_t{1});
    if (count == 0)
      throw UserError("environment " + std::to_string(i) + " has no episode: call reset first");
    auto skip = rng.below(static_cast<std::uint64_t>(count));
    std::int64_t a = 0;
    while (valid[static_cast<std::size_t>(a)] == 0 || skip-- > 0) ++a;
    out[i] = a;
  }
}

}  // namespace pacml::python
