#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/candidate_view.h"
#include "env/environment.h"
#include "model/encoders/encoder_config.h"
#include "model/network_constants.h"
#include "model/parameters.h"

namespace pacml::model {

// What stands before the outputs.
enum class HeadKind {
  kDense,       // the published network: one output for each candidate, known by its place
  kCandidates,  // one small network for all candidates, which reads what each of them shows
  kPerceptron,  // one output for each candidate, known by its place, behind encoders
};
constexpr auto enum_names(HeadKind) {
  return std::to_array<EnumName<HeadKind>>({{"dense", HeadKind::kDense},
                                            {"candidates", HeadKind::kCandidates},
                                            {"perceptron", HeadKind::kPerceptron}});
}

// Whether a head has an output for each candidate, known by its place.
[[nodiscard]] constexpr bool knows_places(HeadKind kind) { return kind != HeadKind::kCandidates; }

// head: candidates. With f_i the features of valid candidate i, and s the situation, which all have
// in common (env/candidate_view.h):
//
//   c_i     = relu(W_second relu(W_first f_i + b_first) + b_second)       [width]
//   logit_i = W_logits c_i
//   h       = relu(W_situation s + b_situation)                           [hidden_width]
//   z       = relu(W_state [h ; mean over i of c_i ; max over i of c_i] + b_state)   [state_width]
//   value   = W_value z + b_value
//
// The mean and the maximum are over the valid candidates, so neither their number nor their order
// matters to a weight (Zaheer et al. 2017, arXiv:1703.06114). Where graphs are read, f_i is
// followed by what the candidate's own node comes to, where candidates are nodes, and then, like s,
// by what every encoder makes of its graph, in the order of the slots (encoders/encoder_config.h);
// and where several agents decide, by one number for each of them, 1 for the one who does and else
// 0 (unless agent_identity is false).
struct CandidateHeadConfig {
  int hidden_width = 64;
  int width = 32;
  int state_width = 64;
  bool operator==(const CandidateHeadConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, CandidateHeadConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("hidden_width", c.hidden_width);
  v("width", c.width);
  v("state_width", c.state_width);
}

[[nodiscard]] std::vector<std::string> validate(const CandidateHeadConfig& config);

// head: perceptron, as Placeto's (Addanki et al. 2019, arXiv:1906.08879), whose two widths are 16
// and 8 times that of its encoder. With s the globals, followed by what every encoder makes of its
// graph, in the order of the slots, and where several agents decide by one number for each of them:
//
//   z       = relu(W_second relu(W_first s + b_first) + b_second)
//   logits  = W_logits z + b_logits, kMaskedLogit where the mask is 0
//   value   = W_value z + b_value
struct PerceptronHeadConfig {
  int first_width = 128;
  int second_width = 64;
  bool operator==(const PerceptronHeadConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PerceptronHeadConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("first_width", c.first_width);
  v("second_width", c.second_width);
}

[[nodiscard]] std::vector<std::string> validate(const PerceptronHeadConfig& config);

// head: dense. The published network (PAC-ML, Parsonson et al., arXiv:2301.13799, section 4 and its
// code).
//
// A graph has node features x_v and edge features f_uv. Norm is layer normalisation over the last
// dimension with weight and bias, biased variance and epsilon kNormEpsilon. One round of message
// passing maps node embeddings (in the first round: the features) to node embeddings:
//
//   h_v  = relu(W_node Norm(x_v) + b_node)            [message_width / 2]
//   e_uv = relu(W_edge Norm(f_uv) + b_edge)           [message_width / 2]
//   m_uv = [h_u ; e_uv],  m_vv = [h_v ; 0]            [message_width]
//   y_v  = mean of relu(W_reduce Norm(m) + b_reduce)  over m_vv and every m_uv into v
//   y_v  = 0 if no edge leads into v
//
// The zero is the published implementation's: its message library does not call the reduction,
// which adds the node's own message, for a node without incoming edges. Parallel edges count
// separately.
//
//   g       = W_graph Norm([globals ; mask as 0/1]) + b_graph
//   z       = relu(W_readout [mean over v of y_v after the last round ; g] + b_readout)
//   logits  = W_logits z + b_logits, kMaskedLogit where the mask is 0
//   value   = W_value z + b_value
//
// Sizes; the defaults are the published ones.
struct NetworkConfig {
  int rounds = 2;           // of mean-pool message passing; >= 1
  int message_width = 32;   // a node half and an edge half; even
  int hidden_width = 64;    // node embedding between rounds
  int node_width = 16;      // node embedding after the last round
  int graph_width = 8;      // embedding of the globals and the mask
  int readout_width = 256;  // hidden layer before the heads
  HeadKind head = HeadKind::kDense;
  CandidateHeadConfig candidates = {};   // head: candidates, which ignores the sizes above
  PerceptronHeadConfig perceptron = {};  // head: perceptron, as does it
  // Not head: dense. Whether it is told which of several agents decides. Without, one set of
  // weights serves any number of agents, and all do the same where all see the same.
  bool agent_identity = true;
  // Not head: dense. What reads the graphs that decisions show, a slot each; one without an encoder
  // is not read.
  std::vector<EncoderConfig> encoders = {};
  bool operator==(const NetworkConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, NetworkConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("head", c.head);
  v("candidates", c.candidates);
  v("perceptron", c.perceptron);
  v("agent_identity", c.agent_identity);
  v("encoders", c.encoders);
  v("rounds", c.rounds);
  v("message_width", c.message_width);
  v("hidden_width", c.hidden_width);
  v("node_width", c.node_width);
  v("graph_width", c.graph_width);
  v("readout_width", c.readout_width);
}

// Width of a node embedding after round r, counted from 0.
[[nodiscard]] constexpr int round_output_width(const NetworkConfig& config, int r) {
  return r + 1 < config.rounds ? config.hidden_width : config.node_width;
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const NetworkConfig& config);

// A network's sizes and the widths of what it is fed.
struct NetworkShape {
  NetworkConfig config;
  std::vector<SlotShape> slots;  // head: dense reads one, which is static
  int globals = 0;               // per decision, without the mask; the mask is appended as 0/1
  int actions = 0;               // of a decision, or at most where candidates_vary
  int agents = 1;                // who decide in turns; head: dense knows of one
  // head: candidates.
  bool candidates_vary = false;               // in number
  int sent_features = 0;                      // of each candidate in an observation
  std::optional<std::size_t> node_slot = {};  // each candidate is a node of this slot's graph
  env::CandidateViewPtr view = nullptr;       // what is read of candidates; never null there

