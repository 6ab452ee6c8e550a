#include "apps/trace/placeto_network.h"

#include <algorithm>
#include <cmath>
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
  if (!list.is_array() || list.size() > kMostWidth) {
    throw UserError(what + " is no list of numbers");
  }
  std::vector<double> out;
  for (const json& value : list) {
    if (!value.is_number()) throw UserError(what + " is no list of numbers");
    out.push_back(value.get<double>());
  }
  return out;
}

PlacetoNetwork::Layer read_layer(const json& pair, std::size_t inputs, const std::string& what) {
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_array() || pair[0].size() != inputs) {
    throw UserError(what + " is no list of matrices and biases that go together");
  }
  PlacetoNetwork::Layer layer;
  layer.inputs = inputs;
  layer.bias = numbers(pair[1], what);
  layer.outputs = layer.bias.size();
  for (const json& row : pair[0]) {
    const auto values = numbers(row, what);
    if (values.size() != layer.outputs) {
      throw UserError(what + " has a matrix and a bias of different widths");
    }
    layer.matrix.insert(layer.matrix.end(), values.begin(), values.end());
  }
  return layer;
}

using Rows = std::vector<std::vector<double>>;

void add(const Rows& from, Rows& to) {
  for (std::size_t v = 0; v < from.size(); ++v) {
    for (std::size_t j = 0; j < from[v].size(); ++j) to[v][j] += from[v][j];
  }
}

// A part of each row's columns.
Rows columns(const Rows& rows, std::size_t first, std::size_t count) {
  Rows out;
  for (const auto& row : rows) {
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
    out.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return out;
}

std::array<const std::vector<int>*, 3> pooled_sets(const PlacetoNetwork::Decision& decision) {
  return {&decision.ancestors, &decision.descendants, &decision.parallel};
}

}  // namespace

PlacetoNetwork::PlacetoNetwork(const json& weights, std::size_t width, std::size_t num_devices,
                               int rounds)
    : width_(width), rounds_(rounds) {
  if (rounds < 0 || rounds > 1000) throw UserError("rounds: must be in 0..1000");
  read(weights, "node", width, width);
  for (const char* direction : {"down", "up"}) {
    read(weights, std::string(direction) + "_f", width, width);
    read(weights, std::string(direction) + "_g", width, width);
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
  std::size_t width = inputs;
  for (const json& pair : *it) {
    stack.push_back(read_layer(pair, width, "weights: \"" + name + "\""));
    width = stack.back().outputs;
  }
  if (width != outputs) {
    throw UserError("weights: \"" + name + "\" ends with a width of " + std::to_string(width) +
                    " instead of " + std::to_string(outputs));
  }
  weights_[name] = std::move(stack);
}

PlacetoNetwork::Weights PlacetoNetwork::zeroes() const {
  Weights zeroes = weights_;
  for (auto& [name, stack] : zeroes) {
    for (Layer& layer : stack) {
      std::ranges::fill(layer.matrix, 0.0);
      std::ranges::fill(layer.bias, 0.0);
    }
  }
  return zeroes;
}

PlacetoNetwork::Pass PlacetoNetwork::apply(const std::string& name, Rows rows,
                                           bool last_relu) const {
  const Stack& stack = part(name);
  Pass pass;
  pass.values.push_back(std::move(rows));
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const Layer& layer = stack[i];
    const bool has_relu = last_relu || i + 1 < stack.size();
    Rows out;
    for (const auto& row : pass.values.back()) {
      auto& y = out.emplace_back(layer.bias);
      for (std::size_t k = 0; k < layer.inputs; ++k) {
        for (std::size_t j = 0; j < layer.outputs; ++j) {
          y[j] += row[k] * layer.matrix[k * layer.outputs + j];
        }
      }
      if (has_relu) {
        for (double& v : y) v = std::max(v, 0.0);
      }
    }
    pass.values.push_back(std::move(out));
  }
  return pass;
}

