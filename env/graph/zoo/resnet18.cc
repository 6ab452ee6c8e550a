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

}  // namespace

Network resnet18(int batch) {
  LayerBuilder b("resnet18", batch);
  Tensor x = b.image_input(3, 224, 224);
  x = b.relu(convolution(b, x, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3}));
  x = b.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (const std::int64_t channels : {64, 128, 256, 512}) {
    x = residual_block(b, x, channels, channels == 64 ? 1 : 2);
    x = residual_block(b, x, channels, 1);
  }
  x = b.flatten(b.global_average_pool(x));
  b.softmax_cross_entropy(b.linear(x, 1000));
  return b.build();
}

}  // namespace pacml::env::zoo
