#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning/environment.h"
#include "env/tasks/ramp/cluster_view.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

// What a network is shown of a candidate is held against the simulator: the candidate is chosen in
// a copy of the environment, and the cluster that the next job meets, or where arrivals are random
// would meet if it came when it is expected, is looked at, server by server and block by block.
namespace pacml::env {
namespace {

constexpr double kSlot = 60;

std::shared_ptr<const PartitioningTask> world_of(
    std::array<int, 3> topology, int max_degree, Semantics semantics, int recent_arrivals = 0,
    double worker_memory = 80e9, DistributionKind arrivals = DistributionKind::kFixed) {
  PartitioningConfig c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.workload.interarrival.kind = arrivals;
  c.workload.interarrival.value = kSlot;
  c.cluster.max_simulation_time = 100 * kSlot;
  c.observation = ObservationKind::kCluster;
  c.time_limit = TimeLimit::kTerminated;
  c.ramp.topology = topology;
  c.max_partitions_per_op = max_degree;
  c.semantics = semantics;
  c.recent_arrivals = recent_arrivals;
  c.ramp.worker_memory = worker_memory;
  return std::make_shared<const PartitioningTask>(c, load_profiles(c.profiles, c.workload.models));
}

// Clusters of several sizes, whose servers are shown together.
std::shared_ptr<const PartitioningTask> world_of_sizes() {
  PartitioningConfig c = world_of({4, 4, 2}, 16, Semantics::kPaper)->config();
  c.observation = ObservationKind::kAnyCluster;
  c.further_topologies = {{2, 2, 2}, {5, 5, 3}, {3, 3, 3}, {8, 2, 2}};
  c.cluster.max_simulation_time = 60 * kSlot;
  return std::make_shared<const PartitioningTask>(c, load_profiles(c.profiles, c.workload.models));
}

// In which the environment's times are shown.
double slot_of(const PartitioningEnv& env) {
  const auto& task = dynamic_cast<const PartitioningTask&>(env.task());
  // A job every kSlot at the 32 servers of the first cluster.
  return task.config().observation == ObservationKind::kCluster
             ? kSlot
             : kSlot * num_servers(task.config().ramp.topology) / 32;
}

// After how long the next job is expected, in the same.
double next_arrival(const PartitioningEnv& env) {
  const auto& config = dynamic_cast<const PartitioningTask&>(env.task()).config();
  if (config.observation == ObservationKind::kCluster) return 1;
  // As many jobs a server, wherever the episode is.
  return 32.0 / env.cluster().memo().topology().num_servers();
}

// Rows of features by name.
class Rows {
 public:
  explicit Rows(const PartitioningTask& world)
      : view_(world.spec().candidate_view), reader_(view_->make_reader()) {
    reader_->set_graphs(world.spec().graphs);
    for (std::size_t i = 0; i < view_->width(); ++i) column_[view_->features()[i].name] = i;
  }

  void look(const Environment& env) {
    batch_ = env.spec().make_observations();
    env.observe(batch_);
    values_.assign(batch_.num_candidates() * view_->width(), -1.0F);
    situation_.assign(view_->situation().size(), -1.0F);
    const auto count = reader_->read(batch_, 0, values_.data(), view_->width(), situation_.data());
    row_.clear();
    for (std::size_t a = 0; a < batch_.num_candidates(); ++a) {
      if (batch_.mask(0)[a] != 0) row_[static_cast<int>(a)] = row_.size();
    }
    REQUIRE(count == row_.size());
  }
  [[nodiscard]] std::vector<int> actions() const {
    std::vector<int> out;
    for (const auto& [action, row] : row_) out.push_back(action);
    return out;
  }
  [[nodiscard]] std::vector<float> row(int action) const {
    const auto begin =
        values_.begin() + static_cast<std::ptrdiff_t>(row_.at(action) * view_->width());
    return {begin, begin + static_cast<std::ptrdiff_t>(view_->width())};
  }
  [[nodiscard]] double at(int action, const std::string& name) const {
    return values_[row_.at(action) * view_->width() + column_.at(name)];
  }
  [[nodiscard]] bool shows(const std::string& name) const { return column_.contains(name); }
  [[nodiscard]] const std::vector<float>& situation() const { return situation_; }
  [[nodiscard]] const CandidateView& view() const { return *view_; }