PlacetoNetwork::Rows PlacetoNetwork::back(const std::string& name, const Pass& pass, Rows by_out,
                                          bool last_relu, Weights& gradient) const {
  const Stack& stack = part(name);
  for (std::size_t i = stack.size(); i-- > 0;) {
    const Layer& layer = stack[i];
    Layer& by_layer = gradient.at(name)[i];
    const bool has_relu = last_relu || i + 1 < stack.size();
    Rows by_in;
    for (std::size_t r = 0; r < by_out.size(); ++r) {
      const auto& x = pass.values[i][r];
      auto& by_y = by_out[r];
      auto& by_x = by_in.emplace_back(layer.inputs, 0.0);
      for (std::size_t j = 0; j < layer.outputs; ++j) {
        if (has_relu && pass.values[i + 1][r][j] <= 0) by_y[j] = 0;
        by_layer.bias[j] += by_y[j];
      }
      for (std::size_t k = 0; k < layer.inputs; ++k) {
        for (std::size_t j = 0; j < layer.outputs; ++j) {
          by_layer.matrix[k * layer.outputs + j] += x[k] * by_y[j];
          by_x[k] += layer.matrix[k * layer.outputs + j] * by_y[j];
        }
      }
    }
    by_out = std::move(by_in);
  }
  return by_out;
}

PlacetoNetwork::Sweep PlacetoNetwork::sweep(const Rows& base, const env::IndexLists& neighbours,
                                            const std::string& direction) const {
  Sweep out;
  out.out = base;
  for (int round = 0; round < rounds_; ++round) {
    out.messages.push_back(apply(direction + "_f", out.out, true));
    Rows sums(base.size(), std::vector<double>(width_, 0.0));
    for (std::size_t v = 0; v < base.size(); ++v) {
      for (const std::int32_t u : neighbours[v]) {
        const auto& message = out.messages.back().out()[static_cast<std::size_t>(u)];
        for (std::size_t j = 0; j < width_; ++j) sums[v][j] += message[j];
      }
    }
    out.updates.push_back(apply(direction + "_g", std::move(sums), true));
    out.out = base;
    for (std::size_t v = 0; v < base.size(); ++v) {
      if (neighbours[v].empty()) continue;
      for (std::size_t j = 0; j < width_; ++j) out.out[v][j] += out.updates.back().out()[v][j];
    }
  }
  return out;
}

PlacetoNetwork::Rows PlacetoNetwork::sweep_back(const Sweep& sweep,
                                                const env::IndexLists& neighbours,
                                                const std::string& direction, const Rows& by_out,
                                                Weights& gradient) const {
  Rows by_base = by_out;
  Rows by_x = by_out;
  for (int round = rounds_; round-- > 0;) {
    const auto r = static_cast<std::size_t>(round);
    Rows by_update = by_x;
    for (std::size_t v = 0; v < by_update.size(); ++v) {
      if (neighbours[v].empty()) std::ranges::fill(by_update[v], 0.0);
    }
    const Rows by_sums =
        back(direction + "_g", sweep.updates[r], std::move(by_update), true, gradient);
    Rows by_messages(by_out.size(), std::vector<double>(width_, 0.0));
    for (std::size_t v = 0; v < by_sums.size(); ++v) {
      for (const std::int32_t u : neighbours[v]) {
        for (std::size_t j = 0; j < width_; ++j) {
          by_messages[static_cast<std::size_t>(u)][j] += by_sums[v][j];
        }
      }
    }
    by_x = back(direction + "_f", sweep.messages[r], std::move(by_messages), true, gradient);
    add(by_x, by_base);  // every round begins with the base, the first one is fed it
  }
  return by_base;
}

