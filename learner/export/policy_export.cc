#include "learner/export/policy_export.h"

#include <string>
#include <utility>

#include "common/config/fields.h"
#include "learner/export/policy_inputs.h"

namespace pacml::learner {

std::map<std::string, std::string> export_metadata(const PolicyExport& policy) {
  const model::NetworkConfig& config = policy.shape.config;
  const bool is_dense = config.head == model::HeadKind::kDense;
  std::map<std::string, std::string> out = policy.notes;
  out["format"] = is_dense                                      ? "pacml policy 1"
                  : config.head == model::HeadKind::kCandidates ? "pacml policy 2"
                                                                : "pacml policy 3";
  out["head"] = name_of(config.head);
  out["inputs"] = describe(policy_inputs(policy.shape, policy.globals));
  out["policy_version"] = std::to_string(policy.parameters.version.get());
  out["actions"] = std::to_string(policy.shape.actions);
  for (const model::SlotShape& slot : policy.shape.slots) {
    if (!slot.encoder) continue;
    const std::string name = "encoder." + slot.encoder->slot + ".";
    out[name + "kind"] = name_of(slot.encoder->kind);
    out[name + "blocks"] = std::to_string(slot.encoder->blocks);
  }
  if (!is_dense) return out;
  for (const auto& [name, value] : {std::pair{"node_features", policy.shape.graph().node_width},
                                    {"edge_features", policy.shape.graph().edge_width},
                                    {"globals", policy.shape.globals},
                                    {"rounds", config.rounds},
                                    {"message_width", config.message_width},
                                    {"hidden_width", config.hidden_width},
                                    {"node_width", config.node_width},
                                    {"graph_width", config.graph_width},
                                    {"readout_width", config.readout_width}}) {
    out[name] = std::to_string(value);
  }
  return out;
}

}  // namespace pacml::learner
