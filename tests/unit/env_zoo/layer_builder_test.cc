#include "env/graph/zoo/layer_builder.h"

#include "tests/support/catch.h"

namespace pacml::env::zoo {
namespace {

// The layer added last.
Layer last_of(LayerBuilder& builder) { return builder.build().layers.back(); }

}  // namespace

TEST_CASE("a convolution's shape, weights and arithmetic are those worked out by hand") {
  LayerBuilder b("m", 2);
  const Tensor hidden = b.conv2d(b.image_input(3, 9, 9), {.channels = 4, .kernel = 3});
  CHECK(b.shape(hidden) == Shape{4, 7, 7});
  const Tensor out = b.conv2d(hidden, {.channels = 5, .kernel = 3, .stride = 2, .padding = 1});
  CHECK(b.shape(out) == Shape{5, 4, 4});
  const Layer layer = last_of(b);
  CHECK(layer.parameters == 5 * 4 * 3 * 3 + 5);
  CHECK(layer.multiply_adds == 5 * 4 * 3 * 3 * (4 * 4));
  CHECK(layer.forward.flops == 2 * 2 * layer.multiply_adds);
  CHECK(layer.forward.memory_bytes == 4 * (2 * 4 * 7 * 7 + 185 + 2 * 5 * 4 * 4));
  CHECK(layer.backward.flops == 2 * layer.forward.flops);
}

TEST_CASE("the first convolution needs no gradient of the data") {
  LayerBuilder b("m", 1);
  b.conv2d(b.image_input(3, 8, 8), {.channels = 4, .kernel = 1, .bias = false});
  const Layer layer = last_of(b);
  CHECK(layer.parameters == 12);
  CHECK(layer.backward.flops == layer.forward.flops);
}

TEST_CASE("a pooling window may hang over the edge only when rounding up") {
  LayerBuilder b("m", 1);
  const Tensor x = b.image_input(1, 6, 6);
  CHECK(b.shape(b.max_pool(x, {.kernel = 3, .stride = 2})) == Shape{1, 2, 2});
  CHECK(b.shape(b.max_pool(x, {.kernel = 3, .stride = 2, .ceil = true})) == Shape{1, 3, 3});
  CHECK(b.shape(b.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1})) == Shape{1, 3, 3});
  // The last of the rounded-up windows would start outside.
  CHECK(b.shape(b.max_pool(x, {.kernel = 2, .stride = 4, .padding = 1, .ceil = true})) ==
        Shape{1, 2, 2});
  CHECK(b.shape(b.global_average_pool(x)) == Shape{1, 1, 1});
}

TEST_CASE("a linear layer works on the last extent, step by step for sequences") {
  LayerBuilder b("m", 3);
  const Tensor tokens = b.token_input(1, 7);
  const Tensor out = b.linear(b.embedding(tokens, 100, 16), 10);
  CHECK(b.shape(out) == Shape{7, 10});
  const Layer layer = last_of(b);
  CHECK(layer.parameters == 16 * 10 + 10);
  CHECK(layer.multiply_adds == 7 * 16 * 10);
}

TEST_CASE("a recurrent layer has four gates, two biases and two directions if asked") {
  LayerBuilder b("m", 3);
  const Tensor x = b.embedding(b.token_input(1, 7), 100, 16);
  const Tensor one = b.lstm(x, 8);
  CHECK(b.shape(one) == Shape{7, 8});
  const Tensor both = b.bidirectional_lstm(x, 8);
  CHECK(b.shape(both) == Shape{7, 16});
  const Network network = b.build();
  CHECK(network.layers[2].parameters == 4 * 8 * (16 + 8) + 2 * 4 * 8);
  CHECK(network.layers[2].multiply_adds == 7 * 4 * 8 * (16 + 8));
  CHECK(network.layers[3].parameters == 2 * network.layers[2].parameters);
  CHECK(network.layers[3].multiply_adds == 2 * network.layers[2].multiply_adds);
}

TEST_CASE("attention gives as many steps as it is asked") {
  LayerBuilder b("m", 3);
  const Tensor keys = b.embedding(b.token_input(1, 7), 100, 16);
  const Tensor queries = b.embedding(b.token_input(1, 5), 100, 16);
  CHECK(b.shape(b.attention(queries, keys)) == Shape{5, 16});
  const Layer layer = last_of(b);
  CHECK(layer.parameters == 2 * 16 * 16 + 16);
  CHECK(layer.multiply_adds == (5 + 7) * 16 * 16 + 2 * 5 * 7 * 16);
}

TEST_CASE("images are put together by channel, sequences by width") {
  LayerBuilder b("m", 1);
  const Tensor image = b.image_input(3, 4, 4);
  CHECK(b.shape(b.concat({image, image})) == Shape{6, 4, 4});
  const Tensor text = b.embedding(b.token_input(1, 7), 100, 16);
  CHECK(b.shape(b.concat({text, text, text})) == Shape{7, 48});
}

TEST_CASE("a sum depends on both terms") {
  LayerBuilder b("m", 1);
  const Tensor x = b.image_input(3, 4, 4);
  const Tensor y = b.relu(x);
  b.add(y, x);
  CHECK(last_of(b).inputs == std::vector<int>{y.layer, x.layer});
}

TEST_CASE("flattening is a view that costs nothing") {
  LayerBuilder b("m", 1);
  CHECK(b.shape(b.flatten(b.image_input(3, 4, 4))) == Shape{48});
  const Layer layer = last_of(b);
  CHECK(layer.forward.memory_bytes == 0);
  CHECK(layer.forward.launches == 0);
  CHECK(layer.backward.memory_bytes == 0);
}

}  // namespace pacml::env::zoo
