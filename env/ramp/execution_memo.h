#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "env/graph/job_graph.h"
#include "env/graph/partitioned_graph.h"
#include "env/ramp/communication.h"
#include "env/ramp/lookahead.h"
#include "env/ramp/number_table.h"
#include "env/ramp/placement.h"
#include "env/ramp/ramp_config.h"
#include "env/ramp/topology.h"
#include "env/semantics.h"

namespace pacml::env {

// What is the same of all placements of a job with one standard form (in_standard_form), of which a
// large cluster has very many.
struct StandardExecution {
  PartitionedGraphPtr job;
  Placement placement;      // in standard form
  double flow_bytes = 0;    // of all flows, summed in dependency order
  int num_channels = 0;     // ordered pairs of servers that flows use
  bool fits_memory = true;  // both passes and the optimiser within every worker's capacity
  std::shared_ptr<const Lookahead> lookahead;  // null: nobody has asked for it
};

// How a placed job runs: a pure function of its partitioned graph and its placement. Immutable, but
// for what the lookahead says, which is simulated when it is first asked for. Shared by all jobs
// that run this way.
struct Execution {
  // What is asked for by every candidate of every decision, and at every event while a job runs,
  // comes first, in one line of the cache: there are too many executions to stay there.
  mutable double step_time = kUnknown;  // the lookahead's
  double total_compute = 0;             // the job's
  double flow_bytes = 0;                // as of its standard form
  int num_servers = 0;
  int num_channels = 0;      // as of its standard form
  std::uint32_t number = 0;  // of those that a memo has made
  bool fits_memory = true;   // as of its standard form
  PartitionedGraphPtr job;
  ServerSet servers;
  Placement placement;
  std::shared_ptr<StandardExecution> standard;  // null: of a job of which nothing is known

  static constexpr double kUnknown = -1;
};
using ExecutionPtr = std::shared_ptr<const Execution>;

// Everything that is derived from a job graph and remembered beside it: the graph cut at each
// degree, where first fit puts it given the occupied servers, and how it runs there. All exact:
// what is looked up is what would be computed. Bounded: placements and lookaheads are all dropped
// when they exceed `max_bytes` (forget_when_full); running jobs keep what they use alive.
// Thread-confined; environments of one thread share one.
class ExecutionMemo {
 public:
  // What the memo's answers depend on besides the graphs.
  struct Setting {
    RampConfig ramp;
    SemanticSwitches semantics;
    double time_scale = 1.0;   // simulated time per unit of profile time
    double op_quantum = 0.01;  // profile time; see pieces_of
    int max_degree = 16;
    std::size_t max_bytes = std::size_t{96} << 20;
  };

  ExecutionMemo(std::vector<JobGraphPtr> graphs, const Setting& setting);

  // What stays for good, beside what `max_bytes` bounds, once every degree that a job can have was
  // asked for: the cut graphs, and the blocks of servers.
  [[nodiscard]] static std::size_t lasting_bytes(std::span<const JobGraphPtr> graphs,
                                                 const Setting& setting);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Communication& communication() const { return communication_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] std::span<const JobGraphPtr> graphs() const { return graphs_; }

  // Graph number `graph` cut at `degree` (1 <= degree <= max_degree).
  [[nodiscard]] const PartitionedGraphPtr& partition(int graph, int degree);

  // How that job runs when the servers in `occupied` run others; null when it cannot be placed.
  // Borrowed, as what it refers to, until the next call.
  [[nodiscard]] const ExecutionPtr& place(int graph, int degree, const ServerSet& occupied);

  // The same where the job may be placed on the servers of `block` alone, as far as they are free;
  // null: on all of them.
  [[nodiscard]] const ExecutionPtr& place(int graph, int degree, const ServerSet& occupied,
                                          const ServerSet* block);
  // The same, also null where some worker's memory would not hold all of it: what becomes of a job
  // that is decided about.
  [[nodiscard]] const ExecutionPtr& place_that_fits(int graph, int degree,
                                                    const ServerSet& occupied,
                                                    const ServerSet* block = nullptr);

  // Drops placements and lookaheads, all of them, where they exceed `max_bytes`. For whoever asks
  // to call from one decision to the next: between two calls, jobs that are placed alike share one
  // execution, by which candidates of a decision are told apart.
  void forget_when_full();

  // Of a job of which nothing is known but the servers that it runs on. Not remembered.
  [[nodiscard]] ExecutionPtr occupation(const ServerSet& servers);

