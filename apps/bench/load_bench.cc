#include "apps/bench/load_bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/bench/bench_servers.h"
#include "apps/bench/load_knee.h"
#include "apps/bench/process_figures.h"
#include "apps/cli/terminal.h"
#include "apps/cli/text_table.h"
#include "apps/process/open_files.h"
#include "apps/roles/actor_seed.h"
#include "apps/roles/ask_status.h"
#include "apps/roles/composition.h"
#include "apps/roles/encryption.h"
#include "apps/roles/identity.h"
#include "apps/run/endpoints.h"
#include "bench/figures.h"
#include "bench/load/load_generator.h"
#include "common/json_at.h"
#include "common/private_folder.h"
#include "common/result.h"
#include "env/task.h"
#include "model/fused_policy.h"
#include "model/initialise.h"

namespace pacml::apps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCanned = 4;        // messages that are recorded
constexpr std::size_t kBeforeCanned = 2;  // ... after so many, so that episodes are under way
constexpr std::chrono::milliseconds kLoadLook{250};  // between looks at the processes
constexpr std::chrono::seconds kStatusPatience{20};

Duration seconds_of(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

struct Point {
  std::size_t actors = 0;
  std::size_t shards = 0;
  bench::LoadReport load;
  bench::Figures figures;
  [[nodiscard]] double figure(std::string_view name) const {
    return bench::find_figure(figures, name).value_or(std::numeric_limits<double>::quiet_NaN());
  }
};

// What a real actor of this configuration sends, with weights that know nothing.
bench::CannedExperience record(const TrainConfig& config, const env::TaskPtr& task) {
  const auto shape = model::make_shape(config.network, task->spec());
  const Seed seed{static_cast<std::uint64_t>(config.seed)};
  const auto policy = model::make_fused_policy(shape);
  const auto loop = make_actor_loop(config, *task, *policy, ActorId{0},
                                    actor_seed(seed, ActorId{0}, PolicyVersion{0}));
  loop->set_parameters(model::initialise(shape, seed));
  for (std::size_t i = 0; i < kBeforeCanned; ++i) static_cast<void>(loop->run_message());
  std::vector<std::vector<actor::ActorMessage>> sizes(
      static_cast<std::size_t>(config.actor.environments));
  for (std::size_t size = 1; size <= sizes.size(); ++size) {
    for (std::size_t i = 0; i < kCanned; ++i) sizes[size - 1].push_back(loop->run_message(size));
  }
  return bench::can(std::move(sizes));
}

// CPU time and memory of some processes while the load is measured, seen from a thread of its own.
// Thread-confined but for that.
class ProcessWatch {
 public:
  explicit ProcessWatch(std::vector<pid_t> pids) : pids_(std::move(pids)) {}
  void begin() {
    start_ = look();
    begun_ = Clock::now();
    most_resident_ = start_.resident_bytes;
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(kLoadLook);
        most_resident_ = std::max(most_resident_, look().resident_bytes);
      }
    });
  }
  void end() {
    end_ = look();
    elapsed_ = std::chrono::duration<double>(Clock::now() - begun_).count();
    thread_ = {};  // most_resident_ is ours again
  }
  // Adds figures whose names begin with `who`. Pre: ended.
  void report(const std::string& who, double messages, bench::Figures& figures) const {
    if (pids_.empty()) return;
    const double cpu = end_.cpu_seconds - start_.cpu_seconds;
    figures.emplace_back(who + "_cores", cpu / elapsed_);
    if (messages > 0) figures.emplace_back(who + "_cpu_seconds_per_message", cpu / messages);
    figures.emplace_back(who + "_resident_bytes_before", start_.resident_bytes);
    figures.emplace_back(who + "_resident_bytes_after", end_.resident_bytes);
    figures.emplace_back(who + "_resident_bytes_most", most_resident_);
  }

 private:
  // All together.
  [[nodiscard]] ProcessFigures look() const {
    ProcessFigures sum;
    for (const pid_t pid : pids_) {
      const auto figures = figures_of(pid).value_or(ProcessFigures{});
      sum.cpu_seconds += figures.cpu_seconds;
      sum.resident_bytes += figures.resident_bytes;
    }
    return sum;
  }

  std::vector<pid_t> pids_;
  ProcessFigures start_;
  ProcessFigures end_;
  Clock::time_point begun_;
  double elapsed_ = 0;
  double most_resident_ = 0;  // the thread's while it runs
  std::jthread thread_;
};

