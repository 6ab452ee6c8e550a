#include "model/encoders/fused_encoders.h"

#include <algorithm>

namespace pacml::model {

FusedEncoders::FusedEncoders(const NetworkShape& shape, const Kernel& kernel)
    : agents_(shape.known_agents()), context_(static_cast<std::size_t>(shape.context_width())) {
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    if (!shape.slots[slot].encoder) continue;
    if (shape.node_slot == slot) node_encoder_ = encoders_.size();
    encoders_.emplace_back(shape.slots[slot], slot, kernel);
  }
}

void FusedEncoders::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  for (FusedEncoder& encoder : encoders_) encoder.set_graphs(graphs);
}

void FusedEncoders::set_weights(const std::vector<PackedEncoder>& weights) {
  for (std::size_t e = 0; e < encoders_.size(); ++e) encoders_[e].set_weights(weights[e]);
}

void FusedEncoders::look_at(const Observations& batch, std::size_t b) {
  auto next = context_.begin();
  for (FusedEncoder& encoder : encoders_) {
    encoder.look_at(batch, b);
    next = std::ranges::copy(encoder.context(), next).out;
  }
  if (agents_ == 0) return;
  std::fill(next, context_.end(), 0.0F);
  next[batch.agent(b)] = 1.0F;
}

}  // namespace pacml::model
