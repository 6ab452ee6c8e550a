#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "env/graph/zoo/layer_work.h"
#include "env/graph/zoo/network.h"

namespace pacml::env::zoo {

// The output of a layer that a builder has added.
struct Tensor {
  int layer = 0;  // its position
};

struct Conv2d {
  std::int64_t channels = 0;  // of the output
  std::int64_t kernel = 1;    // extent in both directions; likewise below
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = true;
};

struct MaxPool {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil = false;  // a window that hangs over the edge counts
};

// Describes a network one layer at a time; each call adds the layer and returns its output. Shapes
// that do not fit are bugs of the description (PACML_CHECK). What layers cost is in
// layer_work.h. Thread-confined.
class LayerBuilder {
 public:
  // Pre: batch > 0.
  LayerBuilder(std::string model, int batch);

  // The mini-batch as it comes from the host: decoded images, or sequences of token numbers.
  Tensor image_input(std::int64_t channels, std::int64_t height, std::int64_t width);
  Tensor token_input(std::int64_t sequences, std::int64_t steps);

  // Images {channels, height, width}.
  Tensor conv2d(Tensor x, const Conv2d& conv);
  Tensor batch_norm(Tensor x);
  Tensor max_pool(Tensor x, const MaxPool& pool);
  Tensor global_average_pool(Tensor x);  // to {channels, 1, 1}

  // Any shape.
  Tensor relu(Tensor x);
  Tensor dropout(Tensor x, double rate);
  Tensor add(Tensor a, Tensor b);                                 // equal shapes
  Tensor flatten(Tensor x);                                       // a view: costs nothing
  Tensor linear(Tensor x, std::int64_t width, bool bias = true);  // of the last extent
  Tensor softmax_cross_entropy(Tensor logits);  // classes in the last extent; a loss per sample

  // Along the first extent of images, along the last one of sequences; the others are equal.
  Tensor concat(std::initializer_list<Tensor> parts);

  // Transformers: sequences {steps, width}.
  // Images cut into squares, {squares + 1, width}: one more step in front, which asks for the
  // class.
  Tensor patches(Tensor images, std::int64_t extent, std::int64_t width);
  // A vector is added to each step, of so many that are trained.
  Tensor trained_positions(Tensor x, std::int64_t steps);
  Tensor layer_norm(Tensor x);
  Tensor rms_norm(Tensor x);
  Tensor activation(Tensor x, const std::string& name);  // GELU, SiLU, Tanh
  Tensor multiply(Tensor a, Tensor b);                   // equal shapes
  // Softmax of queries times keys, times values (Vaswani et al. 2017), of what one linear layer
  // made: {steps, width + 2 shared}, where `shared` is the width of keys and of values. To {steps,
  // width}.
  Tensor self_attention(Tensor x, std::int64_t heads, std::int64_t shared);
  Tensor first_step(Tensor x);  // to {width}: a view
  // To the vocabulary, by the table of an embedding: no parameters of its own.
  Tensor tied_linear(Tensor x, std::int64_t vocabulary);
  // One of several feed-forward layers (gated: three matrices), which a share of the steps goes
  // through; and the sum of what they all put out, to the shape of x.
  Tensor expert(Tensor x, Tensor router, std::int64_t width, double share);
  Tensor combine(Tensor x, const std::vector<Tensor>& experts);

  // Sequences {steps, width}.
  Tensor embedding(Tensor tokens, std::int64_t vocabulary, std::int64_t width);
  Tensor lstm(Tensor x, std::int64_t width);
  Tensor bidirectional_lstm(Tensor x, std::int64_t width);  // to {steps, 2 width}
  // Additive attention of every query step over all key steps, giving the weighted keys: Bahdanau
  // et al. 2015. Queries, keys and result have the same width.
  Tensor attention(Tensor queries, Tensor keys);

  [[nodiscard]] const Shape& shape(Tensor x) const;
  // What was described. The builder is empty afterwards.
  [[nodiscard]] Network build();

 private:
  Tensor append(Layer layer);
  Tensor append(Layer layer, const LayerWork& work);
  // A matrix product of x, the layer's parameters and its multiply_adds.
  Tensor append_product(Layer layer, Tensor x, int gradients);
  // A layer that reads `reads` and writes `writes` bytes per element of x in the forward and
  // backward pass, and changes no shape.
  Tensor pointwise(Tensor x, std::string description, double forward_bytes, double backward_bytes);
  Tensor recurrent(Tensor x, std::int64_t width, int directions);
  [[nodiscard]] double batch_elements(Tensor x) const;  // of the whole mini-batch
  [[nodiscard]] bool is_input(Tensor x) const;

  Network network_;
};

}  // namespace pacml::env::zoo
