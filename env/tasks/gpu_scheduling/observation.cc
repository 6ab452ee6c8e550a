#include "env/tasks/gpu_scheduling/observation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "common/index.h"
#include "env/as_float.h"

namespace pacml::env {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kShortest = 1e-3;  // of the mean job: what is less looks like that
constexpr std::size_t kOfferWidth = 26;

void append(std::vector<float>& out, std::initializer_list<double> values) {
  for (const double v : values) out.push_back(as_float(v));
}

// A time in mean jobs.
double log_time(double seconds, const SchedulingScale& scale) {
  return std::log(std::max(seconds / scale.mean_job_s, kShortest));
}

// What a scheduler knows of itself, or of another one that tells it: idle GPUs, GPUs that its jobs
// want, jobs that wait, each over its GPUs.
std::array<double, 3> told(const GpuClusterState& state, int partition, int to,
                           const SchedulingScale& scale) {
  if (partition != to && !scale.messages) return {};
  const double gpus = state.model().num_gpus(partition);
  return {static_cast<double>(state.free_servers(partition).total()) / gpus,
          static_cast<double>(state.gpus_wanted(partition)) / gpus,
          static_cast<double>(state.waiting(partition).size()) / gpus};
}

// Calls f(job) for each job that has its first GPU on one of the servers.
template <class F>
void for_jobs_on(const GpuClusterState& state, std::int32_t first, std::int32_t last, F f) {
  const std::int32_t per_server = state.topology().per_server();
  for (std::int32_t gpu = first * per_server; gpu < (last + 1) * per_server; ++gpu) {
    for (const int which : {0, 1}) {
      const std::int32_t job = state.resident(gpu, which);
      if (job >= 0 && state.layout(job).gpus.front() == gpu) f(job);
    }
  }
}

// The load of the link that a server is on, or of the fullest one on a torus.
double nic_load(const GpuClusterState& state, std::int32_t server) {
  const auto sides = static_cast<std::int32_t>(state.topology().config().dims.size());
  if (sides == 0) return state.link_load(server);
  double most = 0;
  for (std::int32_t l = server * 2 * sides; l < (server + 1) * 2 * sides; ++l) {
    most = std::max(most, state.link_load(l));
  }
  return most;
}

double uplink_load(const GpuClusterState& state, std::int32_t rack) {
  const GpuTopology& t = state.topology();
  if (!t.config().dims.empty()) return 0;
  return state.link_load(t.num_servers() + rack) / t.capacity(t.num_servers() + rack);
}

}  // namespace

std::vector<FeatureSpec> scheduling_globals() {
  return {{"waiting", "log(1 + jobs)"},
          {"gpus_waiting", "of the GPUs"},
          {"work_waiting", "mean jobs a GPU"},
          {"idle", "of the GPUs", 0, 1},
          {"running", "jobs a GPU"},
          {"work_running", "mean jobs a GPU"},
          {"speed", "of the best", 0},
          {"shortest_waiting", "log of mean jobs", -kInfinite},
          {"median_waiting", "log of mean jobs", -kInfinite},
          {"mean_waiting", "log of mean jobs", -kInfinite},
          {"longest_waiting", "log of mean jobs", -kInfinite},
          {"next_completion", "log of mean jobs", -kInfinite},
          {"next_freed", "of the GPUs", 0, 1},
          {"others_idle", "of their GPUs", 0, 1},
          {"others_wanted", "of their GPUs"},
          {"others_waiting", "jobs a GPU"},
          {"to_come", "of the episode's jobs", 0, 1}};
}

std::vector<FeatureSpec> offer_features() {
  return {{"is_pass", "1", 0, 1},
          {"is_forward", "1", 0, 1},
          {"is_spread", "1", 0, 1},
          {"is_shared", "1", 0, 1},
          // Of the job; on as many GPUs as a place has, times alone on as many as it asks for.
          {"gpus", "log2"},
          {"left", "log of mean jobs", -kInfinite},
          {"waited", "log(1 + mean jobs)"},
          {"ahead", "of those that wait", 0, 1},
          {"is_ps", "1", 0, 1},
          {"host_load", "of a GPU"},
          {"network_share", "of a step, over servers", 0, 1},
          {"leaves", "of another job's speed"},
          {"keeps", "of its own speed"},
          // Of a place.
          {"speed", "of the best", 0},
          {"own_delay", "log(1 + mean jobs)", -kInfinite},
          {"others_loss", "jobs' speed", -kInfinite},
          {"others_delay", "log(1 + mean jobs)", -kInfinite},
          {"gain", "jobs' speed", -kInfinite},
          {"level", "of all levels", 0, 1},
          {"idle_left_in_group", "of its GPUs", 0, 1},
          {"idle_left_in_server", "of its GPUs", 0, 1},
          {"partner_left", "log of the job's", -kInfinite},
          {"done_after", "log of mean jobs", -kInfinite},
          // Of a forward.
          {"idle_there", "of its GPUs", 0, 1},
          {"wanted_there", "of its GPUs, less here", -kInfinite},
          {"waiting_there", "jobs a GPU, less here", -kInfinite}};
}