PlacetoNetwork::Forward PlacetoNetwork::forward(const Decision& decision,
                                                const env::IndexLists& children,
                                                const env::IndexLists& parents) const {
  Rows features;
  for (std::size_t v = 0; v < children.size(); ++v) {
    const auto row = decision.features.subspan(v * width_, width_);
    features.emplace_back(row.begin(), row.end());
  }
  Forward out;
  out.base = apply("node", std::move(features), false);
  out.down = sweep(out.base.out(), parents, "down");
  out.up = sweep(out.base.out(), children, "up");
  Rows x = out.down.out;
  for (std::size_t v = 0; v < x.size(); ++v) {
    x[v].insert(x[v].end(), out.up.out[v].begin(), out.up.out[v].end());
  }
  const auto sets = pooled_sets(decision);
  std::vector<double> seen;
  for (std::size_t p = 0; p < kPools.size(); ++p) {
    Pool& pool = out.pools[p];
    pool.messages = apply(std::string(kPools[p]) + "_f", x, true);
    std::vector<double> sum(2 * width_, 0.0);
    for (std::size_t v = 0; v < x.size(); ++v) {
      if ((*sets[p])[v] == 0) continue;
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += pool.messages.out()[v][j];
    }
    pool.pooled = apply(std::string(kPools[p]) + "_g", {std::move(sum)}, true);
    const auto& pooled = pool.pooled.out().front();
    seen.insert(seen.end(), pooled.begin(), pooled.end());
  }
  seen.insert(seen.end(), x[decision.node].begin(), x[decision.node].end());
  out.head = apply("head", {std::move(seen)}, false);
  return out;
}

std::vector<double> PlacetoNetwork::logits(const Decision& decision,
                                           const env::IndexLists& children,
                                           const env::IndexLists& parents) const {
  return forward(decision, children, parents).head.out().front();
}

void PlacetoNetwork::add_gradient(const Decision& decision, const env::IndexLists& children,
                                  const env::IndexLists& parents, std::span<const double> by_logits,
                                  Weights& gradient) const {
  const Forward pass = forward(decision, children, parents);
  const Rows by_seen =
      back("head", pass.head, {{by_logits.begin(), by_logits.end()}}, false, gradient);
  Rows by_x(children.size(), std::vector<double>(2 * width_, 0.0));
  by_x[decision.node] = columns(by_seen, 6 * width_, 2 * width_).front();
  const auto sets = pooled_sets(decision);
  for (std::size_t p = 0; p < kPools.size(); ++p) {
    const std::string name = kPools[p];
    const Rows by_sum = back(name + "_g", pass.pools[p].pooled,
                             columns(by_seen, 2 * p * width_, 2 * width_), true, gradient);
    Rows by_messages(children.size(), std::vector<double>(2 * width_, 0.0));
    for (std::size_t v = 0; v < by_messages.size(); ++v) {
      if ((*sets[p])[v] != 0) by_messages[v] = by_sum.front();
    }
    add(back(name + "_f", pass.pools[p].messages, std::move(by_messages), true, gradient), by_x);
  }
  Rows by_base = sweep_back(pass.down, parents, "down", columns(by_x, 0, width_), gradient);
  add(sweep_back(pass.up, children, "up", columns(by_x, width_, width_), gradient), by_base);
  static_cast<void>(back("node", pass.base, std::move(by_base), false, gradient));
}

json to_json(const PlacetoNetwork::Weights& weights) {
  json out = json::object();
  for (const auto& [name, stack] : weights) {
    json layers = json::array();
    for (const PlacetoNetwork::Layer& layer : stack) {
      json rows = json::array();
      for (std::size_t k = 0; k < layer.inputs; ++k) {
        const auto begin = layer.matrix.begin() + static_cast<std::ptrdiff_t>(k * layer.outputs);
        rows.push_back(
            std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(layer.outputs)));
      }
      layers.push_back({std::move(rows), layer.bias});
    }
    out[name] = std::move(layers);
  }
  return out;
}

PlacetoChoice placeto_choice(std::span<const double> logits, std::size_t action) {
  const double top = *std::ranges::max_element(logits);
  PlacetoChoice choice;
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - top);
  for (const double z : logits) {
    const double p = std::exp(z - top) / sum;
    choice.probabilities.push_back(p);
    choice.entropy -= p * std::log(p + 1e-3);
  }
  choice.log_probability = logits[action] - top - std::log(sum);
  return choice;
}

}  // namespace pacml::apps
