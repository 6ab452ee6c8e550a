#include "model/layout.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/rng.h"
#include "model/encoders/graph_encoder.h"

namespace pacml::model {
namespace {

class LayoutBuilder {
 public:
  void norm(const std::string& name, int width) {
    add(name + ".weight", {width});
    add(name + ".bias", {width});
  }
  void product(const std::string& name, int in, int out) { add(name + ".weight", {out, in}); }
  void linear(const std::string& name, int in, int out) {
    product(name, in, out);
    add(name + ".bias", {out});
  }
  [[nodiscard]] ParameterLayout build() && {
    layout_.hash = hash_entries(layout_.entries);
    return std::move(layout_);
  }

 private:
  void add(std::string name, std::vector<std::int64_t> shape) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) {
      PACML_CHECK(extent > 0, "a network's widths are positive");
      size *= static_cast<std::size_t>(extent);
    }
    layout_.entries.push_back({std::move(name), std::move(shape), layout_.total, size});
    layout_.total += size;
  }

  ParameterLayout layout_;
};

// Where `name` lies, after checking that the values are the layout's.
const ParameterEntry& find(const Parameters& parameters, const ParameterLayout& layout,
                           std::string_view name) {
  PACML_CHECK(parameters.values.size() == layout.total, "parameters of another layout");
  const auto entry = std::ranges::find(layout.entries, name, &ParameterEntry::name);
  PACML_CHECK(entry != layout.entries.end(), "no parameter has this name");
  return *entry;
}

}  // namespace

std::uint64_t hash_entries(std::span<const ParameterEntry> entries) {
  std::uint64_t hash = entries.size();
  for (const ParameterEntry& entry : entries) {
    hash = hash_combine(hash, entry.name.size());
    for (const char c : entry.name) hash = hash_combine(hash, static_cast<unsigned char>(c));
    hash = hash_combine(hash, entry.shape.size());
    for (const std::int64_t extent : entry.shape) {
      hash = hash_combine(hash, static_cast<std::uint64_t>(extent));
    }
    hash = hash_combine(hash, entry.offset);
  }
  return hash;
}

namespace {

// Adds an encoder's layers, of which nothing else is known.
class EncoderEntries {
 public:
  struct Layer {};
  explicit EncoderEntries(LayoutBuilder& builder) : builder_(builder) {}
  Layer linear(const std::string& name, int in, int out) {
    builder_.linear(name, in, out);
    return {};
  }
  Layer product(const std::string& name, int in, int out) {
    builder_.product(name, in, out);
    return {};
  }
  Layer norm(const std::string& name, int width) {
    builder_.norm(name, width);
    return {};
  }

 private:
  LayoutBuilder& builder_;
};

void add_encoders(const NetworkShape& shape, LayoutBuilder& builder) {
  for (const SlotShape& slot : shape.slots) {
    if (slot.encoder) static_cast<void>(make_graph_encoder(EncoderEntries(builder), slot));
  }
}

ParameterLayout perceptron_layout(const NetworkShape& shape) {
  const PerceptronHeadConfig& config = shape.config.perceptron;
  LayoutBuilder builder;
  add_encoders(shape, builder);
  builder.linear("first", shape.perceptron_inputs(), config.first_width);
  builder.linear("second", config.first_width, config.second_width);
  builder.linear("logits", config.second_width, shape.actions);
  builder.linear("value", config.second_width, 1);
  return std::move(builder).build();
}

ParameterLayout candidate_layout(const NetworkShape& shape) {
  const CandidateHeadConfig& config = shape.config.candidates;
  LayoutBuilder builder;
  add_encoders(shape, builder);
  builder.linear("first", shape.candidate_inputs(), config.hidden_width);
  builder.linear("second", config.hidden_width, config.width);
  builder.product("logits", config.width, 1);
  builder.linear("situation", shape.situation_inputs(), config.hidden_width);
  builder.linear("state", config.hidden_width + 2 * config.width, config.state_width);
  builder.linear("value", config.state_width, 1);
  return std::move(builder).build();
}

}  // namespace

ParameterLayout make_layout(const NetworkShape& shape) {
  const NetworkConfig& config = shape.config;
  if (config.head == HeadKind::kCandidates) return candidate_layout(shape);
  if (config.head == HeadKind::kPerceptron) return perceptron_layout(shape);
  PACML_CHECK(shape.slots.size() == 1, "the published network reads one graph");
  PACML_CHECK(config.rounds > 0, "a network passes messages at least once");
  PACML_CHECK(config.message_width % 2 == 0, "a message has two equal halves");
  LayoutBuilder builder;
  int width = shape.graph().node_width;
  for (int r = 0; r < config.rounds; ++r) {
    const std::string round = "round" + std::to_string(r) + ".";
    const int half = config.message_width / 2;
    const int out = round_output_width(config, r);
    builder.norm(round + "node_norm", width);
    builder.linear(round + "node", width, half);
    builder.norm(round + "edge_norm", shape.graph().edge_width);
    builder.linear(round + "edge", shape.graph().edge_width, half);
    builder.norm(round + "reduce_norm", config.message_width);
    builder.linear(round + "reduce", config.message_width, out);
    width = out;
  }
  const int graph_inputs = shape.globals + shape.actions;
  builder.norm("graph_norm", graph_inputs);
  builder.linear("graph", graph_inputs, config.graph_width);
  builder.linear("readout", config.node_width + config.graph_width, config.readout_width);
  builder.linear("logits", config.readout_width, shape.actions);
  builder.linear("value", config.readout_width, 1);
  return std::move(builder).build();
}

std::span<const float> view(const Parameters& parameters, const ParameterLayout& layout,
                            std::string_view name) {
  const ParameterEntry& entry = find(parameters, layout, name);
  return std::span(parameters.values).subspan(entry.offset, entry.size);
}

std::span<float> view(Parameters& parameters, const ParameterLayout& layout,
                      std::string_view name) {
  const ParameterEntry& entry = find(parameters, layout, name);
  return std::span(parameters.values).subspan(entry.offset, entry.size);
}

}  // namespace pacml::model
