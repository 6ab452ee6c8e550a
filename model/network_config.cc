#include "model/network_config.h"

#include <cstdint>
#include <string_view>

#include "common/check.h"

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

// What no network reads yet.
void add_unread(const ObservationSpec& spec, std::vector<std::string>& problems) {
  for (const SlotSpec& slot : spec.slots) {
    if (slot.dynamic_width > 0) {
      problems.push_back("the network reads no features of nodes that change, as those of \"" +
                         slot.name + "\" do");
    }
    if (slot.focus) {
      problems.push_back("the network does not read which node of \"" + slot.name +
                         "\" a decision is about");
    }
  }
  if (spec.candidates.node_slot) {
    problems.emplace_back("the network does not read which node a candidate is");
  }
  if (spec.agents > 1) problems.emplace_back("the network does not read which agent decides");
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

NetworkShape make_shape(const NetworkConfig& config, const env::EnvironmentSpec& spec) {
  PACML_CHECK(unreadable(config, spec.observation).empty(), "a task that this network can read");
  const SlotSpec& graph = spec.observation.slots.front();
  NetworkShape shape{config, static_cast<int>(graph.node_width), static_cast<int>(graph.edge_width),
                     spec.num_globals(), spec.num_actions()};
  if (config.head == HeadKind::kDense) return shape;
  shape.candidates_vary = spec.observation.candidates.vary;
  shape.sent_features = static_cast<int>(spec.observation.candidates.features.size());
  shape.view = spec.candidate_view ? spec.candidate_view : env::plain_view(spec.observation);
  return shape;
}

std::vector<std::string> unreadable(const NetworkConfig& config, const ObservationSpec& spec) {
  std::vector<std::string> problems;
  const bool shows_candidates = spec.candidates.derived || !spec.candidates.features.empty();
  if (spec.slots.size() != 1) {
    problems.push_back("the network reads one graph a decision, the task shows " +
                       std::to_string(spec.slots.size()));
  }
  if (config.head == HeadKind::kDense && shows_candidates) {
    problems.emplace_back(
        "network.head: dense does not read what the task shows of each candidate; candidates does");
  }
  if (config.head == HeadKind::kDense && spec.candidates.vary) {
    problems.emplace_back(
        "network.head: dense has one output for each candidate, and their number varies in this "
        "task; candidates scores any number");
  }
  if (config.head == HeadKind::kCandidates && !shows_candidates) {
    problems.emplace_back(
        "network.head: candidates reads what a task shows of each candidate, and this one shows "
        "nothing; dense knows them by their places");
  }
  if (config.head == HeadKind::kCandidates && !spec.candidates.derived && spec.globals.empty()) {
    problems.emplace_back(
        "network.head: candidates finds the value of a decision from its globals, and this task "
        "has none");
  }
  add_unread(spec, problems);
  return problems;
}

ObservationShape input_shape(const NetworkShape& shape) {
  ObservationShape input =
      plain_shape(static_cast<std::size_t>(shape.globals), static_cast<std::size_t>(shape.actions));
  input.candidate_width = static_cast<std::uint32_t>(shape.sent_features);
  input.candidates_vary = shape.candidates_vary;
  return input;
}

}  // namespace pacml::model
