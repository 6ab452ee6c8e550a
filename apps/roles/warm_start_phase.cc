#include "apps/roles/warm_start_phase.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "apps/evaluation/evaluation.h"
#include "apps/roles/role_threads.h"
#include "common/clock.h"
#include "common/heartbeat.h"
#include "common/json_lines.h"
#include "common/result.h"
#include "common/thread_group.h"

namespace pacml::apps {
namespace {

// Simulates on one thread, tells and minds the time on another.
class WarmStartPhase {
 public:
  WarmStartPhase(const TrainConfig& config, const LearnerRoleOptions& options,
                 const RunDirectory& run)
      : config_(config),
        deadline_(options.minutes ? Deadline::in(in_seconds(*options.minutes * 60))
                                  : Deadline::never()),
        metrics_(run.metrics_file()) {}

  // nullopt: stopped before the end.
  std::optional<Preferred> run(const std::stop_token& stop) {
    ThreadGroup simulation;
    simulation.spawn("warm-start", [this](const std::stop_token& given_up) { simulate(given_up); });
    const std::stop_callback forward(stop, [&simulation] { simulation.request_stop(); });
    const Rest rest;  // this thread only waits
    tell();
    while (!wait_for_end(stop) && !stop.stop_requested()) {
      tell();
      if (!deadline_.expired()) continue;
      simulation.request_stop();
      simulation.join();
      throw UserError("--minutes: the time was up after " + std::to_string(done_) + " of " +
                      std::to_string(all_) +
                      " episodes of the warm start; allow more, or lower warm_start.episodes");
    }
    simulation.join();
    tell();
    return stop.stop_requested() ? std::nullopt : preferred_;
  }

  [[nodiscard]] nlohmann::json figures() const {
    return {{"seconds", std::chrono::duration<double>(steady().now() - started_).count()},
            {"updates", 0},
            {"decisions", 0},
            {"warm_start", {{"episodes", done_.load()}, {"of", all_.load()}}}};
  }

 private:
  void simulate(const std::stop_token& stop) {
    const std::shared_ptr<void> at_end(nullptr, [this](void*) {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    });
    const env::TaskPtr task = config_.env.make();
    const auto constants = constant_baselines(*task);
    const auto best = tuned_baseline(
        task, constants, Seed{static_cast<std::uint64_t>(config_.seed)},
        config_.warm_start.episodes, 1, {stop, [this](std::size_t done, std::size_t all) {
                                           done_ = done;
                                           all_ = all;
                                         }});
    preferred_ = preferred_of(best, constants);
  }

  // Until it has ended, or there is something to tell.
  bool wait_for_end(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto patience =
        std::min(config_.learner.metrics_seconds.milliseconds(), deadline_.remaining());
    return changed_.wait_for(lock, stop, patience, [this] { return ended_; });
  }

  void tell() {
    if (const auto written = metrics_.write(figures()); !written) {
      spdlog::warn("{}", written.error().detail);
    }
    spdlog::info("warm start: {} of {} episodes", done_.load(), all_.load());
  }

  const TrainConfig& config_;
  const TimePoint started_ = steady().now();
  const Deadline deadline_;
  JsonLinesWriter metrics_;
  std::atomic<std::size_t> done_{0};
  std::atomic<std::size_t> all_{0};
  std::optional<Preferred> preferred_;  // by the simulation, until it has ended
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool ended_ = false;  // under mutex_
};

}  // namespace

WarmStartResult run_warm_start(const TrainConfig& config, const LearnerRoleOptions& options,
                               const RunDirectory& run) {
  const bool has_begun = options.resume || options.several.replica > 0;
  if (config.warm_start.policy == WarmStart::kNone || has_begun) return {};
  WarmStartPhase phase(config, options, run);
  WarmStartResult result;
  run_role_threads(
      {{"warm-start", [&](const std::stop_token& stop) { result.preferred = phase.run(stop); }}},
      {}, {options.http, [&phase, &run] {
             auto status = phase.figures();
             status.update({{"role", "learner"}, {"run", run.name()}});
             return RoleReport{
                 status.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), false, {}};
           }});
  result.stopped = !result.preferred;
  return result;
}

}  // namespace pacml::apps
