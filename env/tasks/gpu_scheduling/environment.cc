#include "env/tasks/gpu_scheduling/environment.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "common/check.h"
#include "common/index.h"
#include "env/gpu_cluster/gpu_cluster_metrics.h"
#include "env/tasks/gpu_scheduling/picture.h"

namespace pacml::env {
namespace {

// Of decisions at one time: not nothing, so that there is an order of time.
constexpr double kLeastElapsed = 1e-6;

}  // namespace

GpuSchedulingEnv::GpuSchedulingEnv(std::shared_ptr<const GpuSchedulingTask> task)
    : task_(std::move(task)), offers_(task_->rules().offers, task_->rules().place) {}

void GpuSchedulingEnv::reset(Seed seed) {
  if (num_problems() > 0) return reset(seed, Rng(seed).below(num_problems()));
  reset(std::make_shared<const std::vector<GpuJobSpec>>(task_->draw_jobs(seed)));
  episode_ = seed;
}

void GpuSchedulingEnv::reset(const GpuJobSpecs& jobs) {
  jobs_ = jobs;
  problem_.reset();
  episode_.reset();
  simulator_.emplace(task_->model(), std::make_shared<const GpuJobList>(*task_->model(), *jobs),
                     task_->rules().line);
  const int partitions = task_->num_schedulers();
  offers_ = Offers(task_->rules().offers, task_->rules().place);
  turn_ = partitions;
  begun_ = -1;
  own_.clear();
  plans_.clear();
  decided_ = 0;
  is_over_ = false;
  passed_.assign(at(partitions), {});
  return_ = 0;
  decisions_ = 0;
  shared_ = 0;
  forwards_ = 0;
  passes_ = 0;
  worth_.assign(at(partitions), 0.0);
  paid_.assign(at(partitions), 0.0);
  owed_.assign(state().jobs().size(), 0.0);
  go_on();
  for (int p = 0; p < partitions; ++p) worth_[at(p)] = worth(p);
  time_s_ = state().now();
  others_.clear();
  look();
}

std::size_t GpuSchedulingEnv::num_problems() const {
  return task_->job_lists() == nullptr ? 0 : task_->job_lists()->size();
}

const std::string& GpuSchedulingEnv::problem_name(std::size_t problem) const {
  PACML_CHECK(problem < num_problems(), "no such list of jobs");
  return task_->job_lists()->name(problem);
}

void GpuSchedulingEnv::reset(Seed /*nothing is drawn*/, std::size_t problem) {
  PACML_CHECK(problem < num_problems(), "no such list of jobs");
  reset(std::make_shared<const std::vector<GpuJobSpec>>((*task_->job_lists())[problem]));
  problem_ = problem;
}

GpuSchedulingEnv::Passed GpuSchedulingEnv::present(int partition) const {
  Passed now{.has = true,
             .version = state().version(partition),
             .waiting = state().waiting(partition).size()};
  if (task_->rules().offers.forwards == 0) return now;
  for (int p = 0; p < task_->num_schedulers(); ++p) {
    if (p == partition) continue;
    const FreeServers& free = state().free_servers(p);
    now.most_room = std::max<std::int64_t>(
        now.most_room, free.most() == state().topology().per_server() ? free.total() : free.most());
  }
  return now;
}

// Since the turn in which it passed began, GPUs of its own have become free or taken (what it has
// just placed is somebody to share with, next time), jobs have come to it, or there is more room
// elsewhere.
bool GpuSchedulingEnv::is_news(int partition) const {
  const Passed& before = passed_[at(partition)];
  if (!before.has) return true;
  const Passed now = present(partition);
  return now.version != before.version || now.waiting != before.waiting ||
         now.most_room > before.most_room;
}

// To the next decision, or to the end.
void GpuSchedulingEnv::go_on() {
  const int partitions = task_->num_schedulers();
  while (true) {
    for (; turn_ < partitions; ++turn_) {
      if (state().waiting(turn_).empty()) continue;
      if (std::exchange(begun_, turn_) != turn_) begun_version_ = state().version(turn_);
      if (!has_to_begin(state(), turn_) && !is_news(turn_)) continue;
      if (offers_.find(simulator_->state(), turn_)) return;
    }
    // Where nobody had anything to decide, nobody has until something happens.
    const bool is_quiet = decisions_ == decided_;
    if (!(is_quiet ? simulator_->next_eventful_instant() : simulator_->next_instant())) {
      is_over_ = true;
      return;
    }
    decided_ = decisions_;
    turn_ = 0;
    begun_ = -1;
  }
}

void GpuSchedulingEnv::take(const Offer& offer, std::size_t which) {
  GpuClusterState& state = simulator_->state();
  switch (offer.kind) {
    case Offer::Kind::kPass:
      passed_[at(turn_)] = present(turn_);
      passed_[at(turn_)].version = begun_version_;
      ++passes_;
      ++turn_;
      return;
    case Offer::Kind::kForward:
      if (task_->rules().handover == Handover::kPriced) {
        const double price = price_of(offer.job, offer.to);
        paid_[at(turn_)] -= price;
        owed_[at(offer.job)] += price;
      }
      state.forward(offer.job, offer.to, !offer.waits);
      ++forwards_;
      passed_[at(turn_)].has = false;  // its turn goes on, with whoever is left
      return;
    case Offer::Kind::kOneServer:
    case Offer::Kind::kSeveralServers:
    case Offer::Kind::kShared:
      place(offer.job, offers_.gpus(which));
  }
}

void GpuSchedulingEnv::place(std::int32_t job, std::span<const std::int32_t> gpus) {
  if (!state().is_idle(gpus.front())) ++shared_;
  paid_[at(turn_)] += std::exchange(owed_[at(job)], 0.0);
  const auto& sizes = task_->model()->speeds().sizes(state().jobs()[job].type);
  simulator_->state().resize(job, sizes.at(static_cast<int>(gpus.size())));
  simulator_->state().place(job, gpus);
}

int GpuSchedulingEnv::action_for(std::int32_t job, std::span<const std::int32_t> gpus) const {
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    if (offers_[i].job != job || !std::ranges::equal(offers_.gpus(i), gpus)) continue;
    return static_cast<int>(i);
  }
  const auto same = std::ranges::find_if(own_, [&](const GpuDecision& placed) {
    return placed.job == job && std::ranges::equal(placed.gpus, gpus);
  });
  const auto which = static_cast<std::size_t>(same - own_.begin());
  if (same == own_.end()) {
    own_.push_back({.time_s = state().now(), .job = job, .gpus = {gpus.begin(), gpus.end()}});
  }
  return static_cast<int>(offers_.size() + which);
}

