#include "env/graph/zoo/layer_builder.h"

#include <cmath>
#include <utility>

#include "common/check.h"
#include "env/graph/zoo/layer_work.h"

namespace pacml::env::zoo {
namespace {

constexpr double kTokenBytes = 8;  // token numbers and indices are 64-bit integers
constexpr double kMaskBytes = 1;   // what dropout kept
constexpr double kLstmGates = 4;

// Output extent of a window that moves over a padded input.
std::int64_t window_count(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                          std::int64_t padding, bool ceil) {
  const std::int64_t room = extent + 2 * padding - kernel;
  PACML_CHECK(room >= 0, "a window must not be larger than what it moves over");
  std::int64_t count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  // A window may hang over the edge, but it must start inside.
  if (ceil && (count - 1) * stride >= extent + padding) --count;
  return count;
}

}  // namespace

LayerBuilder::LayerBuilder(std::string model, int batch) {
  PACML_CHECK(batch > 0, "a mini-batch holds at least one sample");
  network_.model = std::move(model);
  network_.batch = batch;
}

Tensor LayerBuilder::image_input(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Layer layer{.description = "Images", .output = {channels, height, width}};
  layer.forward = {.decoded_images = static_cast<double>(network_.batch),
                   .host_bytes = network_.batch * num_elements(layer.output) * kElementBytes};
  return append(std::move(layer));
}

Tensor LayerBuilder::token_input(std::int64_t sequences, std::int64_t steps) {
  Layer layer{.description = "Tokens", .output = {sequences, steps}, .element_bytes = kTokenBytes};
  layer.forward = {.host_bytes = network_.batch * num_elements(layer.output) * kTokenBytes};
  return append(std::move(layer));
}

Tensor LayerBuilder::conv2d(Tensor x, const Conv2d& conv) {
  const Shape& in = shape(x);
  PACML_CHECK(in.size() == 3, "a convolution reads images");
  const std::int64_t height = window_count(in[1], conv.kernel, conv.stride, conv.padding, false);
  const std::int64_t width = window_count(in[2], conv.kernel, conv.stride, conv.padding, false);
  const auto weights = static_cast<double>(conv.channels * in[0] * conv.kernel * conv.kernel);
  Layer layer{.description =
                  "Convolution(" + std::to_string(in[0]) + " to " + std::to_string(conv.channels) +
                  " channels, kernel " + std::to_string(conv.kernel) + ", stride " +
                  std::to_string(conv.stride) + ", padding " + std::to_string(conv.padding) + ")",
              .inputs = {x.layer},
              .output = {conv.channels, height, width}};
  layer.parameters = weights + (conv.bias ? static_cast<double>(conv.channels) : 0);
  layer.multiply_adds = weights * static_cast<double>(height * width);
  return append_product(std::move(layer), x, is_input(x) ? 1 : 2);
}

Tensor LayerBuilder::batch_norm(Tensor x) {
  const Shape& in = shape(x);
  PACML_CHECK(in.size() == 3, "batch normalisation reads images");
  Layer layer{
      .description = "BatchNorm(" + std::to_string(in[0]) + ")", .inputs = {x.layer}, .output = in};
  layer.parameters = 2 * static_cast<double>(in[0]);
  return append(std::move(layer), normalisation_work(batch_elements(x)));
}

Tensor LayerBuilder::max_pool(Tensor x, const MaxPool& pool) {
  const Shape& in = shape(x);
  PACML_CHECK(in.size() == 3, "pooling reads images");
  Layer layer{
      .description = "MaxPool(kernel " + std::to_string(pool.kernel) + ", stride " +
                     std::to_string(pool.stride) + ", padding " + std::to_string(pool.padding) +
                     ")",
      .inputs = {x.layer},
      .output = {in[0], window_count(in[1], pool.kernel, pool.stride, pool.padding, pool.ceil),
                 window_count(in[2], pool.kernel, pool.stride, pool.padding, pool.ceil)}};
  const double outputs = network_.batch * num_elements(layer.output);
  return append(std::move(layer), max_pool_work(batch_elements(x), outputs,
                                                static_cast<double>(pool.kernel * pool.kernel)));
}

Tensor LayerBuilder::global_average_pool(Tensor x) {
  const Shape& in = shape(x);
  PACML_CHECK(in.size() == 3, "pooling reads images");
  Layer layer{.description = "GlobalAveragePool", .inputs = {x.layer}, .output = {in[0], 1, 1}};
  const double outputs = network_.batch * num_elements(layer.output);
  return append(std::move(layer), reduction_work(batch_elements(x), outputs));
}

// Forward reads x and writes; backward reads the output and its gradient and writes.
Tensor LayerBuilder::relu(Tensor x) {
  return pointwise(x, "ReLU", 2 * kElementBytes, 3 * kElementBytes);
}

// Both passes read and write, and touch the mask of what was kept.
Tensor LayerBuilder::dropout(Tensor x, double rate) {
  const auto percent = std::lround(rate * 100);
  return pointwise(x, "Dropout(" + std::to_string(percent) + " %)", 2 * kElementBytes + kMaskBytes,
                   2 * kElementBytes + kMaskBytes);
}

// The gradient passes through unchanged. What the backward pass costs is the sum of gradients where
// the two paths meet again.
Tensor LayerBuilder::add(Tensor a, Tensor b) {
  PACML_CHECK(shape(a) == shape(b), "only equal shapes can be added");
  const Tensor sum = pointwise(a, "Add", 3 * kElementBytes, 3 * kElementBytes);
  network_.layers.back().inputs.push_back(b.layer);
  return sum;
}

Tensor LayerBuilder::flatten(Tensor x) {
  return append({.description = "Flatten",
                 .inputs = {x.layer},
                 .output = {static_cast<std::int64_t>(num_elements(shape(x)))}});
}

Tensor LayerBuilder::linear(Tensor x, std::int64_t width, bool bias) {
  Shape out = shape(x);
  const std::int64_t in_width = out.back();
  const double rows = num_elements(out) / static_cast<double>(in_width);
  out.back() = width;
  const auto weights = static_cast<double>(in_width * width);
  Layer layer{
      .description = "Linear(" + std::to_string(in_width) + " to " + std::to_string(width) + ")",
      .inputs = {x.layer},
      .output = std::move(out)};
  layer.parameters = weights + (bias ? static_cast<double>(width) : 0);
  layer.multiply_adds = weights * rows;
  return append_product(std::move(layer), x, 2);
}

Tensor LayerBuilder::softmax_cross_entropy(Tensor logits) {
  Layer layer{.description = "SoftmaxCrossEntropy", .inputs = {logits.layer}, .output = {1}};
  return append(std::move(layer), cross_entropy_work(batch_elements(logits)));
}

Tensor LayerBuilder::concat(std::initializer_list<Tensor> parts) {
  PACML_CHECK(parts.size() > 1, "there is nothing to put together");
  Shape out = shape(*parts.begin());
  const std::size_t axis = out.size() == 3 ? 0 : out.size() - 1;
  out[axis] = 0;
  Layer layer{.description = "Concat"};
  for (const Tensor part : parts) {
    Shape in = shape(part);
    PACML_CHECK(in.size() == out.size(), "only tensors of one kind can be put together");
    out[axis] += in[axis];
    in[axis] = out[axis];
    PACML_CHECK(in == out, "tensors put together differ in one extent only");
    layer.inputs.push_back(part.layer);
  }
  layer.output = std::move(out);
  const double elements = network_.batch * num_elements(layer.output);
  return append(std::move(layer), copy_work(elements));
}

Tensor LayerBuilder::embedding(Tensor tokens, std::int64_t vocabulary, std::int64_t width) {
  const std::int64_t steps = shape(tokens).back();
  Layer layer{.description =
                  "Embedding(" + std::to_string(vocabulary) + " to " + std::to_string(width) + ")",
              .inputs = {tokens.layer},
              .output = {steps, width}};
  layer.parameters = static_cast<double>(vocabulary * width);
  const double rows = network_.batch * static_cast<double>(steps);
  const double outputs = network_.batch * num_elements(layer.output);
  const LayerWork work = lookup_work({.table = layer.parameters, .rows = rows, .outputs = outputs});
  return append(std::move(layer), work);
}

Tensor LayerBuilder::lstm(Tensor x, std::int64_t width) { return recurrent(x, width, 1); }

Tensor LayerBuilder::bidirectional_lstm(Tensor x, std::int64_t width) {
  return recurrent(x, width, 2);
}

// Two bias vectors, as cuDNN has them.
Tensor LayerBuilder::recurrent(Tensor x, std::int64_t width, int directions) {
  const Shape& in = shape(x);
  PACML_CHECK(in.size() == 2, "a recurrent layer reads sequences");
  const auto steps = static_cast<double>(in[0]);
  const auto in_width = static_cast<double>(in[1]);
  const auto hidden = static_cast<double>(width);
  const double input_weights = kLstmGates * hidden * in_width;
  const double recurrent_weights = kLstmGates * hidden * hidden;
  Layer layer{.description = std::string(directions == 2 ? "BidirectionalLSTM(" : "LSTM(") +
                             std::to_string(in[1]) + " to " + std::to_string(width) + ")",
              .inputs = {x.layer},
              .output = {in[0], directions * width}};
  layer.parameters = directions * (input_weights + recurrent_weights + 2 * kLstmGates * hidden);
  layer.multiply_adds = directions * steps * (input_weights + recurrent_weights);
  const LayerWork work = recurrent_work({.directions = directions,
                                         .multiply_adds = layer.multiply_adds * network_.batch,
                                         .inputs = batch_elements(x),
                                         .input_weights = input_weights,
                                         .recurrent_weights = recurrent_weights,
                                         .steps = steps,
                                         .gates = network_.batch * steps * kLstmGates * hidden});
  return append(std::move(layer), work);
}

// score(q, k) = v . tanh(Wq q + Wk k): two projections, one tensor {query steps, key steps, width}
// that is written and read twice (sum, tanh), then the softmax and the weighted sum. Backward is
// twice the forward pass.
Tensor LayerBuilder::attention(Tensor queries, Tensor keys) {
  const Shape& q = shape(queries);
  const Shape& k = shape(keys);
  PACML_CHECK(q.size() == 2 && k.size() == 2 && q[1] == k[1],
              "attention reads two sequences of one width");
  const auto width = static_cast<double>(q[1]);
  const auto query_steps = static_cast<double>(q[0]);
  const auto key_steps = static_cast<double>(k[0]);
  Layer layer{.description = "Attention(" + std::to_string(q[1]) + ")",
              .inputs = {queries.layer, keys.layer},
              .output = q};
  layer.parameters = 2 * width * width + width;
  const double pairs = query_steps * key_steps * width;
  layer.multiply_adds = (query_steps + key_steps) * width * width + 2 * pairs;
  layer.forward = {
      .flops = 2 * layer.multiply_adds * network_.batch,
      .memory_bytes = kElementBytes * (2 * batch_elements(queries) + 2 * batch_elements(keys) +
                                       layer.parameters + 4 * network_.batch * pairs),
      .launches = 7};
  layer.backward = scaled(layer.forward, 2);
  return append(std::move(layer));
}

const Shape& LayerBuilder::shape(Tensor x) const {
  PACML_CHECK(x.layer >= 0 && static_cast<std::size_t>(x.layer) < network_.layers.size(),
              "a tensor comes from this builder");
  return network_.layers[static_cast<std::size_t>(x.layer)].output;
}

Network LayerBuilder::build() { return std::move(network_); }

Tensor LayerBuilder::append_product(Layer layer, Tensor x, int gradients) {
  const LayerWork work = product_work({.multiply_adds = layer.multiply_adds * network_.batch,
                                       .inputs = batch_elements(x),
                                       .weights = layer.parameters,
                                       .outputs = network_.batch * num_elements(layer.output),
                                       .gradients = gradients});
  return append(std::move(layer), work);
}

Tensor LayerBuilder::append(Layer layer, const LayerWork& work) {
  layer.forward = work.forward;
  layer.backward = work.backward;
  return append(std::move(layer));
}

Tensor LayerBuilder::append(Layer layer) {
  network_.layers.push_back(std::move(layer));
  return {static_cast<int>(network_.layers.size()) - 1};
}

Tensor LayerBuilder::pointwise(Tensor x, std::string description, double forward_bytes,
                               double backward_bytes) {
  Layer layer{.description = std::move(description), .inputs = {x.layer}, .output = shape(x)};
  return append(std::move(layer), pointwise_work(batch_elements(x), forward_bytes, backward_bytes));
}

double LayerBuilder::batch_elements(Tensor x) const {
  return network_.batch * num_elements(shape(x));
}

bool LayerBuilder::is_input(Tensor x) const {
  return network_.layers[static_cast<std::size_t>(x.layer)].inputs.empty();
}

}  // namespace pacml::env::zoo