PartitionNodes::PartitionNodes(const GpuClusterModel& model, int partition)
    : partition_(partition),
      partitions_(static_cast<std::uint32_t>(model.config().partitions)),
      first_server_(model.first_server(partition)),
      last_server_(model.first_server(partition + 1) - 1),
      first_rack_(model.topology().rack_of(first_server_)),
      last_rack_(model.topology().rack_of(last_server_)) {}

GraphFeaturesPtr partition_graph(const GpuClusterModel& model, int partition) {
  const GpuTopology& t = model.topology();
  const PartitionNodes nodes(model, partition);
  auto graph = std::make_shared<GraphFeatures>();
  graph->num_nodes = static_cast<int>(nodes.size());
  graph->node_width = static_cast<int>(kClusterNodeWidth);
  graph->edge_width = static_cast<int>(kClusterEdgeWidth);
  // The speed of each GPU type: the mean over all jobs, of the fastest type's.
  std::vector<double> speed(t.gpu_types().size());
  for (const GpuJobShape& shape : model.speeds().shapes()) {
    const double best = *std::ranges::max_element(shape.together);
    for (std::size_t g = 0; g < speed.size(); ++g) speed[g] += shape.together[g] / best;
  }
  const auto shapes = static_cast<double>(model.speeds().shapes().size());
  append(graph->node_features, {1, 0, 0, 0, 0});
  const int partitions = model.config().partitions;
  for (int other = 1; other < partitions; ++other) append(graph->node_features, {0, 1, 0, 0, 0});
  for (std::uint32_t r = 0; r < nodes.num_racks(); ++r) {
    append(graph->node_features, {0, 0, 1, 0, 0});
  }
  for (std::int32_t s = nodes.first_server(); s <= nodes.last_server(); ++s) {
    append(graph->node_features, {0, 0, 0, 1, speed[at(t.gpu_type_of(s))] / shapes});
  }
  const auto connect = [&](std::uint32_t a, std::uint32_t b, double narrow) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      graph->edge_src.push_back(static_cast<std::int32_t>(from));
      graph->edge_dst.push_back(static_cast<std::int32_t>(to));
      graph->edge_features.push_back(as_float(narrow));
    }
  };
  const double rack = t.config().oversub_rack;
  const double pod = rack * t.config().oversub_pod;
  for (int other = 0; other < partitions; ++other) {
    if (other == partition) continue;
    const bool is_near = t.pod_of(model.first_server(other)) == t.pod_of(nodes.first_server());
    connect(0, nodes.of_partition(other), is_near ? rack : pod);
  }
  for (std::int32_t r = nodes.first_rack(); r <= nodes.last_rack(); ++r) {
    connect(0, nodes.of_rack(r), rack);
  }
  for (std::int32_t s = nodes.first_server(); s <= nodes.last_server(); ++s) {
    connect(nodes.of_rack(t.rack_of(s)), nodes.of_server(s), 1);
  }
  graph->num_edges = static_cast<int>(graph->edge_src.size());
  graph->hash = hash_features(*graph);
  return graph;
}

SchedulingScale scheduling_scale(const GpuClusterModel& model, double mean_job_s) {
  SchedulingScale scale{.mean_job_s = mean_job_s, .leaves = {}, .keeps = {}, .messages = true};
  const JobSpeeds& speeds = model.speeds();
  const auto types = static_cast<std::int32_t>(speeds.types().size());
  const auto gpu_types = static_cast<std::int32_t>(model.topology().gpu_types().size());
  for (std::int32_t type = 0; type < types; ++type) {
    double leaves = 0;
    double keeps = 0;
    for (std::int32_t other = 0; other < types; ++other) {
      for (std::int32_t g = 0; g < gpu_types; ++g) {
        leaves += speeds.pair(g, other, type);
        keeps += speeds.pair(g, type, other);
      }
    }
    scale.leaves.push_back(leaves / types / gpu_types);
    scale.keeps.push_back(keeps / types / gpu_types);
  }
  return scale;
}

