#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "learner/apex_dqn.h"
#include "learner/checkpoint.h"
#include "learner/impala.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/train_batches.h"
#include "tests/support/transition_builder.h"

// What learner/algorithm.h promises, of every algorithm.

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 8;
constexpr int kActions = 3;

// Each harness has an algorithm with a network of its own, and batches by number.
class ImpalaHarness {
 public:
  [[nodiscard]] Algorithm& algorithm() { return impala_; }
  [[nodiscard]] model::TabularNetwork& network() { return network_; }
  UpdateReport update(int number) {
    Sequences sequences = plain_sequences(3, 2, GraphHash{5}, 1, kActions);
    set_globals(sequences.observations, [&](std::size_t row, auto) {
      return static_cast<float>((row + static_cast<std::size_t>(number)) % kStates);
    });
    for (std::size_t i = 0; i < sequences.action.size(); ++i) {
      sequences.action[i] = static_cast<std::int16_t>((i + static_cast<std::size_t>(number)) % 3);
    }
    TrainBatch batch;
    assemble(std::vector<const Sequences*>{&sequences}, one_graph(), batch);
    return impala_.update(batch).value();
  }

 private:
  static ImpalaConfig config() {
    ImpalaConfig config;
    config.learning_rate = {
        .kind = ScheduleKind::kLinear, .start = 0.1, .end = 0.01, .decisions = 50};
    return config;
  }
  model::TabularNetwork network_{kStates, 1, kActions};
  Impala impala_{config(), network_};
};

class ApexHarness {
 public:
  [[nodiscard]] Algorithm& algorithm() { return apex_; }
  [[nodiscard]] model::TabularNetwork& network() { return network_; }
  UpdateReport update(int number) {
    std::vector<PlainTransition> rows;
    std::vector<double> probabilities;
    for (int n = 0; n < 5; ++n) {
      const int mixed = 3 * n + number;
      rows.push_back({.state = static_cast<float>(mixed % 8),
                      .action = mixed % kActions,
                      .n_step_return = static_cast<float>(n - number % 4),
                      .discount = n == 0 ? 0.0F : 0.9F,
                      .next_state = static_cast<float>((mixed + 1) % 8)});
      probabilities.push_back(0.01 * (1 + n));
    }
    TransitionBatch batch;
    assemble(plain_transitions(rows, GraphHash{5}), probabilities, one_graph(), batch);
    return apex_.update(batch).value();
  }

 private:
  static ApexConfig config() {
    ApexConfig config;
    config.target_period = 4;
    config.learning_rate = {
        .kind = ScheduleKind::kLinear, .start = 0.1, .end = 0.01, .decisions = 50};
    return config;
  }
  model::TabularNetwork network_{kStates, 1, kActions};
  model::TabularPolicy online_{kStates, kActions};
  model::TabularPolicy target_{kStates, kActions};
  ApexDqn apex_{config(), network_, online_, target_};
};

#define FOR_EVERY_ALGORITHM(sentence) \
  TEMPLATE_TEST_CASE(sentence, "[conformance][learner]", ImpalaHarness, ApexHarness)

FOR_EVERY_ALGORITHM("the version of a snapshot is the number of updates") {
  TestType harness;
  CHECK(harness.algorithm().version() == PolicyVersion{0});
  CHECK(harness.algorithm().snapshot().version == PolicyVersion{0});
  for (std::uint64_t n = 1; n <= 6; ++n) {
    const auto before = harness.algorithm().snapshot();
    REQUIRE(harness.update(static_cast<int>(n)).outcome == Outcome::kApplied);
    CHECK(harness.algorithm().version() == PolicyVersion{n});
    CHECK(harness.algorithm().snapshot().version == PolicyVersion{n});
    CHECK(harness.algorithm().snapshot().values != before.values);
    CHECK(harness.algorithm().snapshot().layout_hash == harness.network().layout().hash);
  }
}