GpuSchedulingEnv::Plan& GpuSchedulingEnv::plan_of(const std::shared_ptr<const void>& agent) const {
  for (Plan& plan : plans_) {
    if (plan.agent.lock() == agent) return plan;
  }
  std::erase_if(plans_, [](const Plan& plan) { return plan.agent.expired(); });
  return plans_.emplace_back(Plan{.agent = agent});
}

// Of handing a job on, in mean jobs: by what it delays those that wait there if it takes its share
// of the GPUs for as long as it takes alone; and that time, where it counts.
double GpuSchedulingEnv::price_of(std::int32_t job, int partition) const {
  const double delayed = static_cast<double>(state().waiting(partition).size()) *
                         state().jobs()[job].gpus / task_->model()->num_gpus(partition);
  const double counts = task_->rules().reward == SchedulingReward::kActiveTime ? 1 : 0;
  return state().alone_s(job) * (counts + delayed) / task_->scale().mean_job_s;
}

// What a scheduler is paid for, summed up until now, in mean jobs.
double GpuSchedulingEnv::worth(int partition) const {
  const SchedulingReward reward = task_->rules().reward;
  if (reward == SchedulingReward::kProgress) return state().progress_now(partition);
  const double seconds = reward == SchedulingReward::kDelay ? state().delay_s(partition)
                                                            : state().active_job_s(partition);
  return paid_[at(partition)] - seconds / task_->scale().mean_job_s;
}

