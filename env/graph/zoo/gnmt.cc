#include "env/graph/zoo/layer_builder.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env::zoo {
namespace {

constexpr std::int64_t kGnmtVocabulary = 32'000;
constexpr std::int64_t kWidth = 1024;
constexpr std::int64_t kGnmtSteps = 25;
constexpr double kDropout = 0.2;

Tensor encoder(LayerBuilder& b, Tensor tokens) {
  Tensor x = b.dropout(b.embedding(tokens, kGnmtVocabulary, kWidth), kDropout);
  x = b.dropout(b.bidirectional_lstm(x, kWidth), kDropout);
  x = b.lstm(x, kWidth);
  for (int layer = 2; layer < 4; ++layer) x = b.add(b.lstm(b.dropout(x, kDropout), kWidth), x);
  return x;
}

// The first layer's output asks the encoder; the answer goes to every later layer beside the
// layer's own input.
Tensor decoder(LayerBuilder& b, Tensor tokens, Tensor encoded) {
  Tensor x = b.dropout(b.embedding(tokens, kGnmtVocabulary, kWidth), kDropout);
  x = b.lstm(x, kWidth);
  const Tensor context = b.attention(x, encoded);
  x = b.lstm(b.concat({b.dropout(x, kDropout), context}), kWidth);
  for (int layer = 2; layer < 4; ++layer) {
    x = b.add(b.lstm(b.concat({b.dropout(x, kDropout), context}), kWidth), x);
  }
  return b.linear(x, kGnmtVocabulary);
}

}  // namespace

Network gnmt(int batch) {
  LayerBuilder b("gnmt", batch);
  const Tensor tokens = b.token_input(2, kGnmtSteps);  // the sentence and its translation
  const Tensor encoded = encoder(b, tokens);
  b.softmax_cross_entropy(decoder(b, tokens, encoded));
  return b.build();
}

}  // namespace pacml::env::zoo
