#pragma once

#include "env/graph/zoo/network.h"

namespace pacml::env::zoo {

// Each describes one training step for a mini-batch of `batch` samples, from the data to the loss.
// Images are 3 x 224 x 224, classes 1000. Pure. Pre: batch > 0.

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014: the
// single-column AlexNet.
[[nodiscard]] Network alexnet(int batch);
// Simonyan and Zisserman 2015, configuration D.
[[nodiscard]] Network vgg16(int batch);
// He et al. 2016, 18 layers.
[[nodiscard]] Network resnet18(int batch);
// Iandola et al. 2016, version 1.0 without bypass.
[[nodiscard]] Network squeezenet1_0(int batch);
// Wu et al. 2016 in the small form that is used for benchmarks: 4 + 4 layers of 1024, additive
// attention after the first decoder layer, 32 000 word pieces, sentences padded to 25 steps.
[[nodiscard]] Network gnmt(int batch);

// He et al. 2016, 50 layers, strides in the 3 x 3 convolutions.
[[nodiscard]] Network resnet50(int batch);
// Devlin et al. 2019, the base size, 30 522 word pieces, 128 steps, with a classifier of two
// classes.
[[nodiscard]] Network bert_base(int batch);
// Radford et al. 2019, in their four sizes: 50 257 word pieces, 1024 steps.
[[nodiscard]] Network gpt2_small(int batch);
[[nodiscard]] Network gpt2_medium(int batch);
[[nodiscard]] Network gpt2_large(int batch);
[[nodiscard]] Network gpt2_xl(int batch);
// Dosovitskiy et al. 2021, the base size with squares of 16 x 16.
[[nodiscard]] Network vit_b_16(int batch);
// Touvron et al. 2023, 7 billion parameters, 2048 steps.
[[nodiscard]] Network llama_7b(int batch);
// Jiang et al. 2024: 8 experts a layer, of which each step goes through two; 2048 steps. Experts
// are layers of their own, and get equal shares.
[[nodiscard]] Network mixtral_8x7b(int batch);

}  // namespace pacml::env::zoo
