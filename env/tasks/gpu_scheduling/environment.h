#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "env/gpu_cluster/gpu_decision.h"
#include "env/picture.h"
#include "env/problem_list.h"
#include "env/tasks/gpu_scheduling/offers.h"
#include "env/tasks/gpu_scheduling/task.h"

namespace pacml::env {

// An episode is a list of jobs, until all of them are done. At each instant of decision the
// schedulers have their turn one after another; in its turn one takes decisions until it passes, or
// has nothing left to decide. Whoever is offered what it has just passed on is not asked again.
// Action a is offers()[a]; one that is not offered is action_for(). Thread-confined.
class GpuSchedulingEnv final : public Environment, public Pictured, public ProblemList {
 public:
  explicit GpuSchedulingEnv(std::shared_ptr<const GpuSchedulingTask> task);

  [[nodiscard]] const EnvironmentSpec& spec() const override { return task_->spec(); }
  void reset(Seed seed) override;
  // An episode with these jobs, in the order of their arrival.
  void reset(const GpuJobSpecs& jobs);
  // Where episodes are of lists of jobs: those.
  [[nodiscard]] std::size_t num_problems() const override;
  [[nodiscard]] const std::string& problem_name(std::size_t problem) const override;
  void reset(Seed seed, std::size_t problem) override;
  [[nodiscard]] StepResult step(int action) override;
  void observe(Observations& out) const override;
  [[nodiscard]] int agent() const override { return turn_; }
  [[nodiscard]] std::span<const AgentReward> other_rewards() const override { return others_; }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  // Jobs that are still to arrive. False where episodes are of lists and there is no other one, and
  // where the trace has no jobs in a row but those that are still to come.
  [[nodiscard]] bool resample_future(Seed seed) override;
  [[nodiscard]] EpisodeRecord summary() const override;
  [[nodiscard]] std::string describe(int action) const override;
  [[nodiscard]] std::string describe_kind(int action) const override;
  // The GPUs of the cluster by the jobs on them; its time is seconds.
  [[nodiscard]] Picture picture() const override;

  [[nodiscard]] const GpuClusterState& state() const { return simulator_->state(); }
  [[nodiscard]] const Offers& offers() const { return offers_; }
  // The action that places a job of the scheduler's line on these GPUs, for rules that look further
  // than the offers do. It is good until the next step. Pre: as GpuClusterState::place().
  [[nodiscard]] bool takes(int action) const override {
    return action >= 0 && static_cast<std::size_t>(action) < offers_.size() + own_.size();
  }
  [[nodiscard]] int action_for(std::int32_t job, std::span<const std::int32_t> gpus) const;
  // Instants of decision so far in this episode, and decisions.
  [[nodiscard]] std::int64_t instant() const { return simulator_->num_instants(); }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }
  // The job that the last decision was about; -1: it passed.
  [[nodiscard]] std::int32_t last_job() const { return last_job_; }
  // What an agent that decides for all schedulers of an instant intends there. The environment
  // keeps it for the agent, until the episode or the agent ends, and copies have it too: so an
  // agent may decide in many environments in turn.
  struct Plan {
    std::weak_ptr<const void> agent;
    std::int64_t instant = -1;   // it is for
    std::int64_t decision = -1;  // in which something was answered last
    std::int32_t job = -1;       // that this was about; -1: whatever comes first
    std::shared_ptr<const std::vector<GpuDecision>> placed = nullptr;
  };
  // An agent's, empty at first. Borrowed until the next call.
  [[nodiscard]] Plan& plan_of(const std::shared_ptr<const void>& agent) const;

 private:
  // What a scheduler had before it when it passed.
  struct Passed {
    bool has = false;
    std::uint64_t version = 0;  // when its turn began
    std::size_t waiting = 0;
    std::int64_t most_room = 0;
  };
  void go_on();
  [[nodiscard]] bool is_news(int partition) const;
  [[nodiscard]] Passed present(int partition) const;
  // The placement that action_for() numbered so; null: the action is an offer.
  [[nodiscard]] const GpuDecision* own(int action) const {
    const auto a = static_cast<std::size_t>(action);
    return a < offers_.size() ? nullptr : &own_[a - offers_.size()];
  }
  // What an action would be; of a placement of its own, where.
  [[nodiscard]] Offer offer_of(int action) const;
  [[nodiscard]] std::span<const std::int32_t> gpus_of(int action) const;
  void take(const Offer& offer, std::size_t which);
  void place(std::int32_t job, std::span<const std::int32_t> gpus);
  [[nodiscard]] double price_of(std::int32_t job, int partition) const;
  [[nodiscard]] double worth(int partition) const;
  StepResult pay(int agent);
  void look();

  std::shared_ptr<const GpuSchedulingTask> task_;
  GpuJobSpecs jobs_;
  std::optional<std::size_t> problem_;  // of the lists of jobs, the one that is played
  std::optional<Seed> episode_;         // of which the jobs were drawn
  std::optional<GpuClusterSimulator> simulator_;
  Offers offers_;
  mutable std::vector<GpuDecision> own_;  // what action_for() was asked for since the last step
  mutable std::vector<Plan> plans_;
  int turn_ = 0;
  int begun_ = -1;  // whose turn has begun in this instant, the last one
  std::uint64_t begun_version_ = 0;
  std::int64_t decided_ = 0;  // decisions before this instant
  bool is_over_ = true;
  std::vector<Passed> passed_;  // [partitions]
  // Until the last decision.
  std::vector<double> worth_;  // [partitions]
  // What they have paid each other for jobs that were handed on, and what is still to be paid to
  // who starts them.
  std::vector<double> paid_;  // [partitions]
  std::vector<double> owed_;  // [jobs]
  double time_s_ = 0;
  std::vector<AgentReward> others_;
  // Of the episode.
  double return_ = 0;
  std::int64_t decisions_ = 0;
  std::int64_t shared_ = 0;
  std::int64_t forwards_ = 0;
  std::int64_t passes_ = 0;
  std::int32_t last_job_ = -1;  // that the last decision was about; -1: it passed
  double last_time_s_ = 0;
  ShownScheduling shown_;
};

// What an agent of these tasks acts in (PACML_CHECK).
[[nodiscard]] const GpuSchedulingEnv& scheduling_env(const Environment& environment);

}  // namespace pacml::env
