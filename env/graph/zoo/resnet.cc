#include "env/graph/zoo/layer_builder.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env::zoo {
namespace {

// Normalisation follows every convolution, whose bias it would cancel.
Tensor convolution(LayerBuilder& b, Tensor x, Conv2d conv) {
  conv.bias = false;
  return b.batch_norm(b.conv2d(x, conv));
}

// Two convolutions and a way around them, which is projected where the shape changes.
Tensor residual_block(LayerBuilder& b, Tensor x, std::int64_t channels, std::int64_t stride) {
  Tensor y = b.relu(
      convolution(b, x, {.channels = channels, .kernel = 3, .stride = stride, .padding = 1}));
  y = convolution(b, y, {.channels = channels, .kernel = 3, .padding = 1});
  if (b.shape(x) != b.shape(y)) {
    x = convolution(b, x, {.channels = channels, .kernel = 1, .stride = stride});
  }
  return b.relu(b.add(y, x));
}

// Three convolutions, the middle one on fewer channels, and a way around them.
Tensor bottleneck(LayerBuilder& b, Tensor x, std::int64_t channels, std::int64_t stride) {
  Tensor y = b.relu(convolution(b, x, {.channels = channels, .kernel = 1}));
  y = b.relu(
      convolution(b, y, {.channels = channels, .kernel = 3, .stride = stride, .padding = 1}));
  y = convolution(b, y, {.channels = 4 * channels, .kernel = 1});
  if (b.shape(x) != b.shape(y)) {
    x = convolution(b, x, {.channels = 4 * channels, .kernel = 1, .stride = stride});
  }
  return b.relu(b.add(y, x));
}

Tensor stem(LayerBuilder& b) {
  Tensor x = b.image_input(3, 224, 224);
  x = b.relu(convolution(b, x, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3}));
  return b.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
}

Network classified(LayerBuilder& b, Tensor x) {
  x = b.flatten(b.global_average_pool(x));
  b.softmax_cross_entropy(b.linear(x, 1000));
  return b.build();
}

}  // namespace

Network resnet18(int batch) {
  LayerBuilder b("resnet18", batch);
  Tensor x = stem(b);
  for (const std::int64_t channels : {64, 128, 256, 512}) {
    x = residual_block(b, x, channels, channels == 64 ? 1 : 2);
    x = residual_block(b, x, channels, 1);
  }
  return classified(b, x);
}

Network resnet50(int batch) {
  LayerBuilder b("resnet50", batch);
  Tensor x = stem(b);
  std::int64_t channels = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      x = bottleneck(b, x, channels, block == 0 && channels > 64 ? 2 : 1);
    }
    channels *= 2;
  }
  return classified(b, x);
}

}  // namespace pacml::env::zoo
