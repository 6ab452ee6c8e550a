#include "apps/bench/bench_servers.h"

#include <chrono>
#include <thread>

#include "apps/cli/files.h"
#include "apps/cli/words.h"
#include "apps/process/hand_over.h"
#include "apps/roles/ask_status.h"
#include "apps/run/train_config.h"
#include "common/clock.h"
#include "common/result.h"
#include "common/try_again.h"
#include "model/math_environment.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::seconds kPatience{20};  // for a process to end in order
constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::seconds kAnswer{2};   // between looks at whether they still run
constexpr std::chrono::seconds kReady{120};  // programs may lie on a disk that is slow and cold

}  // namespace

BenchServers::BenchServers(const std::vector<std::string>& config_arguments, std::size_t shards,
                           const std::filesystem::path& folder)
    : folder_(folder), run_(folder / "run") {
  std::vector<std::string> config = config_arguments;
  append(config, {"--log-level", "warn"});
  if (shards > 0) append(config, {"--set", "replay.shards=" + std::to_string(shards)});
  for (std::size_t i = 0; i < shards; ++i) {
    shard_addresses_.push_back("ipc://" + (folder / ("r" + std::to_string(i))).string());
    std::vector<std::string> command = {program_beside_us("pacml").string(), "replay"};
    append(command, config);
    append(command, {"--bind", shard_addresses_.back(), "--shard", std::to_string(i)});
    start("replay-" + std::to_string(i), std::move(command));
  }
  learner_address_ = "ipc://" + (folder / "l").string();
  std::vector<std::string> command = {program_beside_us("pacml-learner").string(), "learner"};
  append(command, config);
  append(command, {"--run", run_.string(), "--bind", learner_address_, "--set",
                   "learner.metrics_seconds=1", "--set", "learner.evaluate_episodes=0"});
  // Weights that learned from experience that comes again and again would sooner or later be no
  // numbers.
  for (const auto& algorithm : enum_names(AlgorithmKind{})) {
    append(command, {"--set", std::string(algorithm.name) +
                                  ".learning_rate={kind: constant, start: 1.0e-12}"});
  }
  for (const auto& address : shard_addresses_) append(command, {"--replay", address});
  start("learner", std::move(command));
}

BenchServers::~BenchServers() {
  // The learner first, so that it misses no shard.
  for (auto process = processes_.rbegin(); process != processes_.rend(); ++process) {
    process->second.send(SIGTERM);
    const Deadline deadline = Deadline::in(kPatience);
    while (!process->second.poll() && !deadline.expired()) std::this_thread::sleep_for(kLook);
  }
}

void BenchServers::start(const std::string& name, std::vector<std::string> command) {
  model::set_single_threaded_math();
  ChildSpec spec;
  spec.name = name;
  spec.command = std::move(command);
  spec.log = log(name);
  auto process = ChildProcess::spawn(spec);
  if (!process)
    throw UserError("the benchmark's " + name + " cannot start: " + process.error().detail);
  processes_.emplace_back(name, *std::move(process));
}

std::vector<pid_t> BenchServers::shard_pids() const {
  std::vector<pid_t> pids;
  for (std::size_t i = 0; i + 1 < processes_.size(); ++i) {
    pids.push_back(processes_[i].second.pid());
  }
  return pids;
}

void BenchServers::wait_until_ready(const transport::SecurityConfig& security) {
  std::vector<std::string> addresses = shard_addresses_;
  addresses.push_back(learner_address_);  // in the order of processes_
  const auto answers = [&security](const std::string& address) {
    try {
      static_cast<void>(ask_status(address, security, Deadline::in(kAnswer)));
      return true;
    } catch (const TryAgainError&) {
      return false;
    }
  };
  const Deadline deadline = Deadline::in(kReady);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    while (!answers(addresses[i])) {
      check_running();
      if (!deadline.expired()) continue;
      const auto& name = processes_[i].first;
      throw UserError("the benchmark's " + name + " does not answer: " + read_user_file(log(name)));
    }
  }
}

void BenchServers::check_running() {
  for (auto& [name, process] : processes_) {
    if (const auto exit = process.poll()) {
      throw UserError("the benchmark's " + name + " " + describe(*exit) + ": " +
                      read_user_file(log(name)));
    }
  }
}

}  // namespace pacml::apps
