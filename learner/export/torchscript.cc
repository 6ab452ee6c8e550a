#include "learner/export/torchscript.h"

#include <ATen/ATen.h>
#include <torch/script.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "common/atomic_file.h"
#include "model/layout.h"
#include "model/network_constants.h"

namespace pacml::learner {
namespace {

// An attribute's name has no dots.
std::string attribute_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

// "self.layer(x, self.NAME_norm_weight, ..)": normalisation, then a linear layer.
std::string layer(const std::string& name, const std::string& input) {
  return "self.layer(" + input + ", self." + name + "_norm_weight, self." + name +
         "_norm_bias, self." + name + "_weight, self." + name + "_bias)";
}

std::string linear(const std::string& name, const std::string& input) {
  return "torch.linear(" + input + ", self." + name + "_weight, self." + name + "_bias)";
}

std::string number(float value) {
  std::ostringstream out;
  out.precision(9);
  out << value;
  return out.str();
}

// The module's methods. The arithmetic is model/network_config.h's, in the order of
// model/torch_forward.cc.
std::string module_source(const model::NetworkShape& shape) {
  std::string source = R"(
def layer(self, x: Tensor, norm_weight: Tensor, norm_bias: Tensor, weight: Tensor,
          bias: Tensor) -> Tensor:
    normed = torch.layer_norm(x, [x.size(1)], norm_weight, norm_bias, )" +
                       number(model::kNormEpsilon) + R"()
    return torch.linear(normed, weight, bias)

def group_sum(self, rows: Tensor, group: Tensor, groups: int) -> Tensor:
    zeros = torch.zeros([groups, rows.size(1)], dtype=rows.dtype, device=rows.device)
    return zeros.index_add(0, group, rows)

def forward(self, node_features: Tensor, edge_features: Tensor, edge_src: Tensor,
            edge_dst: Tensor, node_graph: Tensor, globals: Tensor,
            mask: Tensor) -> Tuple[Tensor, Tensor]:
    nodes = node_features.size(0)
    graphs = globals.size(0)
    valid = mask > 0
    node_ids = torch.arange(nodes, device=edge_dst.device)
    message_to = torch.cat([edge_dst, node_ids], 0)
    in_degree = self.group_sum(torch.ones_like(edge_features[:, :1]), edge_dst, nodes)
    message_mean = torch.where(in_degree > 0, 1.0 / (in_degree + 1.0), torch.zeros_like(in_degree))
    x = node_features
)";
  for (int r = 0; r < shape.config.rounds; ++r) {
    const std::string round = "round" + std::to_string(r) + "_";
    source += "    node_half = torch.relu(" + layer(round + "node", "x") + ")\n";
    source += "    edge_half = torch.relu(" + layer(round + "edge", "edge_features") + ")\n";
    source += "    along_edges = torch.cat([node_half.index_select(0, edge_src), edge_half], 1)\n";
    source += "    to_self = torch.cat([node_half, torch.zeros_like(node_half)], 1)\n";
    source += "    messages = torch.cat([along_edges, to_self], 0)\n";
    source += "    reduced = torch.relu(" + layer(round + "reduce", "messages") + ")\n";
    source += "    x = self.group_sum(reduced, message_to, nodes) * message_mean\n";
  }
  source += R"(
    graph_nodes = self.group_sum(torch.ones_like(x[:, :1]), node_graph, graphs)
    embedding = self.group_sum(x, node_graph, graphs) / graph_nodes
    inputs = torch.cat([globals, valid.to(globals.dtype)], 1)
)";
  source += "    decision = " + layer("graph", "inputs") + "\n";
  source += "    joined = torch.cat([embedding, decision], 1)\n";
  source += "    hidden = torch.relu(" + linear("readout", "joined") + ")\n";
  source += "    logits = " + linear("logits", "hidden") + ".masked_fill(valid.logical_not(), " +
            number(model::kMaskedLogit) + ")\n";
  source += "    values = " + linear("value", "hidden") + ".squeeze(1)\n";
  source += "    return logits, values\n";
  return source;
}

torch::jit::Module make_module(const PolicyExport& policy) {
  torch::jit::Module module("PacmlPolicy");
  const model::ParameterLayout layout = model::make_layout(policy.shape);
  for (const model::ParameterEntry& entry : layout.entries) {
    const auto values = model::view(policy.parameters, layout, entry.name);
    at::Tensor weight = at::empty(entry.shape, at::kFloat);
    std::ranges::copy(values, weight.data_ptr<float>());
    module.register_parameter(attribute_name(entry.name), weight, false);
  }
  const auto add = [&module](const char* name, std::int64_t value) {
    module.register_attribute(name, c10::IntType::get(), value);
  };
  add("num_node_features", policy.shape.graph().node_width);
  add("num_edge_features", policy.shape.graph().edge_width);
  add("num_globals", policy.shape.globals);
  add("num_actions", policy.shape.actions);
  module.define(module_source(policy.shape));
  module.eval();
  return module;
}

}  // namespace

Result<void> export_torchscript(const PolicyExport& policy, const std::filesystem::path& file) {
  const std::string metadata = nlohmann::json(export_metadata(policy))
                                   .dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::ostringstream bytes;
  make_module(policy).save(
      bytes, {{"metadata.json", metadata}, {"reference.json", reference_cases(policy)}});
  return write_file_atomically(file, bytes.str());
}

}  // namespace pacml::learner
