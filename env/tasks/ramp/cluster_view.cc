#include "env/tasks/ramp/cluster_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/check.h"
#include "env/ramp/block_index.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {
namespace {

// Slots at which it is asked how many servers will be free,
constexpr std::array<float, 14> kShareTimes = {0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 20, 25, 30};
// and whether a job could be placed at each degree.
constexpr std::array<float, 9> kPlaceTimes = {0, 1, 2, 3, 4, 6, 9, 13, 18};
// Where servers are shown together, also what a candidate costs in blocks: of the blocks of a
// degree that would be free at one of these times, the share that it takes, over the share of the
// free servers that it takes. 1 where it takes no more than its servers' worth, more where it lies
// in the way of others; however large the cluster is. Up to kMostCost.
struct CostTime {
  std::size_t place;  // of the time in kPlaceTimes,
  std::size_t share;  // and in kShareTimes
};
constexpr std::array<CostTime, 3> kCostTimes = {{{0, 0}, {2, 2}, {5, 6}}};
static_assert(std::ranges::all_of(kCostTimes, [](const CostTime& at) {
  return kPlaceTimes[at.place] == kShareTimes[at.share];
}));
constexpr float kMostCost = 4;
// A server's time, in units of each of these, at most 1.
constexpr std::array<float, 2> kServerScales = {20, 40};
constexpr std::size_t kServerFeatures = 1 + kServerScales.size();  // the first: whether it is free
// The time left as max(0, 1 - t / scale), behind min(t, kLongest) / kLongest.
constexpr std::array<float, 3> kEndScales = {20, 10, 4};
constexpr float kLongest = 40;
// What the last jobs were like begins here among the globals.
constexpr std::size_t kRecentGlobals = 2;
constexpr float kMostSpread = 0.5;        // standard deviation of numbers in (0, 1]
constexpr float kMostGap = 4;             // slots between arrivals
constexpr float kCandidateShare = 0.15F;  // of a candidate, in the number of them
// A time that nothing tells from a longer one, so that what travels is finite.
constexpr double kMostSlots = 1e6;

std::string number(float value) { return std::to_string(static_cast<int>(value)); }

// --- Reading -----------------------------------------------------------------------------------

using Word = BlockIndex::Word;

// What a view is made of; shared by its readers.
struct Plan {
  ClusterViewSetting setting;
  std::vector<int> degrees;  // those of the blocks
  std::vector<FeatureSpec> features;
  std::unordered_map<GraphHash, int> models;
  std::unordered_map<GraphHash, std::size_t> clusters;

  [[nodiscard]] bool shows_each_server() const { return setting.shown == ServersShown::kEach; }
};

// Appends to a row of features.
class RowWriter {
 public:
  explicit RowWriter(float* row) : next_(row) {}
  void add(float value) { *next_++ = value; }
  // Where they are.
  float* add(std::span<const float> values) {
    return std::exchange(next_, std::ranges::copy(values, next_).out);
  }
  [[nodiscard]] const float* end() const { return next_; }

 private:
  float* next_;
};

// Of decisions about one of the clusters.
class ClusterReader {
 public:
  ClusterReader(std::shared_ptr<const Plan> plan, const ClusterViewSetting::Cluster& cluster)
      : plan_(std::move(plan)),
        num_globals_(cluster_globals(plan_->setting.recent).size()),
        next_arrival_(static_cast<float>(cluster.next_arrival)),
        memo_(plan_->setting.graphs, cluster.memo),
        servers_(static_cast<std::size_t>(memo_.topology().num_servers())),
        blocks_(memo_.topology(), plan_->degrees),
        occupied_(memo_.topology().num_servers()),
        later_(servers_),
        times_(servers_),
        base_taken_(kPlaceTimes.size() * blocks_.words()),
        base_blocks_(kPlaceTimes.size() * 2 * blocks_.num_sizes()),
        base_servers_(plan_->shows_each_server() ? servers_ * kServerFeatures : 0),
        taken_(blocks_.words()) {
    for (std::size_t d = 0; d < blocks_.num_sizes(); ++d) {
      const std::uint32_t count = blocks_.count(d);
      auto& shares = block_shares_.emplace_back();
      // A cluster that has no such block has none that is free.
      for (std::uint32_t free = 0; free <= count; ++free) {
        shares.push_back(static_cast<float>(free) / static_cast<float>(std::max(count, 1U)));
      }
    }
    for (std::size_t model = 0; model < memo_.graphs().size(); ++model) {
      for (const int degree : plan_->degrees) {
        memo_.forget_when_full();
        auto least = std::numeric_limits<float>::infinity();
        // What is no degree here is not even cut: nobody has counted what that would take.
        if (!memo_.topology().has_block_shape(degree)) {
          least_fractions_.push_back(least);
          continue;
        }
        if (const auto& execution =
                memo_.place_that_fits(static_cast<int>(model), degree, occupied_)) {
          least = static_cast<float>(memo_.step_time(*execution) / execution->total_compute);
        }
        least_fractions_.push_back(least);
      }
    }
  }

