#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/config/fields.h"
#include "env/gpu_cluster/completion_heap.h"
#include "env/gpu_cluster/contention.h"
#include "env/gpu_cluster/gpu_cluster_model.h"
#include "env/gpu_cluster/gpu_decision.h"
#include "env/gpu_cluster/gpu_job_list.h"
#include "env/gpu_cluster/gpu_occupancy.h"
#include "env/gpu_cluster/job_set.h"

namespace pacml::env {

// By what waiting jobs are in line; then by arrival.
enum class QueueOrder {
  kFifo,  // arrival
  kSrtf,  // shortest remaining time alone
  kSrsf,  // shortest remaining service: the same times GPUs
};
constexpr auto enum_names(QueueOrder /*unused*/) {
  return std::to_array<EnumName<QueueOrder>>(
      {{"fifo", QueueOrder::kFifo}, {"srtf", QueueOrder::kSrtf}, {"srsf", QueueOrder::kSrsf}});
}

// Scores are compared in units of 1e-9, so that the last bits of a sum cannot change a decision.
[[nodiscard]] double rounded_score(double v);

enum class GpuJobStatus : std::uint8_t { kAhead, kWaiting, kRunning, kFinished, kLost };

// How far a job is.
struct GpuJobProgress {
  static constexpr double kNever = -1;

  double left = 0;            // steps at the time `since`
  double since = 0;           // s
  double rate = 0;            // steps/s from then on
  double thaw = 0;            // s; it holds its GPUs, but stands still, until then
  double start = kNever;      // s; the first one
  double finish = kNever;     // s
  double forwarded = kNever;  // s; the last time
  std::int32_t partition = 0;
  std::int32_t handovers = 0;
  bool holds_room = false;  // of whom it was forwarded to, while it is in line there
  std::int32_t preemptions = 0;
  std::int32_t slot = -1;  // of its layout while it runs
  GpuJobStatus status = GpuJobStatus::kAhead;
};

// What a job is on and takes there.
struct GpuLayout {
  struct Share {
    std::int32_t on = 0;  // a socket, or a link
    double load = 0;
  };
  std::vector<std::int32_t> gpus;  // ascending
  std::vector<Share> sockets;      // ascending
  std::vector<Share> links;        // each once
  double compute_s = 0;            // a step, undisturbed
  double network_s = 0;
  double pair = 1;         // the least share that a job beside it on a GPU leaves it
  std::int32_t alone = 0;  // GPUs that nobody shares with it
};

// A job that another one would slow down, or relieve.
struct DisturbedJob {
  std::int32_t job = 0;
  double before = 0;  // steps/s
  double after = 0;
};

// Jobs on a cluster at one time: who waits, who runs where, and how fast everybody is because of
// the others. A job's work is accounted for when its rate changes, and only then, so that results
// do not depend on what else happens. Copies are independent. Thread-confined.
class GpuClusterState {
 public:
  struct Waiting {
    double score = 0;  // rounded; 0 under kFifo
    std::int32_t rank = 0;
    std::int32_t job = 0;
    auto operator<=>(const Waiting&) const = default;
  };

  GpuClusterState(GpuClusterModelPtr model, GpuJobListPtr jobs, QueueOrder order);

  [[nodiscard]] const GpuClusterModel& model() const { return *model_; }
  [[nodiscard]] const GpuTopology& topology() const { return model_->topology(); }
  [[nodiscard]] const GpuJobList& jobs() const { return *jobs_; }
  [[nodiscard]] QueueOrder queue_order() const { return order_; }
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] const GpuJobProgress& progress(std::int32_t job) const {
    return progress_[at(job)];
  }
  // Steps that a job has left now.
  [[nodiscard]] double left(std::int32_t job) const;
  // Seconds that they take alone on the best GPUs.
  [[nodiscard]] double alone_s(std::int32_t job) const { return left(job) / jobs()[job].best_rate; }
  // What line it stands in by.
  [[nodiscard]] double queue_score(std::int32_t job) const;
  // In line for a scheduler. Borrowed until something changes.
  [[nodiscard]] const std::deque<Waiting>& waiting(int partition) const {
    return schedulers_[at(partition)].waiting;
  }
  [[nodiscard]] std::size_t num_waiting() const { return num_waiting_; }
  [[nodiscard]] std::span<const std::int32_t> running() const { return running_; }  // ascending
  [[nodiscard]] std::span<const std::int32_t> running_of_type(std::int32_t type) const {
    return running_of_type_[at(type)];
  }
  // Pre: it runs.
  [[nodiscard]] const GpuLayout& layout(std::int32_t job) const {
    return slots_[at(progress(job).slot)];
  }
  // Of running jobs of a user.
  [[nodiscard]] std::int64_t gpus_held(std::int32_t user) const { return held_[at(user)]; }

