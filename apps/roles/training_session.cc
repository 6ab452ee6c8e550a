#include "apps/roles/training_session.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "apps/run/resume.h"
#include "common/config/dump.h"
#include "common/hash.h"
#include "common/heartbeat.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/try_again.h"
#include "learner/state_of_training.h"
#include "model/initialise.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

// How long an update may wait for experience before housekeeping and the stop token get a turn.
constexpr std::chrono::milliseconds kPatience{250};
// ... where other replicas wait meanwhile.
constexpr std::chrono::milliseconds kGroupPatience{50};

// Updates skipped in a row after which no other is to be expected: some seconds of learning.
constexpr std::int64_t kMostSkipped = 100;
// ... at a limit, where no more of them come; one or two may be bad luck.
constexpr std::int64_t kMostSkippedAtLimit = 3;

[[noreturn]] void throw_unwritten(const std::string& which, const Error& why) {
  throw_error({why.code, which + why.detail, why.passes});
}

// The score of the best policy so far, as its own file has it: a checkpoint may be older. nullopt:
// there is none, or it is damaged; the next evaluation finds another one. TryAgainError: nobody
// knows.
std::optional<double> best_score_in(const learner::CheckpointFolder& folder,
                                    const model::ParameterLayout& layout) {
  if (!is_there(folder.best_file())) return std::nullopt;
  try {
    return learner::load_checkpoint(folder.best_file(), layout).best_score;
  } catch (const TryAgainError&) {
    throw;
  } catch (const UserError& error) {
    spdlog::error("{}: the next evaluation replaces it", error.what());
    return std::nullopt;
  }
}

// The counter of what a shard had taken in when a checkpoint was made.
std::string taken_in_by_shard(std::size_t shard) { return "shard" + std::to_string(shard); }

// Why a run that has come to its limit made no update.
std::string why_nothing_was_learned(const learner::LearnerCounters& counters) {
  if (counters.unfinished == 0) {
    return "nothing was learned: what actors sent was not enough for one update";
  }
  return "nothing was learned: of " + std::to_string(counters.unfinished) +
         " decisions that actors sent, none was of an episode that ends within "
         "reinforce.longest_episode";
}

std::int64_t counter_of(const learner::Checkpoint& checkpoint, const char* name) {
  const auto it = checkpoint.counters.find(name);
  return it != checkpoint.counters.end() ? it->second : 0;
}

learner::LearnerCounters counters_of(const learner::Checkpoint& checkpoint) {
  learner::LearnerCounters counters;
  visit_fields(counters, [&](const char* name, std::int64_t& count) {
    count = counter_of(checkpoint, name);
  });
  return counters;
}

}  // namespace

TrainingSession::TrainingSession(const TrainConfig& config, const LearnerRoleOptions& options,
                                 const RunDirectory& run, const NetworkFactory& make_network,
                                 const ExperienceSource& source, learner::ParametersSink& sink,
                                 ServiceFigures figures, learner::Replicas* replicas,
                                 const Clock& clock)
    : config_(config),
      options_(options),
      run_(run),
      drawn_(figures.drawn),
      clock_(&clock),
      started_(clock.now()),
      membership_{.replicas = replicas},
      metrics_(run.metrics_file(options.several.replica), std::move(figures),
               in_seconds(config.learner.metrics_seconds), clock) {
  const Seed seed{static_cast<std::uint64_t>(config.seed)};
  const env::TaskPtr task = config.env.make();
  const auto shape = model::make_shape(config.network, task->spec());
  network_ = make_network_on(config.learner.threads, make_network, shape);
  auto initial = model::initialise(shape, seed);
  if (options.first_weights) initial.values = *options.first_weights;
  std::copy(initial.values.begin(), initial.values.end(), network_->parameters().begin());
  learner::ReplicaGroup& group = replicas ? *replicas : learner::alone();
  learning_ = make_learning(config, *network_, source, group);
  loop_ = std::make_unique<learner::LearnerLoop>(*learning_.algorithm, *learning_.updates, sink,
                                                 group, options.several.life);
  scores_.emplace(task, shape, seed, config.learner.evaluate_episodes);
  learner::CheckpointFolder folder(run.checkpoints(),
                                   static_cast<std::size_t>(config.learner.keep_checkpoints));
  if (options.resume) restore(folder);
  checkpoints_ = std::make_unique<learner::CheckpointWriter>(std::move(folder), network_->layout(),
                                                             scores_->best());
  next_ = {.checkpoint = started_ + in_seconds(config.learner.checkpoint_seconds),
           .evaluation = started_ + in_seconds(config.learner.evaluate_seconds)};
  metrics_.start(loop_->counters(), task->spec().metrics);
  if (config.learner.tensorboard && options.several.replica == 0) {
    tensorboard_.emplace(run.path() / "tensorboard", dump_config(as_recorded(config)),
                         loop_->counters().decisions, clock);
  }
  status_.count(loop_->counters());
}

