#include "apps/roles/training_session.h"

#include <spdlog/spdlog.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/config/dump.h"
#include "common/hash.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "model/initialise.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

using std::chrono::duration;

// How long an update may wait for experience before housekeeping and the stop token get a turn.
constexpr std::chrono::milliseconds kPatience{250};

TimePoint now() { return std::chrono::steady_clock::now(); }
Duration seconds(double s) { return std::chrono::duration_cast<Duration>(duration<double>(s)); }
double elapsed(TimePoint since) { return duration<double>(now() - since).count(); }

// Resident memory of this process; 0 where the system does not tell.
std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  return statm >> total >> resident ? resident * 4096 : 0;
}

}  // namespace

TrainingSession::TrainingSession(const TrainConfig& config, const LearnerRoleOptions& options,
                                 const RunDirectory& run, const NetworkFactory& make_network,
                                 const ExperienceSource& source, learner::ParametersSink& sink,
                                 ServiceFigures figures)
    : config_(config),
      options_(options),
      run_(run),
      figures_(std::move(figures)),
      checkpoints_(run.checkpoints(), static_cast<std::size_t>(config.learner.keep_checkpoints)),
      config_text_(dump_config(config)),
      metrics_(run.metrics_file()) {
  const auto profiles = env::load_profiles(config.env.profiles, config.env.workload.models);
  const Seed seed{static_cast<std::uint64_t>(config.seed)};
  const env::PartitioningWorld world(config.env, profiles);
  const auto shape = model::make_shape(config.network, world.spec());
  network_ = make_network(shape);
  auto initial = model::initialise(shape, seed);
  if (!options.resume) {
    const int degree =
        warm_start(config.warm_start, config.env, profiles, seed, network_->layout(), initial);
    if (degree > 0) spdlog::info("the first policy prefers degree {}", degree);
  }
  std::copy(initial.values.begin(), initial.values.end(), network_->parameters().begin());
  learning_ = make_learning(config, *network_, source);
  loop_ = std::make_unique<learner::LearnerLoop>(*learning_.algorithm, *learning_.updates, sink);
  evaluator_ = std::make_unique<HeldOutEvaluator>(config.env, profiles, shape, seed,
                                                  config.learner.evaluate_episodes);
  if (options.resume) restore();
  started_ = last_metrics_ = now();
  next_metrics_ = started_ + seconds(config.learner.metrics_seconds);
  next_checkpoint_ = started_ + seconds(config.learner.checkpoint_seconds);
  next_evaluation_ = started_ + seconds(config.learner.evaluate_seconds);
  at_last_metrics_ = loop_->counters();
}

TrainingSession::~TrainingSession() = default;

void TrainingSession::run(const std::stop_token& stop) {
  begin();
  while (step(stop)) {
  }
  finish();
}

void TrainingSession::begin() {
  // From now on there is something to resume from, and the disk is known to take it.
  if (!options_.resume) require_checkpoint();
  loop_->publish();
}

bool TrainingSession::limit_reached() const {
  if (options_.minutes && elapsed(started_) >= *options_.minutes * 60) return true;
  return options_.decisions && loop_->counters().decisions >= *options_.decisions;
}

bool TrainingSession::step(const std::stop_token& stop) {
  const auto updated = loop_->step(stop, Deadline::in(kPatience));
  if (!updated && updated.error().code == Errc::kStopped) return false;
  if (now() >= next_evaluation_) {
    evaluate();
    next_evaluation_ = now() + seconds(config_.learner.evaluate_seconds);
  }
  if (now() >= next_metrics_) write_metrics();
  if (now() >= next_checkpoint_ || checkpoint_requested_.exchange(false)) {
    const auto saved = checkpoint();
    if (!saved) spdlog::error("no checkpoint could be written: {}", saved.error().detail);
  }
  return !stop.stop_requested() && !limit_reached();
}

void TrainingSession::finish() {
  // What cannot be had again comes first: whoever stops us may not wait for an evaluation. Its
  // outcome belongs into the last checkpoint all the same.
  require_checkpoint();
  evaluate();
  write_metrics();
  require_checkpoint();
}

void TrainingSession::evaluate() {
  if (config_.learner.evaluate_episodes == 0) return;
  last_score_ = evaluator_->blocking_rate(learning_.algorithm->snapshot());
  if (!(*last_score_ < best_score_)) return;
  const double former_best = std::exchange(best_score_, *last_score_);
  const auto saved = checkpoints_.save_best(make_checkpoint(), network_->layout());
  if (saved) return;
  spdlog::error("the best policy could not be saved: {}", saved.error().detail);
  best_score_ = former_best;  // the next one that is better than what is saved is tried again
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
      {"resident_bytes", resident_bytes()}};
  if (const auto replay = figures_.replay ? figures_.replay() : std::nullopt) {
    line["replay"] = {{"shards", replay->shards},
                      {"joins", replay->joins},
                      {"items", replay->items},
                      {"total_priority", replay->total_priority},
                      {"batches", replay->batches},
                      {"redrawn", replay->redrawn},
                      {"updates_lost", replay->updates_lost}};
  }
  for (const auto& [name, sum] : statistics.scalar_sums) line[name] = mean(sum, statistics.updates);
  const auto written = metrics_.write(line);
  if (!written) spdlog::error("metrics could not be written: {}", written.error().detail);
  last_metrics_ = now();
  at_last_metrics_ = counters;
  next_metrics_ = last_metrics_ + seconds(config_.learner.metrics_seconds);
}

Result<void> TrainingSession::checkpoint() {
  next_checkpoint_ = now() + seconds(config_.learner.checkpoint_seconds);
  return checkpoints_.save(make_checkpoint(), network_->layout()).map([](const auto&) {});
}

void TrainingSession::require_checkpoint() {
  const auto saved = checkpoint();
  if (!saved) throw UserError("no checkpoint could be written: " + saved.error().detail);
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
      {"milliseconds", static_cast<std::int64_t>((seconds_before_ + elapsed(started_)) * 1e3)}};
  checkpoint.run_id = run_.name();
  checkpoint.config_text = config_text_;
  checkpoint.config_hash = content_hash(config_text_);
  if (std::isfinite(best_score_)) checkpoint.best_score = best_score_;
  return checkpoint;
}

void TrainingSession::restore() {
  const auto loaded = learner::load_newest(checkpoints_, network_->layout());
  for (const auto& skipped : loaded.skipped) spdlog::warn("{}", skipped);
  const auto& checkpoint = loaded.checkpoint;
  const auto restored = learning_.algorithm->restore(checkpoint.algorithm);
  if (!restored) throw UserError(loaded.file.string() + " " + restored.error().detail);
  const auto counter = [&](const char* name) {
    const auto it = checkpoint.counters.find(name);
    return it != checkpoint.counters.end() ? it->second : 0;
  };
  loop_->restore({counter("updates"), counter("decisions"), counter("samples"), counter("stale"),
                  counter("misfits"), counter("episodes")});
  seconds_before_ = static_cast<double>(counter("milliseconds")) / 1e3;
  if (checkpoint.best_score) best_score_ = *checkpoint.best_score;
  spdlog::info("resumed from {} at update {}", loaded.file.string(), counter("updates"));
}

}  // namespace pacml::apps
