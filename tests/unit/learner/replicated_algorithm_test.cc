#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "learner/apex_dqn.h"
#include "learner/impala.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/threaded_group.h"
#include "tests/support/train_batches.h"
#include "tests/support/transition_builder.h"

// Replicas that share a batch learn what one learner learns from all of it.

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 8;
constexpr int kActions = 3;
constexpr int kUpdates = 12;

// How the messages of a batch go to replicas: message m to sharing[m % sharing.size()].
struct Sharing {
  std::string name;
  std::size_t replicas;
  std::vector<std::size_t> of_message;
};

const std::vector<Sharing>& sharings() {
  static const std::vector<Sharing> all = {
      {"two, equal shares", 2, {0, 1}},
      {"three, equal shares", 3, {0, 1, 2}},
      {"two, unequal shares", 2, {0, 0, 1, 0, 0, 0}},
      {"two, of which the leader has nothing", 2, {1}},
      {"three, of which one has nothing", 3, {2, 0, 0}},
  };
  return all;
}

// What one update left behind.
struct Learned {
  std::vector<float> weights;
  double loss = 0;
  std::int64_t decisions = 0;
  std::int64_t stale = 0;
  std::vector<std::pair<std::string, double>> scalars;
};

template <class Harness>
Learned learned_of(const Harness& harness, const UpdateReport& report) {
  Learned out{harness.weights(), report.loss, report.decisions, report.stale, {}};
  for (const auto& [name, value] : report.scalars) out.scalars.emplace_back(name, value);
  return out;
}

// How far what is learned is apart: weights in units of the greatest of them, figures of themselves
// where they are above 1.
double difference(const Learned& actual, const Learned& expected) {
  REQUIRE(actual.weights.size() == expected.weights.size());
  REQUIRE(actual.scalars.size() == expected.scalars.size());
  double unit = 0;
  double apart = 0;
  for (std::size_t i = 0; i < expected.weights.size(); ++i) {
    REQUIRE(std::isfinite(actual.weights[i]));
    unit = std::max(unit, std::abs(double{expected.weights[i]}));
    apart = std::max(apart, std::abs(double{actual.weights[i]} - double{expected.weights[i]}));
  }
  double greatest = unit > 0 ? apart / unit : apart;
  const auto compare = [&greatest](double a, double e) {
    greatest = std::max(greatest, std::abs(a - e) / std::max(1.0, std::abs(e)));
  };
  REQUIRE(std::isfinite(actual.loss));
  compare(actual.loss, expected.loss);
  for (std::size_t i = 0; i < expected.scalars.size(); ++i) {
    REQUIRE(std::isfinite(actual.scalars[i].second));
    compare(actual.scalars[i].second, expected.scalars[i].second);
  }
  return greatest;
}

void check_same(const Learned& actual, const Learned& expected, double tolerance) {
  CHECK(difference(actual, expected) <= tolerance);
  CHECK(actual.decisions == expected.decisions);
  CHECK(actual.stale == expected.stale);
}

// One algorithm with a network of its own; batches are made from messages.
class ImpalaHarness {
 public:
  using Config = ImpalaConfig;
  using Message = Sequences;
  ImpalaHarness(const ImpalaConfig& config, ReplicaGroup& group)
      : impala_(config, network_, group) {}

  static std::vector<Sequences> messages(Rng& rng, std::uint64_t version) {
    std::vector<Sequences> out;
    for (std::uint32_t m = 0; m < 6; ++m) {
      Sequences sequences = plain_sequences({2 + m % 3, 1 + m % 2}, GraphHash{5}, 1, kActions);
      set_globals(sequences.observations,
                  [&](auto, auto) { return static_cast<float>(rng.below(kStates)); });
      for (float& reward : sequences.reward) reward = static_cast<float>(40 * rng.uniform() - 10);
      for (auto& action : sequences.action) action = static_cast<std::int16_t>(rng.below(kActions));
      // Every fourth message is of weights that are too old.
      set_version(sequences, m % 4 == 3 ? 0 : version);
      out.push_back(std::move(sequences));
    }
    return out;
  }
  Result<UpdateReport> update(const std::vector<const Sequences*>& messages) {
    TrainBatch batch;
    if (!messages.empty()) assemble(messages, one_graph(), batch);
    return impala_.update(batch);
  }
  [[nodiscard]] std::vector<float> weights() const { return impala_.snapshot().values; }
  [[nodiscard]] AlgorithmState state() const { return impala_.save(); }

 private:
  model::TabularNetwork network_{kStates, 1, kActions};
  Impala impala_;
};

