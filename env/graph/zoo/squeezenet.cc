#include "env/graph/zoo/layer_builder.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env::zoo {
namespace {

// Squeezes the channels, then expands them by two convolutions side by side.
Tensor fire(LayerBuilder& b, Tensor x, std::int64_t squeeze, std::int64_t expand) {
  x = b.relu(b.conv2d(x, {.channels = squeeze, .kernel = 1}));
  const Tensor narrow = b.relu(b.conv2d(x, {.channels = expand, .kernel = 1}));
  const Tensor wide = b.relu(b.conv2d(x, {.channels = expand, .kernel = 3, .padding = 1}));
  return b.concat({narrow, wide});
}

}  // namespace

Network squeezenet1_0(int batch) {
  LayerBuilder b("squeezenet1_0", batch);
  const MaxPool pool{.kernel = 3, .stride = 2, .ceil = true};
  Tensor x = b.image_input(3, 224, 224);
  x = b.relu(b.conv2d(x, {.channels = 96, .kernel = 7, .stride = 2}));
  x = b.max_pool(x, pool);
  x = fire(b, x, 16, 64);
  x = fire(b, x, 16, 64);
  x = fire(b, x, 32, 128);
  x = b.max_pool(x, pool);
  x = fire(b, x, 32, 128);
  x = fire(b, x, 48, 192);
  x = fire(b, x, 48, 192);
  x = fire(b, x, 64, 256);
  x = b.max_pool(x, pool);
  x = fire(b, x, 64, 256);
  // The classifier is a convolution too: its maps are averaged to the logits.
  x = b.relu(b.conv2d(b.dropout(x, 0.5), {.channels = 1000, .kernel = 1}));
  b.softmax_cross_entropy(b.flatten(b.global_average_pool(x)));
  return b.build();
}

}  // namespace pacml::env::zoo
