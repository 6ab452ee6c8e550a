#include "model/encoders/torch_encoders.h"

#include <ATen/ATen.h>

#include <utility>

#include "common/check.h"

namespace pacml::model {

TorchEncoders::TorchEncoders(const NetworkShape& shape, const NamedParts& parts)
    : agents_(shape.known_agents()) {
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    if (!shape.slots[slot].encoder) continue;
    if (shape.node_slot == slot) node_encoder_ = encoders_.size();
    encoders_.emplace_back(shape.slots[slot], slot, parts);
  }
}

void TorchEncoders::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  for (TorchEncoder& encoder : encoders_) encoder.set_graphs(graphs);
}

TorchEncoders::Context TorchEncoders::encode(const Observations& batch) const {
  PACML_CHECK(!encoders_.empty() || agents_ > 0, "a network that has a context");
  Context out;
  std::vector<at::Tensor> parts;
  for (std::size_t e = 0; e < encoders_.size(); ++e) {
    TorchEncoding encoding = encoders_[e].encode(batch);
    parts.push_back(encoding.context);
    if (node_encoder_ == e) out.candidates = std::move(encoding);
  }
  if (agents_ > 0) {
    const at::Tensor agents =
        at::zeros({static_cast<std::int64_t>(batch.size()), agents_}, at::kFloat);
    float* row = agents.data_ptr<float>();
    for (std::size_t b = 0; b < batch.size(); ++b, row += agents_) row[batch.agent(b)] = 1;
    parts.push_back(agents);
  }
  out.values = at::cat(parts, 1);
  return out;
}

}  // namespace pacml::model
