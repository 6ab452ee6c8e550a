#include "env/ramp/lookahead.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "common/index.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/numerics.h"
#include "env/ramp/step_trace.h"

namespace pacml::env {
namespace {

// Ready ops per server as bits in order of priority, so that the running op is the highest set bit.
class ReadyOps {
 public:
  ReadyOps(const PartitionedGraph& job, const Placement& placement, int num_servers)
      : rank_(at(job.num_ops())) {
    auto lists = ops_on_servers(job, placement, num_servers);
    for (auto& ops : lists) {
      if (ops.empty()) continue;
      // Longest first and stable: position is priority.
      std::stable_sort(ops.begin(), ops.end(), [&](OpIndex a, OpIndex b) {
        return job.compute()[at(a)] > job.compute()[at(b)];
      });
      const auto first_bit = 64 * words_.size();
      for (std::size_t i = 0; i < ops.size(); ++i) {
        rank_[at(ops[i])] = first_bit + i;
      }
      const std::size_t words = (ops.size() + 63) / 64;
      queues_.push_back({words_.size(), words_.size() + words});
      words_.resize(words_.size() + words, 0);
      op_of_bit_.resize(64 * words_.size(), kNoOp);
      for (std::size_t i = 0; i < ops.size(); ++i) op_of_bit_[first_bit + i] = ops[i];
    }
  }
  void insert(OpIndex op) { words_[rank_[at(op)] / 64] |= bit(op); }
  void erase(OpIndex op) { words_[rank_[at(op)] / 64] &= ~bit(op); }
  // The running op of each server that has one.
  void collect_running(std::vector<OpIndex>& running) const {
    running.clear();
    for (const auto& [begin, end] : queues_) {
      for (std::size_t w = end; w-- > begin;) {
        if (words_[w] == 0) continue;
        running.push_back(
            op_of_bit_[64 * w + 63 - static_cast<std::size_t>(std::countl_zero(words_[w]))]);
        break;
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t bit(OpIndex op) const {
    return std::uint64_t{1} << (rank_[at(op)] % 64);
  }

  std::vector<std::size_t> rank_;                            // of each op: its bit in words_
  std::vector<std::pair<std::size_t, std::size_t>> queues_;  // word range of each server in use
  std::vector<std::uint64_t> words_;
  std::vector<OpIndex> op_of_bit_;
};

// Ready flows. Flows that become ready in the same tick with the same run time have bit-identical
// remaining times for ever: they form a cohort with one remaining time. Per channel and cohort only
// the member of highest priority can win, so a channel is a short list of contenders, not a heap of
// flows.
class ReadyFlows {
 public:
  ReadyFlows(const PartitionedGraph& job, std::span<const Server> server,
             std::span<const double> run_time, int num_servers, bool exact_tick)
      : job_(job), server_(server), run_time_(run_time), exact_tick_(exact_tick) {
    channel_of_pair_.assign(at(num_servers) * at(num_servers), -1);
    num_servers_ = at(num_servers);
  }

  [[nodiscard]] bool empty() const { return live_.empty(); }

  // Adds flows that became ready in one tick.
  void add(std::span<const std::int32_t> flows) {
    first_new_ = cohorts_.size();
    for (const std::int32_t flow : flows) {
      const std::size_t cohort = cohort_of(run_time_[at(flow)]);
      cohorts_[cohort].members.push_back(flow);
      if (!exact_tick_) contend(flow, cohort);
    }
    for (std::size_t c = first_new_; c < cohorts_.size(); ++c) live_.push_back(c);
  }

  // Time until the first channel's winner (or, with exact_tick, the first flow) finishes.
  [[nodiscard]] double time_to_next() {
    double next = kEndOfTime;
    if (exact_tick_) {
      for (const std::size_t c : live_) next = std::min(next, cohorts_[c].remaining);
      return next;
    }
    for (std::size_t i = 0; i < active_channels_.size();) {
      auto& contenders = channels_[active_channels_[i]];
      std::erase_if(contenders, [&](const Contender& c) { return cohorts_[c.cohort].done; });
      if (contenders.empty()) {
        is_active_[active_channels_[i]] = 0;
        active_channels_[i] = active_channels_.back();
        active_channels_.pop_back();
        continue;
      }
      const auto winner = std::min_element(contenders.begin(), contenders.end(), Contender::beats);
      next = std::min(next, cohorts_[winner->cohort].remaining);
      ++i;
    }
    return next;
  }

  // Advances every ready flow; appends those that complete, cohort by cohort.
  void advance(double tick, std::vector<std::int32_t>& completed) {
    std::size_t kept = 0;
    for (const std::size_t c : live_) {
      Cohort& cohort = cohorts_[c];
      cohort.remaining -= std::min(tick, cohort.remaining);
      if (cohort.remaining == 0) {
        cohort.done = true;
        completed.insert(completed.end(), cohort.members.begin(), cohort.members.end());
        std::vector<std::int32_t>().swap(cohort.members);
      } else {
        live_[kept++] = c;
      }
    }
    live_.resize(kept);
  }

 private:
  struct Cohort {
    double run_time = 0;
    double remaining = 0;
    bool done = false;
    std::vector<std::int32_t> members;
  };
  struct Contender {
    double run_time = 0;
    std::uint64_t hash = 0;
    std::size_t cohort = 0;
    static bool beats(const Contender& a, const Contender& b) {
      return a.run_time != b.run_time ? a.run_time < b.run_time : a.hash > b.hash;
    }
  };

  std::size_t cohort_of(double run_time) {
    // Neighbouring flows mostly share their cohort; a tick rarely opens more than a few.
    for (std::size_t c = cohorts_.size(); c-- > first_new_;) {
      if (cohorts_[c].run_time == run_time) return c;
    }
    cohorts_.push_back({run_time, run_time, false, {}});
    return cohorts_.size() - 1;
  }

  void contend(std::int32_t flow, std::size_t cohort) {
    const std::size_t pair =
        server_[at(job_.src()[at(flow)])] * num_servers_ + server_[at(job_.dst()[at(flow)])];
    if (channel_of_pair_[pair] < 0) {
      channel_of_pair_[pair] = static_cast<std::int32_t>(channels_.size());
      channels_.emplace_back();
      is_active_.push_back(0);
    }
    const auto channel = at(channel_of_pair_[pair]);
    if (is_active_[channel] == 0) {
      is_active_[channel] = 1;
      active_channels_.push_back(channel);
    }
    const std::uint64_t hash = mix64(static_cast<std::uint64_t>(flow) + kGoldenGamma);
    auto& contenders = channels_[channel];
    if (!contenders.empty() && contenders.back().cohort == cohort) {
      contenders.back().hash = std::max(contenders.back().hash, hash);
      return;
    }
    contenders.push_back({run_time_[at(flow)], hash, cohort});
  }

  const PartitionedGraph& job_;
  std::span<const Server> server_;
  std::span<const double> run_time_;
  bool exact_tick_;
  std::size_t num_servers_ = 0;
  std::size_t first_new_ = 0;
  std::vector<Cohort> cohorts_;
  std::vector<std::size_t> live_;
  std::vector<std::int32_t> channel_of_pair_;  // [server, server]; -1: not used yet
  std::vector<std::vector<Contender>> channels_;
  std::vector<std::size_t> active_channels_;
  std::vector<char> is_active_;
};

// Keeps what ran when.
class StepRecorder {
 public:
  explicit StepRecorder(const PartitionedGraph& job)
      : piece_of_(at(job.num_ops()), kNoPiece), ready_(at(job.num_dependencies()), 0) {}

  void op_runs(OpIndex op, double begins, double ends) {
    std::size_t& piece = piece_of_[at(op)];
    if (piece != kNoPiece && trace_.ops[piece].ends == begins) {
      trace_.ops[piece].ends = ends;
      return;
    }
    piece = trace_.ops.size();
    trace_.ops.push_back({op, begins, ends});
  }
  void flow_is_ready(std::int32_t flow, double now) { ready_[at(flow)] = now; }
  void flow_has_arrived(std::int32_t flow, double now) {
    trace_.flows.push_back({flow, ready_[at(flow)], now});
  }
  [[nodiscard]] StepTrace take(double step_time) {
    trace_.step_time = step_time;
    return std::move(trace_);
  }

 private:
  static constexpr std::size_t kNoPiece = std::numeric_limits<std::size_t>::max();
  StepTrace trace_;
  std::vector<std::size_t> piece_of_;  // of each op, its last one
  std::vector<double> ready_;          // since when, of each flow
};

// One training step in progress.
class Step {
 public:
  Step(const PartitionedGraph& job, const Placement& placement, std::span<const Server> server,
       std::span<const double> raw_run_time, int num_servers, const SemanticSwitches& semantics,
       StepRecorder* recorder = nullptr)
      : job_(job),
        server_(server),
        recorder_(recorder),
        sync_is_no_parent_(semantics.sync_is_no_parent),
        remaining_(job.compute().begin(), job.compute().end()),
        arrived_(at(job.num_ops()), 0),
        ops_(job, placement, num_servers),
        flows_(job, server, raw_run_time, num_servers, semantics.exact_tick) {
    if (sync_is_no_parent_) {
      for (OpIndex op = 0; op < job.num_ops(); ++op) {
        if (job.num_parents()[at(op)] == 0) ops_.insert(op);
      }
    } else {
      for (const OpIndex op : job.sources()) ops_.insert(op);
    }
  }

  Lookahead run() {
    while (ops_done_ < job_.num_ops() || dependencies_done_ < job_.num_dependencies()) tick();
    return std::move(result_);
  }

 private:
  void tick() {
    ops_.collect_running(running_);
    double length = kEndOfTime;
    for (const OpIndex op : running_) length = std::min(length, remaining_[at(op)]);
    const bool local_first = !ready_local_.empty();
    length = std::min(length, local_first ? 0.0 : flows_.time_to_next());
    if (length == kEndOfTime) {
      const bool sends = !flows_.empty();
      throw UserError("model " + job_.graph().model() + " at degree " +
                      std::to_string(job_.degree()) + " never finishes a training step: " +
                      (sends ? "what it sends takes for ever at this bandwidth"
                             : "an op without successors was cut; the switch sync_is_no_parent "
                               "(semantics: corrected) lets it run"));
    }
    result_.ticks.push_back({static_cast<int>(running_.size()), length});

    const bool flows_ticked = !local_first && !flows_.empty();
    if (recorder_ != nullptr) {
      for (const OpIndex op : running_) {
        recorder_->op_runs(op, result_.step_time, result_.step_time + length);
      }
    }
    completing_.clear();
    completing_.swap(
        ready_local_);  // local dependencies that were ready before this tick's ops finish
    if (flows_ticked) flows_.advance(length, completing_);
    new_flows_.clear();
    for (const OpIndex op : running_) {
      double& left = remaining_[at(op)];
      left -= std::min(length, left);
      if (left == 0) complete(op);
    }
    for (const std::int32_t d : completing_) arrive(d);
    dependencies_done_ += static_cast<int>(completing_.size());
    if (!new_flows_.empty()) flows_.add(new_flows_);
    if (recorder_ != nullptr) record_flows(result_.step_time + length);

    if (flows_ticked) result_.communication_time += length;
    if (!running_.empty()) result_.computation_time += length;
    result_.step_time += length;
  }

  void record_flows(double now) {
    for (const std::int32_t d : completing_) {
      if (is_flow(job_, server_, at(d))) recorder_->flow_has_arrived(d, now);
    }
    for (const std::int32_t d : new_flows_) recorder_->flow_is_ready(d, now);
  }

  void complete(OpIndex op) {
    ++ops_done_;
    ops_.erase(op);
    for (std::int32_t d = job_.out_begin()[at(op)]; d < job_.out_begin()[at(op) + 1]; ++d) {
      (is_flow(job_, server_, at(d)) ? new_flows_ : ready_local_).push_back(d);
    }
  }

  void arrive(std::int32_t dependency) {
    if (sync_is_no_parent_ && job_.is_sync()[at(dependency)] != 0) return;
    const auto op = at(job_.dst()[at(dependency)]);
    if (++arrived_[op] == job_.num_parents()[op]) ops_.insert(static_cast<OpIndex>(op));
  }

  const PartitionedGraph& job_;
  std::span<const Server> server_;
  StepRecorder* recorder_;  // none: nobody looks
  bool sync_is_no_parent_;
  std::vector<double> remaining_;      // compute time, per op
  std::vector<std::int32_t> arrived_;  // completed in-dependencies, per op
  ReadyOps ops_;
  ReadyFlows flows_;
  std::vector<std::int32_t> ready_local_;  // non-flows that are ready
  int ops_done_ = 0;
  int dependencies_done_ = 0;
  Lookahead result_;
  std::vector<OpIndex> running_;  // scratch, one tick long
  std::vector<std::int32_t> completing_;
  std::vector<std::int32_t> new_flows_;
};

}  // namespace

double Lookahead::utilisation(int num_servers, double job_completion_time) const {
  for (const auto& known : known_utilisations) {
    if (known.num_servers == num_servers && known.job_completion_time == job_completion_time) {
      return known.value;
    }
  }
  double sum = 0;
  for (const auto& tick : ticks) {
    sum +=
        (static_cast<double>(tick.active_ops) / num_servers) * (tick.length / job_completion_time);
  }
  known_utilisations.push_back({num_servers, job_completion_time, sum});
  return sum;
}

namespace {

// Numbers the job's own servers from 0, so that the cost is that of the job, not of the cluster.
struct OwnServers {
  OwnServers(const Placement& of_placement, std::span<const Server> of_ops, int num_servers)
      : placement(of_placement), server(of_ops.begin(), of_ops.end()) {
    std::vector<std::int32_t> local(at(num_servers), -1);
    for (Server& s : placement) {
      if (local[s] < 0) local[s] = used++;
      s = static_cast<Server>(local[s]);
    }
    for (Server& s : server) s = static_cast<Server>(local[s]);
  }
  Placement placement;
  std::vector<Server> server;
  Server used = 0;
};

}  // namespace

Lookahead simulate_step(const PartitionedGraph& job, const Placement& placement,
                        std::span<const Server> server, std::span<const double> raw_run_time,
                        int num_servers, const SemanticSwitches& semantics) {
  const OwnServers own(placement, server, num_servers);
  return Step(job, own.placement, own.server, raw_run_time, own.used, semantics).run();
}

StepTrace trace_step(const PartitionedGraph& job, const Placement& placement,
                     std::span<const Server> server, std::span<const double> raw_run_time,
                     int num_servers, const SemanticSwitches& semantics) {
  const OwnServers own(placement, server, num_servers);
  StepRecorder recorder(job);
  const Lookahead step =
      Step(job, own.placement, own.server, raw_run_time, own.used, semantics, &recorder).run();
  return recorder.take(step.step_time);
}

}  // namespace pacml::env
