#include "python/core/observation_layout.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "common/result.h"

namespace pacml::python {
namespace {

ColumnSpec numbers(std::string name, std::vector<std::size_t> shape,
                   std::span<const FeatureSpec> features, bool padded) {
  ColumnSpec column{std::move(name), ColumnType::kFloat32, std::move(shape), {}, {}, {}, 0};
  for (const FeatureSpec& feature : features) {
    column.features.push_back(feature.name);
    column.low.push_back(static_cast<float>(padded ? std::min(feature.low, 0.0) : feature.low));
    column.high.push_back(static_cast<float>(padded ? std::max(feature.high, 0.0) : feature.high));
  }
  return column;
}

ColumnSpec indices(std::string name, std::vector<std::size_t> shape, std::size_t values) {
  return {std::move(name),
          ColumnType::kInt64,
          std::move(shape),
          {},
          {},
          {},
          static_cast<std::int64_t>(values)};
}

// What reads decisions has no use for others, and takes their widths for granted.
bool may_show(const env::EnvironmentSpec& spec, std::size_t slot, std::size_t most_nodes,
              const env::GraphFeatures& graph) {
  const SlotSpec& shown = spec.observation.slots[slot];
  return graph.node_width == static_cast<int>(shown.node_width) &&
         graph.edge_width == static_cast<int>(shown.edge_width) &&
         static_cast<std::size_t>(graph.num_nodes) <= most_nodes &&
         (!spec.candidate_view || spec.candidate_view->knows(slot, graph.hash));
}

std::size_t index_below(std::int64_t index, std::size_t end, std::string_view column) {
  if (index < 0 || static_cast<std::uint64_t>(index) >= end) {
    throw UserError(std::string(column) + ": " + std::to_string(index) + " is not in 0.." +
                    std::to_string(end - 1));
  }
  return static_cast<std::size_t>(index);
}

}  // namespace

std::size_t bytes_of(ColumnType type) {
  switch (type) {
    case ColumnType::kFloat32:
      return 4;
    case ColumnType::kInt64:
      return 8;
    case ColumnType::kInt8:
      return 1;
  }
  return 1;
}

std::size_t ColumnSpec::row_values() const {
  std::size_t values_of_row = 1;
  for (const std::size_t length : shape) values_of_row *= length;
  return values_of_row;
}

std::size_t ObservationLayout::add(ColumnSpec column) {
  columns_.push_back(std::move(column));
  return columns_.size() - 1;
}

ObservationLayout::ObservationLayout(const env::EnvironmentSpec& spec, bool derived) {
  const ObservationSpec& shown = spec.observation;
  if (shown.agents > 1) {
    throw UserError("the task " + spec.task + " has " + std::to_string(shown.agents) +
                    " agents that decide in turns, and environments in Python have one");
  }
  std::size_t largest = 1;
  for (const auto& graph : spec.graphs) {
    graph_nodes_.push_back(static_cast<std::size_t>(graph->num_nodes));
    largest = std::max(largest, graph_nodes_.back());
  }
  const auto most_nodes = [&](const SlotSpec& slot) {
    return slot.most_nodes > 0 ? std::size_t{slot.most_nodes} : largest;
  };
  const std::size_t actions = shown.candidates.most;
  add({"mask", ColumnType::kInt8, {actions}, {}, {}, {}, 0});
  if (!shown.globals.empty()) {
    globals_ = add(numbers("globals", {shown.globals.size()}, shown.globals, false));
  }
  if (const auto& features = shown.candidates.features; !features.empty()) {
    candidates_ = add(numbers("candidates", {actions, features.size()}, features, true));
  }
  if (shown.candidates.node_slot) {
    node_slot_ = *shown.candidates.node_slot;
    candidate_nodes_ =
        add(indices("candidate_nodes", {actions}, most_nodes(shown.slots[node_slot_])));
  }
  for (std::size_t s = 0; s < shown.slots.size(); ++s) {
    const SlotSpec& slot = shown.slots[s];
    SlotColumns& at = slots_.emplace_back();
    for (const auto& graph : spec.graphs) {
      at.shows.push_back(may_show(spec, s, most_nodes(slot), *graph));
    }
    at.graph = add(indices(slot.name + "_graph", {}, spec.graphs.size()));
    at.width = slot.dynamic_width;
    if (at.width > 0) {
      at.nodes = add(numbers(slot.name + "_nodes", {most_nodes(slot), at.width}, {}, true));
    }
    if (slot.focus) at.focus = add(indices(slot.name + "_focus", {}, most_nodes(slot)));
  }
  num_sent_ = columns_.size();
  if (!derived || !spec.candidate_view) return;
  const auto features = spec.candidate_view->features();
  const auto situation = spec.candidate_view->situation();
  derived_ = add(numbers("derived", {actions, features.size()}, features, true));
  if (!situation.empty()) {
    situation_ = add(numbers("situation", {situation.size()}, situation, true));
  }
}

template <class T>
T* ObservationLayout::row_of(const std::vector<std::byte*>& to, std::size_t column,
                             std::size_t row) const {
  return reinterpret_cast<T*>(to[column] + row * columns_[column].row_bytes());
}

template <class T>
const T* ObservationLayout::row_of(const std::vector<const std::byte*>& from, std::size_t column,
                                   std::size_t row) const {
  return reinterpret_cast<const T*>(from[column] + row * columns_[column].row_bytes());
}

void ObservationLayout::write_row(const Observations& from, std::size_t b,
                                  env::CandidateReader* reader, std::size_t row,
                                  const std::vector<std::byte*>& to) const {
  const auto clear = [&](std::size_t column) {
    std::memset(row_of<std::byte>(to, column, row), 0, columns_[column].row_bytes());
  };
  const auto mask = from.mask(b);
  if (mask.size() < num_actions()) {
    clear(0);
    if (candidates_ > 0) clear(candidates_);
    if (candidate_nodes_ > 0) clear(candidate_nodes_);
  }
  std::ranges::copy(mask, row_of<std::uint8_t>(to, 0, row));
  if (globals_ > 0) std::ranges::copy(from.globals(b), row_of<float>(to, globals_, row));
  if (candidates_ > 0) std::ranges::copy(from.candidates(b), row_of<float>(to, candidates_, row));
  if (candidate_nodes_ > 0) {
    std::ranges::copy(from.candidate_nodes(b), row_of<std::int64_t>(to, candidate_nodes_, row));
  }
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const SlotColumns& at = slots_[s];
    *row_of<std::int64_t>(to, at.graph, row) = from.graph(b, s);
    if (at.focus > 0) *row_of<std::int64_t>(to, at.focus, row) = from.focus(b, s);
    if (at.nodes == 0) continue;
    const auto features = from.node_features(b, s);
    PACML_CHECK(features.size() <= columns_[at.nodes].row_values(), "a graph beyond the largest");
    auto* nodes = row_of<float>(to, at.nodes, row);
    std::ranges::copy(features, nodes);
    std::fill(nodes + features.size(), nodes + columns_[at.nodes].row_values(), 0.0F);
  }
  if (!has_derived()) return;
  const std::size_t width = columns_[derived_].shape[1];
  auto* derived = row_of<float>(to, derived_, row);
  float* situation = situation_ > 0 ? row_of<float>(to, situation_, row) : nullptr;
  // The reader leaves no room for those that may not be taken: from the last row on, each that it
  // wrote goes to its action's place, which is never before the row's own.
  std::size_t unmoved = reader->read(from, b, derived, width, situation);
  for (std::size_t a = mask.size(); a-- > 0;) {
    if (mask[a] == 0 || --unmoved == a) continue;
    std::copy_n(derived + unmoved * width, width, derived + a * width);
  }
  for (std::size_t a = 0; a < num_actions(); ++a) {
    if (a >= mask.size() || mask[a] == 0) std::fill_n(derived + a * width, width, 0.0F);
  }
}

