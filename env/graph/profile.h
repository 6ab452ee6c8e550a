#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pacml::env {

// One operation of a model's forward pass, as a profiler measured it.
struct ForwardOp {
  int id = 0;  // 1..n, unique; the order of ids is the order of the layers
  std::string description;
  double forward_time = 0;      // milliseconds, >= 0
  double backward_time = 0;     // milliseconds, >= 0
  double activation_bytes = 0;  // size of the output for the whole mini-batch
  double parameter_bytes = 0;
  // What the optimiser keeps of these parameters on the op's device: it takes room there, and is
  // never sent. Gradients are not in it: the backward pass counts them as its parameters.
  double optimizer_bytes = 0;
};

// A model's forward graph. The order of `ops` and of `dependencies` is significant: placement,
// partitioning and tie-breaks follow it (PipeDream's files list ops in arbitrary order).
struct Profile {
  std::string model;
  std::vector<ForwardOp> ops;
  std::vector<std::pair<int, int>> dependencies;  // (producer id, consumer id)
};

}  // namespace pacml::env
