#include "env/onnx/model_inputs.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "common/text.h"
#include "env/onnx/onnx_call.h"
#include "env/onnx/refuse_model.h"

namespace pacml::env {
namespace {

constexpr std::int64_t kUsualBatch = 32;

// "batch", "batch_size", "Decoder.Batch".
bool is_named_after_batch(std::string_view axis) {
  constexpr std::string_view kBatch = "batch";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !std::ranges::search(axis, kBatch, {}, lower).empty();
}

struct DataInput {
  const onnx::ValueInfoProto* info = nullptr;
  OnnxTensor said;
};

struct OpenAxis {
  std::string name;
  bool is_first = false;
  bool is_named_after_batch = false;
};

std::vector<OpenAxis> open_axes(const std::vector<DataInput>& data) {
  std::vector<OpenAxis> axes;
  for (const auto& [info, said] : data) {
    for (std::size_t i = 0; i < said.num_axes(); ++i) {
      if (said.extents[i] >= 0) continue;
      const auto& dim = info->type().tensor_type().shape().dim(static_cast<int>(i));
      axes.push_back({.name = name_of_axis(*info, i),
                      .is_first = i == 0,
                      .is_named_after_batch = is_named_after_batch(dim.dim_param())});
    }
  }
  return axes;
}

// What was said of axes must be about some that are open.
void check_names(const std::vector<OpenAxis>& axes, const OpenExtents& extents,
                 const std::string& source) {
  std::set<std::string> names;
  for (const OpenAxis& axis : axes) names.insert(axis.name);
  for (const auto& [name, extent] : extents) {
    if (names.contains(name)) continue;
    refuse_model(source,
                 "it leaves open no axis \"" + printable(name) + "\"" + did_you_mean(name, names));
  }
}

// Those that are named after the batch, wherever they stand; else the first ones.
std::set<std::string> open_batch_axes(const std::vector<OpenAxis>& axes) {
  std::set<std::string> named;
  std::set<std::string> first;
  for (const OpenAxis& axis : axes) {
    if (axis.is_named_after_batch) named.insert(axis.name);
    if (axis.is_first) first.insert(axis.name);
  }
  return named.empty() ? first : named;
}

// The first axis of the first input that has one, where the file fixes it.
std::int64_t first_extent(const std::vector<DataInput>& data) {
  for (const DataInput& input : data) {
    if (!input.said.extents.empty() && input.said.extents[0] > 0) return input.said.extents[0];
  }
  return 1;
}

void choose_batch(const std::vector<DataInput>& data, const std::vector<OpenAxis>& axes,
                  const OnnxImport& setting, const std::string& source, ModelInputs& inputs) {
  inputs.batch_axes = open_batch_axes(axes);
  if (inputs.batch_axes.empty()) {
    const std::int64_t fixed = first_extent(data);
    inputs.batch = setting.batch > 0 ? setting.batch : fixed;
    inputs.repeats = static_cast<double>(inputs.batch) / static_cast<double>(fixed);
    return;
  }
  inputs.batch = setting.batch > 0 ? setting.batch : kUsualBatch;
  for (const std::string& name : inputs.batch_axes) {
    const std::int64_t said = open_extent(inputs.extents, name);
    if (said >= 0 && setting.batch > 0) {
      refuse_model(source, "its axis \"" + printable(name) +
                               "\" is the mini-batch, which both --batch and --dim say");
    }
    if (said >= 0) inputs.batch = said;
  }
  for (const std::string& name : inputs.batch_axes) inputs.extents.emplace(name, inputs.batch);
}

void add_data(const onnx::ValueInfoProto& info, OnnxTensor tensor, TensorTable& tensors,
              ModelInputs& inputs) {
  tensor.repeats = inputs.repeats;
  OnnxTensor& added = tensors.add(info.name(), std::move(tensor));
  added.op = static_cast<int>(inputs.ops.size());
  ImportedOp op{.type = "Input",
                .description = "Input(" + to_text(added.extents) + ") " + printable(info.name()),
                .costed_as = "copied from the host",
                .output_bytes = added.bytes()};
  op.work.forward.host_bytes = op.output_bytes;
  inputs.ops.push_back(std::move(op));
}

}  // namespace

ModelInputs read_inputs(const onnx::GraphProto& graph, const std::string& source,
                        const OnnxImport& setting, TensorTable& tensors) {
  std::vector<DataInput> data;
  for (const onnx::ValueInfoProto& info : graph.input()) {
    if (!tensors.contains(info.name())) data.push_back({.info = &info, .said = {}});
  }
  if (data.empty()) refuse_model(source, "it has no input");
  for (DataInput& input : data) input.said = said_tensor(*input.info, source);
  const std::vector<OpenAxis> axes = open_axes(data);
  check_names(axes, setting.extents, source);
  ModelInputs inputs;
  inputs.extents = setting.extents;
  choose_batch(data, axes, setting, source, inputs);
  std::set<std::string> open;
  for (auto& [info, tensor] : data) {
    for (std::size_t i = 0; i < tensor.num_axes(); ++i) {
      if (tensor.extents[i] >= 0) continue;
      const std::string name = name_of_axis(*info, i);
      tensor.extents[i] = open_extent(inputs.extents, name);
      if (tensor.extents[i] < 0) open.insert("--dim " + printable(name) + "=N");
    }
    if (open.empty()) add_data(*info, std::move(tensor), tensors, inputs);
  }
  if (!open.empty()) {
    refuse_model(source, "the file leaves open how long axes of its inputs are; say " + join(open));
  }
  return inputs;
}

}  // namespace pacml::env