nlohmann::json status_of(const TrainConfig& config, const std::string& address) {
  auto status = nlohmann::json::parse(
      ask_status(address, config.security, Deadline::in(kStatusPatience)), nullptr, false);
  if (!status.is_object()) throw UserError(address + ": its answer is not a status");
  return status;
}

// The lines of a run's metrics that were written in between two of its ages.
class MetricsWindow {
 public:
  explicit MetricsWindow(std::filesystem::path file) : file_(std::move(file)) {}
  void begin() { first_ = read().size(); }
  void end() { lines_ = read(); }
  void report(bench::Figures& figures) const {
    if (lines_.size() < first_ + 2) return;
    std::vector<double> lags;
    for (std::size_t i = first_ + 1; i < lines_.size(); ++i) {
      if (const auto lag = number_at(lines_[i], "/policy_lag/p50")) lags.push_back(*lag);
    }
    const auto grown = [&](const char* key) {
      return lines_.back().value(key, 0.0) - lines_[first_].value(key, 0.0);
    };
    const double seconds = grown("seconds");
    if (!(seconds > 0)) return;
    // What was left out as too old, nobody has learned from.
    figures.emplace_back("learned_decisions_per_second", grown("samples") / seconds);
    figures.emplace_back("updates_per_second", grown("updates") / seconds);
    if (!lags.empty()) figures.emplace_back("policy_lag_p50", bench::median_of(lags));
    const double left_out = grown("stale");
    if (grown("samples") + left_out > 0) {
      figures.emplace_back("stale_share", left_out / (grown("samples") + left_out));
    }
  }

 private:
  [[nodiscard]] std::vector<nlohmann::json> read() const {
    std::vector<nlohmann::json> lines;
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);) {
      auto parsed = nlohmann::json::parse(line, nullptr, false);
      if (parsed.is_object()) lines.push_back(std::move(parsed));
    }
    return lines;
  }

  std::filesystem::path file_;
  std::size_t first_ = 0;
  std::vector<nlohmann::json> lines_;
};

class LoadBench {
 public:
  LoadBench(const TrainConfig& config, const LoadBenchOptions& options)
      : config_(config),
        options_(options),
        task_(config.env.make()),
        canned_(record(config, task_)),
        hello_(make_actor_hello(config, ActorId{0}, agreement_of(config, *task_), "")) {}

