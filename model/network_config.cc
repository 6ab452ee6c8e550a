#include "model/network_config.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "model/encoders/slot_inputs.h"

namespace pacml::model {
namespace {

// Far above what is sensible, far below what would exhaust memory by a slip of the keyboard.
constexpr int kMaxRounds = 32;
constexpr int kMaxWidth = 4096;

void check_range(std::vector<std::string>& problems, std::string_view key, int value, int max) {
  if (value >= 1 && value <= max) return;
  problems.push_back(std::string(key) + " must be from 1 to " + std::to_string(max) + ", not " +
                     std::to_string(value));
}

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

const EncoderConfig* encoder_of(const NetworkConfig& config, const SlotSpec& slot) {
  const auto found = std::ranges::find(config.encoders, slot.name, &EncoderConfig::slot);
  return found == config.encoders.end() ? nullptr : &*found;
}

// What a head that knows candidates by their places does not read of them.
std::optional<std::string> unread_candidates(HeadKind kind, const ObservationSpec& spec) {
  const std::string head = "network.head: " + std::string(pacml::name_of(kind)) + " ";
  if (spec.candidates.derived || !spec.candidates.features.empty() || spec.candidates.node_slot) {
    return head + "does not read what the task shows of each candidate; candidates does";
  }
  if (spec.candidates.vary) {
    return head +
           "has one output for each candidate, and their number varies in this task; candidates "
           "scores any number";
  }
  return std::nullopt;
}

// The first thing that the published network does not read: another head is the remedy for all.
std::optional<std::string> unread_by_dense(const ObservationSpec& spec) {
  if (auto problem = unread_candidates(HeadKind::kDense, spec)) return problem;
  const std::string dense = "network.head: dense ";
  if (spec.slots.size() != 1) {
    return dense + "reads one graph a decision, the task shows " +
           std::to_string(spec.slots.size()) + "; candidates reads any number";
  }
  const SlotSpec& slot = spec.slots.front();
  if (slot.dynamic_width > 0) {
    return dense + "reads no features of nodes that change, as those of " + quoted(slot.name) +
           " do; candidates does";
  }
  if (slot.focus) {
    return dense + "does not read which node of " + quoted(slot.name) +
           " a decision is about; candidates does";
  }
  if (spec.agents > 1)
    return dense + "does not read which agent decides; candidates and perceptron do";
  for (const auto& [width, whose] :
       {std::pair{slot.node_width, "nodes"}, std::pair{slot.edge_width, "edges"}}) {
    if (width > 0) continue;
    return dense + "reads features of " + whose + ", and those of " + quoted(slot.name) +
           " have none; candidates and perceptron do without";
  }
  return std::nullopt;
}

// Of nodes that have no features there is nothing to embed.
void add_empty_graphs(const NetworkConfig& config, const ObservationSpec& spec,
                      std::vector<std::string>& problems) {
  for (const SlotSpec& slot : spec.slots) {
    if (encoder_of(config, slot) == nullptr || slot.node_width + slot.dynamic_width > 0) continue;
    problems.push_back("network.encoders: nodes of the graph " + quoted(slot.name) +
                       " have no features that the one with slot: " + slot.name + " could read");
  }
}

void add_unread_graphs(const NetworkConfig& config, const ObservationSpec& spec,
                       std::vector<std::string>& problems) {
  for (const SlotSpec& slot : spec.slots) {
    if ((slot.dynamic_width == 0 && !slot.focus) || encoder_of(config, slot) != nullptr) continue;
    problems.push_back(
        "network.encoders: nothing reads the graph " + quoted(slot.name) +
        ", which differs from decision to decision; there must be one with slot: " + slot.name);
  }
}

void add_unread_by_perceptron(const NetworkConfig& config, const ObservationSpec& spec,
                              std::vector<std::string>& problems) {
  if (auto problem = unread_candidates(HeadKind::kPerceptron, spec)) {
    problems.push_back(*std::move(problem));
    return;
  }
  add_unread_graphs(config, spec, problems);
  if (spec.globals.empty() && config.encoders.empty()) {
    problems.emplace_back(
        "network.head: perceptron reads a decision's globals and graphs; this task has no globals, "
        "and no graph is read: network.encoders says which shall be");
  }
}

void add_unread_by_candidates(const NetworkConfig& config, const ObservationSpec& spec,
                              std::vector<std::string>& problems) {
  const CandidateSpec& candidates = spec.candidates;
  // A task that computes what is read of its decisions reads its graphs there.
  if (!candidates.derived) add_unread_graphs(config, spec, problems);
  const bool reads_nodes =
      candidates.node_slot && encoder_of(config, spec.slots[*candidates.node_slot]) != nullptr;
  if (candidates.node_slot && !reads_nodes && !candidates.derived) {
    const std::string& slot = spec.slots[*candidates.node_slot].name;
    problems.push_back("network.encoders: candidates are nodes of the graph " + quoted(slot) +
                       ", which nothing reads; there must be one with slot: " + slot);
  }
  if (!candidates.derived && candidates.features.empty() && !candidates.node_slot) {
    problems.emplace_back(
        "network.head: candidates reads what a task shows of each candidate, and this one shows "
        "nothing; dense knows them by their places");
  }
  if (!candidates.derived && spec.globals.empty() && config.encoders.empty()) {
    problems.emplace_back(
        "network.head: candidates finds the value of a decision from its globals and graphs; this "
        "task has no globals, and no graph is read: network.encoders says which shall be");
  }
}

}  // namespace

std::vector<std::string> validate(const NetworkConfig& config) {
  std::vector<std::string> problems;
  check_range(problems, "rounds", config.rounds, kMaxRounds);
  check_range(problems, "message_width", config.message_width, kMaxWidth);
  check_range(problems, "hidden_width", config.hidden_width, kMaxWidth);
  check_range(problems, "node_width", config.node_width, kMaxWidth);
  check_range(problems, "graph_width", config.graph_width, kMaxWidth);
  check_range(problems, "readout_width", config.readout_width, kMaxWidth);
  for (std::size_t i = 0; i < config.encoders.size(); ++i) {
    const std::string& slot = config.encoders[i].slot;
    if (std::ranges::count(config.encoders, slot, &EncoderConfig::slot) > 1) {
      problems.push_back("encoders: two are for the slot " + quoted(slot) + ", one is enough");
      break;
    }
  }
  if (config.head == HeadKind::kDense && !config.encoders.empty()) {
    problems.emplace_back(
        "encoders are read by head: candidates and head: perceptron; dense has one of its own, "
        "whose "
        "sizes are rounds to node_width");
  }
  if (config.message_width % 2 != 0) {
    problems.push_back("message_width must be even (a node half and an edge half), not " +
                       std::to_string(config.message_width));
  }
  return problems;
}

std::vector<std::string> validate(const CandidateHeadConfig& config) {
  std::vector<std::string> problems;
  check_range(problems, "hidden_width", config.hidden_width, kMaxWidth);
  check_range(problems, "width", config.width, kMaxWidth);
  check_range(problems, "state_width", config.state_width, kMaxWidth);
  return problems;
}

std::vector<std::string> validate(const PerceptronHeadConfig& config) {
  std::vector<std::string> problems;
  check_range(problems, "first_width", config.first_width, kMaxWidth);
  check_range(problems, "second_width", config.second_width, kMaxWidth);
  return problems;
}

int NetworkShape::context_width() const {
  int width = known_agents();
  for (const SlotShape& slot : slots) width += slot.context_width();
  return width;
}

int NetworkShape::candidate_inputs() const {
  return (view ? static_cast<int>(view->width()) : 0) + node_embedding_width() + context_width();
}

int NetworkShape::situation_inputs() const {
  return (view ? static_cast<int>(view->situation().size()) : 0) + context_width();
}

bool reads(const NetworkShape& shape, std::size_t slot, const env::GraphFeatures& graph) {
  return is_of(shape.slots[slot], graph) && (!shape.view || shape.view->knows(slot, graph.hash));
}

NetworkShape make_shape(const NetworkConfig& config, const env::EnvironmentSpec& spec) {
  PACML_CHECK(unreadable(config, spec.observation).empty(), "a task that this network can read");
  NetworkShape shape{config, {}, spec.num_globals(), spec.num_actions()};
  for (const SlotSpec& slot : spec.observation.slots) {
    shape.slots.push_back({static_cast<int>(slot.node_width), static_cast<int>(slot.edge_width),
                           static_cast<int>(slot.dynamic_width), slot.focus});
    if (const auto* encoder = encoder_of(config, slot)) shape.slots.back().encoder = *encoder;
  }
  if (config.head == HeadKind::kDense) return shape;
  shape.agents = static_cast<int>(spec.observation.agents);
  if (config.head == HeadKind::kPerceptron) return shape;
  const CandidateSpec& candidates = spec.observation.candidates;
  shape.candidates_vary = candidates.vary;
  shape.sent_features = static_cast<int>(candidates.features.size());
  if (candidates.node_slot) shape.node_slot = *candidates.node_slot;
  shape.view = spec.candidate_view ? spec.candidate_view : env::plain_view(spec.observation);
  return shape;
}

std::vector<std::string> unreadable(const NetworkConfig& config, const ObservationSpec& spec) {
  std::vector<std::string> problems;
  for (const EncoderConfig& encoder : config.encoders) {
    if (std::ranges::count(spec.slots, encoder.slot, &SlotSpec::name) > 0) continue;
    std::string names;
    for (const SlotSpec& slot : spec.slots) names += (names.empty() ? "" : ", ") + slot.name;
    problems.push_back("network.encoders: decisions of this task show no graph " +
                       quoted(encoder.slot) + ", but: " + names);
  }
  add_empty_graphs(config, spec, problems);
  switch (config.head) {
    case HeadKind::kDense:
      if (auto problem = unread_by_dense(spec)) problems.push_back(*std::move(problem));
      break;
    case HeadKind::kCandidates:
      add_unread_by_candidates(config, spec, problems);
      break;
    case HeadKind::kPerceptron:
      add_unread_by_perceptron(config, spec, problems);
      break;
  }
  return problems;
}

ObservationShape input_shape(const NetworkShape& shape) {
  ObservationShape input;
  for (const SlotShape& slot : shape.slots) {
    input.slots.push_back({static_cast<std::uint32_t>(slot.dynamic_width), slot.focus});
  }
  input.globals = static_cast<std::uint32_t>(shape.globals);
  input.candidates = static_cast<std::uint32_t>(shape.actions);
  input.candidates_vary = shape.candidates_vary;
  input.candidate_width = static_cast<std::uint32_t>(shape.sent_features);
  input.candidates_name_nodes = shape.node_slot.has_value();
  input.agents = static_cast<std::uint32_t>(shape.agents);
  return input;
}

}  // namespace pacml::model