  // One training step of an execution. Pre: it was placed (PACML_CHECK).
  [[nodiscard]] const std::shared_ptr<const Lookahead>& lookahead(const Execution& execution);
  // How long it takes.
  [[nodiscard]] double step_time(const Execution& execution) {
    if (execution.step_time == Execution::kUnknown) static_cast<void>(lookahead(execution));
    return execution.step_time;
  }

  // Counters since construction, for benchmarks and metrics.
  struct Counters {
    std::uint64_t placements = 0;  // asked for
    std::uint64_t placement_hits = 0;
    std::uint64_t lookaheads = 0;  // simulated
    std::size_t bytes = 0;         // remembered now
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct PlacementKey {
    std::int32_t graph = 0;
    std::int32_t degree = 0;
    ServerSet occupied;
    bool operator==(const PlacementKey&) const = default;
  };
  struct PlacementKeyHash {
    std::size_t operator()(const PlacementKey& key) const;
  };

  // A job graph cut at one degree, and where it was put. Memory rarely decides; where it does not,
  // the blocks that first fit looks for are what a placement is looked up by, of which there are
  // far fewer than sets of occupied servers.
  struct Cut {
    PartitionedGraphPtr job;
    struct Size {
      int servers = 0;
      std::uint64_t blocks = 0;  // that there are
    };
    std::optional<std::vector<Size>> sizes;  // of those blocks; nullopt: memory may decide
    // By the number of the first free block of each size, read as digits of one number.
    NumberTable<ExecutionPtr> by_blocks;
  };
  [[nodiscard]] Cut& cut(int graph, int degree);
  [[nodiscard]] Cut& make_cut(int graph, int degree);
  // The first free block of `size` servers while these are occupied; -1: there is none.
  [[nodiscard]] int first_free(int size, const ServerSet& occupied);
  [[nodiscard]] const ExecutionPtr& place_by_blocks(int graph, Cut& cut, const ServerSet& occupied);
  [[nodiscard]] const ExecutionPtr& place_by_occupancy(int graph, const Cut& cut,
                                                       const ServerSet& occupied);
  [[nodiscard]] ExecutionPtr first_fit(int graph, const Cut& cut, const ServerSet& occupied);
  [[nodiscard]] ExecutionPtr intern(int graph, const PartitionedGraphPtr& job, Placement placement);
  [[nodiscard]] ExecutionPtr execute(const PartitionedGraphPtr& job, Placement placement);
  [[nodiscard]] std::shared_ptr<StandardExecution> standardise(const PartitionedGraphPtr& job,
                                                               const Placement& placement);
  [[nodiscard]] StandardExecution execute_standard(const PartitionedGraphPtr& job,
                                                   Placement placement) const;
  [[nodiscard]] std::shared_ptr<const Lookahead> look_ahead(const StandardExecution& execution);
  void account(std::size_t bytes) { counters_.bytes += bytes; }

  std::vector<JobGraphPtr> graphs_;
  Setting setting_;
  Topology topology_;
  Communication communication_;
  // Those share one cut whose ops do not come in as many pieces.
  std::vector<std::unique_ptr<Cut>> cuts_;
  std::vector<Cut*> cut_of_;  // [graph, degree]; null: nobody has asked for it
  // What was found for one set of occupied servers, about which several degrees are asked.
  struct FirstFree {
    ServerSet occupied;
    std::uint64_t set = 1;  // how many there have been
    struct Found {
      std::uint64_t in = 0;  // of which set
      int block = -1;
    };
    std::vector<Found> blocks;  // [size]
  };
  FirstFree first_free_;
  std::unordered_map<PlacementKey, ExecutionPtr, PlacementKeyHash> by_occupancy_;
  std::unordered_multimap<std::uint64_t, ExecutionPtr>
      by_placement_;  // by hash of (job, placement)
  std::unordered_multimap<std::uint64_t, std::shared_ptr<StandardExecution>>
      by_standard_form_;  // by hash of (job, standard form)
  // A step is a function of the job, of which pieces share a server, and of how long each
  // dependency runs, in which many standard forms agree. The latter, of which there are tens of
  // thousands, are known by their content_hash.
  struct KnownStep {
    PartitionedGraphPtr job;
    Placement pieces;  // servers by number as they are met
    std::uint64_t run_times = 0;
    std::shared_ptr<const Lookahead> lookahead;
  };
  std::unordered_multimap<std::uint64_t, KnownStep> by_run_times_;  // by hash of the first three
  Counters counters_;
  std::uint32_t made_ = 0;
};

}  // namespace pacml::env
