#include "env/graph/zoo/layer_builder.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env::zoo {

Network vgg16(int batch) {
  struct Block {
    std::int64_t channels;
    int convolutions;
  };
  constexpr Block kBlocks[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};

  LayerBuilder b("vgg16", batch);
  Tensor x = b.image_input(3, 224, 224);
  for (const Block& block : kBlocks) {
    for (int i = 0; i < block.convolutions; ++i) {
      x = b.relu(b.conv2d(x, {.channels = block.channels, .kernel = 3, .padding = 1}));
    }
    x = b.max_pool(x, {.kernel = 2, .stride = 2});
  }

  x = b.flatten(x);
  x = b.dropout(b.relu(b.linear(x, 4096)), 0.5);
  x = b.dropout(b.relu(b.linear(x, 4096)), 0.5);
  b.softmax_cross_entropy(b.linear(x, 1000));
  return b.build();
}

}  // namespace pacml::env::zoo
