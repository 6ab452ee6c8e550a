#include "env/ramp/step_trace.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/index.h"
#include "env/graph/profile_library.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

TEST_CASE("what ran when is told by op and flow", "[lookahead]") {
  // Ops 0, 1 forward and 2, 3 backward; op 1 and its counterpart on server 1.
  const auto graph = testing::make_graph(
      testing::make_profile({{1, "A", 2, 1, 1, 0}, {2, "B", 3, 1, 1, 0}}, {{1, 2}}));
  const PartitionedGraph job(graph, 1, 0.01, 1.0, DependencyBytes::kMemory);
  const Placement placement = {0, 1};
  const auto server = server_of_ops(job, placement);
  std::vector<double> time(job.src().size(), 0.0);
  for (std::size_t d = 0; d < time.size(); ++d) {
    if (server[at(job.src()[d])] != server[at(job.dst()[d])]) time[d] = 0.5;
  }
  const StepTrace trace = trace_step(job, placement, server, time, 4, {});
  CHECK(trace.step_time == 2 + 0.5 + 3 + 1 + 0.5 + 1);
  std::map<int, std::pair<double, double>> ops;
  for (const auto& piece : trace.ops) ops[piece.index] = {piece.begins, piece.ends};
  CHECK(trace.ops.size() == 4);
  CHECK(ops.at(0) == std::pair(0.0, 2.0));
  CHECK(ops.at(1) == std::pair(2.5, 5.5));
  CHECK(ops.at(3) == std::pair(5.5, 6.5));
  CHECK(ops.at(2) == std::pair(7.0, 8.0));
  REQUIRE(trace.flows.size() == 2);
  CHECK(trace.flows[0].begins == 2);
  CHECK(trace.flows[0].ends == 2.5);
  CHECK(trace.flows[1].ends == 7);
}

struct Traced {
  ExecutionPtr execution;
  StepTrace trace;
  std::vector<Server> server;
};

ExecutionMemo memo_of(const std::string& model) {
  std::vector<JobGraphPtr> graphs;
  for (const Profile& profile : load_profiles({}, {model})) {
    graphs.push_back(std::make_shared<const JobGraph>(profile));
  }
  return ExecutionMemo(std::move(graphs), {});
}

Traced trace_of(ExecutionMemo& memo, int degree) {
  Traced out;
  out.execution = memo.place(0, degree, ServerSet(memo.topology().num_servers()));
  REQUIRE(out.execution);
  const PartitionedGraph& job = *out.execution->job;
  out.server = server_of_ops(job, out.execution->placement);
  out.trace = trace_step(job, out.execution->placement, out.server,
                         raw_run_times(job, out.server, memo.topology(), memo.communication()),
                         memo.topology().num_servers(), memo.setting().semantics);
  return out;
}

TEST_CASE("a built-in model's trace is the course of its lookahead", "[lookahead]") {
  ExecutionMemo memo = memo_of("resnet18");
  for (const int degree : {1, 4, 16}) {
    INFO(degree);
    const Traced traced = trace_of(memo, degree);
    const PartitionedGraph& job = *traced.execution->job;
    const auto lookahead = memo.lookahead(*traced.execution);
    CHECK(traced.trace.step_time == lookahead->step_time);

    std::vector<double> ran(at(job.num_ops()), 0.0);
    std::vector<double> began(at(job.num_ops()), 1e300);
    std::vector<double> ended(at(job.num_ops()), 0.0);
    std::map<Server, std::vector<std::pair<double, double>>> busy;
    for (const auto& piece : traced.trace.ops) {
      ran[at(piece.index)] += piece.ends - piece.begins;
      began[at(piece.index)] = std::min(began[at(piece.index)], piece.begins);
      ended[at(piece.index)] = std::max(ended[at(piece.index)], piece.ends);
      busy[traced.server[at(piece.index)]].emplace_back(piece.begins, piece.ends);
    }
    for (OpIndex op = 0; op < job.num_ops(); ++op) {
      REQUIRE(ran[at(op)] == Approx(job.compute()[at(op)]).margin(1e-6 * traced.trace.step_time));
    }
    for (auto& [server, pieces] : busy) {  // one op at a time
      std::ranges::sort(pieces);
      for (std::size_t i = 1; i < pieces.size(); ++i) {
        REQUIRE(pieces[i].first >= pieces[i - 1].second);
      }
    }
    std::set<std::int32_t> flows;
    for (const auto& flow : traced.trace.flows) {
      REQUIRE(flows.insert(flow.index).second);
      REQUIRE(flow.begins >= ended[at(job.src()[at(flow.index)])]);
      if (job.is_sync()[at(flow.index)] == 0) {
        REQUIRE(began[at(job.dst()[at(flow.index)])] >= flow.ends);
      }
    }
    std::size_t crossing = 0;
    for (std::size_t d = 0; d < job.src().size(); ++d) {
      crossing += is_flow(job, traced.server, d) ? 1 : 0;
    }
    CHECK(flows.size() == crossing);
  }
}

TEST_CASE("a timeline has a lane for each server and for what it sends", "[lookahead]") {
  ExecutionMemo memo = memo_of("alexnet");
  const Traced traced = trace_of(memo, 4);
  const Timeline timeline = timeline_of(*traced.execution, memo, "seconds");
  const std::set<Server> used(traced.server.begin(), traced.server.end());
  REQUIRE(timeline.lanes.size() == 2 * used.size());
  CHECK(timeline.lanes[0].group == "servers");
  CHECK(timeline.lanes[0].name == "server 0");
  CHECK(timeline.lanes[used.size()].group == "transfers, by server that sends");
  CHECK(timeline.title == "one training step of alexnet, degree 4");
  CHECK(timeline.ends == traced.trace.step_time);
  double bytes = 0;
  double latest = 0;
  for (const TimelineSpan& span : timeline.spans) {
    CHECK(span.begins <= span.ends);
    CHECK(span.bytes.has_value() == (span.lane >= used.size()));
    bytes += span.bytes.value_or(0);
    latest = std::max(latest, span.ends);
  }
  CHECK(latest == timeline.ends);
  CHECK(bytes == Approx(traced.execution->flow_bytes));
}

}  // namespace
}  // namespace pacml::env
