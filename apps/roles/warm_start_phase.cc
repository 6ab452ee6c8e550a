#include "apps/roles/warm_start_phase.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "apps/evaluation/evaluation.h"
#include "apps/roles/composition.h"
#include "apps/roles/demonstrations.h"
#include "apps/roles/role_threads.h"
#include "apps/roles/warm_start.h"
#include "apps/run/train_progress.h"
#include "common/clock.h"
#include "common/heartbeat.h"
#include "common/json_lines.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/scope_exit.h"
#include "common/thread_group.h"
#include "learner/behaviour_cloning.h"
#include "model/initialise.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

// Works on one thread, tells and minds the time on another.
class WarmStartPhase {
 public:
  WarmStartPhase(const TrainConfig& config, const LearnerRoleOptions& options,
                 const RunDirectory& run, const NetworkFactory& make_network)
      : config_(config),
        make_network_(make_network),
        deadline_(options.minutes ? Deadline::in(in_seconds(*options.minutes * 60))
                                  : Deadline::never()),
        metrics_(run.metrics_file()) {
    if (config.warm_start.policy == WarmStart::kImitate) {
      progress_ = {0, config.warm_start.decisions, "decisions"};
    } else {
      progress_ = {0, config.warm_start.episodes, "episodes"};
    }
  }

  // nullopt: stopped before the end.
  std::optional<std::vector<float>> run(const std::stop_token& stop) {
    ThreadGroup work;
    work.spawn("first-policy", [this](const std::stop_token& given_up) { find(given_up); });
    const std::stop_callback forward(stop, [&work] { work.request_stop(); });
    const Rest rest;  // this thread only waits
    tell();
    while (!wait_for_end(stop) && !stop.stop_requested()) {
      tell();
      if (!deadline_.expired()) continue;
      work.request_stop();
      work.join();
      const auto reached = progress();
      throw UserError("--minutes: the time was up after " + reached.text() +
                      " of the warm start; allow more, or lower warm_start." + reached.unit);
    }
    work.join();
    tell();
    return stop.stop_requested() ? std::nullopt : std::move(weights_);
  }

  [[nodiscard]] nlohmann::json figures() const {
    const auto reached = progress();
    return {{"seconds", std::chrono::duration<double>(steady().now() - started_).count()},
            {"updates", 0},
            {"decisions", 0},
            {"warm_start", {{"done", reached.done}, {"of", reached.of}, {"unit", reached.unit}}}};
  }

 private:
  void find(const std::stop_token& stop) {
    const ScopeExit at_end([this] {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    });
    const env::TaskPtr task = config_.env.make();
    const auto shape = model::make_shape(config_.network, task->spec());
    model::Parameters initial = model::initialise(shape, seed_);
    const Heartbeat heart("first-policy");
    if (config_.warm_start.policy == WarmStart::kImitate) {
      imitate(*task, shape, initial, stop);
    } else {
      lean(task, model::make_layout(shape), initial, stop);
    }
    weights_ = std::move(initial.values);
  }

  void lean(const env::TaskPtr& task, const model::ParameterLayout& layout,
            model::Parameters& initial, const std::stop_token& stop) {
    const Rest rest;  // threads of its own play, whose episodes take the time that they take
    const auto constants = constant_baselines(*task);
    const auto best = tuned_baseline(
        task, constants, seed_, config_.warm_start.episodes, 1,
        {stop, [this](std::size_t done, std::size_t all) { reached(done, all, "episodes"); }});
    if (stop.stop_requested()) return;
    prefer(preferred_of(best, constants), config_.warm_start, layout, initial);
    spdlog::info("the first policy prefers {}", best);
  }

  void imitate(const env::Task& task, const model::NetworkShape& shape, model::Parameters& initial,
               const std::stop_token& stop) {
    const WarmStartConfig& config = config_.warm_start;
    const auto teacher = make_teacher(config_, task);
    const auto demonstrations =
        demonstrate(task, *teacher, config.decisions, seed_, [&](std::int64_t done) {
          reached(done, config.decisions, "decisions");
          return !stop.stop_requested();
        });
    if (stop.stop_requested()) return;
    // Copies of all that was shown take the time that they take.
    std::optional<Rest> preparing(std::in_place);
    const auto network = make_network_on(config_.learner.threads, make_network_, shape);
    network->set_graphs(task.spec().graphs);
    std::ranges::copy(initial.values, network->parameters().begin());
    learner::BehaviouralCloning cloning({.probability = config.probability,
                                         .minibatch_decisions = config.minibatch_decisions,
                                         .learning_rate = config.learning_rate},
                                        demonstrations, *network, seed_);
    preparing.reset();
    for (std::int64_t pass = 0; pass < config.passes; ++pass) {
      reached(pass, config.passes, "passes");
      const auto figures = cloning.pass([&stop] {
        beat();
        return !stop.stop_requested();
      });
      if (stop.stop_requested()) return;
      if (figures.diverged || !std::ranges::all_of(network->parameters(), [](float weight) {
            return std::isfinite(weight);
          })) {
        throw UserError("warm_start.learning_rate: nothing finite came of imitating " +
                        config.teacher + "; lower it");
      }
      spdlog::info(
          "pass {}: {:.1f} % of the decisions of {} are the policy's, cross-entropy {:.3f}",
          pass + 1, 100 * figures.agreement, config.teacher, figures.loss);
    }
    std::ranges::copy(network->parameters(), initial.values.begin());
    reached(config.passes, config.passes, "passes");
  }

  void reached(std::size_t done, std::size_t all, const char* unit) {
    const std::lock_guard lock(mutex_);
    progress_ = {static_cast<std::int64_t>(done), static_cast<std::int64_t>(all), unit};
  }
  [[nodiscard]] WarmStartProgress progress() const {
    const std::lock_guard lock(mutex_);
    return progress_;
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
    spdlog::info("warm start: {}", progress().text());
  }

  const TrainConfig& config_;
  const NetworkFactory& make_network_;
  const Seed seed_{static_cast<std::uint64_t>(config_.seed)};
  const TimePoint started_ = steady().now();
  const Deadline deadline_;
  JsonLinesWriter metrics_;
  std::optional<std::vector<float>> weights_;  // of who finds them, until it has ended
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  WarmStartProgress progress_;  // under mutex_
  bool ended_ = false;          // under mutex_
};

}  // namespace

WarmStartResult run_warm_start(const TrainConfig& config, const LearnerRoleOptions& options,
                               const RunDirectory& run, const NetworkFactory& make_network) {
  if (!options.begins()) return {};
  if (!config.warm_start.from.empty()) {
    const env::TaskPtr task = config.env.make();
    const auto layout = model::make_layout(model::make_shape(config.network, task->spec()));
    WarmStartResult taken_over{.weights = policy_to_start_with(config, *task, layout)};
    spdlog::info("the first policy is that of {}", config.warm_start.from);
    return taken_over;
  }
  if (config.warm_start.policy == WarmStart::kNone) return {};
  WarmStartPhase phase(config, options, run, make_network);
  WarmStartResult result;
  run_role_threads(
      {{"warm-start", [&](const std::stop_token& stop) { result.weights = phase.run(stop); }}}, {},
      {.http = options.http,
       .report =
           [&phase, &run] {
             auto status = phase.figures();
             status.update({{"role", "learner"}, {"run", run.name()}});
             return RoleReport{json_text(status), false, {}};
           },
       .silence = silence_of(config)});
  result.stopped = !result.weights;
  return result;
}

}  // namespace pacml::apps
