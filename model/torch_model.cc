#include "model/torch_model.h"

#include "common/check.h"

namespace pacml::model {

std::unique_ptr<TorchModel> make_torch_model(const NetworkShape& shape,
                                             const ParameterLayout& layout,
                                             std::span<const at::Tensor> parts) {
  const NamedParts named(layout, parts);
  switch (shape.config.head) {
    case HeadKind::kDense:
      return make_torch_dense(shape, named);
    case HeadKind::kCandidates:
      return make_torch_candidates(shape, named);
    case HeadKind::kPerceptron:
      return make_torch_perceptron(shape, named);
  }
  PACML_CHECK(false, "a kind of head");
}

}  // namespace pacml::model
