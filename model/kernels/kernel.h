#pragma once

#include <cstddef>
#include <cstdint>

// The seam between the fused policy, which owns memory, and the inner loops, which are compiled
// once for each instruction set. Plain data and pointers only: a translation unit that is compiled
// for AVX2 must not instantiate a standard library's inline function, since the linker may then
// keep that copy for the whole program and crash on an older machine.
namespace pacml::model {

// Widths of rows are padded to a multiple of this with zeros; rows start on 32-byte boundaries.
inline constexpr std::size_t kLanes = 8;
[[nodiscard]] constexpr std::size_t padded(std::size_t width) {
  return (width + kLanes - 1) / kLanes * kLanes;
}
[[nodiscard]] constexpr std::size_t padded(int width) {
  return padded(static_cast<std::size_t>(width));
}

// Decisions that go through the heads together.
inline constexpr std::size_t kDecisionBlock = 12;

// y = x W + b with W transposed and padded, so that one input meets contiguous outputs. A preceding
// norm's weight and bias are folded in.
struct PackedLinear {
  std::size_t in = 0;             // inputs, not padded
  std::size_t out = 0;            // outputs, padded
  const float* weight = nullptr;  // [in, out]
  const float* bias = nullptr;    // [out]; null: none
  std::size_t width = 0;          // outputs, not padded
};

// One round of message passing. Let h and e be the halves of a message, h' and e' the same less
// their own means mean(h) and mean(e), and d = (mean(h) - mean(e)) / 2. The mean of the message is
// then mean(h) - d = mean(e) + d, its variance (|h'|^2 + |e'|^2) / message_width + d^2, and
//
//   W Norm(m) + b = (W_n h' + W_e e' + d * shift) / sqrt(variance + eps) + b,
//   shift = row sums of W_n - row sums of W_e
//
// where W_n h' is needed once per node and W_e e' once per edge: half the work of a product per
// message, and without the cancellation of E[m^2] - E[m]^2.
struct PackedRound {
  std::size_t half = 0;          // message_width / 2, not padded
  PackedLinear node;             // norm folded in
  PackedLinear edge;             // norm folded in
  PackedLinear reduce_node;      // W_n; no bias
  PackedLinear reduce_edge;      // W_e; no bias
  const float* shift = nullptr;  // [reduce_node.out]
  const float* bias = nullptr;   // [reduce_node.out]
  std::size_t out = 0;           // width of the new embedding, not padded
};

struct PackedNetwork {
  std::size_t rounds = 0;
  const PackedRound* round = nullptr;  // [rounds]
  PackedLinear readout_node;           // the readout's share that depends on the graph alone
  std::size_t globals = 0;
  std::size_t actions = 0;
  PackedLinear graph;          // from globals and mask, norm folded in
  PackedLinear readout_graph;  // the readout's other share; no bias
  PackedLinear heads;          // logits, then the value
};

// Layer normalisation.
struct PackedNorm {
  std::size_t width = 0;          // not padded
  const float* weight = nullptr;  // [padded width], zero behind the width, as is the bias
  const float* bias = nullptr;
};

// Edges sorted by the node that hears something along them: those of node v are first[v] ...
struct PackedEdges {
  std::size_t nodes = 0;
  const std::int32_t* first = nullptr;  // [nodes + 1]
  const std::int32_t* other = nullptr;  // [edges], the node at the other end
};

// One network for all candidates (network_config.h, head: candidates).
struct PackedScorer {
  PackedLinear first;
  PackedLinear second;
  PackedLinear logits;  // one output; no bias
  PackedLinear situation;
  PackedLinear state_situation;   // the state's share of the situation,
  PackedLinear state_candidates;  // and of the mean, then the maximum, of the candidates; no bias
  PackedLinear value;             // one output
};

// A graph as the kernel wants it: edges sorted by destination, features normalised (without weight
// and bias, which are folded into the layers).
struct PackedGraph {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  const float* node_inputs = nullptr;        // [nodes, padded node features]
  const float* edge_inputs = nullptr;        // [edges, padded edge features]
  const std::int32_t* first_edge = nullptr;  // [nodes + 1]: edges into v are first_edge[v] ...
  const std::int32_t* edge_src = nullptr;    // [edges]
};

// Working memory, sized by the caller for its largest graph. `half` and `wide` are the padded
// half message width and the largest padded embedding width.
struct GraphScratch {
  float* embedding = nullptr;     // [nodes, wide]
  float* node_half = nullptr;     // [nodes, half]
  float* node_product = nullptr;  // [nodes, wide]
  float* node_mean = nullptr;     // [nodes] mean of a node half
  float* node_square = nullptr;   // [nodes] sum of its squared deviations
  float* edge_half = nullptr;     // [edges, half]
  float* edge_product = nullptr;  // [edges, wide]
  float* edge_mean = nullptr;     // [edges]
  float* edge_square = nullptr;   // [edges]
};

struct DecisionScratch {
  float* input = nullptr;    // [kDecisionBlock, padded globals + actions]
  float* graph = nullptr;    // [kDecisionBlock, graph.out]
  float* readout = nullptr;  // [kDecisionBlock, readout_graph.out]
  float* head = nullptr;     // [kDecisionBlock, heads.out]
};

struct DecisionBatch {
  std::size_t count = 0;
  const std::uint16_t* graph = nullptr;  // [count], row of graph_readout
  const float* globals = nullptr;        // [count, globals]
  const std::uint8_t* mask = nullptr;    // [count, actions]
  const float* graph_readout = nullptr;  // [graphs, readout_graph.out]
};

struct ScoreScratch {
  float* hidden = nullptr;  // [rows, first.out]
  float* output = nullptr;  // [rows, logits.out]
};

struct ValueScratch {
  float* hidden = nullptr;  // [decisions, situation.out]
  float* state = nullptr;   // [decisions, state_situation.out]
  float* output = nullptr;  // [decisions, value.out]
};

struct Kernel {
  // Writes W_readout [mean node embedding ; 0] + b_readout to graph_readout [readout_node.out].
  void (*embed_graph)(const PackedNetwork& network, const PackedGraph& graph,
                      const GraphScratch& scratch, float* graph_readout);
  // Writes logits [count, actions], masked, and values [count].
  void (*decide)(const PackedNetwork& network, const DecisionBatch& batch,
                 const DecisionScratch& scratch, float* logits, float* values);
  // Of candidates [rows, padded first.in]: writes what they come to [rows, second.out], and logits
  // [rows].
  void (*score)(const PackedScorer& scorer, const float* candidates, std::size_t rows,
                const ScoreScratch& scratch, float* embeddings, float* logits);
  // Of situations [decisions, padded situation.in] and pooled candidates [decisions, padded
  // state_candidates.in]: writes values [decisions].
  void (*value)(const PackedScorer& scorer, const float* situations, const float* pooled,
                std::size_t decisions, const ValueScratch& scratch, float* values);
  // y [rows, layer.out] of x, rows of x_stride floats.
  void (*linear)(const PackedLinear& layer, const float* x, std::size_t x_stride, std::size_t rows,
                 float* y);
  // y of x, both [rows, padded width]. May be the same memory.
  void (*norm)(const PackedNorm& layer, const float* x, std::size_t rows, float* y);
  // y [nodes, stride]: mean over each node's edges of relu(term of the other node + term of the
  // edge), zero without edges. Terms have rows of `stride` floats, a multiple of kLanes;
  // edge_terms are in the order of the edges, or null.
  void (*mean_messages)(const PackedEdges& edges, const float* node_terms, const float* edge_terms,
                        std::size_t stride, float* y);
};

[[nodiscard]] const Kernel& portable_kernel();
// Null where this build has none. To be asked for only on a CPU with AVX2 and FMA.
[[nodiscard]] const Kernel* avx2_kernel();

}  // namespace pacml::model
