#include "apps/bench/scaling_bench.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <stop_token>
#include <thread>
#include <utility>

#include "actor/learner_link.h"
#include "apps/bench/bench_servers.h"
#include "apps/bench/process_figures.h"
#include "apps/cli/files.h"
#include "apps/process/hand_over.h"
#include "apps/roles/actor_seed.h"
#include "apps/roles/ask_status.h"
#include "apps/roles/composition.h"
#include "apps/roles/encryption.h"
#include "apps/roles/identity.h"
#include "apps/run/endpoints.h"
#include "bench/figures.h"
#include "common/private_folder.h"
#include "common/result.h"
#include "common/thread_group.h"
#include "common/transport/dealer.h"
#include "common/transport/subscriber.h"
#include "env/task.h"
#include "model/fused_policy.h"

namespace pacml::apps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerPatience{20};
constexpr std::chrono::milliseconds kScalingLook{50};

// What some actors did in a while.
struct Work {
  double decisions = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  double learner_cores = 0;  // that the learner took meanwhile
  [[nodiscard]] double per_second() const { return decisions / seconds; }
  [[nodiscard]] double per_cpu_second() const { return decisions / cpu_seconds; }
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void pin_this_thread(const std::vector<std::size_t>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t cpu : cpus) CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return;
  std::string names;
  for (const std::size_t cpu : cpus) names += (names.empty() ? "" : ",") + std::to_string(cpu);
  throw UserError("this process may not run on CPU " + names);
}

std::vector<std::size_t> cpus_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::size_t> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// What is started meanwhile runs on these CPUs; this thread then goes back to its own.
class PinnedScope {
 public:
  explicit PinnedScope(const std::vector<std::size_t>& cpus) : before_(cpus_of_this_thread()) {
    pin_this_thread(cpus);
  }
  PinnedScope(const PinnedScope&) = delete;
  PinnedScope& operator=(const PinnedScope&) = delete;
  ~PinnedScope() {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const std::size_t cpu : before_) CPU_SET(cpu, &set);
    ::sched_setaffinity(0, sizeof set, &set);
  }

 private:
  std::vector<std::size_t> before_;
};