  // CandidateReader::read of a row about a job of graph number `model`.
  std::size_t read(const Observations& batch, std::size_t b, int model, float* rows,
                   std::size_t stride, float* situation) {
    const auto globals = batch.globals(b);
    const auto busy_for = batch.node_features(b, kServersSlot);
    const auto mask = batch.mask(b);
    PACML_CHECK(globals.size() == num_globals_ && busy_for.size() == servers_,
                "an observation of another cluster");
    memo_.forget_when_full();
    look_at_cluster(busy_for);
    const std::size_t choices = batch.num_valid(b);
    std::size_t count = 0;
    if (situation != nullptr) {
      write_row(globals, model, {}, choices, situation);
      if (mask[0] != 0) std::copy_n(situation, plan_->features.size(), rows + count++ * stride);
    }
    for (std::size_t a = count; a < mask.size(); ++a) {
      if (mask[a] == 0) continue;
      const auto decision = plan_->setting.decision_of(batch, b, static_cast<int>(a), model);
      write_row(globals, model, decision, choices, rows + count++ * stride);
    }
    return count;
  }

 private:
  // What every candidate has in common: the cluster when the next job is expected, if nothing were
  // placed.
  void look_at_cluster(std::span<const float> until_free) {
    occupied_.clear();
    std::ranges::fill(base_taken_, 0U);
    changes_.fill(false);
    // Loops over servers without branches: which of them are free when, nothing predicts.
    for (std::size_t s = 0; s < servers_; ++s) {
      later_[s] = std::max(until_free[s] - next_arrival_, 0.0F);
    }
    for (std::size_t t = 0; t < kShareTimes.size(); ++t) {
      int free = 0;
      for (const float later : later_) free += later <= kShareTimes[t] ? 1 : 0;
      base_shares_[t] = free;
    }
    for (std::size_t s = 0; s < servers_; ++s) times_[s] = times_before(later_[s]);
    if (plan_->shows_each_server()) {
      for (std::size_t s = 0; s < servers_; ++s) {
        write_server(later_[s], base_servers_.data() + s * kServerFeatures);
      }
    }
    for (std::size_t s = 0; s < servers_; ++s) {
      const auto server = static_cast<Server>(s);
      if (until_free[s] > 0) occupied_.insert(server);
      const auto times = static_cast<std::size_t>(times_[s]);
      if (times > 0) blocks_.take(server, base_taken_at(times - 1));
      if (times < kPlaceTimes.size()) changes_[times] = true;
    }
    // Who is not free at a time is not free before.
    for (std::size_t t = kPlaceTimes.size() - 1; t-- > 0;) {
      const auto after = base_taken_at(t + 1);
      std::ranges::transform(base_taken_at(t), after, base_taken_at(t).begin(), std::bit_or<>());
    }
    std::ranges::fill(taken_, 0U);
    write_blocks(kPlaceTimes.size(), base_blocks_.data());
  }

  // How many of kPlaceTimes are over before a server is free.
  static int times_before(float free) {
    int times = 0;
    for (const float time : kPlaceTimes) times += free > time ? 1 : 0;
    return times;
  }
  [[nodiscard]] std::span<Word> base_taken_at(std::size_t t) {
    return std::span(base_taken_).subspan(t * blocks_.words(), blocks_.words());
  }
  static void write_server(float busy, float* out) {
    *out++ = busy == 0 ? 1.0F : 0.0F;
    for (const float scale : kServerScales) *out++ = std::min(busy / scale, 1.0F);
  }

