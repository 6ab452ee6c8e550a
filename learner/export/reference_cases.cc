#include "learner/export/reference_cases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "common/json_text.h"
#include "common/rng.h"
#include "env/candidate_view.h"
#include "env/random_graph.h"
#include "learner/export/policy_inputs.h"
#include "model/encoders/slot_inputs.h"
#include "model/reference_policy.h"

namespace pacml::learner {
namespace {

using nlohmann::json;

constexpr double kTolerance = 1e-5;
constexpr std::uint64_t kMostCandidates = 12;  // of a decision, where their number varies

// The same network, fed with what it reads of candidates instead of with what that is derived from.
model::NetworkShape without_derivation(const model::NetworkShape& shape) {
  if (!shape.view) return shape;
  ObservationSpec spec;
  spec.candidates.features.assign(shape.view->features().begin(), shape.view->features().end());
  spec.globals.assign(shape.view->situation().begin(), shape.view->situation().end());
  model::NetworkShape out = shape;
  out.sent_features = static_cast<int>(spec.candidates.features.size());
  out.globals = static_cast<int>(spec.globals.size());
  out.view = env::plain_view(spec);
  return out;
}

// A decision's graphs, one a slot.
using ShownGraphs = std::vector<env::GraphFeaturesPtr>;

// `values` as so many rows.
template <class T>
json as_rows(std::span<const T> values, std::size_t rows) {
  json out = json::array();
  const std::size_t width = rows == 0 ? 0 : values.size() / rows;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = values.subspan(r * width, width);
    out.push_back(std::vector<T>(row.begin(), row.end()));
  }
  return out;
}

json as_json(const PolicyInput& input, const InputValues& values) {
  switch (input.type) {
    case PolicyInput::Type::kFloat:
      return as_rows<float>(values.floats, values.rows);
    case PolicyInput::Type::kFlag:
      return as_rows<std::int64_t>(values.integers, values.rows);
    case PolicyInput::Type::kIndex:
      break;
  }
  return values.integers;
}

// A decision with uniform features, and a mask with at least one valid candidate.
void append_decision(Rng& rng, const model::NetworkShape& shape, const ShownGraphs& shown,
                     std::size_t first_graph, Observations& batch) {
  const auto draw = [&rng](std::uint64_t below) {
    return static_cast<std::uint32_t>(rng.below(below));
  };
  RowLengths lengths;
  std::vector<std::uint32_t> changing;
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    if (shape.slots[slot].is_static()) continue;
    changing.push_back(static_cast<std::uint32_t>(shown[slot]->num_nodes));
  }
  lengths.nodes = changing;
  if (shape.candidates_vary) {
    const auto most = static_cast<std::uint64_t>(shape.actions);
    lengths.candidates = 1 + draw(std::min(most, kMostCandidates));
  }
  const ObservationRow row = batch.append(lengths);
  std::size_t focus = 0;
  for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
    row.graph[slot] = static_cast<std::uint16_t>(first_graph + slot);
    if (!shape.slots[slot].focus) continue;
    row.focus[focus++] = draw(static_cast<std::uint64_t>(shown[slot]->num_nodes));
  }
  for (const auto& features : {row.node_features, row.globals, row.candidates}) {
    for (float& x : features) x = static_cast<float>(rng.uniform());
  }
  for (std::uint32_t& node : row.candidate_nodes) {
    node = draw(static_cast<std::uint64_t>(shown[*shape.node_slot]->num_nodes));
  }
  for (std::uint8_t& valid : row.mask) valid = static_cast<std::uint8_t>(draw(2));
  row.mask[rng.below(row.mask.size())] = 1;
  for (std::uint16_t& agent : row.agent) {
    agent = static_cast<std::uint16_t>(draw(static_cast<std::uint64_t>(shape.agents)));
  }
}

// One call with one decision for each set of graphs.
json make_case(const PolicyExport& policy, std::span<const ShownGraphs> decisions, Rng& rng) {
  const model::NetworkShape shape = without_derivation(policy.shape);
  std::vector<env::GraphFeaturesPtr> graphs;
  Observations batch(model::input_shape(shape));
  for (const ShownGraphs& shown : decisions) {
    append_decision(rng, shape, shown, graphs.size(), batch);
    graphs.insert(graphs.end(), shown.begin(), shown.end());
  }
  const auto reference = model::make_reference_policy(shape);
  reference->set_graphs(graphs);
  reference->set_parameters(policy.parameters);
  model::PolicyOutput outputs;
  reference->evaluate(batch, outputs);

  json out;
  const auto inputs = policy_inputs(shape, policy.globals);
  const auto values = input_values(shape, graphs, batch);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    out[inputs[i].name] = as_json(inputs[i], values[i]);
  }
  if (model::knows_places(shape.config.head)) {
    out["logits"] = as_rows<float>(outputs.logits, batch.size());
  } else {
    for (std::size_t b = 0; b < batch.size(); ++b) {
      for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
        const float logit = outputs.logits[b * static_cast<std::size_t>(shape.actions) + a];
        if (batch.mask(b)[a] != 0) out["logits"].push_back(logit);
      }
    }
  }
  out["values"] = outputs.values;
  return out;
}

// Decisions that show the task's own graphs; the others of a slot, where it has fewer, again.
std::vector<ShownGraphs> decisions_of_task(const PolicyExport& policy) {
  std::vector<std::vector<env::GraphFeaturesPtr>> of_slot;
  std::size_t most = 0;
  for (const model::SlotShape& slot : policy.shape.slots) {
    auto& graphs = of_slot.emplace_back();
    std::ranges::copy_if(policy.graphs, std::back_inserter(graphs),
                         [&](const auto& graph) { return model::is_of(slot, *graph); });
    if (graphs.empty()) return {};
    most = std::max(most, graphs.size());
  }
  std::vector<ShownGraphs> out(most);
  for (std::size_t d = 0; d < most; ++d) {
    for (const auto& graphs : of_slot) out[d].push_back(graphs[d % graphs.size()]);
  }
  return out;
}

}  // namespace

std::string reference_cases(const PolicyExport& policy) {
  Rng rng(Seed{1});
  const auto on_graphs = [&](int nodes, int edges) {
    ShownGraphs shown;
    for (const model::SlotShape& slot : policy.shape.slots) {
      shown.push_back(env::random_graph(rng, slot.node_width, slot.edge_width, nodes, edges));
    }
    return shown;
  };
  json cases = json::array();
  const auto add = [&](const std::vector<ShownGraphs>& decisions) {
    cases.push_back(make_case(policy, decisions, rng));
  };
  add({on_graphs(1, 0)});
  add({on_graphs(12, 20)});
  // Few edges for many nodes: several have none that leads into them.
  add({on_graphs(5, 4), on_graphs(1, 0), on_graphs(2, 3), on_graphs(60, 45)});
  if (const auto own = decisions_of_task(policy); !own.empty()) add(own);
  return json_text(json{{"tolerance", kTolerance}, {"cases", cases}});
}

}  // namespace pacml::learner
