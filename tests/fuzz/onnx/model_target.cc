#include <cmath>
#include <sstream>
#include <string>

#include "common/check.h"
#include "common/result.h"
#include "env/graph/job_graph.h"
#include "env/onnx/import_onnx.h"
#include "tests/fuzz/onnx/targets.h"

namespace pacml::fuzz {
namespace {

void check(const std::vector<env::ImportedOp>& ops) {
  const env::JobGraph graph(env::profile_of(ops, "fuzz", env::zoo::a100(), env::Optimizer::kAdam));
  PACML_CHECK(
      std::isfinite(graph.total_compute() + graph.total_memory() + graph.total_dependency_bytes()),
      "an imported model's sums are finite");
  for (const double time : graph.compute()) PACML_CHECK(time >= 0, "a time is none below 0");
  for (const double bytes : graph.memory()) PACML_CHECK(bytes >= 0, "a size is none below 0");
}

}  // namespace

bool model(std::span<const std::byte> bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  try {
    const env::ImportedModel imported = env::import_onnx(in, "fuzz", {.batch = 2, .extents = {}});
    check(imported.ops);
    check(env::fuse_small_ops(imported.ops));
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