nlohmann::json TrainingSession::status() const {
  auto status = status_.json();
  status["faults"] = faults();
  return status;
}

TrainingSession::~TrainingSession() = default;

void TrainingSession::run(const std::stop_token& stop) {
  begin();
  while (step(stop)) {
  }
  finish(stop);
}

double TrainingSession::elapsed() const {
  return std::chrono::duration<double>(clock_->now() - started_).count();
}

void TrainingSession::begin() {
  if (!leads()) return;  // the leader's state comes with the first group
  // From now on there is something to resume from, and the disk is known to take it.
  if (!options_.resume) {
    if (const auto written = written_checkpoint(); !written) {
      throw_unwritten("no checkpoint could be written: ", written.error());
    }
  }
  loop_->publish();
}

bool TrainingSession::limit_reached() const {
  if (options_.minutes && elapsed() >= *options_.minutes * 60) return true;
  return options_.decisions && loop_->counters().decisions >= *options_.decisions;
}

std::optional<double> TrainingSession::share_done() const {
  if (!options_.minutes && !options_.decisions) return std::nullopt;
  double share = 0;
  if (options_.minutes) share = elapsed() / (*options_.minutes * 60);
  if (options_.decisions) {
    // What was learned before is none of this process's work.
    const auto learned = static_cast<double>(loop_->counters().decisions - received_before_);
    const auto wanted = static_cast<double>(*options_.decisions - received_before_);
    if (wanted > 0) share = std::max(share, learned / wanted);
  }
  return std::clamp(share, 0.0, 1.0);
}

void TrainingSession::follow_run() const {
  if (const auto share = share_done()) learning_.algorithm->set_share_done(*share);
}

bool TrainingSession::step(const std::stop_token& stop) {
  beat();
  follow_run();
  learner::Replicas* const replicas = membership_.replicas;
  if (replicas != nullptr && replicas->awaited()) loop_->ask_to_regroup();
  const auto updated =
      loop_->step(stop, Deadline::in(replicas != nullptr ? kGroupPatience : kPatience));
  if (!updated && updated.error().code == Errc::kStopped) {
    membership_.dismissed = !stop.stop_requested();
    return false;
  }
  if (!updated && updated.error().code != Errc::kTimeout && !regroup(stop, updated.error())) {
    return false;
  }
  status_.count(loop_->counters());
  if (divergence()) {
    membership_.dismissed = true;  // with everybody, who have the same weights
    return false;
  }
  if (const TimePoint begun = clock_->now(); leads() && begun >= next_.evaluation) {
    evaluate([&stop] { return !stop.stop_requested(); });
    const TimePoint ended = clock_->now();
    next_.evaluation = ended + learner::pause_after_evaluation(config_.learner, ended - begun);
  }
  if (metrics_.due()) write_metrics();
  if (leads() && (clock_->now() >= next_.checkpoint || checkpoint_requested_)) checkpoint();
  if (stop.stop_requested()) return false;
  ended_at_limit_ = limit_reached();
  return !ended_at_limit_;
}

std::optional<std::string> TrainingSession::divergence() const {
  const std::int64_t skipped = loop_->skipped_in_a_row();
  const std::int64_t updates = loop_->counters().updates;
  const bool nothing_learned = ended_at_limit_ && updates == 0 && skipped > 0;
  const std::int64_t bound = ended_at_limit_ ? kMostSkippedAtLimit : kMostSkipped;
  if (skipped < bound && !nothing_learned) return std::nullopt;
  const std::string key(name_of(config_.algorithm));
  const std::string tried =
      skipped == 1 ? "the only update" : "each of the " + std::to_string(skipped) + " updates";
  return "learning has diverged: " + tried + " tried after update " + std::to_string(updates) +
         " would have made weights that are no finite numbers; begin anew with a smaller " + key +
         ".learning_rate or " + key + ".optimizer.gradient_clip";
}