  // For each of the first `times` of kPlaceTimes, where taken_ is not free either, and each degree:
  // whether a block is free, and the share of its blocks that are.
  void write_blocks(std::size_t times, float* out) {
    const std::size_t width = 2 * blocks_.num_sizes();
    for (std::size_t t = 0; t < times; ++t, out += width) {
      if (t > 0 && !changes_[t]) {
        std::copy_n(out - width, width, out);
        continue;
      }
      const auto taken = base_taken_at(t);
      for (std::size_t d = 0; d < blocks_.num_sizes(); ++d) {
        const std::uint32_t free = blocks_.count_free(d, taken, taken_);
        out[2 * d] = free > 0 ? 1.0F : 0.0F;
        out[2 * d + 1] = block_shares_[d][free];
      }
    }
  }

  void write_row(std::span<const float> globals, int model, const JobDecision& decision,
                 std::size_t choices, float* row) {
    const Plan& plan = *plan_;
    const float limit = globals[1];
    float busy_for = 0;  // slots from now on
    float of_limit = 0;  // completion time over the limit
    float taken = 0;     // servers
    const ServerSet* servers = nullptr;
    // As above: rows of other processes may name any number.
    if (decision.degree > 0 && memo_.topology().has_block_shape(decision.degree)) {
      // Null where the job finds no place, which looks like a refusal.
      if (const auto& execution =
              memo_.place_that_fits(model, decision.degree, occupied_, decision.block)) {
        const double time = memo_.step_time(*execution);
        const double allowed = static_cast<double>(limit) * execution->total_compute;
        busy_for = static_cast<float>(
            std::min(kMostSlots, time * plan.setting.num_training_steps / plan.setting.slot));
        of_limit = allowed > 0 ? static_cast<float>(std::min(2.0, time / allowed)) : 2.0F;
        taken = static_cast<float>(execution->num_servers);
        servers = &execution->servers;
      }
    }
    const float later = std::max(busy_for - next_arrival_, 0.0F);
    const auto num_servers = static_cast<float>(servers_);

    RowWriter out(row);
    for (std::size_t t = 0; t < kShareTimes.size(); ++t) {
      const float busy = later > kShareTimes[t] ? taken : 0;
      out.add((static_cast<float>(base_shares_[t]) - busy) / num_servers);
    }
    float* const blocks = out.add(base_blocks_);
    float* const each = out.add(base_servers_);
    // Once the job is done, the cluster is as it would have been without it.
    if (servers != nullptr) {
      std::ranges::fill(taken_, 0U);
      servers->for_each([&](Server server) {
        blocks_.take(server, taken_);
        if (plan.shows_each_server()) write_server(later, each + server * kServerFeatures);
      });
      write_blocks(static_cast<std::size_t>(times_before(later)), blocks);
    }
    const float left = globals[0];
    out.add(std::min(left, kLongest) / kLongest);
    for (const float scale : kEndScales) out.add(std::max(0.0F, 1 - left / scale));
    out.add(decision.degree > 0 ? 1.0F : 0.0F);
    out.add(choices > 1 ? 1.0F : 0.0F);
    out.add(kCandidateShare * static_cast<float>(choices));
    const float* least =
        least_fractions_.data() + static_cast<std::size_t>(model) * plan.degrees.size();
    for (std::size_t d = 0; d < plan.degrees.size(); ++d) out.add(limit >= least[d] ? 1.0F : 0.0F);
    out.add(of_limit);
    out.add(std::min(busy_for / kServerScales[0], 1.0F));
    out.add(taken / num_servers);
    if (!plan.shows_each_server()) {
      out.add(taken / kServersOfASlot);
      out.add(kServersOfASlot / num_servers);
      for (const CostTime& at : kCostTimes) add_costs(at, later, taken, blocks, out);
    }
    // What the last jobs were like.
    if (globals.size() > kRecentGlobals) {
      out.add(std::clamp(globals[kRecentGlobals], 0.0F, 1.0F));
      out.add(std::clamp(globals[kRecentGlobals + 1] / kMostSpread, 0.0F, 1.0F));
      out.add(std::clamp(globals[kRecentGlobals + 2] / kMostGap, 0.0F, 1.0F));
    }
    PACML_CHECK(out.end() == row + plan.features.size(), "a number for each of feature_names()");
  }

