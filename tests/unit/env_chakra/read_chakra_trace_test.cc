#include "env/chakra/read_chakra_trace.h"

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/chakra_traces.h"

namespace pacml::env {
namespace {

using testing::attribute;
using testing::chakra_metadata;
using testing::chakra_trace;
using testing::ChakraNode;
using testing::real_attribute;
using testing::WireMessage;

// 1e12 operations and 1e11 bytes a second are reached; nothing is added to them.
zoo::Device plain_device() {
  return {.name = "plain",
          .peak_flops = 1e12,
          .memory_bandwidth = 1e11,
          .compute_efficiency = 1,
          .memory_efficiency = 1,
          .op_seconds = 0};
}

ChakraTrace read(const std::string& bytes, const OpGraphLimits& limits = {}) {
  std::istringstream in(bytes);
  return read_chakra_trace(in, "t.et", plain_device(), limits);
}

std::string refusal(const std::string& bytes, const OpGraphLimits& limits = {}) {
  try {
    static_cast<void>(read(bytes, limits));
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("nodes of a trace are operations, dependencies edges", "[unit][chakra]") {
  const ChakraTrace trace = read(chakra_trace(
      {{.id = 70, .name = "load", .type = 2, .attributes = {attribute("tensor_size", 400'000)}},
       {.id = 3,
        .name = "mm",
        .data_deps = {70},
        .duration_micros = 25,
        .output_values = "[[5, 6, 0, 100, 4, 'cuda:0']]",
        .attributes = {attribute("num_ops", 1), attribute("is_cpu_op", 0, 27)}},
       {.id = 5,
        .name = "mm",
        .ctrl_deps = {70, 3},
        .data_deps = {3},
        .attributes = {real_attribute("num_ops", 2e9), attribute("tensor_size", 64, 9)}},
       {.id = 9,
        .name = "nccl",
        .type = 7,
        .data_deps = {5, 12},  // that comes behind it
        .duration_micros = 7,
        .attributes = {attribute("comm_type", 0, 9), attribute("comm_size", 1 << 20, 9)}},
       {.id = 12, .name = "root", .type = 1}}));
  CHECK(trace.version == "0.0.4");
  REQUIRE(trace.graph.ops.size() == 5);
  CHECK(trace.graph.ops[0] == OpSpec{"load#70", 4, {400'000}});  // by the device
  CHECK(trace.graph.ops[1] == OpSpec{"mm#3", 25, {400}});        // measured
  CHECK(trace.graph.ops[2] == OpSpec{"mm#5", 2000, {64}});       // by the device, too
  CHECK(trace.graph.ops[3] == OpSpec{"nccl#9", 7, {1 << 20}});
  CHECK(trace.graph.ops[4] == OpSpec{"root#12", 0, {0}});
  // A control dependency sends nothing, and none where data goes the same way.
  CHECK(trace.graph.edges ==
        std::vector<OpEdge>{{0, 0, 1}, {1, 0, 2}, {0, 1, 2}, {2, 0, 3}, {4, 0, 3}});
  CHECK(OpGraph(trace.graph).spec() == trace.graph);
  CHECK(trace.kinds == std::vector<ChakraKind>{{"all-reduce", 1, 1, 7, 1 << 20},
                                               {"compute", 2, 1, 2025, 464},
                                               {"memory load", 1, 0, 4, 400'000},
                                               {"metadata", 1, 0, 0, 0}});
}

TEST_CASE("communication that was not timed takes nothing but sends its bytes", "[unit][chakra]") {
  const ChakraTrace trace = read(chakra_trace(
      {{.id = 1, .type = 5, .attributes = {attribute("comm_size", 10), attribute("num_ops", 9)}},
       {.id = 2, .type = 6, .attributes = {attribute("comm_size", 20)}},
       {.id = 3, .type = 7, .attributes = {attribute("comm_size", 30), attribute("comm_type", 7)}},
       {.id = 4, .type = 7, .attributes = {attribute("comm_type", 99)}},
       {.id = 5, .type = 8},
       {.id = 6, .type = UINT64_MAX}}));
  CHECK(trace.kinds == std::vector<ChakraKind>{{"another type", 2, 0, 0, 0},
                                               {"collective", 1, 0, 0, 0},
                                               {"receive", 1, 0, 0, 20},
                                               {"reduce-scatter", 1, 0, 0, 30},
                                               {"send", 1, 0, 0, 10}});
}

TEST_CASE("what is no trace of Chakra is refused with the node that is wrong", "[unit][chakra]") {
  CHECK(refusal("") == "t.et: it is empty");
  CHECK(refusal(chakra_metadata()) == "t.et: it has no nodes");
  CHECK(refusal("\x1f\x8b\x08") == "t.et: it is compressed; gunzip unpacks it");
  CHECK(refusal("{\"nodes\": []}") ==
        "t.et: its metadata is cut short, or this is no Chakra trace");
  CHECK(refusal(ChakraNode{.id = 1, .name = "a"}.framed()) ==
        "t.et: it does not begin with a version, as Chakra traces do");
  CHECK(refusal(chakra_metadata() + "\xff\xff\xff\xff\xff\xff") ==
        "t.et: node 1 is cut short, or this is no Chakra trace");
  CHECK(refusal(chakra_metadata() + WireMessage::varint(UINT32_MAX)) ==
        "t.et: node 1 is of more than 4 MiB, or this is no Chakra trace");
  CHECK(refusal(chakra_metadata() + WireMessage().text(4, "\xff").framed()) ==
        "t.et: node 1 is none of a Chakra trace");
  CHECK(refusal(chakra_trace({{.id = 1}, {.id = 1}})) ==
        "t.et: node 2 has the id 1, as another one before it");
  CHECK(refusal(chakra_trace({{.id = 1}, {.id = 2, .ctrl_deps = {9}}})) ==
        "t.et: node 2 depends on the node of id 9, which is not there");
  CHECK(refusal(chakra_trace({{.id = 1, .name = std::string(5000, 'x')}})) ==
        "t.et: node 1 has a name of more than 4 KiB");
  for (const std::string& bad :
       {attribute("comm_size", UINT64_MAX, 9), real_attribute("comm_size", -1),
        real_attribute("comm_size", std::numeric_limits<double>::infinity())}) {
    CHECK(refusal(chakra_trace({{.id = 1, .attributes = {bad}}})) ==
          "t.et: node 1 has a comm_size that is none: it must be 0 or more");
  }
  CHECK(refusal(chakra_trace({{.id = 1}, {.id = 2}}), {.max_ops = 1}) ==
        "t.et: node 2 is one more than the 1 that are taken");
  CHECK(refusal(chakra_trace({{.id = 1}, {.id = 2, .ctrl_deps = {1}, .data_deps = {2}}}),
                {.max_edges = 1}) ==
        "t.et: node 2 has one more dependency than the 1 that are taken");
}

TEST_CASE("a trace that ends anywhere but behind a node is refused", "[unit][chakra]") {
  const std::string first = chakra_trace({{.id = 1, .name = "a"}});
  const std::string whole =
      first + ChakraNode{.id = 2, .name = "b", .data_deps = {1}, .duration_micros = 3}.framed();
  CHECK(refusal(whole) == "none");
  for (std::size_t size = first.size() + 1; size < whole.size(); ++size) {
    CHECK(refusal(whole.substr(0, size)) ==
          "t.et: node 2 is cut short, or this is no Chakra trace");
  }
}

}  // namespace
}  // namespace pacml::env
