#include "env/placement/op_graph_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/json_text.h"
#include "common/result.h"
#include "env/graph/profile_reader.h"
#include "env/placement/profile_ops.h"
#include "env/text/json_file.h"
#include "env/text/json_member.h"

namespace pacml::env {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* key, const std::string& of) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || it == object.end()) {
    throw UserError(of + " has no \"" + key + "\"");
  }
  return *it;
}

double number(const json& value, const std::string& what) {
  if (!value.is_number()) throw UserError(what + " is no number");
  return value.get<double>();
}

std::string text(const json& value, const std::string& what) {
  if (!value.is_string()) throw UserError(what + " is no text");
  return value.get<std::string>();
}

OpSpec op_from_json(const json& value, std::size_t index) {
  static constexpr std::array kKeys = {"name",   "cost_us",         "output_bytes", "group",
                                       "memory", "parameter_bytes", "kept_bytes"};
  const std::string place = "operation " + std::to_string(index);
  OpSpec op;
  op.name = text(member(value, "name", place), "the name of " + place);
  const std::string named = place + " (\"" + op.name + "\")";
  require_known_keys(value, kKeys, named);
  op.cost_us = number(member(value, "cost_us", named), "cost_us of " + named);
  const json& outputs = member(value, "output_bytes", named);
  if (!outputs.is_array()) throw UserError("output_bytes of " + named + " is no list");
  for (const json& bytes : outputs) {
    op.output_bytes.push_back(number(bytes, "output_bytes of " + named));
  }
  if (const auto it = value.find("group"); it != value.end()) {
    op.group = text(*it, "group of " + named);
  }
  if (const auto it = value.find("memory"); it != value.end()) {
    op.memory_bytes = number(*it, "memory of " + named);
  }
  if (const auto it = value.find("parameter_bytes"); it != value.end()) {
    op.parameter_bytes = number(*it, "parameter_bytes of " + named);
  }
  if (const auto it = value.find("kept_bytes"); it != value.end()) {
    op.kept_bytes = number(*it, "kept_bytes of " + named);
  }
  return op;
}

using Names = std::unordered_map<std::string, std::int32_t>;

std::int32_t index_from_json(const json& value, const std::string& what) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0) || number > std::numeric_limits<std::int32_t>::max() ||
      number != std::floor(number)) {
    throw UserError(what + " is no whole number from 0");
  }
  return static_cast<std::int32_t>(number);
}

std::int32_t end_from_json(const json& value, const Names& names, const std::string& edge) {
  if (!value.is_string()) return index_from_json(value, "an end of " + edge);
  const auto it = names.find(value.get<std::string>());
  if (it == names.end()) {
    throw UserError(edge + " names the operation " + json_text(value) + ", which is not there");
  }
  return it->second;
}

}  // namespace

OpGraphSpec op_graph_from_json(const json& graph, const OpGraphLimits& limits) {
  const json& ops = member(graph, "ops", "the graph");
  const json& edges = member(graph, "edges", "the graph");
  require_known_keys(graph, std::to_array({"ops", "edges"}), "the graph");
  if (!ops.is_array() || !edges.is_array()) {
    throw UserError("ops and edges of the graph must be lists");
  }
  if (ops.size() > limits.max_ops) {
    throw UserError("the graph has " + std::to_string(ops.size()) + " operations, more than " +
                    std::to_string(limits.max_ops));
  }
  if (edges.size() > limits.max_edges) {
    throw UserError("the graph has " + std::to_string(edges.size()) + " edges, more than " +
                    std::to_string(limits.max_edges));
  }
  OpGraphSpec spec;
  Names names;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    spec.ops.push_back(op_from_json(ops[i], i));
    names.try_emplace(spec.ops.back().name, static_cast<std::int32_t>(i));
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::string edge = "edge " + std::to_string(i);
    const json& row = edges[i];
    if (!row.is_array() || row.size() != 3) {
      throw UserError(edge + " is no list of producer, output and consumer");
    }
    spec.edges.push_back({end_from_json(row[0], names, edge),
                          index_from_json(row[1], "the output of " + edge),
                          end_from_json(row[2], names, edge)});
  }
  return spec;
}

json op_graph_to_json(const OpGraphSpec& graph) {
  json ops = json::array();
  for (const OpSpec& op : graph.ops) {
    json row = {{"name", op.name}, {"cost_us", op.cost_us}, {"output_bytes", op.output_bytes}};
    if (!op.group.empty()) row["group"] = op.group;
    if (op.memory_bytes) row["memory"] = *op.memory_bytes;
    if (op.parameter_bytes != 0) row["parameter_bytes"] = op.parameter_bytes;
    if (op.kept_bytes != 0) row["kept_bytes"] = op.kept_bytes;
    ops.push_back(std::move(row));
  }
  json edges = json::array();
  for (const OpEdge& edge : graph.edges) {
    edges.push_back({edge.producer, edge.output, edge.consumer});
  }
  return {{"ops", std::move(ops)}, {"edges", std::move(edges)}};
}

namespace {

OpGraphSpec op_graph_of_file(const std::filesystem::path& file) {
  if (file.extension() == ".txt") return profile_ops(read_profile_file(file), ProfilePass::kBoth);
  const json document = read_json_file(file.string());
  try {
    const bool is_held = document.is_object() && document.contains("graph");
    return op_graph_from_json(is_held ? document.at("graph") : document);
  } catch (const UserError& error) {
    throw UserError(file.string() + ": " + error.what());
  }
}

}  // namespace

void require_time(const OpGraphSpec& graph) {
  if (graph.ops.empty() ||
      std::ranges::any_of(graph.ops, [](const auto& op) { return op.cost_us != 0; })) {
    return;
  }
  throw UserError("no operation takes any time (in whole microseconds, where it is a profile)");
}

OpGraphSpec read_op_graph(const std::filesystem::path& file) {
  OpGraphSpec graph = op_graph_of_file(file);
  try {
    require_time(graph);
  } catch (const UserError& error) {
    throw UserError(file.string() + ": " + error.what());
  }
  return graph;
}

}  // namespace pacml::env
