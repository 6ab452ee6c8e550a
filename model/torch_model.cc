#include "model/torch_model.h"

namespace pacml::model {

std::unique_ptr<TorchModel> make_torch_model(const NetworkShape& shape,
                                             const ParameterLayout& layout,
                                             std::span<const at::Tensor> parts) {
  const NamedParts named(layout, parts);
  return shape.config.head == HeadKind::kCandidates ? make_torch_candidates(shape, named)
                                                    : make_torch_dense(shape, named);
}

}  // namespace pacml::model