  // head: dense. The graph that it reads.
  [[nodiscard]] const SlotShape& graph() const { return slots.front(); }
  // How many agents it tells apart: 0 where one decides, or it is not told who.
  [[nodiscard]] int known_agents() const {
    return config.agent_identity && agents > 1 ? agents : 0;
  }
  // What encoders make of a decision's graphs, and who decides: head: candidates puts it behind the
  // features of the situation and of every candidate, head: perceptron behind the globals.
  [[nodiscard]] int context_width() const;
  // head: candidates puts before that, of each candidate's own node:
  [[nodiscard]] int node_embedding_width() const {
    return node_slot ? slots[*node_slot].embedding_width() : 0;
  }
  // Inputs of the head: of each candidate, and of the situation.
  [[nodiscard]] int candidate_inputs() const;
  [[nodiscard]] int situation_inputs() const;
  // The same of head: perceptron.
  [[nodiscard]] int perceptron_inputs() const { return globals + context_width(); }
  bool operator==(const NetworkShape&) const = default;
};

// Whether such a network can read this graph in that slot. Pre: there is such a slot.
[[nodiscard]] bool reads(const NetworkShape& shape, std::size_t slot,
                         const env::GraphFeatures& graph);

// Pre: unreadable(config, spec.observation) is empty (PACML_CHECK).
[[nodiscard]] NetworkShape make_shape(const NetworkConfig& config,
                                      const env::EnvironmentSpec& spec);

// What of a task's decisions such a network does not read, or looks for in vain, as sentences.
[[nodiscard]] std::vector<std::string> unreadable(const NetworkConfig& config,
                                                  const ObservationSpec& spec);

// The batches that a network of this shape takes.
[[nodiscard]] ObservationShape input_shape(const NetworkShape& shape);

}  // namespace pacml::model
