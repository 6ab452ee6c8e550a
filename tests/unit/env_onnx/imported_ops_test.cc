#include "env/onnx/imported_ops.h"

#include <numeric>
#include <sstream>

#include "env/graph/job_graph.h"
#include "env/onnx/import_onnx.h"
#include "tests/support/catch.h"
#include "tests/support/onnx_models.h"

namespace pacml::env {
namespace {

ImportedOp op(std::vector<int> inputs, bool is_small, double bytes) {
  return {.type = is_small ? "Small" : "Large",
          .description = "op",
          .costed_as = "",
          .inputs = std::move(inputs),
          .output_bytes = bytes,
          .parameters = 1,
          .parameter_bytes = 4,
          .multiply_adds = 10,
          .work = {.forward = {.flops = 100, .launches = 1}},
          .is_small = is_small};
}

double flops_of(const std::vector<ImportedOp>& ops) {
  return std::accumulate(ops.begin(), ops.end(), 0.0, [](double sum, const ImportedOp& o) {
    return sum + o.work.forward.flops;
  });
}

}  // namespace

TEST_CASE("small ops become part of what they alone read") {
  // Data, a large op, two small ones in a row, and a large one.
  const auto fused = fuse_small_ops(
      {op({}, false, 1), op({0}, false, 2), op({1}, true, 3), op({2}, true, 4), op({3}, false, 5)});
  REQUIRE(fused.size() == 3);
  CHECK(fused[1].description == "op + Small + Small");
  CHECK(fused[1].output_bytes == 4);
  CHECK(fused[1].parameters == 3);
  CHECK(fused[1].work.forward.launches == 3);
  CHECK(fused[2].inputs == std::vector<int>{1});
  CHECK(flops_of(fused) == 500);
}

TEST_CASE("what others read too, and data, stay apart") {
  const auto fused = fuse_small_ops({op({}, false, 1), op({0}, true, 2), op({1}, false, 3),
                                     op({1, 2}, true, 4), op({3}, false, 5)});
  REQUIRE(fused.size() == 4);
  CHECK(fused[2].inputs == std::vector<int>{1});
  CHECK(fused[2].description == "op + Small");
  CHECK(fused[3].inputs == std::vector<int>{2});
}

TEST_CASE("what the model puts out stays, whoever else reads it") {
  std::vector<ImportedOp> ops = {op({}, false, 1), op({0}, false, 2), op({1}, true, 3)};
  ops[1].is_output = true;
  const auto fused = fuse_small_ops(ops);
  REQUIRE(fused.size() == 3);
  CHECK(fused[1].output_bytes == 2);
}

TEST_CASE("a fused model keeps its arithmetic and parameters, and is a job graph") {
  std::istringstream in(testing::onnx_resnet18());
  const ImportedModel model = import_onnx(in, "resnet18.onnx", {.batch = 8});
  const auto fused = fuse_small_ops(model.ops);
  CHECK(fused.size() < model.ops.size() / 2);
  CHECK(flops_of(fused) == flops_of(model.ops));
  const Profile profile = profile_of(fused, "resnet18", zoo::v100(), Optimizer::kAdam);
  double parameter_bytes = 0;
  double optimizer = 0;
  for (const ForwardOp& forward : profile.ops) {
    parameter_bytes += forward.parameter_bytes;
    optimizer += forward.optimizer_bytes;
  }
  CHECK(parameter_bytes == 4 * 11'689'512);
  CHECK(optimizer == 2 * parameter_bytes);
  const JobGraph graph(profile);
  CHECK(graph.num_ops() == 2 * static_cast<int>(fused.size()));
}

TEST_CASE("optimisers keep moments in float32, and a copy of what has fewer bits") {
  CHECK(optimizer_bytes(Optimizer::kSgd, 100, 400) == 0);
  CHECK(optimizer_bytes(Optimizer::kMomentum, 100, 400) == 400);
  CHECK(optimizer_bytes(Optimizer::kAdam, 100, 400) == 800);
  CHECK(optimizer_bytes(Optimizer::kSgd, 100, 200) == 400);
  CHECK(optimizer_bytes(Optimizer::kAdam, 100, 200) == 1200);
}

}  // namespace pacml::env
