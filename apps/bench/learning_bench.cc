#include "apps/bench/learning_bench.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "apps/roles/in_process_actor.h"
#include "apps/roles/in_process_replay.h"
#include "common/check.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"
#include "env/task.h"
#include "learner/learner_loop.h"
#include "learner/sample_source.h"
#include "learner/transition_source.h"
#include "model/initialise.h"
#include "model/network_config.h"
#include "model/parameters.h"
#include "model/trainable_network.h"

namespace pacml::apps {
namespace {

constexpr std::size_t kUpdatesBefore = 2;  // in which memory is asked for that is kept
constexpr std::size_t kFewestUpdates = 7;  // that are measured
// Updates are measured for a second; where there is much to act for it, until so much time has
// passed in all.
constexpr double kMeasuredSeconds = 1;
constexpr double kMostBenchSeconds = 10;
constexpr std::size_t kMostInVain = 20;         // updates in a row
constexpr std::chrono::minutes kMostActing{5};  // for all that the measured updates need

void check_time(Deadline end) {
  if (!end.expired()) return;
  throw UserError("bench learner: after five minutes there was not enough experience for " +
                  std::to_string(kUpdatesBefore + kFewestUpdates) +
                  " updates; measure smaller batches, or a table that is drawn from sooner");
}

// What a learner in this process takes in is fetched before it asks, and weights wait until then:
// neither is its work. Thread-confined, as all of these.
class FetchedSequences final : public learner::SampleSource, public learner::ParametersSink {
 public:
  explicit FetchedSequences(const TrainConfig& config) : actor_(config) {}

  // Messages of so many decisions or more. Pre: weights were published; nothing is left. UserError:
  // it is too late.
  void fetch(std::int64_t decisions, Deadline end) {
    if (weights_) actor_.publish(*std::move(weights_));
    weights_.reset();
    for (std::int64_t have = 0; have < decisions;) {
      check_time(end);
      auto received = actor_.next({}, Deadline::never());
      PACML_CHECK(received.has_value(), "an actor in this process acts when it is asked");
      have += static_cast<std::int64_t>(received->sequences.num_decisions());
      messages_.push_back(*std::move(received));
    }
  }

  Result<learner::ReceivedSequences> next(std::stop_token /*stop*/,
                                          Deadline /*deadline*/) override {
    if (messages_.empty()) return fail(Errc::kTimeout);
    Result<learner::ReceivedSequences> message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  void consumed(const learner::ReceivedSequences& /*received*/) override {}
  [[nodiscard]] std::size_t queue_depth() const override { return messages_.size(); }
  void publish(model::Parameters parameters) override { weights_ = std::move(parameters); }

 private:
  InProcessActor actor_;
  std::optional<model::Parameters> weights_;  // that the actor has not yet
  std::deque<learner::ReceivedSequences> messages_;
};

class FetchedDraws final : public learner::TransitionSource, public learner::ParametersSink {
 public:
  explicit FetchedDraws(const TrainConfig& config) : replay_(config) {}

  // One batch, whatever the count. Pre and UserError as above.
  void fetch(std::int64_t /*decisions*/, Deadline end) {
    if (weights_) replay_.publish(*std::move(weights_));
    weights_.reset();
    if (answered_) replay_.report_priorities(*answered_, priorities_);
    answered_.reset();
    while (!drawn_) {
      check_time(end);
      auto drawn = replay_.next({}, Deadline::never());
      if (drawn) drawn_ = *std::move(drawn);  // else there is not enough to draw from yet
    }
  }

  Result<learner::SampledTransitions> next(std::stop_token /*stop*/,
                                           Deadline /*deadline*/) override {
    if (!drawn_) return fail(Errc::kTimeout);
    Result<learner::SampledTransitions> batch = *std::move(drawn_);
    drawn_.reset();
    return batch;
  }
  void report_priorities(std::uint64_t ticket, std::span<const float> priorities) override {
    answered_ = ticket;
    priorities_.assign(priorities.begin(), priorities.end());
  }
  [[nodiscard]] News take_news() override { return replay_.take_news(); }
  [[nodiscard]] std::size_t queue_depth() const override { return drawn_ ? 1 : 0; }
  void publish(model::Parameters parameters) override { weights_ = std::move(parameters); }

 private:
  InProcessReplay replay_;
  std::optional<model::Parameters> weights_;  // that its actor has not yet
  std::optional<learner::SampledTransitions> drawn_;
  std::optional<std::uint64_t> answered_;  // the ticket of priorities_, which the table has not yet
  std::vector<float> priorities_;
};

template <class Fetched>
bench::Figures measure_updates(const TrainConfig& config, model::TrainableNetwork& network,
                               Fetched& fetched) {
  const auto seconds_after = [](std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const Learning learning = make_learning(config, network, &fetched);
  learner::LearnerLoop loop(*learning.algorithm, *learning.updates, fetched);
  PACML_CHECK(loop.publish(), "first weights are finite");
  std::vector<double> rates;
  std::vector<double> samples;
  std::vector<double> seconds;
  double measured = 0;
  std::size_t made = 0;
  std::size_t in_vain = 0;
  const auto begin = std::chrono::steady_clock::now();
  const Deadline end = Deadline::in(kMostActing);
  while (rates.size() < kFewestUpdates ||
         (measured < kMeasuredSeconds && seconds_after(begin) < kMostBenchSeconds)) {
    fetched.fetch(learning.updates->needed(), end);
    const std::int64_t learned_before = loop.counters().samples;
    const auto start = std::chrono::steady_clock::now();
    const auto updated = loop.step({}, Deadline::never());
    const double taken = seconds_after(start);
    if (!updated) {  // all that it needs was fetched
      throw UserError("bench learner: what was acted is not what is learned from: " +
                      updated.error().detail);
    }
    const std::int64_t learned = loop.counters().samples - learned_before;
    if (learned == 0) {
      if (++in_vain < kMostInVain) continue;
      throw UserError("bench learner: " + std::to_string(in_vain) +
                      " updates in a row came to nothing: what was acted is not learned from, or "
                      "learning has diverged");
    }
    in_vain = 0;
    if (++made <= kUpdatesBefore) continue;
    measured += taken;
    rates.push_back(static_cast<double>(learned) / taken);
    samples.push_back(static_cast<double>(learned));
    seconds.push_back(taken);
  }
  return {{"samples_per_second", bench::median_of(std::move(rates))},
          {"samples_per_update", bench::median_of(std::move(samples))},
          {"update_seconds", bench::median_of(std::move(seconds))}};
}

}  // namespace

bench::Figures run_learning_bench(const TrainConfig& config, const NetworkFactory& make_network) {
  const env::TaskPtr task = config.env.make();
  check_against_task(config, *task);
  const auto shape = model::make_shape(config.network, task->spec());
  const auto network = make_network(shape);
  const auto first = model::initialise(shape, Seed{static_cast<std::uint64_t>(config.seed)});
  std::ranges::copy(first.values, network->parameters().begin());
  if (uses_replay(config.algorithm)) {
    FetchedDraws fetched(config);
    return measure_updates(config, *network, fetched);
  }
  FetchedSequences fetched(config);
  return measure_updates(config, *network, fetched);
}

}  // namespace pacml::apps
