#include "apps/decide/decide_bench.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <queue>

#include "common/histogram.h"
#include "common/json_text.h"
#include "common/result.h"
#include "env/workload/job_stream.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

// Plays jobs against a service, and takes the time of its answers.
class Player {
 public:
  explicit Player(DecisionService& service)
      : service_(&service),
        names_(service.model().model_names()),
        jobs_(service.model().task().plan(), Seed{1}) {}

  void arrive() {
    while (!ends_.empty() && ends_.top().first <= time_) {
      const auto [time, number] = ends_.top();
      ends_.pop();
      static_cast<void>(ask(json{{"type", "finish"}, {"id", name_of(number)}, {"time", time}}));
    }
    if (jobs_.exhausted()) throw UserError("--bench: the workload has no more jobs");
    const env::ArrivingJob job = jobs_.next();
    const json request = {{"type", "arrive"},
                          {"id", name_of(arrivals_)},
                          {"time", time_},
                          {"model", names_[static_cast<std::size_t>(job.model)]},
                          {"limit", job.fraction}};
    const json answer = json::parse(ask(request));
    if (answer["type"] != "decision") throw UserError("--bench: " + json_text(answer));
    latencies_.add(static_cast<std::uint64_t>(last_.count()));
    if (answer["accepted"]) {
      ++accepted_;
      ends_.emplace(answer["until"].get<double>(), arrivals_);
    }
    ++arrivals_;
    time_ += jobs_.next_interarrival(time_);
  }

  // What was measured so far does not count.
  void forget() {
    latencies_.clear();
    total_ = {};
    accepted_ = 0;
    first_ = arrivals_;
  }

  [[nodiscard]] DecideFigures figures() const {
    const auto seconds = [](std::uint64_t nanoseconds) {
      return static_cast<double>(nanoseconds) * 1e-9;
    };
    const auto count = static_cast<double>(arrivals_ - first_);
    return {.arrivals = arrivals_ - first_,
            .accepted_share = static_cast<double>(accepted_) / count,
            .decisions_per_second = count / std::chrono::duration<double>(total_).count(),
            .p50_seconds = seconds(latencies_.quantile(0.5)),
            .p99_seconds = seconds(latencies_.quantile(0.99)),
            .most_seconds = seconds(latencies_.max())};
  }

 private:
  static std::string name_of(std::int64_t number) { return "job-" + std::to_string(number); }

  std::string ask(const json& request) {
    const std::string line = json_text(request);
    const auto begun = steady_clock::now();
    std::string answer = service_->answer(line);
    last_ = steady_clock::now() - begun;
    total_ += last_;
    return answer;
  }

  DecisionService* service_;
  std::vector<std::string> names_;
  env::JobStream jobs_;
  double time_ = 0;
  using End = std::pair<double, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::int64_t arrivals_ = 0, first_ = 0, accepted_ = 0;
  std::chrono::nanoseconds last_{0}, total_{0};
  Histogram latencies_;  // nanoseconds
};

}  // namespace

DecideFigures measure_decisions(DecisionService& service, std::int64_t arrivals) {
  Player player(service);
  for (std::int64_t n = std::max<std::int64_t>(100, arrivals / 10); n > 0; --n) player.arrive();
  player.forget();
  for (std::int64_t n = 0; n < arrivals; ++n) player.arrive();
  return player.figures();
}

}  // namespace pacml::apps