 private:
  CandidateViewPtr view_;
  std::unique_ptr<CandidateReader> reader_;
  std::map<std::string, std::size_t> column_;
  Observations batch_;
  std::vector<float> values_;
  std::vector<float> situation_;
  std::map<int, std::size_t> row_;
};

// Slots until each server is free.
std::vector<double> slots_until_free(const Cluster& cluster, double slot) {
  std::vector<double> out(static_cast<std::size_t>(cluster.memo().topology().num_servers()), 0.0);
  for (const MountedJob& job : cluster.running()) {
    const double left = (job.completion_time - (cluster.now() - job.started)) / slot;
    for (std::size_t s = 0; s < out.size(); ++s) {
      if (job.execution->servers.contains(static_cast<Server>(s))) out[s] = left;
    }
  }
  return out;
}

// The same when the next job is expected, with the job that was placed.
std::vector<double> slots_until_free_later(const Cluster& cluster, const MountedJob* placed,
                                           double slot, double later) {
  std::vector<double> out = slots_until_free(cluster, slot);
  for (std::size_t s = 0; s < out.size(); ++s) {
    if (placed != nullptr && placed->execution->servers.contains(static_cast<Server>(s))) {
      out[s] = placed->completion_time / slot;
    }
    out[s] = std::max(0.0, out[s] - later);
  }
  return out;
}

// A server that is free at just such a time may be seen on either side of it.
bool is_close_call(const std::vector<double>& until_free, double t) {
  return std::ranges::any_of(until_free, [t](double x) { return x > 0 && std::abs(x - t) < 1e-4; });
}

void check_blocks(const Rows& rows, int action, const Topology& topology, int max_degree,
                  const std::vector<double>& until_free) {
  for (const int t : {0, 1, 2, 3, 4, 6, 9, 13, 18}) {
    if (is_close_call(until_free, t)) continue;
    for (int degree = 2; degree <= max_degree; degree += 2) {
      const std::string name = "degree_" + std::to_string(degree);
      const std::string when = "_within_" + std::to_string(t) + "_slots";
      INFO(name << when);
      if (degree > topology.num_servers() || !topology.has_block_shape(degree)) {
        for (const char* what : {"_fits", "_free_blocks"}) {
          if (rows.shows(name + what + when)) REQUIRE(rows.at(action, name + what + when) == 0);
        }
        continue;
      }
      const auto blocks = topology.blocks(degree);
      std::set<std::set<Server>> all;
      std::set<std::set<Server>> free;
      for (std::size_t b = 0; b < blocks.size(); b += static_cast<std::size_t>(degree)) {
        const auto list = blocks.subspan(b, static_cast<std::size_t>(degree));
        const std::set<Server> block(list.begin(), list.end());
        all.insert(block);
        if (std::ranges::all_of(block, [&](Server s) { return until_free[s] <= t; })) {
          free.insert(block);
        }
      }
      REQUIRE(rows.at(action, name + "_fits" + when) == (free.empty() ? 0 : 1));
      REQUIRE(rows.at(action, name + "_free_blocks" + when) ==
              Approx(static_cast<double>(free.size()) / static_cast<double>(all.size())));
    }
  }
}

void check_servers(const Rows& rows, int action, const std::vector<double>& until_free) {
  const auto servers = static_cast<double>(until_free.size());
  for (const int t : {0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 20, 25, 30}) {
    if (is_close_call(until_free, t)) continue;
    const auto free = std::ranges::count_if(until_free, [t](double x) { return x <= t; });
    REQUIRE(rows.at(action, "free_servers_within_" + std::to_string(t) + "_slots") ==
            Approx(static_cast<double>(free) / servers));
  }
  if (!rows.shows("server_0_free")) {
    REQUIRE(rows.at(action, "inverse_size") == Approx(32 / servers));
    return;
  }
  for (std::size_t s = 0; s < until_free.size(); ++s) {
    const std::string server = "server_" + std::to_string(s);
    const double x = until_free[s];
    REQUIRE(rows.at(action, server + "_busy_of_20") == Approx(std::min(x / 20, 1.0)).margin(1e-5));
    REQUIRE(rows.at(action, server + "_busy_of_40") == Approx(std::min(x / 40, 1.0)).margin(1e-5));
    if (x > 1e-4 || x == 0) REQUIRE(rows.at(action, server + "_free") == (x == 0 ? 1 : 0));
  }
}

// What a candidate takes of the blocks that would be free without it, by the rows of both.
void check_costs(const Rows& rows, int action, const Topology& topology, int max_degree,
                 const std::vector<double>& until_free) {
  if (!rows.shows("degree_2_cost_within_0_slots")) return;
  for (const int t : {0, 2, 6}) {
    if (is_close_call(until_free, t)) continue;
    const std::string when = "_within_" + std::to_string(t) + "_slots";
    const double free = rows.at(0, "free_servers" + when);
    const double servers_taken = free - rows.at(action, "free_servers" + when);
    for (int degree = 2; degree <= max_degree; degree += 2) {
      const std::string name = "degree_" + std::to_string(degree);
      INFO(name << when << " of " << topology.num_servers());
      const double blocks = rows.at(0, name + "_free_blocks" + when);
      const double blocks_taken = blocks - rows.at(action, name + "_free_blocks" + when);
      const double cost = servers_taken < 1e-6 || blocks == 0
                              ? 0
                              : std::min(blocks_taken / blocks * free / servers_taken, 4.0);
      REQUIRE(rows.at(action, name + "_cost" + when) == Approx(cost).margin(1e-4));
      REQUIRE(rows.at(0, name + "_cost" + when) == 0);
    }
  }
}

// One decision, of which every candidate is tried. `taken`: what became of it.
struct Fate {
  ServerSet servers;
  double completion_time = 0;
};

void check_decision(const PartitioningEnv& env, Rows& rows) {
  const Topology& topology = env.cluster().memo().topology();
  const int max_degree = env.task().ramp_config().max_partitions_per_op;
  const double slot = slot_of(env);
  const Job job = *env.cluster().queued();
  std::vector<int> expected = {0};
  std::vector<Fate> fates;
  for (std::size_t a = 1; a < env.mask().size(); ++a) {
    if (env.mask()[a] == 0) continue;
    PartitioningEnv twin = env;
    static_cast<void>(twin.step(static_cast<int>(a)));
    const JobOutcome& decision = twin.last_outcome();
    if (decision.cause != BlockCause::kNone) continue;
    // The job ends in time or is cut off at the end.
    const double end = env.cluster().now() + decision.mounted->completion_time;
    const bool counts_cut_off =
        !env.cluster().memo().setting().semantics.running_at_end_is_not_blocked;
    if (counts_cut_off && end > env.task().ramp_config().cluster.max_simulation_time) continue;
    const Fate fate{decision.mounted->execution->servers, decision.mounted->completion_time};
    const bool seen = std::ranges::any_of(fates, [&](const Fate& other) {
      return other.servers == fate.servers && other.completion_time == fate.completion_time;
    });
    fates.push_back(fate);
    if (!seen) expected.push_back(static_cast<int>(a));
  }
  rows.look(env);
  REQUIRE(rows.actions() == expected);
  REQUIRE(rows.situation() == rows.row(0));

  for (const int action : expected) {
    INFO("action " << action);
    PartitioningEnv twin = env;
    const bool final = twin.step(action).final();
    REQUIRE(rows.at(action, "placed") == (action > 0 ? 1 : 0));
    REQUIRE(rows.at(action, "choice") == (expected.size() > 1 ? 1 : 0));
    REQUIRE(rows.at(action, "candidates") == Approx(0.15 * static_cast<double>(expected.size())));
    if (action > 0) {
      const MountedJob& mounted = *twin.last_outcome().mounted;
      REQUIRE(rows.at(action, "completion_time") ==
              Approx(mounted.completion_time / mounted.max_acceptable_time).epsilon(1e-5));
      REQUIRE(rows.at(action, "busy_for") ==
              Approx(std::min(mounted.completion_time / slot / 20, 1.0)).epsilon(1e-5));
      REQUIRE(rows.at(action, "servers_taken") ==
              Approx(static_cast<double>(mounted.execution->num_servers) / topology.num_servers()));
      if (rows.shows("size_taken")) {
        REQUIRE(rows.at(action, "size_taken") == Approx(mounted.execution->num_servers / 32.0));
      }
    }
    if (final) continue;
    const auto& placed = twin.last_outcome().mounted;
    auto until_free = slots_until_free_later(env.cluster(), action > 0 ? &*placed : nullptr, slot,
                                             next_arrival(env));
    // A job that comes when it is expected meets just that.
    const auto arrivals = env.task().ramp_config().workload.interarrival.kind;
    if (arrivals == DistributionKind::kFixed) {
      const auto met = slots_until_free(twin.cluster(), slot);
      for (std::size_t s = 0; s < met.size(); ++s) {
        INFO("server " << s);
        REQUIRE(until_free[s] == Approx(met[s]).margin(1e-6));
      }
      until_free = met;
    }
    check_servers(rows, action, until_free);
    check_blocks(rows, action, topology, max_degree, until_free);
    if (action > 0) check_costs(rows, action, topology, max_degree, until_free);
  }
  const double left = (env.task().ramp_config().cluster.max_simulation_time - env.cluster().now());
  REQUIRE(rows.at(0, "time_left") == Approx(std::min(left / slot / 40, 1.0)).margin(1e-5));
  REQUIRE(job.index == env.cluster().queued()->index);
}

TEST_CASE("candidates are shown by the cluster that the next job would meet",
          "[property][partitioning]") {
  struct Case {
    std::array<int, 3> topology;
    int max_degree;
    Semantics semantics;
    DistributionKind arrivals = DistributionKind::kFixed;
  };
  const auto the =
      GENERATE(Case{{4, 4, 2}, 16, Semantics::kPaper}, Case{{2, 2, 2}, 8, Semantics::kCorrected},
               Case{{3, 3, 3}, 18, Semantics::kPaper}, Case{{4, 4, 4}, 8, Semantics::kCorrected},
               Case{{5, 5, 3}, 16, Semantics::kPaper},  // more servers than bits
               Case{{4, 4, 2}, 16, Semantics::kPaper, DistributionKind::kPoisson},
               Case{{3, 3, 3}, 18, Semantics::kCorrected, DistributionKind::kPoisson});
  const auto world = world_of(the.topology, the.max_degree, the.semantics, 0, 80e9, the.arrivals);
  PartitioningEnv env(world);
  Rows rows(*world);
  std::size_t choices = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    env.reset(Seed{seed});
    for (bool final = false; !final;) {
      check_decision(env, rows);
      const auto actions = rows.actions();
      choices += actions.size() > 2 ? 1 : 0;
      final = env.step(actions[rng.below(actions.size())]).final();
    }
  }
  REQUIRE(choices > 20);
}

TEST_CASE("clusters of several sizes are shown alike", "[property][partitioning]") {
  const auto world = world_of_sizes();
  PartitioningEnv env(world);
  Rows rows(*world);
  std::map<int, int> jobs;  // [servers]
  std::size_t choices = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    env.reset(Seed{seed});
    const int servers = env.cluster().memo().topology().num_servers();
    int arrived = 0;
    for (bool final = false; !final; ++arrived) {
      check_decision(env, rows);
      const auto actions = rows.actions();
      choices += actions.size() > 2 ? 1 : 0;
      final = env.step(actions[rng.below(actions.size())]).final();
    }
    REQUIRE(arrived == Approx(60.0 * servers / 32).margin(1));  // as many a server
    jobs[servers] += arrived;
  }
  REQUIRE(jobs.size() == 4);
  REQUIRE(choices > 20);
}

