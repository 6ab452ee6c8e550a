#include "env/onnx/imported_ops.h"

#include <algorithm>
#include <utility>

#include "common/index.h"
#include "env/graph/zoo/cost_model.h"

namespace pacml::env {
namespace {

constexpr double kMomentBytes = 4;

void append(ImportedOp& group, const ImportedOp& op) {
  group.description += " + " + op.type;
  group.output_bytes = op.output_bytes;
  group.is_output = op.is_output;
  group.parameters += op.parameters;
  group.parameter_bytes += op.parameter_bytes;
  group.multiply_adds += op.multiply_adds;
  group.work.forward = group.work.forward + op.work.forward;
  group.work.backward = group.work.backward + op.work.backward;
}

}  // namespace

double optimizer_bytes(Optimizer optimizer, double parameters, double parameter_bytes) {
  const double moments = optimizer == Optimizer::kSgd ? 0 : optimizer == Optimizer::kAdam ? 2 : 1;
  const double copies = parameter_bytes < kMomentBytes * parameters ? 1 : 0;
  return (moments + copies) * kMomentBytes * parameters;
}

std::vector<int> readers_of(const std::vector<ImportedOp>& ops) {
  std::vector<int> readers(ops.size(), 0);
  for (const ImportedOp& op : ops) {
    for (const int input : op.inputs) ++readers[at(input)];
  }
  return readers;
}

std::vector<ImportedOp> without(std::vector<ImportedOp> ops, const std::vector<bool>& is_gone) {
  std::vector<int> place(ops.size(), -1);
  std::vector<ImportedOp> left;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (is_gone[i]) continue;
    place[i] = static_cast<int>(left.size());
    for (int& input : ops[i].inputs) input = place[at(input)];
    left.push_back(std::move(ops[i]));
  }
  return left;
}

std::vector<ImportedOp> without_unread_data(std::vector<ImportedOp> ops) {
  const std::vector<int> readers = readers_of(ops);
  std::vector<bool> is_gone(ops.size(), false);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    is_gone[i] = ops[i].inputs.empty() && readers[i] == 0;
  }
  return without(std::move(ops), is_gone);
}

std::vector<ImportedOp> fuse_small_ops(std::vector<ImportedOp> ops) {
  const std::vector<int> readers = readers_of(ops);
  // A group stands where its last op stood, so that everything that it reads is in front of it.
  std::vector<bool> is_taken(ops.size(), false);
  for (ImportedOp& op : ops) {
    if (!op.is_small) continue;
    int chosen = -1;
    for (const int input : op.inputs) {
      const ImportedOp& in_front = ops[at(input)];
      if (readers[at(input)] == 1 && !in_front.is_output && !in_front.inputs.empty()) {
        chosen = std::max(chosen, input);
      }
    }
    if (chosen < 0) continue;
    ImportedOp group = std::move(ops[at(chosen)]);
    is_taken[at(chosen)] = true;
    append(group, op);
    for (const int input : op.inputs) {
      if (input != chosen && std::ranges::find(group.inputs, input) == group.inputs.end()) {
        group.inputs.push_back(input);
      }
    }
    op = std::move(group);
  }
  return without(std::move(ops), is_taken);
}

std::vector<ImportedOp> with_one_end(std::vector<ImportedOp> ops) {
  const std::vector<int> readers = readers_of(ops);
  ImportedOp end{.type = "Outputs", .description = "Outputs", .costed_as = "costs nothing"};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (readers[i] == 0) end.inputs.push_back(static_cast<int>(i));
  }
  if (end.inputs.size() > 1) ops.push_back(std::move(end));
  return ops;
}

Profile profile_of(const std::vector<ImportedOp>& ops, const std::string& name,
                   const zoo::Device& device, Optimizer optimizer) {
  Profile profile;
  profile.model = name;
  for (const ImportedOp& op : ops) {
    const int id = static_cast<int>(profile.ops.size()) + 1;
    profile.ops.push_back(
        {.id = id,
         .description = op.description,
         .forward_time = zoo::time_ms(op.work.forward, device),
         .backward_time = zoo::time_ms(op.work.backward, device),
         .activation_bytes = op.output_bytes,
         .parameter_bytes = op.parameter_bytes,
         .optimizer_bytes = optimizer_bytes(optimizer, op.parameters, op.parameter_bytes)});
    for (const int input : op.inputs) profile.dependencies.emplace_back(input + 1, id);
  }
  return profile;
}

}  // namespace pacml::env
