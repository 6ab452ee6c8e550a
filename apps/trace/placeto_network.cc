#include "apps/trace/placeto_network.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/result.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

// What is pooled for the current node, in the order in which the head reads it.
constexpr std::array<const char*, 3> kPools{"anc", "desc", "par"};
constexpr std::size_t kMostWidth = 4096;

std::vector<double> numbers(const json& list, const std::string& what) {
  if (!list.is_array() || list.size() > kMostWidth)
    throw UserError(what + " is no list of numbers");
  std::vector<double> out;
  for (const json& value : list) {
    if (!value.is_number()) throw UserError(what + " is no list of numbers");
    out.push_back(value.get<double>());
  }
  return out;
}

}  // namespace

PlacetoNetwork::PlacetoNetwork(const json& weights, std::size_t width, std::size_t num_devices,
                               int rounds)
    : width_(width), rounds_(rounds) {
  if (rounds < 0 || rounds > 1000) throw UserError("rounds: must be in 0..1000");
  read(weights, "node", width, width);
  for (const char* sweep : {"down", "up"}) {
    read(weights, std::string(sweep) + "_f", width, width);
    read(weights, std::string(sweep) + "_g", width, width);
  }
  for (const char* pool : kPools) {
    read(weights, std::string(pool) + "_f", 2 * width, 2 * width);
    read(weights, std::string(pool) + "_g", 2 * width, 2 * width);
  }
  read(weights, "head", 8 * width, num_devices);
}

void PlacetoNetwork::read(const json& weights, const std::string& name, std::size_t inputs,
                          std::size_t outputs) {
  const auto it = weights.is_object() ? weights.find(name) : weights.end();
  if (!weights.is_object() || it == weights.end() || !it->is_array() || it->empty()) {
    throw UserError("weights: there is no list \"" + name + "\"");
  }
  Stack stack;
  std::size_t expected = inputs;
  for (const json& pair : *it) {
    const std::string what = "weights: \"" + name + "\"";
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_array() || pair[0].size() != expected) {
      throw UserError(what + " is no list of matrices and biases that go together");
    }
    Layer layer;
    layer.inputs = expected;
    layer.bias = numbers(pair[1], what);
    layer.outputs = layer.bias.size();
    for (const json& row : pair[0]) {
      const auto values = numbers(row, what);
      if (values.size() != layer.outputs) {
        throw UserError(what + " has a matrix and a bias of different widths");
      }
      layer.matrix.insert(layer.matrix.end(), values.begin(), values.end());
    }
    expected = layer.outputs;
    stack.push_back(std::move(layer));
  }
  if (expected != outputs) {
    throw UserError("weights: \"" + name + "\" ends with a width of " + std::to_string(expected) +
                    " instead of " + std::to_string(outputs));
  }
  parts_[name] = std::move(stack);
}

PlacetoNetwork::Rows PlacetoNetwork::apply(const Stack& stack, Rows rows, bool last_relu) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const Layer& layer = stack[i];
    const bool has_relu = last_relu || i + 1 < stack.size();
    for (auto& row : rows) {
      std::vector<double> out = layer.bias;
      for (std::size_t k = 0; k < layer.inputs; ++k) {
        for (std::size_t j = 0; j < layer.outputs; ++j) {
          out[j] += row[k] * layer.matrix[k * layer.outputs + j];
        }
      }
      if (has_relu) {
        for (double& v : out) v = std::max(v, 0.0);
      }
      row = std::move(out);
    }
  }
  return rows;
}

PlacetoNetwork::Rows PlacetoNetwork::sweep(const Rows& base, const env::IndexLists& neighbours,
                                           const Stack& f, const Stack& g) const {
  Rows x = base;
  for (int round = 0; round < rounds_; ++round) {
    const Rows messages = apply(f, x, true);
    Rows sums(base.size(), std::vector<double>(width_, 0.0));
    for (std::size_t v = 0; v < base.size(); ++v) {
      for (const std::int32_t u : neighbours[v]) {
        for (std::size_t j = 0; j < width_; ++j) {
          sums[v][j] += messages[static_cast<std::size_t>(u)][j];
        }
      }
    }
    sums = apply(g, std::move(sums), true);
    x = base;
    for (std::size_t v = 0; v < base.size(); ++v) {
      if (neighbours[v].empty()) continue;
      for (std::size_t j = 0; j < width_; ++j) x[v][j] += sums[v][j];
    }
  }
  return x;
}

std::vector<double> PlacetoNetwork::logits(const Decision& decision,
                                           const env::IndexLists& children,
                                           const env::IndexLists& parents) const {
  const std::size_t nodes = children.size();
  Rows rows;
  for (std::size_t v = 0; v < nodes; ++v) {
    const auto row = decision.features.subspan(v * width_, width_);
    rows.emplace_back(row.begin(), row.end());
  }
  const Rows base = apply(part("node"), std::move(rows), false);
  Rows x = sweep(base, parents, part("down_f"), part("down_g"));
  const Rows up = sweep(base, children, part("up_f"), part("up_g"));
  for (std::size_t v = 0; v < nodes; ++v) x[v].insert(x[v].end(), up[v].begin(), up[v].end());

  const std::array<const std::vector<int>*, 3> sets{&decision.ancestors, &decision.descendants,
                                                    &decision.parallel};
  std::vector<double> seen;
  for (std::size_t p = 0; p < kPools.size(); ++p) {
    const Rows messages = apply(part(std::string(kPools[p]) + "_f"), x, true);
    std::vector<double> sum(2 * width_, 0.0);
    for (std::size_t v = 0; v < nodes; ++v) {
      if ((*sets[p])[v] == 0) continue;
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += messages[v][j];
    }
    const Rows pooled = apply(part(std::string(kPools[p]) + "_g"), {std::move(sum)}, true);
    seen.insert(seen.end(), pooled.front().begin(), pooled.front().end());
  }
  seen.insert(seen.end(), x[decision.node].begin(), x[decision.node].end());
  return apply(part("head"), {std::move(seen)}, false).front();
}

}  // namespace pacml::apps