TEST_CASE("the limit allows a degree where the job would meet it on an empty cluster",
          "[property][partitioning]") {
  // So little memory that some degrees are placed and not held.
  const double worker_memory = GENERATE(80e9, 0.9e9);
  const auto world = world_of({4, 4, 2}, 16, Semantics::kPaper, 0, worker_memory);
  PartitioningEnv env(world);
  Rows rows(*world);
  bool held = true;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    env.reset(Seed{seed});  // the first job comes to an empty cluster
    rows.look(env);
    for (const int degree : {2, 4, 6, 8, 16}) {
      const auto cause = env.cluster().forecast({.degree = degree}).cause;
      const ExecutionPtr placed =
          env.cluster().memo().place(env.cluster().queued()->model, degree, ServerSet(32));
      if (placed) held = held && placed->fits_memory;
      INFO("seed " << seed << ", degree " << degree);
      REQUIRE(rows.at(0, "limit_allows_degree_" + std::to_string(degree)) ==
              (cause == BlockCause::kNone || cause == BlockCause::kSimulationEnded ? 1 : 0));
    }
  }
  REQUIRE(held == (worker_memory == 80e9));
}

TEST_CASE("what the last jobs were like is shown where it is asked for",
          "[property][partitioning]") {
  const auto plain = world_of({4, 4, 2}, 16, Semantics::kPaper);
  const auto world = world_of({4, 4, 2}, 16, Semantics::kPaper, 5);
  PartitioningEnv other(plain);
  PartitioningEnv env(world);
  Rows without(*plain);
  Rows rows(*world);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Rng rng(Seed{seed});
    env.reset(Seed{seed});
    other.reset(Seed{seed});
    double limits = 0;
    double squares = 0;
    int jobs = 0;
    for (bool final = false; !final;) {
      const double limit = env.cluster().queued()->fraction;
      ++jobs;
      limits += (limit - limits) / std::min(jobs, 5);
      squares += (limit * limit - squares) / std::min(jobs, 5);
      rows.look(env);
      without.look(other);
      const auto actions = rows.actions();
      REQUIRE(actions == without.actions());
      for (const int action : actions) {
        const auto row = rows.row(action);
        const auto shorter = without.row(action);
        REQUIRE(row.size() == shorter.size() + 3);
        REQUIRE(std::ranges::equal(shorter, std::span(row).first(shorter.size())));
        REQUIRE(rows.at(action, "recent_limits") == Approx(limits));
        REQUIRE(rows.at(action, "recent_limits_spread") ==
                Approx(2 * std::sqrt(std::max(0.0, squares - limits * limits))).margin(1e-6));
        REQUIRE(rows.at(action, "recent_gaps") == Approx(0.25));  // of 4 slots
      }
      const int action = actions[rng.below(actions.size())];
      REQUIRE(other.step(action).reward == Approx(env.clone()->step(action).reward));
      final = env.step(action).final();
    }
  }
}