void TrainingSession::finish(const std::stop_token& stop) {
  if (!leads()) return write_metrics();
  // What cannot be had again comes first: whoever stops us may wait neither for learners that do
  // not answer nor for an evaluation. Its outcome belongs into the last checkpoint all the same.
  checkpoint();
  if (membership_.replicas != nullptr) {
    loop_->dismiss_others();
    membership_.replicas->end_run();
  }
  std::optional<Deadline> limit;
  // Of what has diverged there is nothing to be said.
  const auto go_on = [&] {
    if (!limit && stop.stop_requested()) {
      limit = Deadline::in(in_seconds(config_.supervision.stop_seconds.count() / 4));
    }
    return !limit || !limit->expired();
  };
  if (!divergence()) evaluate(go_on);
  if (loop_->counters().updates == 0 && limit_reached() && !divergence()) {
    const std::string nothing = why_nothing_was_learned(loop_->counters());
    spdlog::warn(nothing);
    std::cerr << nothing << "\n";  // the log of a learner is a file
  }
  static_cast<void>(checkpoints_->drain());  // the last line of metrics tells what came of it
  write_metrics(News::kLast);
  if (const auto written = written_checkpoint(); !written) {
    throw_unwritten("the last checkpoint could not be written: ", written.error());
  }
}

bool TrainingSession::regroup(const std::stop_token& stop, const Error& why) {
  if (why.code == Errc::kVersionMismatch) {
    ++membership_.divergences;
    spdlog::error("{}: all go on from the leader's", why.detail);
  } else {
    spdlog::info("the replicas form another group: {}", why.detail);
  }
  do {
    if (!membership_.replicas->regroup(stop)) {
      membership_.dismissed = !stop.stop_requested();
      return false;
    }
  } while (!share_state());
  ++membership_.groups;
  loop_->regrouped();
  loop_->publish();
  return true;
}

bool TrainingSession::share_state() {
  std::string state;
  if (leads()) state = learner::encode_checkpoint(make_checkpoint(), network_->layout());
  if (const auto shared = membership_.replicas->broadcast(state); !shared) {
    spdlog::warn("the leader's state could not be shared: {}", shared.error().detail);
    return false;
  }
  if (leads()) return true;
  const auto checkpoint = learner::decode_checkpoint(state, network_->layout());
  if (!checkpoint) throw UserError("the leader's state " + checkpoint.error().detail);
  const auto restored = learning_.algorithm->restore(checkpoint->algorithm);
  if (!restored) throw UserError("the leader's state: " + restored.error().detail);
  auto counters = counters_of(*checkpoint);
  // What comes to a learner is its own.
  counters.decisions = loop_->counters().decisions;
  counters.misfits = loop_->counters().misfits;
  counters.episodes = loop_->counters().episodes;
  loop_->restore(counters);
  return true;
}

void TrainingSession::evaluate(const std::function<bool()>& goes_on) {
  // Episodes of some tasks take minutes, in which people want to see that it goes on.
  const auto told = [&] {
    if (metrics_.due()) write_metrics(News::kEvaluating);
    return goes_on();
  };
  switch (scores_->score(learning_.algorithm->snapshot(), told)) {
    case PolicyScores::Outcome::kBest:
      return checkpoints_->save_best(make_checkpoint());
    case PolicyScores::Outcome::kUnsound:
      return spdlog::error(
          "the policy of update {} says nothing that can be acted upon: learning diverges",
          loop_->counters().updates);
    case PolicyScores::Outcome::kNone:
    case PolicyScores::Outcome::kNotBest:
      return;
  }
}

void TrainingSession::write_metrics(News news) {
  const Rest rest;  // the disk takes the time that it takes
  const auto statistics = loop_->take_statistics();
  nlohmann::json line = {{"seconds", seconds_before_ + elapsed()},
                         {"queue_depth", loop_->queue_depth()},
                         {"evaluation", scores_->json()},
                         {"faults", faults()}};
  std::error_code unknown;
  if (const auto disk = std::filesystem::space(run_.path(), unknown); !unknown) {
    line["disk_free_bytes"] = disk.available;
  }
  if (membership_.replicas != nullptr) {
    line["replicas"] = {{"together", membership_.replicas->size()},
                        {"groups", membership_.groups},
                        {"divergences", membership_.divergences},
                        {"decisions", loop_->decisions_of_replicas()}};
  }
  if (news == News::kEvaluating) line["evaluating"] = true;
  metrics_.write(line, loop_->counters(), statistics);
  status_.measure(line);
  if (!tensorboard_) return;
  const std::int64_t step = loop_->counters().decisions;
  if (news == News::kLast) {
    tensorboard_->finish(step, line, statistics.actions);
  } else {
    tensorboard_->write(step, line, statistics.actions);
  }
}

