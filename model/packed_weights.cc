#include "model/packed_weights.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "common/check.h"

namespace pacml::model {
namespace {

// A linear layer as it stands in the parameters, with the norm before it folded in, in double:
//   W (w * x + b) + c  =  (W diag(w)) x + (W b + c)
struct Linear {
  std::size_t in = 0;
  std::size_t out = 0;
  std::vector<double> weight;  // [out, in]
  std::vector<double> bias;    // [out]
};

class Reader {
 public:
  Reader(const ParameterLayout& layout, const Parameters& parameters)
      : layout_(layout), parameters_(parameters) {}

  [[nodiscard]] Linear linear(const std::string& name) const {
    const auto w = view(parameters_, layout_, name + ".weight");
    const auto b = view(parameters_, layout_, name + ".bias");
    return {w.size() / b.size(), b.size(), {w.begin(), w.end()}, {b.begin(), b.end()}};
  }

  // A layer without a bias. `in`: its inputs.
  [[nodiscard]] Linear product(const std::string& name, std::size_t in) const {
    const auto w = view(parameters_, layout_, name + ".weight");
    return {in, w.size() / in, {w.begin(), w.end()}, {}};
  }

  [[nodiscard]] std::vector<double> vector(const std::string& name) const {
    const auto values = view(parameters_, layout_, name);
    return {values.begin(), values.end()};
  }

  // The layer NAME behind the norm NAME_norm.
  [[nodiscard]] Linear normed_linear(const std::string& name) const {
    Linear layer = linear(name);
    const auto scale = view(parameters_, layout_, name + "_norm.weight");
    const auto offset = view(parameters_, layout_, name + "_norm.bias");
    for (std::size_t o = 0; o < layer.out; ++o) {
      for (std::size_t i = 0; i < layer.in; ++i) {
        double& w = layer.weight[o * layer.in + i];
        layer.bias[o] += w * double{offset[i]};
        w *= double{scale[i]};
      }
    }
    return layer;
  }

 private:
  const ParameterLayout& layout_;
  const Parameters& parameters_;
};

// `count` inputs of the layer from `first` on; the bias goes with one share only.
Linear input_share(const Linear& layer, std::size_t first, std::size_t count, bool with_bias) {
  Linear share{count, layer.out, {}, {}};
  for (std::size_t o = 0; o < layer.out; ++o) {
    const auto row = std::span(layer.weight).subspan(o * layer.in + first, count);
    share.weight.insert(share.weight.end(), row.begin(), row.end());
  }
  if (with_bias) share.bias = layer.bias;
  return share;
}

// Two layers on the same input, outputs one after the other.
Linear stack(Linear top, const Linear& bottom) {
  PACML_CHECK(top.in == bottom.in, "stacked layers share their input");
  top.out += bottom.out;
  top.weight.insert(top.weight.end(), bottom.weight.begin(), bottom.weight.end());
  top.bias.insert(top.bias.end(), bottom.bias.begin(), bottom.bias.end());
  return top;
}

// Places arrays into blocks whose addresses outlive moves of the list.
class Packer {
 public:
  explicit Packer(std::vector<AlignedFloats>& blocks) : blocks_(blocks) {}

  const float* vector(std::span<const double> values) {
    AlignedFloats& block = blocks_.emplace_back(padded(values.size()), 0.0F);
    for (std::size_t i = 0; i < values.size(); ++i) block[i] = static_cast<float>(values[i]);
    return block.data();
  }

  PackedLinear linear(const Linear& layer) {
    const std::size_t out = padded(layer.out);
    AlignedFloats& weight = blocks_.emplace_back(layer.in * out, 0.0F);
    for (std::size_t o = 0; o < layer.out; ++o) {
      for (std::size_t i = 0; i < layer.in; ++i) {
        weight[i * out + o] = static_cast<float>(layer.weight[o * layer.in + i]);
      }
    }
    const float* weights = weight.data();
    return {layer.in, out, weights, layer.bias.empty() ? nullptr : vector(layer.bias), layer.out};
  }

 private:
  std::vector<AlignedFloats>& blocks_;
};

// Packs an encoder's layers, whose norms stand alone: each is read by several layers.
class EncoderPacker {
 public:
  EncoderPacker(const Reader& reader, Packer& packer) : reader_(reader), packer_(packer) {}
  [[nodiscard]] PackedLinear linear(const std::string& name, int /*in*/, int /*out*/) const {
    return packer_.linear(reader_.linear(name));
  }
  [[nodiscard]] PackedLinear product(const std::string& name, int in, int /*out*/) const {
    return packer_.linear(reader_.product(name, static_cast<std::size_t>(in)));
  }
  [[nodiscard]] PackedNorm norm(const std::string& name, int width) const {
    return {static_cast<std::size_t>(width), packer_.vector(reader_.vector(name + ".weight")),
            packer_.vector(reader_.vector(name + ".bias"))};
  }