StepResult GpuSchedulingEnv::pay(int agent) {
  const int partitions = task_->num_schedulers();
  double total = 0;
  for (int p = 0; p < partitions; ++p) total += worth(p) - worth_[at(p)];
  const double own_share = task_->rules().own_share;
  const double for_all = (1 - own_share) / partitions * total;
  StepResult result;
  others_.clear();
  for (int p = 0; p < partitions; ++p) {
    const double before = std::exchange(worth_[at(p)], worth(p));
    const auto reward = static_cast<float>(own_share * (worth_[at(p)] - before) + for_all);
    return_ += static_cast<double>(reward);
    if (p == agent) {
      result.reward = reward;
    } else if (reward != 0) {
      others_.push_back({p, reward});
    }
  }
  const double now = state().now();
  result.elapsed = static_cast<float>(
      std::max((now - std::exchange(time_s_, now)) / task_->scale().mean_job_s, kLeastElapsed));
  result.terminated = is_over_;
  return result;
}

StepResult GpuSchedulingEnv::step(int action) {
  PACML_CHECK(!is_over_ && takes(action), "no such decision");
  const int agent = turn_;
  const GpuDecision* placed = own(action);
  last_job_ = placed != nullptr ? placed->job : offers_[at(action)].job;
  last_time_s_ = state().now();
  if (placed != nullptr) {
    place(placed->job, placed->gpus);
  } else {
    take(offers_[at(action)], at(action));
  }
  own_.clear();
  ++decisions_;
  go_on();
  const StepResult result = pay(agent);
  // What the last decision showed stays.
  if (!is_over_) look();
  return result;
}

void GpuSchedulingEnv::look() {
  const auto jobs = static_cast<double>(state().jobs().size());
  const double to_come = 1 - static_cast<double>(simulator_->num_arrived()) / jobs;
  shown_.look_at(state(), task_->nodes(turn_), task_->scale(), offers_, to_come);
}

void GpuSchedulingEnv::observe(Observations& out) const {
  const auto nodes = static_cast<std::uint32_t>(shown_.nodes.size() / kClusterDynamicWidth);
  const ObservationRow row = out.append(
      {.candidates = static_cast<std::uint32_t>(shown_.where.size()), .nodes = {&nodes, 1}});
  row.graph[0] = task_->graph_of(shown_.agent);
  std::ranges::copy(shown_.nodes, row.node_features.begin());
  std::ranges::copy(shown_.globals, row.globals.begin());
  std::ranges::copy(shown_.offers, row.candidates.begin());
  std::ranges::copy(shown_.where, row.candidate_nodes.begin());
  std::ranges::fill(row.mask, std::uint8_t{1});
  for (auto& agent : row.agent) agent = static_cast<std::uint16_t>(shown_.agent);
}

std::unique_ptr<Environment> GpuSchedulingEnv::clone() const {
  return std::make_unique<GpuSchedulingEnv>(*this);
}

bool GpuSchedulingEnv::resample_future(Seed seed) {
  const std::size_t arrived = simulator_->num_arrived();
  std::vector<GpuJobSpec> jobs;
  if (const JobLists* lists = task_->job_lists()) {
    // One of the others: what is still to come is known of the list that is played.
    if (!problem_) return false;
    const auto others = lists->others_for(*problem_, arrived);
    if (others.empty()) return false;
    jobs = (*lists)[others[Rng(seed).below(others.size())]];
  } else {
    jobs = episode_ ? task_->draw_future(seed, *episode_, arrived) : task_->draw_jobs(seed);
    if (jobs.empty()) return false;
  }
  // Arrivals have no memory: the time until the next one is as between any two.
  const double former = jobs[arrived > 0 ? arrived - 1 : 0].submit_s;
  for (std::size_t i = arrived; i < jobs.size(); ++i) {
    jobs[i].submit_s = std::min(state().now() + (jobs[i].submit_s - former), kMostSeconds);
  }
  std::copy_n(jobs_->begin(), arrived, jobs.begin());
  jobs_ = std::make_shared<const std::vector<GpuJobSpec>>(std::move(jobs));
  simulator_->state().replace_future(std::make_shared<const GpuJobList>(*task_->model(), *jobs_));
  return true;
}