  // Of a candidate that takes so many servers until `later`, after which `blocks` are as
  // write_blocks() says.
  void add_costs(const CostTime& at, float later, float taken, const float* blocks,
                 RowWriter& out) const {
    const float free = static_cast<float>(base_shares_[at.share]);
    const bool takes = taken > 0 && free > 0 && later > kShareTimes[at.share];
    for (std::size_t d = 0; d < blocks_.num_sizes(); ++d) {
      const std::size_t share = (at.place * blocks_.num_sizes() + d) * 2 + 1;
      const float before = base_blocks_[share];
      if (!takes || before == 0) {
        out.add(0);
      } else {
        out.add(std::min((before - blocks[share]) / before * free / taken, kMostCost));
      }
    }
  }

  std::shared_ptr<const Plan> plan_;
  std::size_t num_globals_;
  float next_arrival_;  // slots
  ExecutionMemo memo_;
  std::size_t servers_;
  BlockIndex blocks_;  // of the degrees
  // [degree, blocks that are free]: which share of them that is. Dividing took a tenth of a
  // decision.
  std::vector<std::vector<float>> block_shares_;
  // [model, degree]: the smallest fraction of the sequential time that a job of that degree can be
  // done in, on a cluster where nothing else runs.
  std::vector<float> least_fractions_;
  // Of the decision that is read.
  ServerSet occupied_;
  std::vector<float> later_;                        // [servers], slots until free, from then on
  std::vector<int> times_;                          // [servers], that are over before
  std::vector<Word> base_taken_;                    // [times]: blocks that are not free then
  std::array<bool, kPlaceTimes.size()> changes_{};  // whether others are than the time before
  std::array<int, kShareTimes.size()> base_shares_{};
  std::vector<float> base_blocks_;   // what write_blocks() says of them
  std::vector<float> base_servers_;  // [servers, kServerFeatures]
  // ... and of the candidate: its blocks.
  std::vector<Word> taken_;
};

// Of decisions about any of the clusters.
class AnyClusterReader final : public CandidateReader {
 public:
  explicit AnyClusterReader(std::shared_ptr<const Plan> plan)
      : plan_(std::move(plan)), readers_(plan_->setting.clusters.size()) {}

  void set_graphs(std::span<const GraphFeaturesPtr> graphs) override {
    models_.clear();
    clusters_.clear();
    for (const auto& graph : graphs) {
      const auto model = plan_->models.find(graph->hash);
      models_.push_back(model == plan_->models.end() ? kNone : model->second);
      const auto cluster = plan_->clusters.find(graph->hash);
      clusters_.push_back(cluster == plan_->clusters.end() ? kNone
                                                           : static_cast<int>(cluster->second));
    }
  }

  std::size_t read(const Observations& batch, std::size_t b, float* rows, std::size_t stride,
                   float* situation) override {
    const std::size_t job = batch.graph(b, kJobSlot);
    PACML_CHECK(job < models_.size() && models_[job] != kNone,
                "an observation of a job that was set");
    const std::size_t servers = batch.graph(b, kServersSlot);
    PACML_CHECK(servers < clusters_.size() && clusters_[servers] != kNone,
                "an observation of a cluster that was set");
    return reader_of(static_cast<std::size_t>(clusters_[servers]))
        .read(batch, b, models_[job], rows, stride, situation);
  }

 private:
  static constexpr int kNone = -1;
  // Made when the first row is about its cluster.
  ClusterReader& reader_of(std::size_t cluster) {
    auto& reader = readers_[cluster];
    if (!reader) {
      reader = std::make_unique<ClusterReader>(plan_, plan_->setting.clusters[cluster]);
    }
    return *reader;
  }