void ShownScheduling::show_nodes(const GpuClusterState& state, const PartitionNodes& of,
                                 const SchedulingScale& scale) {
  const GpuTopology& t = state.topology();
  nodes.assign(std::size_t{of.size()} * kClusterDynamicWidth, 0.0F);
  const auto put = [&](std::uint32_t node, std::initializer_list<double> values) {
    std::ranges::transform(values, nodes.begin() + std::ptrdiff_t{node} * kClusterDynamicWidth,
                           as_float);
  };
  for (int p = 0; p < state.model().config().partitions; ++p) {
    const auto [idle, wanted, waiting] = told(state, p, of.partition(), scale);
    put(of.of_partition(p), {idle, wanted, waiting});
  }
  for (std::int32_t r = of.first_rack(); r <= of.last_rack(); ++r) {
    put(of.of_rack(r), {uplink_load(state, r)});
  }
  const std::int32_t sockets = t.config().sockets;
  for (std::int32_t s = of.first_server(); s <= of.last_server(); ++s) {
    double host = 0;
    for (std::int32_t x = s * sockets; x < (s + 1) * sockets; ++x) {
      host = std::max(host, state.host_load(x) / state.model().host_capacity());
    }
    double shared = 0;
    double residents = 0;
    double left = 0;
    double speed = 0;
    for (std::int32_t g = s * t.per_server(); g < (s + 1) * t.per_server(); ++g) {
      for (const int which : {0, 1}) {
        const std::int32_t job = state.resident(g, which);
        if (job < 0) continue;
        shared += which;
        residents += 1;
        left += log_time(state.alone_s(job), scale);
        speed += state.progress(job).rate / state.jobs()[job].best_rate;
      }
    }
    const double each = std::max(residents, 1.0);
    put(of.of_server(s),
        {static_cast<double>(state.idle_in_server(s)) / t.per_server(), shared / t.per_server(),
         host, nic_load(state, s), left / each, speed / each});
  }
}

void ShownScheduling::show_globals(const GpuClusterState& state, const PartitionNodes& of,
                                   const SchedulingScale& scale, double to_come) {
  const int partition = of.partition();
  const double gpus = state.model().num_gpus(partition);
  double gpus_waiting = 0;
  double work_waiting = 0;
  double time_waiting = 0;
  lengths_.clear();
  for (const GpuClusterState::Waiting& waiting : state.waiting(partition)) {
    const double seconds = state.alone_s(waiting.job);
    const std::int32_t n = state.jobs()[waiting.job].gpus;
    gpus_waiting += n;
    work_waiting += seconds * n;
    time_waiting += seconds;
    lengths_.push_back(seconds);
  }
  double shortest = 0;
  double median = 0;
  double longest = 0;
  if (!lengths_.empty()) {
    const auto middle = lengths_.begin() + static_cast<std::ptrdiff_t>(lengths_.size() / 2);
    std::ranges::nth_element(lengths_, middle);
    median = *middle;
    const auto [least, most] = std::ranges::minmax_element(lengths_);
    shortest = *least;
    longest = *most;
  }
  double running = 0;
  double work_running = 0;
  double speed = 0;
  double next_s = kInfinite;
  double next_gpus = 0;
  for_jobs_on(state, of.first_server(), of.last_server(), [&](std::int32_t job) {
    const GpuJob& is = state.jobs()[job];
    const double rate = state.progress(job).rate;
    running += 1;
    work_running += state.alone_s(job) * is.gpus;
    speed += rate / is.best_rate;
    const double done_s = rate > 0 ? state.left(job) / rate : kInfinite;
    if (done_s >= next_s) return;
    next_s = done_s;
    next_gpus = is.gpus;
  });
  std::array<double, 3> others{};
  const int partitions = state.model().config().partitions;
  for (int p = 0; p < partitions; ++p) {
    if (p == partition) continue;
    const auto of_other = told(state, p, partition, scale);
    for (std::size_t i = 0; i < others.size(); ++i) others[i] += of_other[i] / (partitions - 1);
  }
  const double count = std::max(static_cast<double>(state.waiting(partition).size()), 1.0);
  const double mean_job_gpu_s = scale.mean_job_s * gpus;
  globals.clear();
  append(globals,
         {std::log1p(static_cast<double>(state.waiting(partition).size())), gpus_waiting / gpus,
          work_waiting / mean_job_gpu_s,
          static_cast<double>(state.free_servers(partition).total()) / gpus, running / gpus,
          work_running / mean_job_gpu_s, speed / std::max(running, 1.0), log_time(shortest, scale),
          log_time(median, scale), log_time(time_waiting / count, scale), log_time(longest, scale),
          running > 0 ? log_time(std::min(next_s, 1e12), scale) : std::log(kShortest),
          next_gpus / gpus, others[0], others[1], others[2], to_come});
}