EpisodeRecord GpuSchedulingEnv::summary() const {
  double alone_s = 0;
  double jct_s = 0;
  std::vector<double> alone_of(state().jobs().size());
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(state().jobs().size()); ++id) {
    const GpuJobProgress& progress = state().progress(id);
    if (progress.status != GpuJobStatus::kFinished) continue;
    // As it asked for: what it got may be another size.
    const GpuJobSpec& asked = (*jobs_)[at(id)];
    const JobSpeeds& speeds = task_->model()->speeds();
    alone_of[at(id)] =
        asked.steps / speeds.shapes()[at(speeds.shape(asked.type, asked.gpus))].best_rate;
    alone_s += alone_of[at(id)];
    jct_s += progress.finish - asked.submit_s;
  }
  const GpuClusterMetrics of = gpu_cluster_metrics(state(), alone_of);
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole)
                     : std::numeric_limits<double>::quiet_NaN();
  };
  EpisodeRecord record;
  record.episode_return = return_;
  record.decisions = decisions_;
  std::size_t m = 0;
  for (const double value :
       {of.avg_jct, of.finished > 0 ? jct_s / alone_s : of.avg_jct, of.p50_jct, of.p99_jct,
        of.avg_queue, of.makespan, of.utilisation, of.mean_slowdown, of.jain_users,
        share(shared_, of.placements), share(passes_, decisions_),
        share(forwards_, static_cast<std::int64_t>(state().jobs().size()))}) {
    record.metrics[m++] = value;
  }
  return record;
}

Picture GpuSchedulingEnv::picture() const {
  Picture picture = gpu_cluster_picture(state(), *jobs_);
  if (!is_over_) {
    picture.facts.insert(picture.facts.begin(), {"scheduler", std::to_string(turn_)});
  }
  if (decisions_ > 0) picture.last = outcome_of_job(state(), *jobs_, last_job_, last_time_s_);
  return picture;
}

Offer GpuSchedulingEnv::offer_of(int action) const {
  const GpuDecision* placed = own(action);
  return placed != nullptr ? Offer{.kind = Offer::Kind::kOneServer, .job = placed->job}
                           : offers_[at(action)];
}

std::span<const std::int32_t> GpuSchedulingEnv::gpus_of(int action) const {
  const GpuDecision* placed = own(action);
  return placed != nullptr ? std::span<const std::int32_t>(placed->gpus) : offers_.gpus(at(action));
}

std::string GpuSchedulingEnv::describe(int action) const {
  const Offer offer = offer_of(action);
  if (offer.kind == Offer::Kind::kPass) return "wait";
  const GpuJobSpec& job = (*jobs_)[at(offer.job)];
  const auto name_of = [this](std::int32_t id) {
    return "job " + std::to_string(state().jobs()[id].number);
  };
  const auto named = [&](std::size_t gpus) {
    return name_of(offer.job) + " (" + job.type + ", " + std::to_string(gpus) + " GPUs) ";
  };
  if (offer.kind == Offer::Kind::kForward) {
    return named(at(job.gpus)) + "to scheduler " + std::to_string(offer.to);
  }
  const auto gpus = gpus_of(action);
  const GpuTopology& t = state().topology();
  const std::int32_t first = t.server_of(gpus.front());
  const std::int32_t last = t.server_of(gpus.back());
  std::string where = "on server " + std::to_string(first);
  if (last != first) where = "on servers " + std::to_string(first) + ".." + std::to_string(last);
  if (const std::int32_t other = state().resident(gpus.front(), 0); other >= 0) {
    where += " beside " + name_of(other);
  }
  return named(gpus.size()) + where;
}

std::string GpuSchedulingEnv::describe_kind(int action) const {
  const Offer offer = offer_of(action);
  if (offer.kind == Offer::Kind::kPass) return "wait";
  if (offer.kind == Offer::Kind::kForward) return "to another scheduler";
  const auto gpus = gpus_of(action);
  std::set<std::int32_t> servers;
  for (const std::int32_t gpu : gpus) servers.insert(state().topology().server_of(gpu));
  const auto counted = [](std::size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  const bool is_shared = state().resident(gpus.front(), 0) >= 0;
  return counted(gpus.size(), "GPU") + " on " + counted(servers.size(), "server") +
         (is_shared ? ", shared" : "");
}

const GpuSchedulingEnv& scheduling_env(const Environment& environment) {
  const auto* env = dynamic_cast<const GpuSchedulingEnv*>(&environment);
  PACML_CHECK(env != nullptr, "an agent of another task");
  return *env;
}

}  // namespace pacml::env