FOR_EVERY_ALGORITHM("the same batches make the same weights") {
  TestType one;
  TestType two;
  for (int n = 0; n < 10; ++n) {
    CHECK(one.update(n).loss == two.update(n).loss);
    CHECK(one.algorithm().snapshot() == two.algorithm().snapshot());
  }
}

FOR_EVERY_ALGORITHM("what is restored is what was saved, and goes on as it would have") {
  TestType one;
  for (int n = 0; n < 6; ++n) static_cast<void>(one.update(n));
  const AlgorithmState saved = one.algorithm().save();
  TestType two;
  static_cast<void>(two.update(3));  // something to forget
  REQUIRE(two.algorithm().restore(saved));
  CHECK(two.algorithm().save() == saved);
  CHECK(two.algorithm().snapshot() == one.algorithm().snapshot());
  for (int n = 6; n < 15; ++n) {
    CHECK(one.update(n).loss == two.update(n).loss);
    CHECK(two.algorithm().snapshot() == one.algorithm().snapshot());
  }
  CHECK(two.algorithm().save() == one.algorithm().save());
}

FOR_EVERY_ALGORITHM("a state survives its checkpoint bit for bit") {
  TestType harness;
  for (int n = 0; n < 6; ++n) static_cast<void>(harness.update(n));
  Checkpoint checkpoint;
  checkpoint.algorithm = harness.algorithm().save();
  const auto& layout = harness.network().layout();
  const auto read = decode_checkpoint(encode_checkpoint(checkpoint, layout), layout);
  REQUIRE(read);
  CHECK(read->algorithm == checkpoint.algorithm);
}

FOR_EVERY_ALGORITHM("a state of another algorithm or network is refused and changes nothing") {
  TestType harness;
  for (int n = 0; n < 3; ++n) static_cast<void>(harness.update(n));
  const AlgorithmState good = harness.algorithm().save();
  const auto refused = [&](const AlgorithmState& state) {
    const auto result = harness.algorithm().restore(state);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::kVersionMismatch);
    CHECK_FALSE(result.error().detail.empty());
    CHECK(harness.algorithm().save() == good);
  };
  refused({});
  AlgorithmState state = good;
  state.algorithm = "another";
  refused(state);
  // Whatever is missing, is of another size, or is no count that can be.
  for (const auto& [name, vector] : good.vectors) {
    INFO(name);
    state = good;
    state.vectors.erase(name);
    refused(state);
    state = good;
    state.vectors[name].push_back(0);
    refused(state);
  }
  for (const auto& [name, real] : good.reals) {
    INFO(name);
    state = good;
    state.reals.erase(name);
    refused(state);
  }
  for (const auto& [name, count] : good.counts) {
    INFO(name);
    state = good;
    state.counts[name] = -1;
    refused(state);
  }
}

FOR_EVERY_ALGORITHM("weights that are no numbers are neither worked with nor spread") {
  TestType harness;
  harness.network().parameters()[0] = std::numeric_limits<float>::quiet_NaN();
  for (int n = 0; n < 8; ++n) {
    const UpdateReport report = harness.update(n);
    // Not even where the batch does not meet the weight.
    CHECK(report.outcome == Outcome::kDiverged);
    CHECK(report.priorities.empty());
  }
  CHECK(harness.algorithm().version() == PolicyVersion{0});
  harness.network().parameters()[0] = 0;
  for (const float weight : harness.network().parameters()) CHECK(std::isfinite(weight));
}

FOR_EVERY_ALGORITHM("an update reports finite figures, each under one name") {
  TestType harness;
  const UpdateReport report = harness.update(1);
  CHECK(std::isfinite(report.loss));
  CHECK(report.decisions > 0);
  std::vector<std::string_view> names;
  for (const auto& [name, value] : report.scalars) {
    INFO(name);
    CHECK(std::isfinite(value));
    names.push_back(name);
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
  for (const float priority : report.priorities) CHECK((std::isfinite(priority) && priority >= 0));
}

}  // namespace
}  // namespace pacml::learner
