#include <vector>

#include "env/graph/zoo/layer_builder.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env::zoo {
namespace {

// Dropout is left out of all of them, as larger models are trained without it.

Tensor attention(LayerBuilder& b, Tensor x, std::int64_t heads) {
  const std::int64_t width = b.shape(x).back();
  return b.linear(b.self_attention(b.linear(x, 3 * width), heads, width), width);
}

Tensor feed_forward(LayerBuilder& b, Tensor x) {
  const std::int64_t width = b.shape(x).back();
  return b.linear(b.activation(b.linear(x, 4 * width), "GELU"), width);
}

// Normalised after each sum, as published first.
Tensor post_norm_block(LayerBuilder& b, Tensor x, std::int64_t heads) {
  x = b.layer_norm(b.add(attention(b, x, heads), x));
  return b.layer_norm(b.add(feed_forward(b, x), x));
}

// Normalised in front of each part.
Tensor pre_norm_block(LayerBuilder& b, Tensor x, std::int64_t heads) {
  x = b.add(attention(b, b.layer_norm(x), heads), x);
  return b.add(feed_forward(b, b.layer_norm(x)), x);
}

Network gpt2(const char* name, int batch, int layers, std::int64_t heads, std::int64_t width) {
  constexpr std::int64_t kVocabulary = 50'257;
  constexpr std::int64_t kSteps = 1024;
  LayerBuilder b(name, batch);
  Tensor x = b.trained_positions(b.embedding(b.token_input(1, kSteps), kVocabulary, width), kSteps);
  for (int layer = 0; layer < layers; ++layer) x = pre_norm_block(b, x, heads);
  b.softmax_cross_entropy(b.tied_linear(b.layer_norm(x), kVocabulary));
  return b.build();
}

// Keys and values of `shared` numbers a step, nothing with a bias.
Tensor llama_attention(LayerBuilder& b, Tensor x, std::int64_t heads, std::int64_t shared) {
  const std::int64_t width = b.shape(x).back();
  Tensor y = b.linear(b.rms_norm(x), width + 2 * shared, false);
  y = b.linear(b.self_attention(y, heads, shared), width, false);
  return b.add(y, x);
}

Tensor gated_feed_forward(LayerBuilder& b, Tensor x, std::int64_t inner) {
  const std::int64_t width = b.shape(x).back();
  const Tensor gate = b.activation(b.linear(x, inner, false), "SiLU");
  return b.linear(b.multiply(gate, b.linear(x, inner, false)), width, false);
}

Tensor experts(LayerBuilder& b, Tensor x, std::int64_t inner) {
  constexpr int kExperts = 8;
  constexpr double kShare = 2.0 / kExperts;
  const Tensor router = b.linear(x, kExperts, false);
  std::vector<Tensor> outputs;
  for (int e = 0; e < kExperts; ++e) outputs.push_back(b.expert(x, router, inner, kShare));
  return b.combine(x, outputs);
}

constexpr std::int64_t kLlamaWidth = 4096;

// `feed_forward`: what follows attention in each layer, of `inner` numbers a step.
Network llama(const char* name, int batch, std::int64_t shared,
              Tensor (*feed_forward)(LayerBuilder&, Tensor, std::int64_t inner),
              std::int64_t inner) {
  constexpr std::int64_t kVocabulary = 32'000;
  LayerBuilder b(name, batch);
  Tensor x = b.embedding(b.token_input(1, 2048), kVocabulary, kLlamaWidth);
  for (int layer = 0; layer < 32; ++layer) {
    x = llama_attention(b, x, 32, shared);
    x = b.add(feed_forward(b, b.rms_norm(x), inner), x);
  }
  b.softmax_cross_entropy(b.linear(b.rms_norm(x), kVocabulary, false));
  return b.build();
}

}  // namespace

Network bert_base(int batch) {
  LayerBuilder b("bert_base", batch);
  const Tensor tokens = b.token_input(2, 128);  // words, and which of two sentences they are of
  Tensor x = b.add(b.embedding(tokens, 30'522, 768), b.embedding(tokens, 2, 768));
  // Positions up to 512 are trained, whatever the length.
  x = b.layer_norm(b.trained_positions(x, 512));
  for (int layer = 0; layer < 12; ++layer) x = post_norm_block(b, x, 12);
  x = b.activation(b.linear(b.first_step(x), 768), "Tanh");
  b.softmax_cross_entropy(b.linear(x, 2));
  return b.build();
}

Network gpt2_small(int batch) { return gpt2("gpt2_small", batch, 12, 12, 768); }
Network gpt2_medium(int batch) { return gpt2("gpt2_medium", batch, 24, 16, 1024); }
Network gpt2_large(int batch) { return gpt2("gpt2_large", batch, 36, 20, 1280); }
Network gpt2_xl(int batch) { return gpt2("gpt2_xl", batch, 48, 25, 1600); }

Network vit_b_16(int batch) {
  LayerBuilder b("vit_b_16", batch);
  Tensor x = b.patches(b.image_input(3, 224, 224), 16, 768);
  x = b.trained_positions(x, b.shape(x)[0]);
  for (int layer = 0; layer < 12; ++layer) x = pre_norm_block(b, x, 12);
  b.softmax_cross_entropy(b.linear(b.first_step(b.layer_norm(x)), 1000));
  return b.build();
}

Network llama_7b(int batch) {
  return llama("llama_7b", batch, kLlamaWidth, gated_feed_forward, 11'008);
}
Network mixtral_8x7b(int batch) {
  return llama("mixtral_8x7b", batch, kLlamaWidth / 4, experts, 14'336);
}

}  // namespace pacml::env::zoo