void ObservationLayout::read_row(const std::vector<const std::byte*>& from, std::size_t row,
                                 Observations& out) const {
  // What is checked is read once: other threads of the interpreter may write into it meanwhile.
  std::vector<std::uint16_t> graphs;
  std::vector<std::uint32_t> nodes;
  for (const SlotColumns& at : slots_) {
    const std::int64_t index = *row_of<std::int64_t>(from, at.graph, row);
    const std::size_t graph = index_below(index, graph_nodes_.size(), columns_[at.graph].name);
    if (!at.shows[graph]) {
      throw UserError(columns_[at.graph].name + ": graph " + std::to_string(graph) +
                      " is not one of this slot");
    }
    graphs.push_back(static_cast<std::uint16_t>(graph));
    if (at.nodes == 0) continue;
    nodes.push_back(static_cast<std::uint32_t>(graph_nodes_[graph]));
  }
  const auto* shown = row_of<std::uint8_t>(from, 0, row);
  const std::vector<std::uint8_t> mask(shown, shown + num_actions());
  for (const std::uint8_t may : mask) {
    if (may > 1) throw UserError("mask: holds numbers other than 0 and 1");
  }
  if (std::ranges::find(mask, 1) == mask.end()) {
    throw UserError("mask: row " + std::to_string(row) + " allows no action");
  }
  // Candidates that are not there are as good as such that may not be taken.
  const auto candidates = static_cast<std::uint32_t>(num_actions());
  const ObservationRow to = out.append({out.shape().candidates_vary ? candidates : 0, nodes});
  const auto copy = [&](std::size_t column, auto span) {
    if (column > 0) std::memcpy(span.data(), row_of<float>(from, column, row), span.size_bytes());
  };
  std::ranges::copy(mask, to.mask.begin());
  copy(globals_, to.globals);
  copy(candidates_, to.candidates);
  std::size_t focuses = 0;
  std::size_t node_values = 0;
  std::size_t dynamic = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const SlotColumns& at = slots_[s];
    to.graph[s] = graphs[s];
    if (at.focus > 0) {
      to.focus[focuses++] =
          static_cast<std::uint32_t>(index_below(*row_of<std::int64_t>(from, at.focus, row),
                                                 graph_nodes_[graphs[s]], columns_[at.focus].name));
    }
    if (at.nodes > 0) {
      const std::size_t count = std::size_t{nodes[dynamic++]} * at.width;
      copy(at.nodes, to.node_features.subspan(node_values, count));
      node_values += count;
    }
  }
  if (candidate_nodes_ > 0) {
    const auto* named = row_of<std::int64_t>(from, candidate_nodes_, row);
    const std::size_t end = graph_nodes_[to.graph[node_slot_]];
    for (std::size_t a = 0; a < num_actions(); ++a) {
      to.candidate_nodes[a] =
          static_cast<std::uint32_t>(index_below(named[a], end, "candidate_nodes"));
    }
  }
}

}  // namespace pacml::python
