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

}  // namespace pacml::env::zoo