  Point measure(std::size_t actors, std::size_t shards) {
    const PrivateFolder scratch("pacml-load");
    std::optional<BenchServers> started;
    if (options_.learner.empty()) {
      started.emplace(options_.config_arguments, shards, scratch.path());
    }
    const std::string learner = started ? started->learner() : options_.learner;
    const auto& replay = started ? started->shards() : options_.replay;
    // The storm is measured, not the start of processes.
    if (started) {
      started->wait_until_ready(config_.security);
    } else {
      for (const auto& address : replay) static_cast<void>(status_of(config_, address));
      static_cast<void>(status_of(config_, learner));
    }

    ProcessWatch learner_watch(started ? std::vector{started->learner_pid()}
                                       : std::vector<pid_t>{});
    ProcessWatch shard_watch(started ? started->shard_pids() : std::vector<pid_t>{});
    ProcessWatch own_watch({::getpid()});
    MetricsWindow metrics(started ? started->metrics_file() : "");
    const auto measuring = [&](bool begins) {
      if (begins) {
        metrics.begin();
        for (auto* watch : {&learner_watch, &shard_watch, &own_watch}) watch->begin();
        return;
      }
      for (auto* watch : {&learner_watch, &shard_watch, &own_watch}) watch->end();
      metrics.end();
    };
    Point point{actors, shards, {}, {}};
    transport::Context context(1, encryption_of(config_.security, Party::kClient),
                               bench::sockets_for(actors, !replay.empty()));
    point.load = bench::run_load(context, target(learner, replay), hello_, task_->spec().graphs,
                                 canned_, load_config(actors), measuring, {});
    if (started) started->check_running();
    const auto& load = point.load;
    if (!load.ended.empty()) throw UserError("actors gave up: " + load.ended.front());

    auto& figures = point.figures;
    const auto messages = static_cast<double>(load.accepted);
    figures = {{"actors", static_cast<double>(actors)},
               {"shards", static_cast<double>(shards)},
               {"welcomed", static_cast<double>(load.welcomed)},
               {"welcomed_seconds", load.welcomed_seconds},
               {"ready_seconds", load.ready_seconds},
               {"messages_per_second", messages / load.measured_seconds},
               {"decisions_per_second", load.decisions / load.measured_seconds},
               {"most_to_fewest", load.fewest == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                   : static_cast<double>(load.most) /
                                                         static_cast<double>(load.fewest)},
               {"fewest_decisions", static_cast<double>(load.fewest)},
               {"jain_index", load.jain},
               {"round_trip_p50_seconds", load.round_trip_p50},
               {"round_trip_p99_seconds", load.round_trip_p99},
               {"sent_messages", static_cast<double>(load.sent)},
               {"lost_messages", static_cast<double>(load.lost)},
               {"rejoined", static_cast<double>(load.rejoined)},
               {"up_bytes_per_decision", load.bytes_up / std::max(1.0, load.decisions)},
               {"down_bytes_per_decision", load.bytes_down / std::max(1.0, load.decisions)},
               {"decisions_per_message", load.decisions / std::max(1.0, messages)}};
    add_server_figures(learner, replay, figures);
    learner_watch.report("learner", replay.empty() ? messages : 0, figures);
    shard_watch.report("shards", messages, figures);
    own_watch.report("generator", messages, figures);
    metrics.report(figures);
    return point;
  }

 private:
  [[nodiscard]] bench::LoadTarget target(const std::string& learner,
                                         const std::vector<std::string>& replay) const {
    const auto endpoint = transport::Endpoint::parse(learner);
    bench::LoadTarget out{endpoint, announcement_endpoint(endpoint), {}, config_.transport};
    for (const auto& address : replay) out.shards.push_back(transport::Endpoint::parse(address));
    return out;
  }

  [[nodiscard]] bench::LoadConfig load_config(std::size_t actors) const {
    bench::LoadConfig config;
    config.actors = actors;
    config.decisions_per_second = options_.decisions_per_second;
    config.threads = options_.threads > 0
                         ? options_.threads
                         : std::max<std::size_t>(1, std::thread::hardware_concurrency() / 2);
    config.warm_up = seconds_of(options_.warm_up);
    config.measure = seconds_of(options_.seconds);
    return config;
  }

  // What the servers counted, over the whole of the point.
  void add_server_figures(const std::string& learner, const std::vector<std::string>& replay,
                          bench::Figures& figures) const {
    double gaps = 0;
    double duplicates = 0;
    const auto add = [&](const nlohmann::json& status) {
      gaps += status.value("gaps", 0.0);
      duplicates += status.value("duplicates", 0.0);
    };
    const auto status = status_of(config_, learner);
    add(status);
    for (const auto& address : replay) add(status_of(config_, address));
    figures.emplace_back("gaps", gaps);
    figures.emplace_back("duplicates", duplicates);
    figures.emplace_back("weights_sent", status.value("weights_sent", 0.0));
  }

  TrainConfig config_;
  LoadBenchOptions options_;
  env::TaskPtr task_;
  bench::CannedExperience canned_;
  wire::Hello hello_;
};