double cpu_seconds_of_this_thread() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class ScalingBench {
 public:
  ScalingBench(const TrainConfig& config, const ScalingBenchOptions& options)
      : config_(config), options_(options), task_(config.env.make()) {
    if (!options_.cpus.empty()) return;
    for (const std::size_t cpu : cpus_of_this_thread()) {
      if (cpu != options_.learner_cpu) options_.cpus.push_back(cpu);
    }
    if (options_.cpus.empty()) options_.cpus = {options_.learner_cpu};
  }

  [[nodiscard]] bench::Figures measure(std::size_t actors) const {
    std::vector<double> with_per_second;
    std::vector<double> alone_per_second;
    std::vector<double> wall_ratio;
    std::vector<double> with_per_cpu;
    std::vector<double> alone_per_cpu;
    std::vector<double> efficiency;
    std::vector<double> waiting;
    const auto cores = static_cast<double>(std::min(actors, options_.cpus.size()));
    for (std::size_t round = 0; round < options_.rounds; ++round) {
      model::Parameters weights;
      const Work with = with_learner(actors, weights);
      const Work without = alone(actors, weights, with.learner_cores);
      with_per_second.push_back(with.per_second());
      alone_per_second.push_back(without.per_second());
      wall_ratio.push_back(with.per_second() / without.per_second());
      with_per_cpu.push_back(with.per_cpu_second());
      alone_per_cpu.push_back(without.per_cpu_second());
      efficiency.push_back(with.per_cpu_second() / without.per_cpu_second());
      waiting.push_back(1 - with.cpu_seconds / (with.seconds * cores));
    }
    return {{"decisions_per_second", bench::median_of(with_per_second)},
            {"alone_decisions_per_second", bench::median_of(alone_per_second)},
            {"wall_ratio", bench::median_of(wall_ratio)},
            {"decisions_per_cpu_second", bench::median_of(with_per_cpu)},
            {"alone_decisions_per_cpu_second", bench::median_of(alone_per_cpu)},
            {"efficiency", bench::median_of(efficiency)},
            {"overhead_share", std::max(0.0, 1 - bench::median_of(efficiency))},
            {"waiting_share", bench::median_of(waiting)}};
  }

 private:
  [[nodiscard]] std::size_t cpu_of(std::size_t actor) const {
    return options_.cpus[actor % options_.cpus.size()];
  }
  // Of a figure in the learner's status.
  [[nodiscard]] double count_at(const std::string& learner, const char* figure) const {
    const auto status = nlohmann::json::parse(
        ask_status(learner, config_.security, Deadline::in(kAnswerPatience)), nullptr, false);
    if (!status.is_object()) throw UserError("the benchmark's learner tells no status");
    return status.value(figure, 0.0);
  }

  // `weights`: what the actors acted with in the end.
  [[nodiscard]] Work with_learner(std::size_t count, model::Parameters& weights) const {
    const PrivateFolder scratch("pacml-scaling");
    const PinnedScope on_learner_cpu({options_.learner_cpu});
    // What a policy does decides what a simulator has to do: these weights stand still.
    BenchServers servers(options_.config_arguments, 0, scratch.path());
    servers.wait_until_ready(config_.security);
    std::vector<ChildProcess> actors;
    for (std::size_t i = 0; i < count; ++i) {
      const PinnedScope on_actor_cpu({cpu_of(i)});
      actors.push_back(start_actor(i, servers.learner(), scratch.path()));
    }
    const auto cpu_seconds = [&] {
      double sum = 0;
      for (const auto& actor : actors) {
        sum += figures_of(actor.pid()).value_or(ProcessFigures{}).cpu_seconds;
      }
      return sum;
    };
    // A message of each, and then the warm-up.
    while (count_at(servers.learner(), "messages") < static_cast<double>(count)) {
      servers.check_running();
      for (auto& actor : actors) {
        if (const auto exit = actor.poll()) throw UserError("an actor " + describe(*exit));
      }
      std::this_thread::sleep_for(kScalingLook);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.warm_up));
    const double decisions = count_at(servers.learner(), "decisions");
    const auto learner_cpu_seconds = [&] {
      return figures_of(servers.learner_pid()).value_or(ProcessFigures{}).cpu_seconds;
    };
    const double cpu = cpu_seconds();
    const double learner_cpu = learner_cpu_seconds();
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.seconds));
    Work work{count_at(servers.learner(), "decisions") - decisions, seconds_since(start),
              cpu_seconds() - cpu};
    work.learner_cores = (learner_cpu_seconds() - learner_cpu) / work.seconds;
    servers.check_running();
    weights = weights_of(servers.learner(), count);
    return work;
  }

  // As one more actor gets them.
  [[nodiscard]] model::Parameters weights_of(const std::string& learner, std::size_t id) const {
    transport::Context context(1, encryption_of(config_.security, Party::kClient));
    const auto endpoint = transport::Endpoint::parse(learner);
    transport::Dealer dealer(context, endpoint, config_.transport);
    transport::Subscriber announcements(context, announcement_endpoint(endpoint),
                                        config_.transport);
    const auto hello = make_hello(wire::Role::kActor, ActorId{static_cast<std::uint32_t>(id)},
                                  agreement_of(config_, *task_), "");
    actor::LinkConfig patience;
    patience.give_up = kAnswerPatience;
    actor::LearnerLink link(dealer, announcements, hello, task_->spec().graphs, patience);
    auto weights = link.first_parameters({});
    if (!weights) throw UserError("the benchmark's learner: " + weights.error().detail);
    link.leave("has what it came for");
    return *std::move(weights);
  }

  [[nodiscard]] ChildProcess start_actor(std::size_t id, const std::string& learner,
                                         const std::filesystem::path& folder) const {
    ChildSpec spec;
    spec.name = "actor-" + std::to_string(id);
    spec.command = {program_beside_us("pacml").string(), "actor"};
    spec.command.insert(spec.command.end(), options_.config_arguments.begin(),
                        options_.config_arguments.end());
    for (const auto& word : {std::string("--learner"), learner, std::string("--id"),
                             std::to_string(id), std::string("--log-level"), std::string("warn")}) {
      spec.command.push_back(word);
    }
    spec.log = folder / (spec.name + ".log");
    auto process = ChildProcess::spawn(spec);
    if (!process) throw UserError("an actor cannot start: " + process.error().detail);
    return *std::move(process);
  }

  // The same loops on threads, with weights that stay as they are; and one more beside them that
  // keeps the learner's CPU as busy as it was: what two CPUs share, a core's units or a cache, the
  // loops have less of then as well, and it counts as nobody's overhead.
  [[nodiscard]] Work alone(std::size_t count, const model::Parameters& weights,
                           double learner_cores) const {
    std::vector<Work> works(count);
    ThreadGroup neighbour;
    neighbour.spawn("neighbour", [&](const std::stop_token& stop) {
      pin_this_thread({options_.learner_cpu});
      keep_busy(count, weights, learner_cores, stop);
    });
    ThreadGroup threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.spawn("alone-" + std::to_string(i), [&, i](const std::stop_token&) {
        pin_this_thread({cpu_of(i)});
        works[i] = loop_alone(i, weights);
      });
    }
    threads.join();
    neighbour.request_stop();
    neighbour.join();
    Work sum;
    for (const Work& work : works) {
      sum.decisions += work.decisions;
      sum.cpu_seconds += work.cpu_seconds;
      sum.seconds += work.seconds / static_cast<double>(count);
    }
    return sum;
  }

  // An actor's loop with all that it needs.
  struct Loop {
    Loop(const TrainConfig& config, std::size_t id, const model::Parameters& weights)
        : task(config.env.make()),  // its memo is an actor's own, as in a process
          policy(model::make_fused_policy(model::make_shape(config.network, task->spec()))),
          loop(make_actor_loop(config, *task, *policy, actor_of(id),
                               actor_seed(Seed{static_cast<std::uint64_t>(config.seed)},
                                          actor_of(id), PolicyVersion{0}))) {
      loop->set_parameters(weights);
    }
    static ActorId actor_of(std::size_t id) { return ActorId{static_cast<std::uint32_t>(id)}; }
    void run() const { static_cast<void>(loop->run_message()); }

    env::TaskPtr task;
    std::unique_ptr<model::Policy> policy;
    std::unique_ptr<actor::ActorLoop> loop;
  };

  [[nodiscard]] Work loop_alone(std::size_t id, const model::Parameters& weights) const {
    Loop loop(config_, id, weights);
    for (const auto start = Clock::now(); seconds_since(start) < options_.warm_up;) loop.run();
    const auto decisions = loop.loop->decisions();
    const double cpu = cpu_seconds_of_this_thread();
    const auto start = Clock::now();
    while (seconds_since(start) < options_.seconds) loop.run();
    return {static_cast<double>(loop.loop->decisions() - decisions), seconds_since(start),
            cpu_seconds_of_this_thread() - cpu};
  }

  // Works that share of the time, in turns of a message.
  void keep_busy(std::size_t id, const model::Parameters& weights, double share,
                 const std::stop_token& stop) const {
    if (share <= 0) return;
    Loop loop(config_, id, weights);
    while (!stop.stop_requested()) {
      const auto start = Clock::now();
      loop.run();
      const double rest = seconds_since(start) * (1 / std::min(share, 1.0) - 1);
      std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
  }

  TrainConfig config_;
  ScalingBenchOptions options_;
  env::TaskPtr task_;
};

}  // namespace

void run_scaling_bench(const TrainConfig& config, const ScalingBenchOptions& options,
                       BenchReport& report, std::ostream& out) {
  if (uses_replay(config.algorithm)) {
    throw UserError("algorithm: bench scaling measures actors that send to a learner: impala, ppo");
  }
  const ScalingBench bench(config, options);
  for (const std::size_t actors : options.actors) {
    report.emplace_back("scaling_" + std::to_string(actors) + "_actors", bench.measure(actors));
    out << format_report({report.back()}) << std::flush;
  }
}

}  // namespace pacml::apps
