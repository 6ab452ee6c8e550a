#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/graph/profile.h"
#include "env/graph/zoo/device.h"
#include "env/graph/zoo/layer_work.h"

namespace pacml::env {

// An operation of an imported model, for the whole mini-batch, on no device in particular.
struct ImportedOp {
  std::string type;         // of the operator; of the first one where several run together
  std::string description;  // for people
  std::string costed_as;
  std::vector<int> inputs = {};  // positions of the ops that it reads, all smaller than its own
  double output_bytes = 0;
  double parameters = 0;  // trained numbers
  double parameter_bytes = 0;
  double multiply_adds = 0;  // of the forward pass
  zoo::LayerWork work = {};
  bool is_small = false;
  bool is_output = false;  // whoever runs the model reads what it puts out
};

inline constexpr std::string_view kUnknownCost = "unknown: memory traffic of inputs and outputs";

// What training keeps beside each parameter and its gradient.
enum class Optimizer { kSgd, kMomentum, kAdam };
// Of parameters that take so many bytes: moments in float32, and a float32 copy of what has fewer
// bits. Pure.
[[nodiscard]] double optimizer_bytes(Optimizer optimizer, double parameters,
                                     double parameter_bytes);

// How many read each. Pure.
[[nodiscard]] std::vector<int> readers_of(const std::vector<ImportedOp>& ops);

// Those that are not gone, in their order. Pre: none of them reads one that is. Pure.
[[nodiscard]] std::vector<ImportedOp> without(std::vector<ImportedOp> ops,
                                              const std::vector<bool>& is_gone);

// Without those that read nothing and that nobody reads. Pure.
[[nodiscard]] std::vector<ImportedOp> without_unread_data(std::vector<ImportedOp> ops);

// Small ops run together with the op in front of them, where nobody else reads what that one puts
// out, whoever runs the model included: they count as one op, which puts out what the last of them
// does. Ops without inputs, which are data, stay alone. The order is kept. Pure.
[[nodiscard]] std::vector<ImportedOp> fuse_small_ops(std::vector<ImportedOp> ops);

// With one op behind everything, where several put out something that nobody reads: a training step
// turns round in one place. Pure.
[[nodiscard]] std::vector<ImportedOp> with_one_end(std::vector<ImportedOp> ops);

// As a profiler would have measured it on the device: op i + 1 is ops[i]. Pure.
[[nodiscard]] Profile profile_of(const std::vector<ImportedOp>& ops, const std::string& name,
                                 const zoo::Device& device, Optimizer optimizer);

}  // namespace pacml::env
