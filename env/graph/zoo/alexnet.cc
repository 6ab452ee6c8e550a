#include "env/graph/zoo/layer_builder.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env::zoo {

Network alexnet(int batch) {
  LayerBuilder b("alexnet", batch);
  const MaxPool pool{.kernel = 3, .stride = 2};
  Tensor x = b.image_input(3, 224, 224);

  x = b.relu(b.conv2d(x, {.channels = 64, .kernel = 11, .stride = 4, .padding = 2}));
  x = b.max_pool(x, pool);
  x = b.relu(b.conv2d(x, {.channels = 192, .kernel = 5, .padding = 2}));
  x = b.max_pool(x, pool);
  x = b.relu(b.conv2d(x, {.channels = 384, .kernel = 3, .padding = 1}));
  x = b.relu(b.conv2d(x, {.channels = 256, .kernel = 3, .padding = 1}));
  x = b.relu(b.conv2d(x, {.channels = 256, .kernel = 3, .padding = 1}));
  x = b.max_pool(x, pool);

  x = b.dropout(b.flatten(x), 0.5);
  x = b.dropout(b.relu(b.linear(x, 4096)), 0.5);
  x = b.relu(b.linear(x, 4096));
  b.softmax_cross_entropy(b.linear(x, 1000));
  return b.build();
}

}  // namespace pacml::env::zoo