  std::shared_ptr<const Plan> plan_;
  std::vector<std::unique_ptr<ClusterReader>> readers_;  // [clusters]
  // [graphs that were set], kNone: no job, no cluster
  std::vector<int> models_;
  std::vector<int> clusters_;
};

// Of what ClusterReader::write_row() writes, in its order. `servers`: those that are shown one by
// one; 0: together.
std::vector<FeatureSpec> feature_names(std::size_t servers, std::span<const int> degrees,
                                       bool recent) {
  std::vector<FeatureSpec> out;
  const auto share = [&out](std::string name, std::string unit = "1", double high = 1) {
    out.push_back({std::move(name), std::move(unit), 0, high});
  };
  for (const float t : kShareTimes) share("free_servers_within_" + number(t) + "_slots");
  for (const float t : kPlaceTimes) {
    for (const int degree : degrees) {
      const std::string what = "degree_" + std::to_string(degree);
      share(what + "_fits_within_" + number(t) + "_slots");
      share(what + "_free_blocks_within_" + number(t) + "_slots");
    }
  }
  for (std::size_t s = 0; s < servers; ++s) {
    const std::string server = "server_" + std::to_string(s);
    share(server + "_free");
    for (const float scale : kServerScales) {
      share(server + "_busy_of_" + number(scale), number(scale) + " slots");
    }
  }
  share("time_left", number(kLongest) + " slots");
  for (const float scale : kEndScales) share("end_within_" + number(scale) + "_slots");
  share("placed");
  share("choice");
  share("candidates", "1 / 0.15", std::numeric_limits<double>::infinity());
  for (const int degree : degrees) share("limit_allows_degree_" + std::to_string(degree));
  share("completion_time", "limit", 2);
  share("busy_for", number(kServerScales[0]) + " slots");
  share("servers_taken");
  if (servers == 0) {
    const std::string unit = std::to_string(kServersOfASlot) + " servers";
    share("size_taken", unit, std::numeric_limits<double>::infinity());
    share("inverse_size", "1 / " + unit, kServersOfASlot);
    for (const CostTime& at : kCostTimes) {
      for (const int degree : degrees) {
        share("degree_" + std::to_string(degree) + "_cost_within_" + number(kPlaceTimes[at.place]) +
                  "_slots",
              "servers", kMostCost);
      }
    }
  }
  if (recent) {
    share("recent_limits");
    share("recent_limits_spread", "1 / 2");
    share("recent_gaps", number(kMostGap) + " slots");
  }
  return out;
}

class ClusterView final : public CandidateView {
 public:
  explicit ClusterView(ClusterViewSetting setting) {
    auto plan = std::make_shared<Plan>();
    plan->setting = std::move(setting);
    const auto& clusters = plan->setting.clusters;
    PACML_CHECK(!clusters.empty() && (!plan->shows_each_server() || clusters.size() == 1),
                "a cluster, and where each server is shown no other");
    const ExecutionMemo::Setting& memo = clusters.front().memo;
    std::size_t servers = 0;
    if (plan->shows_each_server()) {
      const Topology topology(memo.ramp.topology, memo.max_degree);
      servers = static_cast<std::size_t>(topology.num_servers());
      plan->degrees = degrees_with_blocks(topology, memo.max_degree);
      // A single server is no block: how many are free is shown anyway.
      std::erase(plan->degrees, 1);
    } else {
      // Whether this cluster has blocks of that size or not.
      for (int degree = 2; degree <= memo.max_degree; degree += 2) plan->degrees.push_back(degree);
    }
    plan->features = feature_names(servers, plan->degrees, plan->setting.recent);
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      plan->clusters.emplace(clusters[c].servers, c);
    }
    for (std::size_t model = 0; model < plan->setting.hashes.size(); ++model) {
      plan->models.emplace(plan->setting.hashes[model], static_cast<int>(model));
    }
    plan_ = std::move(plan);
  }

  [[nodiscard]] std::span<const FeatureSpec> features() const override { return plan_->features; }
  // That of refusing, whether that is a candidate or not.
  [[nodiscard]] std::span<const FeatureSpec> situation() const override { return features(); }
  [[nodiscard]] bool knows(std::size_t slot, GraphHash graph) const override {
    return slot == kServersSlot ? plan_->clusters.contains(graph) : plan_->models.contains(graph);
  }
  [[nodiscard]] std::unique_ptr<CandidateReader> make_reader() const override {
    return std::make_unique<AnyClusterReader>(plan_);
  }

 private:
  std::shared_ptr<const Plan> plan_;
};

}  // namespace

double slot_shown(ServersShown shown, int servers, double mean_gap) {
  return shown == ServersShown::kEach ? mean_gap : mean_gap * servers / kServersOfASlot;
}

