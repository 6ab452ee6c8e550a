#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/check.h"
#include "common/result.h"
#include "env/placement/device_presets.h"
#include "env/placement/list_schedule.h"
#include "env/placement/op_graph_json.h"
#include "tests/fuzz/env/targets.h"

namespace pacml::fuzz {
namespace {

// Large graphs are slow to place; the reader's limits have tests of their own.
constexpr env::OpGraphLimits kLimits{.max_ops = 500, .max_edges = 5000, .max_outputs = 5000};

void place(const env::OpGraphPtr& graph, const char* devices) {
  const auto problem = std::make_shared<const env::PlacementProblem>(
      graph, std::make_shared<const env::DeviceSet>(env::devices_config(devices)),
      env::MemoryPenalty{.s_per_gb = 2});
  env::PlacementEvaluator evaluator(problem);
  for (const auto rule : {env::ListRule::kHeft, env::ListRule::kEtf}) {
    const double runtime = evaluator.runtime_s(env::list_schedule(*problem, rule));
    PACML_CHECK(std::isfinite(runtime) && runtime >= 0, "a runtime that is none");
    for (const double peak : evaluator.simulator().peak_bytes()) {
      PACML_CHECK(std::isfinite(peak), "memory that is none");
    }
  }
}

}  // namespace

bool op_graph(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto document = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
  if (document.is_discarded()) return false;
  try {
    const auto graph =
        std::make_shared<const env::OpGraph>(env::op_graph_from_json(document, kLimits), kLimits);
    place(graph, "placeto:3");
    place(graph, "a100x8_two_hosts");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
