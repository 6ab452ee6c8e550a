#include "tests/support/naive_simulator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "common/index.h"

namespace pacml::testing {
namespace {

using env::ForwardOp;

// ---------------------------------------------------------------------------------- partition

// A graph whose ops can be replaced by pieces. Ops keep their number; the cut ones stay as gaps.
struct Draft {
  std::vector<double> compute, memory;
  std::vector<int> original;
  std::vector<bool> gone;
  std::vector<std::vector<int>> successors, predecessors;
  std::map<std::pair<int, int>, double> bytes;

  int add_op(double op_compute, double op_memory, int of) {
    compute.push_back(op_compute);
    memory.push_back(op_memory);
    original.push_back(of);
    gone.push_back(false);
    successors.emplace_back();
    predecessors.emplace_back();
    return static_cast<int>(compute.size()) - 1;
  }
  void add_dependency(int u, int v, double size) {
    successors[at(u)].push_back(v);
    predecessors[at(v)].push_back(u);
    bytes[{u, v}] = size;
  }
  std::vector<int> cut(int x, int k, bool sync) {
    const std::vector<int> ins = predecessors[at(x)];
    const std::vector<int> outs = successors[at(x)];
    for (const int u : ins) std::erase(successors[at(u)], x);
    for (const int w : outs) std::erase(predecessors[at(w)], x);
    gone[at(x)] = true;
    std::vector<int> pieces;
    for (int j = 0; j < k; ++j) {
      pieces.push_back(add_op(compute[at(x)] / k, memory[at(x)] / k, original[at(x)]));
    }
    for (const int piece : pieces) {
      for (const int u : ins) add_dependency(u, piece, memory[at(u)] / k);
      for (const int w : outs) add_dependency(piece, w, memory[at(w)] / k);
    }
    for (const int l : pieces) {
      for (const int m : pieces) {
        if (sync && l != m) add_dependency(l, m, memory[at(l)]);
      }
    }
    return pieces;
  }
};

int pieces_for(double cost, double quantum, int degree) {
  const double quanta = std::ceil(cost / quantum);
  return static_cast<int>(std::max(1.0, std::min(2 * std::ceil(quanta / 2), double(degree))));
}

}  // namespace

int NaiveJob::find(int src, int dst) const {
  for (std::size_t d = 0; d < dependencies.size(); ++d) {
    if (dependencies[d].src == src && dependencies[d].dst == dst) return static_cast<int>(d);
  }
  return -1;
}

NaiveJob naive_partition(const env::Profile& profile, int degree, double quantum, double time_scale,
                         bool activation_sized) {
  const int n = static_cast<int>(profile.ops.size());
  std::map<int, int> position;
  for (int i = 0; i < n; ++i) position[profile.ops[at(i)].id] = i;
  const auto memory_of = [&](int i) {
    const ForwardOp& op = profile.ops[at(i % n)];
    return op.activation_bytes + op.parameter_bytes;
  };

  // Mirror.
  std::vector<std::vector<int>> successors(at(2 * n));
  for (const auto& [u, v] : profile.dependencies) {
    successors[at(position[u])].push_back(position[v]);
  }
  NaiveJob job;
  job.forward_parents.resize(at(n));
  for (int u = 0; u < n; ++u) {
    for (const int v : successors[at(u)]) {
      successors[at(v + n)].push_back(u + n);
      job.forward_parents[at(v)].push_back(u);
    }
  }
  std::vector<std::vector<int>> forward_successors(successors.begin(), successors.begin() + n);
  successors[at(position[n])].push_back(position[n] + n);

  Draft draft;
  for (int i = 0; i < 2 * n; ++i) {
    const ForwardOp& op = profile.ops[at(i % n)];
    draft.add_op((i < n ? op.forward_time : op.backward_time) * time_scale, memory_of(i), i);
  }
  for (int u = 0; u < 2 * n; ++u) {
    for (const int v : successors[at(u)]) draft.add_dependency(u, v, memory_of(u));
  }

  // Cut.
  std::vector<int> pieces(at(n), 1);
  for (int f = 0; f < n; ++f) {
    const int k = pieces_for(profile.ops[at(f)].forward_time, quantum, degree);
    pieces[at(f)] = k;
    job.forward_pieces.push_back(k > 1 ? draft.cut(f, k, false) : std::vector{f});
    job.backward_pieces.push_back(k > 1 ? draft.cut(f + n, k, true) : std::vector{f + n});
    job.forward_memory.push_back(memory_of(f));
    job.backward_memory.push_back(memory_of(f + n));
  }

  // Number what is left.
  std::vector<int> number(draft.compute.size(), -1);
  for (std::size_t op = 0; op < number.size(); ++op) {
    if (draft.gone[op]) continue;
    number[op] = static_cast<int>(job.ops.size());
    job.ops.push_back({draft.compute[op], draft.memory[op]});
  }
  job.successors.resize(job.ops.size());
  job.predecessors.resize(job.ops.size());
  for (std::size_t op = 0; op < number.size(); ++op) {
    if (draft.gone[op]) continue;
    const auto u = static_cast<int>(op);
    for (const int v : draft.successors[op]) {
      double size = draft.bytes[{u, v}];
      const bool sync = draft.bytes.contains({v, u});
      if (activation_sized && !sync) {
        const int from = draft.original[op];
        const int to = draft.original[at(v)];
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a graph has ops
        const double pairs = double(pieces[at(from % n)]) * double(pieces[at(to % n)]);
        size = profile.ops[at(from % n)].activation_bytes / pairs;
      }
      job.dependencies.push_back({number[op], number[at(v)], size});
      job.successors[at(number[op])].push_back(number[at(v)]);
    }
    for (const int p : draft.predecessors[op]) {
      job.predecessors[at(number[op])].push_back(number[at(p)]);
    }
  }
  for (auto* lists : {&job.forward_pieces, &job.backward_pieces}) {
    for (auto& list : *lists) {
      for (int& op : list) op = number[at(op)];
    }
  }

  // Placement order: first in, first out over forward ops.
  std::vector<std::size_t> pending;
  for (const auto& parents : job.forward_parents) pending.push_back(parents.size());
  for (int f = 0; f < n; ++f) {
    if (pending[at(f)] == 0) job.placement_sequence.push_back(f);
  }
  for (std::size_t i = 0; i < job.placement_sequence.size(); ++i) {
    for (const int v : forward_successors[at(job.placement_sequence[i])]) {
      if (--pending[at(v)] == 0) job.placement_sequence.push_back(v);
    }
  }
  return job;
}

// ---------------------------------------------------------------------------------- placement

namespace {

// Every block of `k` servers in the order of first fit, diagonals wrapped as published.
std::vector<std::vector<int>> candidate_blocks(int k, const std::array<int, 3>& c) {
  const auto [groups, racks, servers] = c;
  const auto flat = [&](int i, int j, int l) { return (i * c[1] + j) * c[2] + l; };
  std::vector<std::vector<int>> blocks;
  const auto add_shape = [&](int x, int y, int w) {
    for (int i = 0; i <= c[0] - x; ++i) {
      for (int j = 0; j <= c[1] - y; ++j) {
        for (int l = 0; l <= c[2] - w; ++l) {
          std::vector<int> block;
          for (int a = 0; a < x; ++a) {
            for (int b = 0; b < y; ++b) {
              for (int d = 0; d < w; ++d) block.push_back(flat(i + a, j + b, l + d));
            }
          }
          blocks.push_back(block);
        }
      }
    }
  };
  for (int h = 1; h <= k; ++h) {
    if (k % h != 0) continue;
    const int g = k / h;
    for (int root = 1; root <= g; ++root) {
      if (root * root == g && root <= groups && root <= racks && h <= servers) {
        add_shape(root, root, h);
      }
    }
    if (g <= groups && g <= racks && h <= servers) {
      add_shape(g, 1, h);
      add_shape(g, h, 1);
    }
  }
  for (int i = 0; i <= groups - k; ++i) {
    for (int j = 0; j <= racks - k; ++j) {
      for (int l = 0; l <= servers + 1; ++l) {
        std::vector<int> block;
        for (int t = 0; t < k; ++t) block.push_back(flat(i + t, j + t, l % servers));
        blocks.push_back(block);
      }
    }
  }
  add_shape(k, 1, 1);
  return blocks;
}

}  // namespace

std::optional<NaivePlacement> naive_placement(const NaiveJob& job, const std::array<int, 3>& shape,
                                              double worker_memory, const std::set<int>& occupied,
                                              bool full_memory_check) {
  const int num_servers = shape[0] * shape[1] * shape[2];
  std::vector<double> room(at(num_servers), worker_memory);
  NaivePlacement placement(job.forward_pieces.size());
  for (const int f : job.placement_sequence) {
    const int k = static_cast<int>(job.forward_pieces[at(f)].size());
    const double memory =
        job.forward_memory[at(f)] + (full_memory_check ? job.backward_memory[at(f)] : 0.0);
    auto& chosen = placement[at(f)];
    for (const int p : job.forward_parents[at(f)]) {
      const auto& servers = placement[at(p)];
      if (static_cast<int>(servers.size()) != k) continue;
      bool fits = true;
      double sum = 0;
      for (const int s : servers) {
        sum += room[at(s)];
        fits = fits && room[at(s)] >= memory / k;
      }
      if (full_memory_check ? fits : sum >= memory) {
        chosen = servers;
        break;
      }
    }
    if (chosen.empty() && k <= num_servers) {
      for (const auto& block : candidate_blocks(k, shape)) {
        const bool fits = std::all_of(block.begin(), block.end(), [&](int s) {
          return !occupied.contains(s) && room[at(s)] >= memory / k;
        });
        if (!fits) continue;
        chosen = block;
        break;
      }
    }
    if (chosen.empty()) return std::nullopt;
    for (const int s : chosen) room[at(s)] -= memory / k;
  }
  return placement;
}

// ------------------------------------------------------------------------------ communication

namespace {

std::vector<int> servers_of_ops(const NaiveJob& job, const NaivePlacement& placement) {
  std::vector<int> server(job.ops.size(), -1);
  for (std::size_t f = 0; f < placement.size(); ++f) {
    for (std::size_t j = 0; j < placement[f].size(); ++j) {
      server[at(job.forward_pieces[f][j])] = placement[f][j];
      server[at(job.backward_pieces[f][j])] = placement[f][j];
    }
  }
  return server;
}

double collective_time(double message, const std::set<int>& servers, const env::RampConfig& ramp,
                       const env::SemanticSwitches& semantics) {
  if (servers.size() <= 1) return 0;
  const int x = ramp.topology[0];
  std::set<int> groups;
  std::set<int> racks;
  std::set<int> nodes;
  std::map<std::pair<int, int>, int> sharing;  // (group, node) -> racks
  int contending = 1;
  for (const int s : servers) {
    const int node = s % ramp.topology[2];
    const int rack = s / ramp.topology[2] % ramp.topology[1];
    const int group = s / ramp.topology[2] / ramp.topology[1];
    groups.insert(group);
    racks.insert(rack);
    nodes.insert(node);
    contending = std::max(contending, ++sharing[{group, node}]);
  }
  if (!semantics.rack_contention) contending = 1;
  const int cg = static_cast<int>(groups.size());
  const int rk = static_cast<int>(racks.size());
  const int nd = static_cast<int>(nodes.size());
  std::array<int, 4> sub = {cg, std::min(cg, nd), rk,
                            static_cast<int>(std::ceil(double(nd) / double(x)))};
  if (semantics.intra_rack_collectives_cost && sub == std::array{1, 1, 1, 1}) {
    sub[0] = static_cast<int>(servers.size());
  }
  const double channel = ramp.total_node_bandwidth / x;
  const double rate = semantics.collective_bandwidth_once ? channel : channel / x;
  const double latency = ramp.propagation_latency + 2 * ramp.worker_io_latency;
  double communication = 0;
  double computation = 0;
  for (const int s : sub) {
    message = std::ceil(message / s);
    if (s <= 1) continue;
    const int used = std::max(1, std::min(x / contending, x / (s - 1)));
    communication += latency + message / (used * rate);
    const double n_op = std::ceil(std::log2(s));
    const double intensity = n_op / ((s + 1) * 2);
    computation += n_op * ((message * s) / s) / 2 / std::min(2e12 * intensity, 130e12);
  }
  return 2 * communication + computation;
}

}  // namespace

std::vector<double> naive_run_times(const NaiveJob& job, const NaivePlacement& placement,
                                    const env::RampConfig& ramp,
                                    const env::SemanticSwitches& semantics) {
  const std::vector<int> server = servers_of_ops(job, placement);
  const double latency = ramp.propagation_latency + 2 * ramp.worker_io_latency;
  const double channel = ramp.total_node_bandwidth / ramp.topology[0];
  std::vector<double> time(job.dependencies.size(), 0.0);
  std::vector<int> one_to_one;
  const auto set_collective = [&](const std::vector<int>& group) {
    std::set<int> touched;
    double message = 0;
    for (const int d : group) {
      const auto& dependency = job.dependencies[at(d)];
      touched.insert(server[at(dependency.src)]);
      touched.insert(server[at(dependency.dst)]);
      message += dependency.bytes;
    }
    for (const int d : group) time[at(d)] = collective_time(message, touched, ramp, semantics);
  };
  const auto settle = [&](const std::vector<int>& group, bool is_cut) {
    std::multiset<int> sources;
    std::multiset<int> destinations;
    for (const int d : group) {
      sources.insert(server[at(job.dependencies[at(d)].src)]);
      destinations.insert(server[at(job.dependencies[at(d)].dst)]);
    }
    if (is_cut && sources == destinations) {
      set_collective(group);
    } else {
      one_to_one.insert(one_to_one.end(), group.begin(), group.end());
    }
  };
  for (std::size_t f = 0; f < job.forward_pieces.size(); ++f) {
    const bool is_cut = job.forward_pieces[f].size() > 1;
    std::vector<int> out;
    for (const int op : job.forward_pieces[f]) {
      for (const int v : job.successors[at(op)]) out.push_back(job.find(op, v));
    }
    settle(out, is_cut);
    std::vector<int> in;
    std::vector<std::vector<int>> pairs;
    std::set<std::pair<int, int>> met;
    for (const int op : job.backward_pieces[f]) {
      for (const int u : job.predecessors[at(op)]) {
        const int there = job.find(u, op);
        const int back = job.find(op, u);
        if (back < 0) {
          in.push_back(there);
        } else if (met.insert(std::minmax(u, op)).second) {
          pairs.push_back({there, back});
        }
      }
    }
    settle(in, is_cut);
    for (const auto& pair : pairs) set_collective(pair);
  }
  for (const int d : one_to_one) {
    const auto& dependency = job.dependencies[at(d)];
    const bool local = server[at(dependency.src)] == server[at(dependency.dst)];
    time[at(d)] = local || dependency.bytes == 0 ? 0.0 : latency + dependency.bytes / channel;
  }
  return time;
}

// ---------------------------------------------------------------------------------- lookahead

namespace {

std::uint64_t scatter(std::uint64_t e) {
  std::uint64_t z = e + 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

std::optional<NaiveStep> naive_lookahead(const NaiveJob& job, const NaivePlacement& placement,
                                         const std::vector<double>& raw_run_time,
                                         const env::SemanticSwitches& semantics) {
  const std::vector<int> server = servers_of_ops(job, placement);
  const std::size_t num_ops = job.ops.size();
  const std::size_t num_dependencies = job.dependencies.size();
  const auto channel = [&](std::size_t d) {
    return std::pair{server[at(job.dependencies[d].src)], server[at(job.dependencies[d].dst)]};
  };
  const auto is_flow = [&](std::size_t d) {
    return channel(d).first != channel(d).second && job.dependencies[d].bytes != 0;
  };

  // Op priorities: per server, longest first, stable in order of placement.
  std::map<int, std::vector<int>> on_server;
  for (const int f : job.placement_sequence) {
    for (std::size_t j = 0; j < placement[at(f)].size(); ++j) {
      auto& list = on_server[placement[at(f)][j]];
      list.push_back(job.forward_pieces[at(f)][j]);
      list.push_back(job.backward_pieces[at(f)][j]);
    }
  }
  for (auto& [s, list] : on_server) {
    std::stable_sort(list.begin(), list.end(),
                     [&](int a, int b) { return job.ops[at(a)].compute > job.ops[at(b)].compute; });
  }
  // Dependency priorities: longest first, ties by ascending hash.
  std::vector<std::size_t> by_priority;
  for (std::size_t d = 0; d < num_dependencies; ++d) by_priority.push_back(d);
  std::sort(by_priority.begin(), by_priority.end(), [&](std::size_t a, std::size_t b) {
    if (raw_run_time[a] != raw_run_time[b]) return raw_run_time[a] > raw_run_time[b];
    return scatter(a) < scatter(b);
  });
  std::vector<std::size_t> priority(num_dependencies);
  for (std::size_t i = 0; i < num_dependencies; ++i) priority[by_priority[i]] = i;

  std::vector<double> op_left;
  std::vector<int> num_parents(num_ops, 0);
  std::vector<int> counter(num_ops, 0);
  std::vector<bool> op_ready(num_ops, false);
  std::vector<bool> op_done(num_ops, false);
  for (const auto& op : job.ops) op_left.push_back(op.compute);
  const auto is_sync = [&](std::size_t d) {
    return job.find(job.dependencies[d].dst, job.dependencies[d].src) >= 0;
  };
  std::vector<bool> sync(num_dependencies);
  for (std::size_t d = 0; d < num_dependencies; ++d) {
    sync[d] = is_sync(d);
    if (!sync[d]) ++num_parents[at(job.dependencies[d].dst)];
  }
  for (std::size_t op = 0; op < num_ops; ++op) {
    op_ready[op] =
        semantics.sync_is_no_parent ? num_parents[op] == 0 : job.predecessors[op].empty();
  }
  std::vector<double> left(num_dependencies, 0.0);
  std::vector<bool> ready(num_dependencies, false);
  std::vector<bool> done(num_dependencies, false);
  for (std::size_t d = 0; d < num_dependencies; ++d) left[d] = is_flow(d) ? raw_run_time[d] : 0.0;

  NaiveStep step;
  const auto all = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), false) == flags.end();
  };
  while (!all(op_done) || !all(done)) {
    std::vector<int> running;
    double tick = kNever;
    for (const auto& [s, list] : on_server) {
      for (auto op = list.rbegin(); op != list.rend(); ++op) {
        if (!op_ready[at(*op)] || op_done[at(*op)]) continue;
        running.push_back(*op);
        tick = std::min(tick, op_left[at(*op)]);
        break;
      }
    }
    std::vector<std::size_t> waiting;  // ready dependencies, before the ops are advanced
    std::vector<std::size_t> local;
    for (std::size_t d = 0; d < num_dependencies; ++d) {
      if (!ready[d] || done[d]) continue;
      waiting.push_back(d);
      if (!is_flow(d)) local.push_back(d);
    }
    if (!local.empty()) {
      tick = 0;
    } else {
      std::map<std::pair<int, int>, std::size_t> winner;
      for (const std::size_t d : waiting) {
        const auto [it, is_new] = winner.emplace(channel(d), d);
        if (!is_new && priority[d] > priority[it->second]) it->second = d;
      }
      for (const auto& [pair, d] : winner) tick = std::min(tick, left[d]);
      if (semantics.exact_tick) {
        for (const std::size_t d : waiting) tick = std::min(tick, left[d]);
      }
    }
    if (tick == kNever) return std::nullopt;

    for (const int op : running) {
      op_left[at(op)] -= std::min(tick, op_left[at(op)]);
      if (op_left[at(op)] != 0) continue;
      op_done[at(op)] = true;
      for (std::size_t d = 0; d < num_dependencies; ++d) {
        if (job.dependencies[d].src == op) ready[d] = true;
      }
    }
    const bool flows_ticked = local.empty() && !waiting.empty();
    for (const std::size_t d : local.empty() ? waiting : local) {
      left[d] -= std::min(tick, left[d]);
      if (left[d] != 0) continue;
      done[d] = true;
      const auto v = at(job.dependencies[d].dst);
      if (semantics.sync_is_no_parent && sync[d]) continue;
      if (++counter[v] == num_parents[v]) op_ready[v] = true;
    }
    if (flows_ticked) step.communication_time += tick;
    if (!running.empty()) step.computation_time += tick;
    step.ticks.emplace_back(static_cast<int>(running.size()), tick);
    step.step_time += tick;
  }
  return step;
}

}  // namespace pacml::testing
