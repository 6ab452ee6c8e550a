// The layers of transformers, of LayerBuilder.

#include <string>
#include <utility>

#include "common/check.h"
#include "env/graph/zoo/layer_builder.h"

namespace pacml::env::zoo {
Tensor LayerBuilder::patches(Tensor images, std::int64_t extent, std::int64_t width) {
  const Tensor squares =
      conv2d(images, {.channels = width, .kernel = extent, .stride = extent, .padding = 0});
  const Shape cut = shape(squares);
  Layer layer{.description = "ClassToken",
              .inputs = {squares.layer},
              .output = {cut[1] * cut[2] + 1, width}};
  layer.parameters = static_cast<double>(width);
  const double elements = network_.batch * num_elements(layer.output);
  return append(std::move(layer), copy_work(elements));
}

Tensor LayerBuilder::trained_positions(Tensor x, std::int64_t steps) {
  const Tensor sum = pointwise(x, "Positions(" + std::to_string(steps) + ")", 2 * kElementBytes,
                               2 * kElementBytes);
  network_.layers.back().parameters = static_cast<double>(steps * shape(x).back());
  return sum;
}

Tensor LayerBuilder::layer_norm(Tensor x) {
  const std::int64_t width = shape(x).back();
  Layer layer{.description = "LayerNorm(" + std::to_string(width) + ")",
              .inputs = {x.layer},
              .output = shape(x)};
  layer.parameters = 2 * static_cast<double>(width);
  return append(std::move(layer), normalisation_work(batch_elements(x)));
}

Tensor LayerBuilder::rms_norm(Tensor x) {
  const Tensor normed = layer_norm(x);
  Layer& layer = network_.layers.back();
  layer.description = "RMSNorm(" + std::to_string(shape(x).back()) + ")";
  layer.parameters = static_cast<double>(shape(x).back());
  return normed;
}

Tensor LayerBuilder::activation(Tensor x, const std::string& name) {
  return pointwise(x, name, 2 * kElementBytes, 3 * kElementBytes);
}

// Back, both factors and the gradient are read and two gradients written.
Tensor LayerBuilder::multiply(Tensor a, Tensor b) {
  PACML_CHECK(shape(a) == shape(b), "only equal shapes can be multiplied");
  const Tensor product = pointwise(a, "Multiply", 3 * kElementBytes, 5 * kElementBytes);
  network_.layers.back().inputs.push_back(b.layer);
  return product;
}

// Two products, and the softmax of the scores between them, which are written and read.
Tensor LayerBuilder::self_attention(Tensor x, std::int64_t heads, std::int64_t shared) {
  const Shape& in = shape(x);
  PACML_CHECK(in.size() == 2 && in[1] > 2 * shared, "attention reads queries, keys and values");
  const std::int64_t width = in[1] - 2 * shared;
  const auto steps = static_cast<double>(in[0]);
  Layer layer{.description = "SelfAttention(" + std::to_string(width) + ", " +
                             std::to_string(heads) + " heads)",
              .inputs = {x.layer},
              .output = {in[0], width}};
  layer.multiply_adds = 2 * steps * steps * static_cast<double>(width);
  const double scores = network_.batch * static_cast<double>(heads) * steps * steps;
  const LayerWork products =
      product_work({.multiply_adds = layer.multiply_adds * network_.batch,
                    .inputs = batch_elements(x) + scores,
                    .outputs = network_.batch * num_elements(layer.output) + scores});
  const LayerWork softmax = softmax_work(scores);
  return append(std::move(layer), {.forward = products.forward + softmax.forward,
                                   .backward = products.backward + softmax.backward});
}

Tensor LayerBuilder::first_step(Tensor x) {
  return append({.description = "FirstStep", .inputs = {x.layer}, .output = {shape(x).back()}});
}

Tensor LayerBuilder::tied_linear(Tensor x, std::int64_t vocabulary) {
  Shape out = shape(x);
  const std::int64_t width = out.back();
  out.back() = vocabulary;
  Layer layer{.description =
                  "TiedLinear(" + std::to_string(width) + " to " + std::to_string(vocabulary) + ")",
              .inputs = {x.layer},
              .output = std::move(out)};
  const auto weights = static_cast<double>(width * vocabulary);
  layer.multiply_adds = weights * num_elements(shape(x)) / static_cast<double>(width);
  const LayerWork work = product_work({.multiply_adds = layer.multiply_adds * network_.batch,
                                       .inputs = batch_elements(x),
                                       .weights = weights,
                                       .outputs = network_.batch * num_elements(layer.output)});
  return append(std::move(layer), work);
}

Tensor LayerBuilder::expert(Tensor x, Tensor router, std::int64_t width, double share) {
  const Shape& in = shape(x);
  const auto inner = static_cast<double>(width);
  const auto outer = static_cast<double>(in.back());
  Layer layer{
      .description = "Expert(" + std::to_string(in.back()) + ", " + std::to_string(width) + ")",
      .inputs = {x.layer, router.layer},
      .output = {static_cast<std::int64_t>(share * static_cast<double>(in[0])), in.back()}};
  layer.parameters = 3 * inner * outer;
  const double rows = static_cast<double>(layer.output[0]);
  layer.multiply_adds = rows * layer.parameters;
  // Two products of which the results are multiplied, and one back to the width of x.
  const LayerWork work = product_work({.multiply_adds = layer.multiply_adds * network_.batch,
                                       .inputs = network_.batch * rows * (2 * outer + inner),
                                       .weights = layer.parameters,
                                       .outputs = network_.batch * rows * (2 * inner + outer)});
  return append(std::move(layer), work);
}

Tensor LayerBuilder::combine(Tensor x, const std::vector<Tensor>& experts) {
  Layer layer{.description = "Combine(" + std::to_string(experts.size()) + " experts)",
              .output = shape(x)};
  double elements = batch_elements(x);
  for (const Tensor expert : experts) {
    layer.inputs.push_back(expert.layer);
    elements += batch_elements(expert);
  }
  return append(std::move(layer), reduction_work(elements, batch_elements(x)));
}

}  // namespace pacml::env::zoo
