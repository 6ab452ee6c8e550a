#include "apps/roles/training_session.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/roles/warm_start.h"
#include "common/config/dump.h"
#include "common/hash.h"
#include "common/heartbeat.h"
#include "common/resident_memory.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
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

// Whether the best policy so far is still there; if not, the next evaluation finds another one.
bool best_is_whole(const learner::CheckpointFolder& folder, const model::ParameterLayout& layout) {
  try {
    static_cast<void>(learner::load_checkpoint(folder.best_file(), layout));
    return true;
  } catch (const UserError& error) {
    spdlog::error("{}: the next evaluation replaces it", error.what());
    return false;
  }
}

// The counter of what a shard had taken in when a checkpoint was made.
std::string taken_in_by_shard(std::size_t shard) { return "shard" + std::to_string(shard); }

UserError no_checkpoint(const Error& error) {
  return UserError("no checkpoint could be written: " + error.detail);
}

std::int64_t counter_of(const learner::Checkpoint& checkpoint, const char* name) {
  const auto it = checkpoint.counters.find(name);
  return it != checkpoint.counters.end() ? it->second : 0;
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
      figures_(std::move(figures)),
      replicas_(replicas),
      clock_(&clock),
      config_text_(dump_config(config)),
      metrics_(run.metrics_file(options.several.replica)) {
  const auto profiles = env::load_profiles(config.env.profiles, config.env.workload.models);
  const Seed seed{static_cast<std::uint64_t>(config.seed)};
  const env::PartitioningWorld world(config.env, profiles);
  const auto shape = model::make_shape(config.network, world.spec());
  network_ = make_network(shape);
  auto initial = model::initialise(shape, seed);
  if (options.preferred_degree > 0) {
    prefer_degree(options.preferred_degree, config.warm_start, config.env, network_->layout(),
                  initial);
    spdlog::info("the first policy prefers degree {}", options.preferred_degree);
  }
  std::copy(initial.values.begin(), initial.values.end(), network_->parameters().begin());
  learner::ReplicaGroup& group = replicas ? *replicas : learner::alone();
  learning_ = make_learning(config, *network_, source, group);
  loop_ =
      std::make_unique<learner::LearnerLoop>(*learning_.algorithm, *learning_.updates, sink, group);
  evaluator_ = std::make_unique<HeldOutEvaluator>(config.env, profiles, shape, seed,
                                                  config.learner.evaluate_episodes);
  learner::CheckpointFolder folder(run.checkpoints(),
                                   static_cast<std::size_t>(config.learner.keep_checkpoints));
  if (options.resume) restore(folder);
  checkpoints_ = std::make_unique<learner::CheckpointWriter>(
      std::move(folder), network_->layout(),
      std::isfinite(best_score_) ? std::optional(best_score_) : std::nullopt);
  started_ = last_metrics_ = clock_->now();
  next_metrics_ = started_ + in_seconds(config.learner.metrics_seconds);
  next_checkpoint_ = started_ + in_seconds(config.learner.checkpoint_seconds);
  next_evaluation_ = started_ + in_seconds(config.learner.evaluate_seconds);
  at_last_metrics_ = loop_->counters();
  status_.count(at_last_metrics_);
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

double TrainingSession::elapsed(TimePoint since) const {
  return std::chrono::duration<double>(clock_->now() - since).count();
}

void TrainingSession::begin() {
  if (!leads()) return;  // the leader's state comes with the first group
  // From now on there is something to resume from, and the disk is known to take it.
  if (!options_.resume) {
    if (const auto written = written_checkpoint(); !written) throw no_checkpoint(written.error());
  }
  loop_->publish();
}

bool TrainingSession::limit_reached() const {
  if (options_.minutes && elapsed(started_) >= *options_.minutes * 60) return true;
  return options_.decisions && loop_->counters().decisions >= *options_.decisions;
}

bool TrainingSession::step(const std::stop_token& stop) {
  beat();
  if (replicas_ && replicas_->awaited()) loop_->ask_to_regroup();
  const auto updated = loop_->step(stop, Deadline::in(replicas_ ? kGroupPatience : kPatience));
  if (!updated && updated.error().code == Errc::kStopped) {
    dismissed_ = !stop.stop_requested();
    return false;
  }
  if (!updated && updated.error().code != Errc::kTimeout && !regroup(stop, updated.error())) {
    return false;
  }
  status_.count(loop_->counters());
  if (divergence()) {
    dismissed_ = true;  // with everybody, who have the same weights
    return false;
  }
  if (leads() && clock_->now() >= next_evaluation_) {
    evaluate([&stop] { return !stop.stop_requested(); });
    next_evaluation_ = clock_->now() + in_seconds(config_.learner.evaluate_seconds);
  }
  if (clock_->now() >= next_metrics_) write_metrics();
  if (leads() && (clock_->now() >= next_checkpoint_ || checkpoint_requested_.exchange(false))) {
    checkpoint();
  }
  return !stop.stop_requested() && !limit_reached();
}

std::optional<std::string> TrainingSession::divergence() const {
  if (loop_->skipped_in_a_row() < kMostSkipped) return std::nullopt;
  const char* const key = config_.algorithm == AlgorithmKind::kApex ? "apex" : "impala";
  return "learning has diverged: after update " + std::to_string(loop_->counters().updates) + ", " +
         std::to_string(kMostSkipped) +
         " updates in a row would have made weights that are no finite numbers; begin anew with a "
         "smaller " +
         key + ".learning_rate or " + key + ".optimizer.gradient_clip";
}

void TrainingSession::finish(const std::stop_token& stop) {
  if (!leads()) return write_metrics();
  if (replicas_) {
    loop_->dismiss_others();
    replicas_->end_run();
  }
  // What cannot be had again comes first: whoever stops us may not wait for an evaluation. Its
  // outcome belongs into the last checkpoint all the same.
  checkpoint();
  std::optional<Deadline> limit;
  // Of what has diverged there is nothing to be said.
  const auto go_on = [&] {
    if (!limit && stop.stop_requested()) {
      limit = Deadline::in(in_seconds(config_.supervision.stop_seconds.count() / 4));
    }
    return !limit || !limit->expired();
  };
  if (!divergence()) evaluate(go_on);
  static_cast<void>(checkpoints_->drain());  // the last line of metrics tells what came of it
  write_metrics();
  if (const auto written = written_checkpoint(); !written) throw no_checkpoint(written.error());
}

bool TrainingSession::regroup(const std::stop_token& stop, const Error& why) {
  if (why.code == Errc::kVersionMismatch) {
    ++divergences_;
    spdlog::error("{}: all go on from the leader's", why.detail);
  } else {
    spdlog::info("the replicas form another group: {}", why.detail);
  }
  do {
    if (!replicas_->regroup(stop)) {
      dismissed_ = !stop.stop_requested();
      return false;
    }
  } while (!share_state());
  ++groups_;
  loop_->regrouped();
  loop_->publish();
  return true;
}

bool TrainingSession::share_state() {
  std::string state;
  if (leads()) state = learner::encode_checkpoint(make_checkpoint(), network_->layout());
  if (const auto shared = replicas_->broadcast(state); !shared) {
    spdlog::warn("the leader's state could not be shared: {}", shared.error().detail);
    return false;
  }
  if (leads()) return true;
  const auto checkpoint = learner::decode_checkpoint(state, network_->layout());
  if (!checkpoint) throw UserError("the leader's state " + checkpoint.error().detail);
  const auto restored = learning_.algorithm->restore(checkpoint->algorithm);
  if (!restored) throw UserError("the leader's state: " + restored.error().detail);
  auto counters = loop_->counters();
  counters.updates = counter_of(*checkpoint, "updates");
  counters.samples = counter_of(*checkpoint, "samples");
  counters.stale = counter_of(*checkpoint, "stale");
  counters.skipped = counter_of(*checkpoint, "skipped");
  loop_->restore(counters);
  return true;
}

void TrainingSession::evaluate(const std::function<bool()>& goes_on) {
  if (config_.learner.evaluate_episodes == 0) return;
  bool goes_on_still = true;
  const auto score = evaluator_->blocking_rate(learning_.algorithm->snapshot(), [&] {
    goes_on_still = goes_on();
    return goes_on_still;
  });
  if (!goes_on_still) return;
  last_score_ = score;
  if (!last_score_) {
    spdlog::error("the policy of update {} says nothing that can be acted upon: learning diverges",
                  loop_->counters().updates);
    return;
  }
  if (!(*last_score_ < best_score_)) return;
  best_score_ = *last_score_;
  checkpoints_->save_best(make_checkpoint());
}

void TrainingSession::write_metrics() {
  const auto statistics = loop_->take_statistics();
  const auto& counters = loop_->counters();
  const auto server = figures_.server ? figures_.server() : learner::ServerCounters{};
  const double interval = std::max(1e-9, elapsed(last_metrics_));
  const auto rate = [&](std::int64_t total, std::int64_t before) {
    return static_cast<double>(total - before) / interval;
  };
  const auto mean = [](double sum, std::int64_t count) {
    return count > 0 ? nlohmann::json(sum / static_cast<double>(count)) : nlohmann::json();
  };
  nlohmann::json line = {
      {"seconds", seconds_before_ + elapsed(started_)},
      {"updates", counters.updates},
      {"decisions", counters.decisions},
      {"samples", counters.samples},
      {"stale", counters.stale},
      {"misfits", counters.misfits},
      {"episodes", counters.episodes},
      {"skipped", counters.skipped},
      {"decisions_per_second", rate(counters.decisions, at_last_metrics_.decisions)},
      {"samples_per_second", rate(counters.samples, at_last_metrics_.samples)},
      {"updates_per_second", rate(counters.updates, at_last_metrics_.updates)},
      {"policy_lag",
       {{"p50", statistics.policy_lag.quantile(0.5)},
        {"p99", statistics.policy_lag.quantile(0.99)},
        {"max", statistics.policy_lag.max()}}},
      {"queue_depth", loop_->queue_depth()},
      {"return", mean(statistics.return_sum, statistics.episodes)},
      {"blocking_rate", mean(statistics.blocking_rate_sum, statistics.episodes)},
      {"loss", mean(statistics.loss_sum, statistics.updates)},
      {"evaluation",
       {{"blocking_rate", last_score_ ? nlohmann::json(*last_score_) : nlohmann::json()},
        {"best_blocking_rate",
         std::isfinite(best_score_) ? nlohmann::json(best_score_) : nlohmann::json()}}},
      {"actors", server.actors},
      {"messages", server.accepted},
      {"duplicates", server.duplicates},
      {"gaps", server.gaps},
      {"malformed", server.malformed},
      {"refused", server.refused},
      {"denied", server.denied},
      {"no_room", server.no_room},
      {"resident_bytes", resident_bytes()},
      {"faults", faults()}};
  if (const auto replay = figures_.replay ? figures_.replay() : std::nullopt) {
    line["replay"] = {{"shards", replay->shards},       {"joins", replay->joins},
                      {"items", replay->items},         {"total_priority", replay->total_priority},
                      {"batches", replay->batches},     {"redrawn", replay->redrawn},
                      {"malformed", replay->malformed}, {"updates_lost", replay->updates_lost}};
  }
  if (replicas_) {
    line["replicas"] = {
        {"together", replicas_->size()}, {"groups", groups_}, {"divergences", divergences_}};
  }
  for (const auto& [name, sum] : statistics.scalar_sums) line[name] = mean(sum, statistics.updates);
  status_.measure(line);
  if (const auto written = metrics_.write(line)) {
    metrics_faults_.succeeded();
  } else {
    metrics_faults_.failed(written.error().detail);
  }
  last_metrics_ = clock_->now();
  at_last_metrics_ = counters;
  next_metrics_ = last_metrics_ + in_seconds(config_.learner.metrics_seconds);
}

nlohmann::json TrainingSession::faults() const {
  const auto checkpoints = checkpoints_->status();
  const auto metrics = metrics_faults_.status();
  return {{"checkpoint_failures", checkpoints.failures},
          {"checkpoint_age_seconds", checkpoints.age_seconds},
          {"metrics_failures", metrics.failures},
          {"last", checkpoints.failing || metrics.last.empty() ? checkpoints.last : metrics.last}};
}

void TrainingSession::checkpoint() {
  next_checkpoint_ = clock_->now() + in_seconds(config_.learner.checkpoint_seconds);
  // What the last update made gives nothing to learn from: the checkpoint before it is worth more.
  if (loop_->skipped_in_a_row() > 0) return;
  checkpoints_->save(make_checkpoint());
}

Result<void> TrainingSession::written_checkpoint() {
  checkpoint();
  return checkpoints_->drain();
}

learner::Checkpoint TrainingSession::make_checkpoint() const {
  const auto& c = loop_->counters();
  learner::Checkpoint checkpoint;
  checkpoint.algorithm = learning_.algorithm->save();
  checkpoint.counters = {
      {"updates", c.updates},
      {"decisions", c.decisions},
      {"samples", c.samples},
      {"stale", c.stale},
      {"misfits", c.misfits},
      {"episodes", c.episodes},
      {"skipped", c.skipped},
      {"milliseconds", static_cast<std::int64_t>((seconds_before_ + elapsed(started_)) * 1e3)}};
  if (figures_.drawn != nullptr) {
    const auto& totals = figures_.drawn->totals();
    for (std::size_t s = 0; s < totals.size(); ++s) {
      checkpoint.counters[taken_in_by_shard(s)] = static_cast<std::int64_t>(totals[s]);
    }
  }
  checkpoint.run_id = run_.name();
  checkpoint.config_text = config_text_;
  checkpoint.config_hash = content_hash(config_text_);
  if (std::isfinite(best_score_)) checkpoint.best_score = best_score_;
  return checkpoint;
}

void TrainingSession::restore(const learner::CheckpointFolder& folder) {
  const auto loaded = learner::load_newest(folder, network_->layout());
  for (const auto& skipped : loaded.skipped) {
    spdlog::error("{}: remove it; going on from {} instead", skipped, loaded.file.string());
  }
  const auto& checkpoint = loaded.checkpoint;
  const auto restored = learning_.algorithm->restore(checkpoint.algorithm);
  if (!restored) throw UserError(loaded.file.string() + " " + restored.error().detail);
  const auto counter = [&](const char* name) { return counter_of(checkpoint, name); };
  loop_->restore({counter("updates"), counter("decisions"), counter("samples"), counter("stale"),
                  counter("misfits"), counter("episodes"), counter("skipped")});
  if (figures_.drawn != nullptr) {
    std::vector<std::uint64_t> totals;
    for (std::size_t s = 0; checkpoint.counters.contains(taken_in_by_shard(s)); ++s) {
      totals.push_back(static_cast<std::uint64_t>(checkpoint.counters.at(taken_in_by_shard(s))));
    }
    figures_.drawn->count_from(std::move(totals));
  }
  seconds_before_ = static_cast<double>(counter("milliseconds")) / 1e3;
  if (checkpoint.best_score && best_is_whole(folder, network_->layout())) {
    best_score_ = *checkpoint.best_score;
  }
  spdlog::info("resumed from {} at update {}", loaded.file.string(), counter("updates"));
}

}  // namespace pacml::apps