SlotSpec servers_slot(ServersShown shown, std::span<const std::array<int, 3>> topologies) {
  int most = 0;
  for (const auto& topology : topologies) most = std::max(most, num_servers(topology));
  SlotSpec slot = {.name = "servers",
                   .node_width = 3,
                   .edge_width = 3,
                   .dynamic_width = 1,
                   .most_nodes = static_cast<std::uint32_t>(most)};
  if (shown == ServersShown::kEach) {
    slot.only_graph = "topology " + spell_topology(topologies.front());
  }
  return slot;
}

GraphFeaturesPtr make_servers_graph(std::array<int, 3> topology) {
  const auto [groups, racks, places] = topology;
  auto graph = std::make_shared<GraphFeatures>();
  graph->num_nodes = groups * racks * places;
  graph->node_width = 3;
  graph->edge_width = 3;
  const auto number_of = [&](std::array<int, 3> at) {
    return (at[0] * racks + at[1]) * places + at[2];
  };
  for (int server = 0; server < graph->num_nodes; ++server) {
    const std::array<int, 3> at = {server / (racks * places), server / places % racks,
                                   server % places};
    for (std::size_t dimension = 0; dimension < 3; ++dimension) {
      graph->node_features.push_back(static_cast<float>(at[dimension]) /
                                     static_cast<float>(topology[dimension]));
      std::array<int, 3> to = at;
      for (to[dimension] = 0; to[dimension] < topology[dimension]; ++to[dimension]) {
        if (to == at) continue;
        graph->edge_src.push_back(server);
        graph->edge_dst.push_back(number_of(to));
        for (std::size_t d = 0; d < 3; ++d) {
          graph->edge_features.push_back(d == dimension ? 1.0F : 0.0F);
        }
      }
    }
  }
  graph->num_edges = static_cast<int>(graph->edge_src.size());
  graph->hash = hash_features(*graph);
  return graph;
}

std::vector<FeatureSpec> cluster_globals(bool recent) {
  std::vector<FeatureSpec> globals = {{"time_left", "slots", 0, kMostSlots},
                                      {"max_acceptable_fraction", "sequential time", 0}};
  if (recent) {
    globals.push_back({"recent_limits", "sequential time", 0});
    globals.push_back({"recent_limits_spread", "sequential time", 0});
    globals.push_back({"recent_gaps", "slots", 0, kMostSlots});
  }
  return globals;
}

void ShownCluster::look_at(const ClusterSight& cluster, const RecentArrivals& recent,
                           const Setting& setting) {
  const auto in = [](double unit, double time) {
    return static_cast<float>(std::clamp(time / unit, 0.0, kMostSlots));
  };
  const auto slots = [&](double time) { return in(setting.slot, time); };
  graph_ = setting.graph;
  servers_ = static_cast<std::uint32_t>(cluster.memo().topology().num_servers());
  busy_for_.assign(servers_, 0.0F);
  for (std::size_t i = 0; i < cluster.num_running(); ++i) {
    const ClusterSight::RunningJob job = cluster.running_job(i);
    const float left = slots(job.remaining);
    for_each_server(job.servers, [&](Server server) { busy_for_[server] = left; });
  }
  globals_.clear();
  globals_.push_back(slots(cluster.time_left()));
  // No workload has a limit above the sequential time; where the world has one, that is shown.
  globals_.push_back(static_cast<float>(std::min(cluster.waiting_job().fraction, 1.0)));
  if (recent.kept()) {
    globals_.push_back(static_cast<float>(recent.mean_fraction()));
    globals_.push_back(static_cast<float>(recent.spread_of_fractions()));
    globals_.push_back(recent.mean_gap() > 0 ? in(setting.mean_gap, recent.mean_gap()) : 1.0F);
  }
}

void ShownCluster::write(const ObservationRow& row) const {
  PACML_CHECK(row.graph.size() == 2 && row.node_features.size() == busy_for_.size() &&
                  row.globals.size() == globals_.size(),
              "a store of another shape than the spec's");
  row.graph[kServersSlot] = graph_;
  std::ranges::copy(busy_for_, row.node_features.begin());
  std::ranges::copy(globals_, row.globals.begin());
}

CandidateViewPtr make_cluster_view(ClusterViewSetting setting) {
  return std::make_shared<const ClusterView>(std::move(setting));
}

}  // namespace pacml::env