  // Of jobs that wait for a scheduler or run for it.
  [[nodiscard]] std::int64_t gpus_wanted(int partition) const {
    return schedulers_[at(partition)].gpus_wanted;
  }
  // ... of those in its line that others have forwarded to its idle GPUs.
  [[nodiscard]] std::int64_t gpus_handed(int partition) const {
    return schedulers_[at(partition)].gpus_handed;
  }

  // As GpuOccupancy says.
  static constexpr int kWholeCluster = GpuOccupancy::kWholeCluster;
  [[nodiscard]] bool is_idle(std::int32_t gpu) const { return occupancy_.is_idle(gpu); }
  [[nodiscard]] std::int32_t resident(std::int32_t gpu, int which) const {
    return occupancy_.resident(gpu, which);
  }
  [[nodiscard]] std::int32_t idle_in_group(std::int32_t g) const {
    return occupancy_.idle_in_group(g);
  }
  [[nodiscard]] std::int32_t idle_in_socket(std::int32_t s) const {
    return occupancy_.idle_in_socket(s);
  }
  [[nodiscard]] std::int32_t idle_in_server(std::int32_t s) const {
    return occupancy_.idle_in_server(s);
  }
  [[nodiscard]] const FreeServers& free_servers(int partition) const {
    return occupancy_.free_servers(partition);
  }
  [[nodiscard]] std::uint64_t version(int partition) const { return occupancy_.version(partition); }
  [[nodiscard]] double host_load(std::int32_t socket) const { return hosts_.load(socket); }
  [[nodiscard]] double link_load(std::int32_t link) const { return links_.load(link); }

  // Decisions. Pre, PACML_CHECK: the job waits or runs as they need it; GPUs are ascending, as
  // many as it wants, and each has room for it.
  void place(std::int32_t job, std::span<const std::int32_t> gpus);
  void preempt(std::int32_t job);
  // A waiting job wants as many GPUs as a shape of its type says, from now on.
  void resize(std::int32_t job, std::int32_t shape);
  // `holds_room`: for GPUs that are idle there, which others should leave to it (gpus_handed).
  void forward(std::int32_t job, int partition, bool holds_room = true);
  // How fast a waiting job would be on these GPUs (steps/s), and whom it would disturb or relieve:
  // replaces `disturbed`, ascending. Changes nothing.
  [[nodiscard]] double predict(std::int32_t job, std::span<const std::int32_t> gpus,
                               std::vector<DisturbedJob>& disturbed);

  // What happens by itself.
  void advance(double time_s);  // Pre: not before now
  void arrive(std::int32_t job, int partition);
  void finish(std::int32_t job);  // now
  void thaw(std::int32_t job);
  // Of jobs that run as they do now; infinite: none of them ends, or thaws.
  [[nodiscard]] double next_completion() const { return completions_.next_time(); }
  [[nodiscard]] double next_thaw() const {
    return thaws_.empty() ? std::numeric_limits<double>::infinity() : thaws_.front().time;
  }
  [[nodiscard]] std::int32_t first_to_complete() const { return completions_.top().job; }
  // Takes the first thaw out; -1: it is out of date.
  [[nodiscard]] std::int32_t take_thaw();

  // Jobs that have not arrived become others: the list differs from jobs() in those alone, but for
  // sizes, which stay, and in no time of arrival before now. Pre: as many jobs (PACML_CHECK).
  void replace_future(GpuJobListPtr jobs);
  // Whoever waits stands in line by another order.
  void set_queue_order(QueueOrder order);

  // For clocks that account for work themselves (GpuLockstep).
  void jump(double time_s) { now_ = time_s; }
  void set_left(std::int32_t job, double steps) { progress_[at(job)].left = steps; }
  void end(std::int32_t job, double finish_s);  // kNever: it is lost