class ApexHarness {
 public:
  using Config = ApexConfig;
  struct Message {
    std::vector<PlainTransition> rows;
    std::vector<double> probabilities;
  };
  ApexHarness(const ApexConfig& config, ReplicaGroup& group)
      : apex_(config, network_, online_, target_, group) {}

  static std::vector<Message> messages(Rng& rng, std::uint64_t) {
    std::vector<Message> out(6);
    for (Message& message : out) {
      for (std::size_t n = 0; n <= rng.below(4); ++n) {
        message.rows.push_back({.state = static_cast<float>(rng.below(kStates)),
                                .action = static_cast<int>(rng.below(kActions)),
                                .n_step_return = static_cast<float>(40 * rng.uniform() - 10),
                                .discount = rng.below(4) == 0 ? 0.0F : 0.9F,
                                .next_state = static_cast<float>(rng.below(kStates))});
        message.probabilities.push_back(1e-3 * (0.05 + rng.uniform()));
      }
    }
    return out;
  }
  Result<UpdateReport> update(const std::vector<const Message*>& messages) {
    std::vector<PlainTransition> rows;
    std::vector<double> probabilities;
    for (const Message* message : messages) {
      rows.insert(rows.end(), message->rows.begin(), message->rows.end());
      probabilities.insert(probabilities.end(), message->probabilities.begin(),
                           message->probabilities.end());
    }
    TransitionBatch batch;
    if (!rows.empty()) {
      assemble(plain_transitions(rows, GraphHash{5}), probabilities, one_graph(), batch);
    }
    return apex_.update(batch);
  }
  [[nodiscard]] std::vector<float> weights() const { return apex_.snapshot().values; }
  [[nodiscard]] AlgorithmState state() const { return apex_.save(); }

 private:
  model::TabularNetwork network_{kStates, 1, kActions};
  model::TabularPolicy online_{kStates, kActions};
  model::TabularPolicy target_{kStates, kActions};
  ApexDqn apex_;
};

// The messages of each update.
template <class Harness>
using Recorded = std::vector<std::vector<typename Harness::Message>>;
template <class Harness>
using Messages = std::vector<const typename Harness::Message*>;

// What one learner learns of them, of each update's as `arrange` leaves them.
template <class Harness, class Arrange>
std::vector<Learned> learn_alone(const typename Harness::Config& config,
                                 const Recorded<Harness>& recorded, Arrange arrange) {
  std::vector<Learned> out;
  Harness one(config, alone());
  for (const auto& update : recorded) {
    Messages<Harness> messages;
    for (const auto& message : update) messages.push_back(&message);
    arrange(messages);
    const auto report = one.update(messages);
    REQUIRE(report);
    REQUIRE(report->outcome == Outcome::kApplied);
    out.push_back(learned_of(one, *report));
  }
  return out;
}

// How far two learners may be apart that add up the same in other orders: some times as far as
// those are who take each update's messages in another order, with all that sums that cancel and
// Adam make of it; and a few units in the last place, where all orders happened to come to the
// same.
template <class Harness>
double tolerance_of(const typename Harness::Config& config, const Recorded<Harness>& recorded,
                    const std::vector<Learned>& expected) {
  constexpr int kOrders = 16;
  constexpr double kMargin = 8;  // as in tests/support/rounding.h
  double greatest = std::numeric_limits<float>::epsilon();
  Rng rng{Seed{8}};
  for (int order = 0; order < kOrders; ++order) {
    const auto other = learn_alone<Harness>(config, recorded, [&](Messages<Harness>& messages) {
      for (std::size_t i = messages.size(); i > 1; --i) {
        std::swap(messages[i - 1], messages[rng.below(i)]);
      }
    });
    for (std::size_t u = 0; u < kUpdates; ++u) {
      greatest = std::max(greatest, difference(other[u], expected[u]));
    }
  }
  return kMargin * greatest;
}