TEST_CASE("whatever a peer says of a decision can be read", "[property][partitioning]") {
  const auto world =
      GENERATE(0, 1) == 0 ? world_of({4, 4, 2}, 16, Semantics::kPaper, 7) : world_of_sizes();
  const auto& spec = world->spec();
  const auto reader = spec.candidate_view->make_reader();
  reader->set_graphs(spec.graphs);
  Rng rng(Seed{3});
  std::vector<float> rows(17 * spec.candidate_view->width());
  for (int trial = 0; trial < 300; ++trial) {
    Observations batch = spec.make_observations();
    constexpr std::array<std::uint32_t, 1> kServers = {32};
    const ObservationRow row = batch.append({.candidates = 0, .nodes = kServers});
    row.graph[kJobSlot] = static_cast<std::uint16_t>(rng.below(world->graphs().size()));
    row.graph[kServersSlot] = world->clusters().front().graph;
    for (const auto& numbers : {row.globals, row.node_features}) {
      for (float& x : numbers) {
        constexpr std::array kOdd = {0.0F, -1.0F, 1e30F, -1e30F, 1e-40F, 3.5F};
        x = kOdd[rng.below(kOdd.size())];
      }
    }
    for (auto& valid : row.mask) valid = static_cast<std::uint8_t>(rng.below(2));
    row.mask[rng.below(17)] = 1;
    REQUIRE(validate(batch));
    const auto count = reader->read(batch, 0, rows.data(), spec.candidate_view->width(), nullptr);
    REQUIRE(count == static_cast<std::size_t>(std::ranges::count(row.mask, std::uint8_t{1})));
    for (std::size_t i = 0; i < count * spec.candidate_view->width(); ++i) {
      REQUIRE(std::isfinite(rows[i]));
    }
  }
}

}  // namespace
}  // namespace pacml::env