  // What is accounted for until now.
  [[nodiscard]] double busy_gpu_s() const { return busy_gpu_s_; }
  [[nodiscard]] double active_job_s() const { return active_job_s_; }
  // Of the jobs that wait for a scheduler or run for it, while they do.
  [[nodiscard]] double active_job_s(int partition) const {
    return schedulers_[at(partition)].active.until(now_);
  }
  // The same of the time that they take longer than alone: while they wait, and as far as they are
  // slowed down.
  [[nodiscard]] double delay_s(int partition) const {
    return active_job_s(partition) - schedulers_[at(partition)].speed.until(now_);
  }
  [[nodiscard]] std::int64_t num_placements() const { return num_placements_; }
  // Jobs' worth of work done for a scheduler; settled: up to when rates changed last.
  [[nodiscard]] double progress_now(int partition) const;
  [[nodiscard]] double settled_progress(int partition) const {
    return schedulers_[at(partition)].done;
  }

  // From here on, decisions are written down; null: no longer. Borrowed.
  void record_to(std::vector<GpuDecision>* decisions) { recorder_ = decisions; }
  void record(GpuDecision decision) {
    if (recorder_ != nullptr) recorder_->push_back(std::move(decision));
  }

 private:
  // Of what changes now and then: its integral over time.
  struct Integral {
    [[nodiscard]] double until(double now) const { return before + value * (now - since); }
    void change(double now, double by) {
      before = until(now);
      since = now;
      value += by;
    }
    double value = 0;  // since then
    double since = 0;  // s
    double before = 0;
  };
  // What one scheduler answers for.
  struct Scheduler {
    std::deque<Waiting> waiting;
    std::int64_t gpus_wanted = 0;
    std::int64_t gpus_handed = 0;  // that jobs in line want which hold room
    Integral active;               // jobs
    Integral speed;                // of its jobs, each over its best
    double done = 0;               // jobs' worth of work
  };
  struct ReplacedPair {
    std::int32_t job = 0;
    double pair = 0;
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  void count_active(int partition, int change);
  void set_rate(std::int32_t job, double rate);
  void set_shape(std::int32_t job, std::int32_t shape);
  void count_handed(std::int32_t job, std::int64_t gpus);
  void enqueue(std::int32_t job);
  void dequeue(std::int32_t job);
  void lay_out(std::int32_t job, std::span<const std::int32_t> gpus, GpuLayout& out);
  [[nodiscard]] GpuLayout& layout_of(std::int32_t job) { return slots_[at(progress(job).slot)]; }
  [[nodiscard]] double rate_of(std::int32_t job) const;
  [[nodiscard]] double rate_of(const GpuLayout& layout) const;
  [[nodiscard]] double pair_of(std::int32_t job) const;
  void put_loads(std::int32_t job, const GpuLayout& layout);
  void take_loads(std::int32_t job, const GpuLayout& layout);
  void settle(std::int32_t job);
  void mark_users(const Contention& of, std::int32_t on);
  void pair_marked();
  void rebase_marked();
  void release(std::int32_t job);
  void record_placement(std::int32_t job);
  void suppose_beside(std::int32_t job, std::span<const std::int32_t> gpus);
  void withdraw_supposed();

  GpuClusterModelPtr model_;
  GpuJobListPtr jobs_;
  // Is jobs_, where the size of one has been changed here or in what this is a copy of.
  std::shared_ptr<GpuJobList> resized_;
  QueueOrder order_;
  double now_ = 0;
  std::vector<GpuJobProgress> progress_;  // [jobs]
  std::vector<Scheduler> schedulers_;     // [partitions]
  std::size_t num_waiting_ = 0;
  std::vector<std::int32_t> running_;
  std::vector<std::vector<std::int32_t>> running_of_type_;
  std::vector<std::int64_t> held_;  // [users]
  std::vector<GpuLayout> slots_;
  std::vector<std::int32_t> empty_slots_;
  GpuOccupancy occupancy_;
  Contention hosts_;  // by socket
  Contention links_;

  CompletionHeap completions_;
  std::vector<CompletionHeap::Entry> thaws_;  // a heap
  double busy_gpu_s_ = 0;
  double active_job_s_ = 0;
  std::int64_t num_placements_ = 0;
  std::vector<GpuDecision>* recorder_ = nullptr;

  // Memory that is used again and again.
  JobSet marked_;  // whose rates may be others now
  GpuLayout planned_;
  std::vector<ReplacedPair> replaced_pairs_;
  std::vector<std::int32_t> servers_;
  std::vector<LinkWeight> weights_;
};

}  // namespace pacml::env
