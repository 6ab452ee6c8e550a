#include "env/ramp/step_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/index.h"
#include "env/ramp/communication.h"

namespace pacml::env {
namespace {

// Of every op of the partitioned graph, by the layers' own ids; backward op 2n + 1 - i is what
// forward op i has to undo.
std::vector<std::string> names_of(const PartitionedGraph& job) {
  std::vector<std::string> names(at(job.num_ops()));
  const JobGraph& graph = job.graph();
  for (OpIndex op = 0; op < graph.num_forward(); ++op) {
    const std::string number = std::to_string(graph.ids()[at(op)]);
    const int pieces = job.pieces(op);
    for (int p = 0; p < pieces; ++p) {
      const std::string piece =
          pieces == 1 ? "" : ", piece " + std::to_string(p + 1) + " of " + std::to_string(pieces);
      names[at(job.forward_piece(op) + p)] = "forward op " + number + piece;
      names[at(job.backward_piece(op) + p)] = "backward of op " + number + piece;
    }
  }
  return names;
}

std::string name_of(Server server) { return "server " + std::to_string(server); }

}  // namespace

Timeline timeline_of(const Execution& execution, const ExecutionMemo& memo, std::string unit) {
  const PartitionedGraph& job = *execution.job;
  const auto server = server_of_ops(job, execution.placement);
  const auto run_time = raw_run_times(job, server, memo.topology(), memo.communication());
  const StepTrace trace = trace_step(job, execution.placement, server, run_time,
                                     memo.topology().num_servers(), memo.setting().semantics);
  Timeline out;
  out.title =
      "one training step of " + job.graph().model() + ", degree " + std::to_string(job.degree());
  out.unit = std::move(unit);
  out.microseconds_per_unit = 1e6;  // simulated time is seconds, as far as it is anything
  out.ends = trace.step_time;

  std::vector<Server> used(server.begin(), server.end());
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const char* group : {"servers", "transfers, by server that sends"}) {
    for (const Server s : used) out.lanes.push_back({group, name_of(s)});
  }
  const auto lane_of = [&](Server s) {
    return static_cast<std::size_t>(std::ranges::lower_bound(used, s) - used.begin());
  };
  const auto names = names_of(job);
  for (const StepTrace::Piece& op : trace.ops) {
    out.spans.push_back(
        {lane_of(server[at(op.index)]), names[at(op.index)], op.begins, op.ends, std::nullopt, {}});
  }
  using Together = std::tuple<double, double, Server, Server>;
  std::map<Together, std::pair<int, double>> transfers;  // how many, bytes
  for (const StepTrace::Piece& flow : trace.flows) {
    auto& [count, bytes] = transfers[{flow.begins, flow.ends, server[at(job.src()[at(flow.index)])],
                                      server[at(job.dst()[at(flow.index)])]}];
    ++count;
    bytes += job.bytes()[at(flow.index)];
  }
  for (const auto& [together, sum] : transfers) {
    const auto& [begins, ends, from, to] = together;
    const auto& [count, bytes] = sum;
    out.spans.push_back(
        {used.size() + lane_of(from),
         (count == 1 ? "1 flow" : std::to_string(count) + " flows") + " to " + name_of(to), begins,
         ends, bytes, name_of(to)});
  }
  return out;
}

}  // namespace pacml::env
