#include "apps/bench/pipeline_bench.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/bench/process_figures.h"
#include "apps/cli/files.h"
#include "apps/process/child_process.h"
#include "apps/process/hand_over.h"
#include "apps/run/metrics_tail.h"
#include "common/private_folder.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPipelineLook{200};  // between looks at the processes

// Processor time of ZeroMQ's own threads of a process, which move and encrypt its messages.
double transport_cpu_seconds_of(const std::string& pid) {
  double nanoseconds = 0;
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator("/proc/" + pid + "/task", gone)) {
    std::ifstream name_file(thread.path() / "comm");
    std::string name;
    double used = 0;
    if (!(name_file >> name) || !name.starts_with("ZMQbg/IO")) continue;
    if (std::ifstream(thread.path() / "schedstat") >> used) nanoseconds += used;
  }
  return nanoseconds * 1e-9;
}

// What the children of a process use: the largest resident memory seen, by role ("learner",
// "actor", "replay"), and the processor's time so far.
class Watch {
 public:
  explicit Watch(pid_t parent) : parent_(std::to_string(parent)) {}
  void look() {
    cpu_seconds_ = transport_cpu_seconds_ = 0;
    std::ifstream children("/proc/" + parent_ + "/task/" + parent_ + "/children");
    for (std::string pid; children >> pid;) {
      // "PROGRAM ROLE CONFIG ...", each ended by a zero.
      std::ifstream command("/proc/" + pid + "/cmdline");
      std::string program;
      std::string role;
      std::getline(std::getline(command, program, '\0'), role, '\0');
      if (const auto used = figures_of(std::stoi(pid))) cpu_seconds_ += used->cpu_seconds;
      transport_cpu_seconds_ += transport_cpu_seconds_of(pid);
      std::ifstream status("/proc/" + pid + "/status");
      for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("VmHWM:")) continue;
        const double bytes = std::stod(line.substr(6)) * 1024;
        largest_[role] = std::max(largest_[role], bytes);
      }
    }
  }
  // At the last look.
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  [[nodiscard]] double transport_cpu_seconds() const { return transport_cpu_seconds_; }
  [[nodiscard]] double largest(const std::string& role) const {
    const auto it = largest_.find(role);
    return it != largest_.end() ? it->second : 0;
  }

 private:
  std::string parent_;
  std::map<std::string, double> largest_;
  double cpu_seconds_ = 0;
  double transport_cpu_seconds_ = 0;
};

// What a run had used when it had learned from so many decisions.
struct Spent {
  double cpu_seconds = 0;
  double transport_cpu_seconds = 0;  // of which
  double decisions = 0;
};

double per_decision(const std::vector<Spent>& spent, double Spent::*used) {
  const Spent& first = spent[spent.size() / 4];
  const double decisions = spent.back().decisions - first.decisions;
  return (spent.back().*used - first.*used) / std::max(1.0, decisions);
}

std::vector<nlohmann::json> read_lines(const fs::path& file) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    auto parsed = nlohmann::json::parse(line, nullptr, false);
    if (!parsed.is_discarded()) lines.push_back(std::move(parsed));
  }
  return lines;
}

}  // namespace

bench::Figures run_pipeline_bench(const std::vector<std::string>& train_arguments, double seconds) {
  const PrivateFolder scratch("pacml-pipeline");
  const fs::path run = scratch.path() / "run";
  ChildSpec spec;
  spec.name = "train";
  spec.command = {program_beside_us("pacml").string(), "train"};
  spec.command.insert(spec.command.end(), train_arguments.begin(), train_arguments.end());
  for (const auto& word :
       {std::string("--run"), run.string(), std::string("--minutes"), std::to_string(seconds / 60),
        std::string("--set"), std::string("learner.metrics_seconds=1")}) {
    spec.command.push_back(word);
  }
  spec.log = scratch.path() / "train.log";
  spec.signal_on_parent_death = SIGTERM;
  auto train = ChildProcess::spawn(spec);
  if (!train) throw UserError("the pipeline benchmark cannot start: " + train.error().detail);
  Watch watch(train->pid());
  MetricsTail metrics(run / "metrics.jsonl");
  std::vector<Spent> spent;
  std::optional<ChildExit> exit;
  while (!(exit = train->poll())) {
    watch.look();
    if (const auto line = metrics.newest()) {
      const auto parsed = nlohmann::json::parse(*line, nullptr, false);
      // At the end the processes go, and what they have used with them.
      const bool all_run = spent.empty() || watch.cpu_seconds() >= spent.back().cpu_seconds;
      const bool learns = parsed.is_object() && parsed.contains("policy_lag");  // no warm start
      if (learns && all_run) {
        spent.push_back(
            {watch.cpu_seconds(), watch.transport_cpu_seconds(), parsed.value("decisions", 0.0)});
      }
    }
    std::this_thread::sleep_for(kPipelineLook);
  }
  if (!exit->clean()) {
    throw UserError("the training run of the pipeline benchmark " + describe(*exit) + ": " +
                    read_user_file(spec.log));
  }

  const auto lines = read_lines(run / "metrics.jsonl");
  std::vector<double> decisions;
  std::vector<double> samples;
  std::vector<double> lag_p50;
  double lag_p99 = 0;
  double lag_max = 0;
  for (std::size_t i = lines.size() / 4; i + 1 < lines.size(); ++i) {
    if (!lines[i].contains("policy_lag")) continue;  // nothing was learned from yet
    const auto& lag = lines[i].at("policy_lag");
    decisions.push_back(lines[i].at("decisions_per_second").get<double>());
    samples.push_back(lines[i].at("samples_per_second").get<double>());
    lag_p50.push_back(lag.at("p50").get<double>());
    lag_p99 = std::max(lag_p99, lag.at("p99").get<double>());
    lag_max = std::max(lag_max, lag.at("max").get<double>());
  }
  if (decisions.empty() || spent.empty())
    throw UserError("the pipeline benchmark was too short to measure anything");
  const auto& last = lines.back();
  bench::Figures figures = {
      {"decisions_per_second", bench::median_of(decisions)},
      {"samples_per_second", bench::median_of(samples)},
      {"cpu_seconds_per_decision", per_decision(spent, &Spent::cpu_seconds)},
      {"transport_cpu_seconds_per_decision", per_decision(spent, &Spent::transport_cpu_seconds)},
      {"policy_lag_p50", bench::median_of(lag_p50)},
      {"policy_lag_p99", lag_p99},
      {"policy_lag_max", lag_max},
      {"gaps", last.at("gaps").get<double>()},
      {"duplicates", last.at("duplicates").get<double>()},
      {"stale", last.at("stale").get<double>()},
      {"learner_resident_bytes", watch.largest("learner")},
      {"actor_resident_bytes", watch.largest("actor")}};
  if (const double replay = watch.largest("replay"); replay > 0) {
    figures.emplace_back("replay_resident_bytes", replay);
  }
  return figures;
}

}  // namespace pacml::apps
