#include "model/parallel_network.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/tabular_network.h"

// On a table, whose numbers are whole, so that no order of sums matters; networks of LibTorch are
// in torch_network_test.cc.
namespace pacml::model {
namespace {

constexpr std::size_t kStates = 6;
constexpr int kActions = 3;

std::unique_ptr<TrainableNetwork> parallel_tables(std::size_t threads) {
  std::vector<std::unique_ptr<TrainableNetwork>> networks;
  while (networks.size() < threads) {
    networks.push_back(std::make_unique<TabularNetwork>(kStates, 1, kActions));
  }
  return std::make_unique<ParallelNetwork>(std::move(networks));
}

float whole(Rng& rng) { return static_cast<float>(rng.below(100)); }

Observations random_states(Rng& rng, std::size_t size) {
  Observations batch({.slots = {{}}, .globals = 1, .candidates = kActions}, size);
  for (std::size_t b = 0; b < size; ++b) {
    batch.row(b).globals[0] = static_cast<float>(rng.below(kStates));
    for (auto& valid : batch.row(b).mask) valid = static_cast<std::uint8_t>(rng.below(2));
    batch.row(b).mask[rng.below(kActions)] = 1;
  }
  return batch;
}

void check_equal(TrainableNetwork::Outputs a, TrainableNetwork::Outputs b) {
  REQUIRE(std::ranges::equal(a.logits, b.logits));
  REQUIRE(std::ranges::equal(a.values, b.values));
}

void check_backward(TrainableNetwork& a, TrainableNetwork& b, std::size_t rows, Rng& rng) {
  std::vector<float> logits(rows * kActions);
  std::vector<float> values(rows);
  for (auto* gradients : {&logits, &values}) {
    for (float& x : *gradients) x = whole(rng);
  }
  REQUIRE(std::ranges::equal(a.backward(logits, values), b.backward(logits, values)));
}

TEST_CASE("on several threads a network is the same network", "[unit][model]") {
  const std::size_t threads = GENERATE(1, 2, 3, 7);
  INFO(threads << " threads");
  const auto parallel = parallel_tables(threads);
  TabularNetwork single(kStates, 1, kActions);
  REQUIRE(parallel->layout().hash == single.layout().hash);
  Rng rng(Seed{threads});
  for (int trial = 0; trial < 200; ++trial) {
    // Weights change between passes, as an optimiser changes them.
    for (float& weight : parallel->parameters()) weight = whole(rng);
    std::ranges::copy(parallel->parameters(), single.parameters().begin());
    const std::size_t size = 1 + rng.below(20);
    const Observations batch = random_states(rng, size);
    check_equal(parallel->forward(batch), single.forward(batch));
    check_backward(*parallel, single, size, rng);

    parallel->prepare(batch);
    single.prepare(batch);
    for (int pass = 0; pass < 3; ++pass) {
      // In any order, some twice, some never.
      std::vector<std::uint32_t> rows(1 + rng.below(2 * size));
      for (auto& row : rows) row = static_cast<std::uint32_t>(rng.below(size));
      check_equal(parallel->forward_rows(rows), single.forward_rows(rows));
      check_backward(*parallel, single, rows.size(), rng);
    }
  }
}

}  // namespace
}  // namespace pacml::model