nlohmann::json TrainingSession::faults() const {
  const auto checkpoints = checkpoints_->status();
  const auto metrics = metrics_.faults();
  std::string last = checkpoints.failing || metrics.last.empty() ? checkpoints.last : metrics.last;
  if (last.empty() && !passed_over_.empty()) last = passed_over_.front();
  nlohmann::json faults = {{"metrics_failures", metrics.failures}, {"last", std::move(last)}};
  if (!leads()) return faults;  // others write no checkpoints
  faults["checkpoint_failures"] = checkpoints.failures + passed_over_.size();
  faults["checkpoint_age_seconds"] = checkpoints.age_seconds;
  faults["checkpoint_interval_seconds"] = config_.learner.checkpoint_seconds.count();
  return faults;
}

void TrainingSession::checkpoint() {
  next_.checkpoint = clock_->now() + in_seconds(config_.learner.checkpoint_seconds);
  // Weights that no update gets on from are worth less than those of the checkpoint before. One
  // that is skipped now and then says nothing of them.
  const bool stuck = loop_->skipped_in_a_row() >= kMostSkippedAtLimit;
  if (stuck) {
    if (!std::exchange(withheld_, true)) {
      spdlog::warn("no checkpoint is made while updates are skipped: {} in a row",
                   loop_->skipped_in_a_row());
    }
    return;
  }
  withheld_ = checkpoint_requested_ = false;
  checkpoints_->save(make_checkpoint());
}

Result<void> TrainingSession::written_checkpoint() {
  checkpoint();
  return checkpoints_->drain();
}

learner::Checkpoint TrainingSession::make_checkpoint() const {
  follow_run();  // it is saved where it is now, not where the last update began
  learner::Checkpoint checkpoint;
  checkpoint.algorithm = learning_.algorithm->save();
  checkpoint.counters = {
      {"milliseconds", static_cast<std::int64_t>((seconds_before_ + elapsed()) * 1e3)}};
  visit_fields(loop_->counters(),
               [&](const char* name, std::int64_t count) { checkpoint.counters[name] = count; });
  if (drawn_ != nullptr) {
    const auto& totals = drawn_->totals();
    for (std::size_t s = 0; s < totals.size(); ++s) {
      checkpoint.counters[taken_in_by_shard(s)] = static_cast<std::int64_t>(totals[s]);
    }
  }
  checkpoint.run_id = run_.name();
  checkpoint.config_text = dump_config(config_);
  checkpoint.config_hash = content_hash(checkpoint.config_text);
  checkpoint.best_score = scores_->best();
  return checkpoint;
}

void TrainingSession::restore(const learner::CheckpointFolder& folder) {
  const auto loaded = learner::load_newest(folder, network_->layout());
  for (const auto& skipped : loaded.skipped) {
    passed_over_.push_back(skipped + ": remove it; going on from " + loaded.file.string() +
                           " instead");
    spdlog::error("{}", passed_over_.back());
  }
  const auto& checkpoint = loaded.checkpoint;
  const auto counter = [&](const char* name) { return counter_of(checkpoint, name); };
  const auto restored = learning_.algorithm->restore(learner::state_to_resume(checkpoint));
  if (!restored) throw UserError(loaded.file.string() + " " + restored.error().detail);
  loop_->restore(counters_of(checkpoint));
  if (drawn_ != nullptr) {
    std::vector<std::uint64_t> totals;
    for (std::size_t s = 0; checkpoint.counters.contains(taken_in_by_shard(s)); ++s) {
      totals.push_back(static_cast<std::uint64_t>(checkpoint.counters.at(taken_in_by_shard(s))));
    }
    drawn_->count_from(std::move(totals));
  }
  seconds_before_ = static_cast<double>(counter("milliseconds")) / 1e3;
  received_before_ = loop_->counters().decisions;
  scores_->restore(best_score_in(folder, network_->layout()));
  spdlog::info("resumed from {} at update {}", loaded.file.string(), counter("updates"));
}

}  // namespace pacml::apps