void ShownScheduling::show_offers(const GpuClusterState& state, const PartitionNodes& of,
                                  const SchedulingScale& scale, const Offers& from) {
  const GpuTopology& t = state.topology();
  const int partition = of.partition();
  const auto here = told(state, partition, partition, scale);
  const auto& line = state.waiting(partition);
  offers.clear();
  where.clear();
  std::size_t ahead = 0;  // in line; offers are in its order
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Offer& offer = from[i];
    if (offer.kind == Offer::Kind::kPass) {
      offers.push_back(1);
      offers.resize(offers.size() + kOfferWidth - 1, 0.0F);
      where.push_back(0);
      continue;
    }
    while (line[ahead].job != offer.job) ++ahead;
    const GpuJob& job = state.jobs()[offer.job];
    const bool is_forward = offer.kind == Offer::Kind::kForward;
    const std::int32_t size = is_forward ? job.shape : offer.shape;
    const GpuJobShape& shape = state.model().speeds().shapes()[at(size)];
    const double alone = state.alone_s(offer.job);
    const double step_s = shape.compute_s.front() + shape.network_s.front();
    append(
        offers,
        {0.0, is_forward ? 1.0 : 0.0, offer.kind == Offer::Kind::kSeveralServers ? 1.0 : 0.0,
         offer.kind == Offer::Kind::kShared ? 1.0 : 0.0, std::log2(static_cast<double>(shape.gpus)),
         log_time(alone, scale), std::log1p((state.now() - job.submit_s) / scale.mean_job_s),
         static_cast<double>(ahead) / static_cast<double>(line.size()),
         job.comm == GpuComm::kParameterServers ? 1.0 : 0.0, shape.host_load,
         shape.network_s.front() / step_s, scale.leaves[at(job.type)], scale.keeps[at(job.type)]});
    if (is_forward) {
      const auto there = told(state, offer.to, partition, scale);
      const double rate = state.model().best_rate_in(offer.to, shape) / job.best_rate;
      append(offers,
             {rate, 0, 0, 0, 0, 0, 0, 0, 0, 0, there[0], there[1] - here[1], there[2] - here[2]});
      where.push_back(of.of_partition(offer.to));
      continue;
    }
    const auto gpus = from.gpus(i);
    const std::int32_t first = gpus.front();
    const std::int32_t server = t.server_of(first);
    const double rate = offer.rate / job.best_rate;
    // What a shared place takes of idle GPUs is nothing.
    const auto is_on = [&](std::int32_t unit, auto unit_of) {
      return static_cast<double>(std::ranges::count_if(
          gpus, [&](std::int32_t g) { return unit_of(g) == unit && state.is_idle(g); }));
    };
    const std::int32_t group = t.group_of(first);
    const double group_left =
        (state.idle_in_group(group) - is_on(group, [&](std::int32_t g) { return t.group_of(g); })) /
        t.per_group();
    const double server_left = (state.idle_in_server(server) -
                                is_on(server, [&](std::int32_t g) { return t.server_of(g); })) /
                               t.per_server();
    const double partner =
        offer.kind == Offer::Kind::kShared
            ? std::clamp(std::log((state.alone_s(offer.to) + 1) / (alone + 1)), -5.0, 5.0)
            : 0;
    const auto as_jobs = [&](double seconds) {
      const double v = seconds / scale.mean_job_s;
      return v < 0 ? -std::log1p(-v) : std::log1p(v);
    };
    append(offers,
           {rate, as_jobs(offer.own_delay_s), offer.others_loss, as_jobs(offer.others_delay_s),
            rate - offer.others_loss,
            static_cast<double>(t.level(gpus.front(), gpus.back())) / (kGpuLevels - 1), group_left,
            server_left, partner, log_time(state.left(offer.job) / offer.rate, scale), 0, 0, 0});
    where.push_back(of.of_server(server));
  }
}

void ShownScheduling::look_at(const GpuClusterState& state, const PartitionNodes& of,
                              const SchedulingScale& scale, const Offers& from, double to_come) {
  agent = of.partition();
  show_nodes(state, of, scale);
  show_globals(state, of, scale, to_come);
  show_offers(state, of, scale, from);
}

}  // namespace pacml::env
