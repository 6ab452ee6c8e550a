#include "common/check.h"
#include "learner/checkpoint.h"
#include "learner/export/safetensors.h"
#include "model/layout.h"
#include "tests/fuzz/learner/targets.h"

namespace pacml::fuzz {
namespace {

model::ParameterLayout smallest_layout() {
  model::NetworkConfig config;
  config.rounds = 1;
  config.message_width = 2;
  config.hidden_width = config.node_width = config.graph_width = config.readout_width = 1;
  return model::make_layout({config, {{1, 1}}, 1, 1});
}

}  // namespace

bool safetensors(std::string_view bytes) {
  static const model::ParameterLayout kLayout = smallest_layout();
  if (const auto checkpoint = learner::decode_checkpoint(bytes, kLayout)) {
    const auto again =
        learner::decode_checkpoint(learner::encode_checkpoint(*checkpoint, kLayout), kLayout);
    PACML_CHECK(again.has_value() && *again == *checkpoint, "a checkpoint survives a round trip");
  }
  const auto file = learner::decode_safetensors(bytes);
  if (!file) return false;
  const auto again = learner::decode_safetensors(learner::encode_safetensors(*file));
  PACML_CHECK(again.has_value() && again->tensors.size() == file->tensors.size() &&
                  again->metadata == file->metadata,
              "a safetensors file survives a round trip");
  return true;
}

}  // namespace pacml::fuzz