 private:
  const Reader& reader_;
  Packer& packer_;
};

std::vector<PackedEncoder> pack_encoders(const NetworkShape& shape, const Reader& reader,
                                         Packer& packer) {
  std::vector<PackedEncoder> out;
  for (const SlotShape& slot : shape.slots) {
    if (slot.encoder) out.push_back(make_graph_encoder(EncoderPacker(reader, packer), slot));
  }
  return out;
}

// Row sums of the node half less those of the edge half (PackedRound::shift).
std::vector<double> half_difference(const Linear& reduce, std::size_t half) {
  std::vector<double> shift(reduce.out, 0.0);
  for (std::size_t o = 0; o < reduce.out; ++o) {
    for (std::size_t i = 0; i < reduce.in; ++i) {
      const double w = reduce.weight[o * reduce.in + i];
      shift[o] += i < half ? w : -w;
    }
  }
  return shift;
}

}  // namespace

PackedWeights::PackedWeights(const NetworkShape& shape, const ParameterLayout& layout,
                             const Parameters& parameters) {
  const NetworkConfig& config = shape.config;
  const Reader reader(layout, parameters);
  Packer packer(blocks_);
  for (int r = 0; r < config.rounds; ++r) {
    const std::string name = "round" + std::to_string(r) + ".";
    const Linear reduce = reader.normed_linear(name + "reduce");
    PackedRound round;
    round.half = static_cast<std::size_t>(config.message_width / 2);
    round.node = packer.linear(reader.normed_linear(name + "node"));
    round.edge = packer.linear(reader.normed_linear(name + "edge"));
    round.reduce_node = packer.linear(input_share(reduce, 0, round.half, false));
    round.reduce_edge = packer.linear(input_share(reduce, round.half, round.half, false));
    round.shift = packer.vector(half_difference(reduce, round.half));
    round.bias = packer.vector(reduce.bias);
    round.out = reduce.out;
    rounds_.push_back(round);
  }
  const Linear readout = reader.linear("readout");
  const auto node_width = static_cast<std::size_t>(config.node_width);
  const auto graph_width = static_cast<std::size_t>(config.graph_width);
  network_.rounds = rounds_.size();
  network_.round = rounds_.data();
  network_.readout_node = packer.linear(input_share(readout, 0, node_width, true));
  network_.globals = static_cast<std::size_t>(shape.globals);
  network_.actions = static_cast<std::size_t>(shape.actions);
  network_.graph = packer.linear(reader.normed_linear("graph"));
  network_.readout_graph = packer.linear(input_share(readout, node_width, graph_width, false));
  network_.heads = packer.linear(stack(reader.linear("logits"), reader.linear("value")));
}

PackedPerceptronWeights::PackedPerceptronWeights(const NetworkShape& shape,
                                                 const ParameterLayout& layout,
                                                 const Parameters& parameters) {
  const Reader reader(layout, parameters);
  Packer packer(blocks_);
  encoders_ = pack_encoders(shape, reader, packer);
  first_ = packer.linear(reader.linear("first"));
  second_ = packer.linear(reader.linear("second"));
  heads_ = packer.linear(stack(reader.linear("logits"), reader.linear("value")));
}

PackedScorerWeights::PackedScorerWeights(const NetworkShape& shape, const ParameterLayout& layout,
                                         const Parameters& parameters) {
  const CandidateHeadConfig& config = shape.config.candidates;
  const Reader reader(layout, parameters);
  Packer packer(blocks_);
  encoders_ = pack_encoders(shape, reader, packer);
  scorer_.first = packer.linear(reader.linear("first"));
  scorer_.second = packer.linear(reader.linear("second"));
  scorer_.logits = packer.linear(reader.product("logits", static_cast<std::size_t>(config.width)));
  scorer_.situation = packer.linear(reader.linear("situation"));
  const Linear state = reader.linear("state");
  const auto hidden = static_cast<std::size_t>(config.hidden_width);
  scorer_.state_situation = packer.linear(input_share(state, 0, hidden, true));
  scorer_.state_candidates = packer.linear(input_share(state, hidden, state.in - hidden, false));
  scorer_.value = packer.linear(reader.linear("value"));
}

}  // namespace pacml::model