// The same recorded messages to one learner and to replicas.
template <class Harness>
void check_replicas_learn_as_one(const typename Harness::Config& config) {
  Rng rng{Seed{7}};
  Recorded<Harness> recorded;
  for (std::uint64_t u = 0; u < kUpdates; ++u) recorded.push_back(Harness::messages(rng, u));
  const auto expected = learn_alone<Harness>(config, recorded, [](const Messages<Harness>&) {});
  const double tolerance = tolerance_of<Harness>(config, recorded, expected);
  INFO("tolerance " << tolerance);
  // It tells one message more from one less.
  const auto less = learn_alone<Harness>(
      config, recorded, [](Messages<Harness>& messages) { messages.erase(messages.begin()); });
  for (std::size_t u = 0; u < kUpdates; ++u) CHECK(difference(less[u], expected[u]) > tolerance);

  for (const Sharing& sharing : sharings()) {
    INFO(sharing.name);
    const auto groups = ThreadedGroup::make(sharing.replicas);
    std::vector<std::vector<Learned>> outcomes(sharing.replicas);
    on_threads(sharing.replicas, [&](std::size_t rank) {
      Harness replica(config, *groups[rank]);
      for (const auto& update : recorded) {
        Messages<Harness> mine;
        for (std::size_t m = 0; m < update.size(); ++m) {
          if (sharing.of_message[m % sharing.of_message.size()] == rank) {
            mine.push_back(&update[m]);
          }
        }
        const auto report = replica.update(mine);
        if (report) outcomes[rank].push_back(learned_of(replica, *report));
      }
    });
    for (std::size_t rank = 0; rank < sharing.replicas; ++rank) {
      INFO("rank " << rank);
      REQUIRE(outcomes[rank].size() == kUpdates);
      for (std::size_t u = 0; u < kUpdates; ++u) {
        INFO("update " << u);
        CHECK(outcomes[rank][u].weights == outcomes[0][u].weights);
        check_same(outcomes[rank][u], expected[u], tolerance);
      }
    }
  }
}

TEST_CASE("replicas of IMPALA learn what one learner learns from the whole batch",
          "[unit][learner]") {
  ImpalaConfig config;
  config.max_policy_lag = 0;
  config.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 0.1, .end = 0.01, .decisions = 300};
  SECTION("losses averaged, batch moments, PopArt") {}
  SECTION("losses added up") { config.loss_reduction = LossReduction::kSum; }
  SECTION("advantages in the unit of values") {
    config.advantage_scaling = AdvantageScaling::kValues;
  }
  SECTION("without normalisation, as published") {
    config.advantage_scaling = AdvantageScaling::kNone;
    config.value_normalisation = ValueNormalisation::kNone;
    config.loss_reduction = LossReduction::kSum;
  }
  SECTION("rewards centred") { config.centre_rewards = true; }
  SECTION("with the gradient clipped") { config.optimizer.gradient_clip = 0.1; }
  check_replicas_learn_as_one<ImpalaHarness>(config);
}

TEST_CASE("replicas of Ape-X learn what one learner learns from the whole batch",
          "[unit][learner]") {
  ApexConfig config;
  config.learning_rate.start = 0.05;
  config.target_period = 4;
  SECTION("with PopArt") { config.popart_rate = 0.1; }
  SECTION("without it") { config.value_normalisation = ValueNormalisation::kNone; }
  SECTION("targets centred, heads that say action values") {
    config.centre_rewards = true;
    config.heads = model::ValueHeads::kActions;
  }
  SECTION("fully corrected draws") { config.importance_exponent = 1; }
  check_replicas_learn_as_one<ApexHarness>(config);
}

TEMPLATE_TEST_CASE("an update without anything from anybody changes nothing", "[unit][learner]",
                   ImpalaHarness, ApexHarness) {
  const auto groups = ThreadedGroup::make(2);
  std::vector<UpdateReport> reports(2);
  std::vector<std::vector<float>> weights(2);
  on_threads(2, [&](std::size_t rank) {
    TestType replica({}, *groups[rank]);
    const auto before = replica.weights();
    if (const auto report = replica.update({})) reports[rank] = *report;
    if (replica.weights() == before) weights[rank] = before;
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(reports[rank].outcome == Outcome::kNothingFresh);
    CHECK(reports[rank].decisions == 0);
    CHECK_FALSE(weights[rank].empty());
  }
}

TEMPLATE_TEST_CASE("an update fails and leaves everything as it was when a replica has gone",
                   "[unit][learner]", ImpalaHarness, ApexHarness) {
  const auto groups = ThreadedGroup::make(2);
  groups[1]->leave();
  typename TestType::Config config;
  config.centre_rewards = true;
  TestType replica(config, *groups[0]);
  const AlgorithmState before = replica.state();
  Rng rng{Seed{1}};
  const auto messages = TestType::messages(rng, 0);
  std::vector<const typename TestType::Message*> all;
  for (const auto& message : messages) all.push_back(&message);
  const auto report = replica.update(all);
  REQUIRE_FALSE(report);
  CHECK(report.error().code == Errc::kDisconnected);
  CHECK(replica.state() == before);
}

}  // namespace
}  // namespace pacml::learner