std::string brief(double value, double scale, const char* format) {
  if (std::isnan(value)) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value * scale);
  return text.data();
}

std::string table_of(const std::vector<Point>& points) {
  std::vector<std::vector<std::string>> rows = {
      {"actors", "shards", "welcomed", "messages/s", "decisions/s", "learned/s", "max/min", "Jain",
       "lost", "accepted p50", "p99", "learner", "memory", "lag", "stale"}};
  for (const Point& p : points) {
    rows.push_back({std::to_string(p.actors), std::to_string(p.shards),
                    brief(p.figure("welcomed_seconds"), 1, "%.2f s"),
                    brief(p.figure("messages_per_second"), 1, "%.0f"),
                    brief(p.figure("decisions_per_second"), 1, "%.0f"),
                    brief(p.figure("learned_decisions_per_second"), 1, "%.0f"),
                    brief(p.figure("most_to_fewest"), 1, "%.2f"),
                    brief(p.figure("jain_index"), 1, "%.3f"),
                    brief(p.figure("lost_messages"), 1, "%.0f"),
                    brief(p.figure("round_trip_p50_seconds"), 1e3, "%.1f ms"),
                    brief(p.figure("round_trip_p99_seconds"), 1e3, "%.1f ms"),
                    brief(p.figure("learner_cores"), 1, "%.2f cores"),
                    brief(p.figure("learner_resident_bytes_most"), 1e-6, "%.0f MB"),
                    brief(p.figure("policy_lag_p50"), 1, "%.0f"),
                    brief(p.figure("stale_share"), 100, "%.1f %%")});
  }
  return align_columns(rows, columns_of_stdout());
}

// What actors are there for: of IMPALA's, what was learned; of Ape-X's, what came into the replay,
// since the learner draws from it as fast as it can, however many they are.
double yield_of(const Point& point) {
  const double learned = point.figure("learned_decisions_per_second");
  return point.shards > 0 || std::isnan(learned) ? point.figure("decisions_per_second") : learned;
}

}  // namespace

void run_load_bench(const TrainConfig& config, const LoadBenchOptions& options, BenchReport& report,
                    std::ostream& out) {
  const bool replays = uses_replay(config.algorithm);
  if (!options.learner.empty()) check_replay_addresses(config, options.replay);
  std::vector<std::size_t> shards = options.shards;
  if (!options.learner.empty() && !shards.empty()) {
    throw UserError("--shards: those of a learner elsewhere are named by --replay");
  }
  if (!options.learner.empty()) shards = {options.replay.size()};
  if (shards.empty()) {
    shards = {replays ? static_cast<std::size_t>(config.replay.shards) : 0};
  }
  for (const std::size_t count : shards) {
    if ((count > 0) != replays) {
      throw UserError("--shards: the algorithm " + std::string(name_of(config.algorithm)) +
                      (replays ? " needs at least one" : " uses no replay; apex does"));
    }
  }
  const std::size_t most = *std::max_element(options.actors.begin(), options.actors.end());
  require_open_files(bench::open_files_for(most, replays),
                     ("a load of " + std::to_string(most) + " actors").c_str());
  LoadBench bench(config, options);
  std::vector<Point> points;
  for (const std::size_t count : shards) {
    for (const std::size_t actors : options.actors) {
      points.push_back(bench.measure(actors, count));
      const Point& point = points.back();
      report.emplace_back("load_" + std::string(name_of(config.algorithm)) + "_" +
                              std::to_string(actors) + "_actors" +
                              (count > 0 ? "_" + std::to_string(count) + "_shards" : ""),
                          point.figures);
      out << format_report({report.back()}) << std::flush;
    }
  }
  std::vector<LoadYield> yields;
  for (const Point& point : points) yields.push_back({point.actors, point.shards, yield_of(point)});
  out << "\n" << table_of(points) << knees_of(yields);
}

}  // namespace pacml::apps
