#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

namespace pacml::model {

// What turns a graph that decisions show into numbers.
enum class EncoderKind {
  kDeepSet,         // every node by itself, then all of them together; edges are not read
  kMessagePassing,  // nodes hear from their predecessors and successors
  kTwoWay,          // Placeto's: along the edges, against them, and who the focus's relatives are
};
constexpr auto enum_names(EncoderKind) {
  return std::to_array<EnumName<EncoderKind>>({{"deep_set", EncoderKind::kDeepSet},
                                               {"message_passing", EncoderKind::kMessagePassing},
                                               {"two_way", EncoderKind::kTwoWay}});
}

// One slot's encoder. A graph has static node features, to which a decision may add others: x_v is
// all of them, and f_uv are an edge's features, each number x as sign(x) log(1 + |x|), so that
// none is too large. Norm is layer normalisation over the last dimension with weight and bias,
// biased variance and epsilon kNormEpsilon. With residual blocks that normalise first (He et al.
// 2016, arXiv:1603.05027; Xiong et al. 2020, arXiv:2002.04745):
//
//   h_v  = W_input x_v + b_input                                                        [width]
//   and for each block, with n_v = Norm(h_v):
//     p_v  = mean over edges u -> v of relu(W_p n_u + b_p + W_pe f_uv), 0 without such edges
//     s_v  = mean over edges v -> u of relu(W_s n_u + b_s + W_se f_vu), 0 without such edges
//     h_v += W_output relu(W_self n_v + b_self + p_v + s_v) + b_output
//   y_v  = Norm(h_v)
//
// kind: deep_set leaves out p_v and s_v (Zaheer et al. 2017, arXiv:1703.06114). What the rest of
// the network reads of a graph is [mean over v of y_v ; max over v of y_v], then y of the node that
// the decision is about, if it names one; and of a candidate that is a node, that node's y.
//
// kind: two_way is the published network of Placeto (Addanki et al. 2019, arXiv:1906.08879, and its
// released code), which reads features as they are and edges without theirs. With f, g and their
// like each two linear layers with a relu behind each, base three with a relu behind the first two,
// and `blocks` rounds r, which share their weights:
//
//   b_v      = base(x_v)                                                                [width]
//   d^0_v    = b_v,  d^{r+1}_v = b_v + g_d(sum over edges u -> v of f_d(d^r_u)), b_v without edges
//   e^0_v    = b_v,  e^{r+1}_v = b_v + g_e(sum over edges v -> u of f_e(e^r_u)), b_v without edges
//   y_v      = [d_v ; e_v] after the last round                                         [2 width]
//   z_S      = g_S(sum over v in S of f_S(y_v))                                         [2 width]
//
// The rest of the network reads z of those that the focus is reached from, of those that it
// reaches, of all others, and y of the focus itself; where decisions name no node, z of all nodes.
struct EncoderConfig {
  std::string slot;  // of the task's observation
  EncoderKind kind = EncoderKind::kMessagePassing;
  int width = 32;
  int blocks = 2;
  bool operator==(const EncoderConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, EncoderConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("slot", c.slot);
  v("kind", c.kind);
  v("width", c.width);
  v("blocks", c.blocks);
}

// Every problem, as a sentence that begins with the key.
[[nodiscard]] std::vector<std::string> validate(const EncoderConfig& config);

// Whether such an encoder reads which node is beside which, and what edges say of themselves.
[[nodiscard]] constexpr bool reads_edges(EncoderKind kind) { return kind != EncoderKind::kDeepSet; }
[[nodiscard]] constexpr bool reads_edge_features(EncoderKind kind) {
  return kind == EncoderKind::kMessagePassing;
}
// Whether it reads features x as sign(x) log(1 + |x|), or as they are.
[[nodiscard]] constexpr bool squashes(EncoderKind kind) { return kind != EncoderKind::kTwoWay; }

// A slot as a network is built for it: widths, and what reads it, if anything does. Value type.
struct SlotShape {
  int node_width = 0;     // static features per node
  int edge_width = 0;     // ... and per edge
  int dynamic_width = 0;  // features per node that each decision brings along
  bool focus = false;     // whether each decision names a node of it
  std::optional<EncoderConfig> encoder = {};

  [[nodiscard]] bool is_static() const { return dynamic_width == 0; }
  // What the rest of the network reads of its graph, 0 without an encoder,
  [[nodiscard]] int context_width() const {
    const bool is_two_way = encoder && encoder->kind == EncoderKind::kTwoWay;
    const int without_focus = is_two_way ? 1 : 2;
    const int with_focus = is_two_way ? 4 : 3;
    return (focus ? with_focus : without_focus) * embedding_width();
  }
  // and of one of its nodes.
  [[nodiscard]] int embedding_width() const {
    if (!encoder) return 0;
    return encoder->kind == EncoderKind::kTwoWay ? 2 * encoder->width : encoder->width;
  }
  bool operator==(const SlotShape&) const = default;
};

}  // namespace pacml::model
