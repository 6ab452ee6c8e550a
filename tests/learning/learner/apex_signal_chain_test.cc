#include <algorithm>
#include <memory>
#include <vector>

#include "learner/apex_dqn.h"
#include "learner/learner_loop.h"
#include "learner/replay_updates.h"
#include "model/fused_policy.h"
#include "model/initialise.h"
#include "model/torch_network.h"
#include "tests/learning/learner/chain_q_values.h"

// Ape-X with the network that is used: gradients by LibTorch, everything else by the fused kernels.

namespace pacml::learner {
namespace {

using testing::ChainReplay;
using testing::ChainView;

constexpr int kUpdates = 2500;
constexpr double kError = 0.06;  // of values between 0.3 and 1

std::vector<float> train(Seed seed) {
  const env::SignalChain chain(1);
  model::NetworkConfig small;  // but wide enough that not all rectifiers of a layer fall silent
  small.message_width = 16;
  small.hidden_width = 16;
  small.node_width = 16;
  small.readout_width = 32;
  const model::NetworkShape shape = model::make_shape(small, chain.spec());

  model::TorchNetwork network(shape);
  const model::Parameters start = model::initialise(shape, seed);
  std::ranges::copy(start.values, network.parameters().begin());
  const auto online = model::make_fused_policy(shape);
  const auto target = model::make_fused_policy(shape);
  ApexConfig config;
  config.target_period = 50;
  config.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 2e-3, .end = 2e-4, .decisions = kUpdates * 64};
  ApexDqn apex(config, network, *online, *target);

  ChainReplay replay({.view = ChainView::kGraph}, model::make_fused_policy(shape), seed);
  ReplayUpdates updates(apex, shape, replay);
  LearnerLoop loop(apex, updates, replay);
  loop.publish();
  for (int n = 0; n < kUpdates; ++n) REQUIRE(loop.step({}, Deadline::never()));
  REQUIRE(loop.counters().updates == kUpdates);

  const auto trained = model::make_fused_policy(shape);
  trained->set_graphs(chain.spec().graphs);
  trained->set_parameters(apex.snapshot());
  return q_everywhere(*trained, ChainView::kGraph);
}

TEST_CASE("Ape-X finds the best action values with the real network", "[learning][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(1, 6));
  INFO("seed " << seed);
  require_best(train(Seed{seed}), ChainReplay::Options{}.discount, kError);
}

}  // namespace
}  // namespace pacml::learner
