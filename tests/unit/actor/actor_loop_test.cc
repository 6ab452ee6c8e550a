#include "actor/actor_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "actor/impala_behaviour.h"
#include "model/action_distribution.h"
#include "model/fused_policy.h"
#include "model/reference_policy.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/scripted_environment.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/signal_chain.h"

namespace pacml::actor {
namespace {

constexpr int kEpisodeLimit = 3;
constexpr ActorConfig kConfig{.environments = 5, .unroll_length = 8};

std::unique_ptr<env::Environment> make_chain() {
  return std::make_unique<env::SignalChain>(kEpisodeLimit);
}

model::NetworkShape small_shape() { return model::smallest_shape(make_chain()->spec()); }

model::Parameters weights(std::uint64_t version) {
  auto parameters = model::random_parameters(small_shape(), Seed{version});
  parameters.version = PolicyVersion{version};
  return parameters;
}

std::vector<VersionRun> of_one_version(const Sequences& sequences, std::uint64_t version) {
  return {{PolicyVersion{version}, sequences.num_decisions()}};
}

// A loop with a policy of its own.
struct Actor {
  std::unique_ptr<model::Policy> policy = model::make_fused_policy(small_shape());
  ActorLoop loop;

  explicit Actor(Seed seed)
      : loop(kConfig, make_chain, *policy,
             std::make_unique<ImpalaBehaviour>(make_chain()->spec(), kConfig, seed), seed) {}
  Sequences run_unroll() { return std::get<Sequences>(loop.run_message()); }
};

// Answers as a learner's connection does, and keeps what it is sent.
class FakeSink final : public ExperienceSink {
 public:
  std::vector<Sequences> sent;
  std::deque<model::Parameters> newer;  // handed out one a call, after the first
  std::size_t capacity = 3;             // messages taken before `refusal`
  Error refusal{Errc::kStopped, "enough"};
  std::stop_source* stop_when_full = nullptr;
  std::size_t wanted = 5;               // unrolls of each message
  std::vector<std::size_t> asked_with;  // messages sent before each question for work
  std::function<Result<void>()> when_tended = [] { return Result<void>{}; };

  Result<void> tend() override { return when_tended(); }
  Result<Work> next_work(std::stop_token) override {
    asked_with.push_back(sent.size());
    return Work{wanted};
  }
  Result<void> send(ActorMessage&& message, std::stop_token) override {
    if (sent.size() == capacity) return tl::unexpected(refusal);
    sent.push_back(std::get<Sequences>(std::move(message)));
    if (sent.size() == capacity && stop_when_full != nullptr) stop_when_full->request_stop();
    return {};
  }
  std::optional<model::Parameters> newest_parameters() override {
    if (newer.empty()) return std::nullopt;
    auto next = std::move(newer.front());
    newer.pop_front();
    return next;
  }
  model::Parameters first = weights(1);
  Result<model::Parameters> first_parameters(std::stop_token) override { return first; }
};

TEST_CASE("what an actor does is a function of its seed and its weights", "[unit][actor]") {
  const auto act = [](Seed seed, std::uint64_t version) {
    Actor actor(seed);
    actor.loop.set_parameters(weights(version));
    std::vector<Sequences> messages;
    for (int m = 0; m < 4; ++m) messages.push_back(actor.run_unroll());
    return messages;
  };
  const auto first = act(Seed{1}, 1);
  CHECK(act(Seed{1}, 1) == first);
  CHECK_FALSE(act(Seed{2}, 1) == first);
  CHECK_FALSE(act(Seed{1}, 2) == first);
}

TEST_CASE("an actor records the true log-probability of each action under its weights",
          "[unit][actor]") {
  Actor actor(Seed{3});
  const auto reference = model::make_reference_policy(small_shape());
  const auto graphs = make_chain()->spec().graphs;
  reference->set_graphs(graphs);
  for (std::uint64_t version = 1; version <= 3; ++version) {
    actor.loop.set_parameters(weights(version));
    reference->set_parameters(weights(version));
    const Sequences u = actor.run_unroll();
    REQUIRE(validate(u));
    REQUIRE(u.versions == of_one_version(u, version));

    Observations batch(u.observations.shape());
    for (std::size_t i = 0; i < u.num_decisions(); ++i) {
      batch.append_row(u.observations, row_of(u, i));
    }
    model::PolicyOutput output;
    reference->evaluate(batch, output);
    for (std::size_t i = 0; i < u.num_decisions(); ++i) {
      const auto logits =
          std::span(output.logits).subspan(i * batch.num_candidates(), batch.num_candidates());
      REQUIRE(u.behaviour_log_prob[i] ==
              Approx(model::log_probability(logits, u.action[i])).margin(1e-5));
    }
  }
}

TEST_CASE("an actor draws its actions as often as its policy says", "[unit][actor]") {
  Actor actor(Seed{4});
  actor.loop.set_parameters(weights(1));
  // Over many decisions, the mean of 1 / p(action) * [action == a] is 1 for every valid action.
  std::vector<double> sum(3, 0);
  std::vector<double> valid(3, 0);
  for (int m = 0; m < 200; ++m) {
    const Sequences u = actor.run_unroll();
    for (std::size_t i = 0; i < u.num_decisions(); ++i) {
      sum[static_cast<std::size_t>(u.action[i])] += 1 / std::exp(u.behaviour_log_prob[i]);
      const auto mask = u.observations.mask(row_of(u, i));
      for (std::size_t a = 0; a < 3; ++a) valid[a] += mask[a];
    }
  }
  for (std::size_t a = 0; a < 3; ++a) CHECK(sum[a] / valid[a] == Approx(1).epsilon(0.1));
}

TEST_CASE("weights that nobody can act with are refused, and the former ones go on",
          "[unit][actor]") {
  const float bad = GENERATE(std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(), 1e30F, -1e30F);
  model::Parameters diverged = weights(2);
  std::ranges::fill(diverged.values, bad);
  Actor actor(Seed{7});
  SECTION("where there are former ones") {
    actor.loop.set_parameters(weights(1));
    static_cast<void>(actor.run_unroll());
    actor.loop.set_parameters(diverged);
    const Sequences u = actor.run_unroll();
    CHECK(u.versions == of_one_version(u, 1));
    for (const float log_prob : u.behaviour_log_prob) CHECK(std::isfinite(log_prob));
    CHECK(actor.loop.refused_weights() == 1);
    actor.loop.set_parameters(weights(3));
    CHECK(actor.run_unroll().versions.front().version == PolicyVersion{3});
  }
  SECTION("where there are none, it is an error") {
    actor.loop.set_parameters(diverged);
    CHECK_THROWS_WITH(static_cast<void>(actor.run_unroll()), Catch::Contains("diverged"));
  }
}

TEST_CASE("weights of another network end an actor with a sentence", "[unit][actor]") {
  Actor actor(Seed{7});
  model::Parameters others = weights(1);
  SECTION("another layout") { ++others.layout_hash; }
  SECTION("another length") { others.values.pop_back(); }
  CHECK_THROWS_WITH(actor.loop.set_parameters(others), Catch::Contains("another network"));
}

TEST_CASE("decisions are counted", "[unit][actor]") {
  Actor actor(Seed{5});
  actor.loop.set_parameters(weights(1));
  CHECK(actor.loop.decisions() == 0);
  static_cast<void>(actor.run_unroll());
  static_cast<void>(actor.run_unroll());
  CHECK(actor.loop.decisions() == 2 * kConfig.environments * kConfig.unroll_length);
}

TEST_CASE("an actor takes newer weights between messages, never within one", "[unit][actor]") {
  Actor actor(Seed{6});
  FakeSink sink;
  sink.newer = {weights(4), weights(7)};
  const Error ended = actor.loop.run(sink, {});
  CHECK(ended.detail == "enough");
  REQUIRE(sink.sent.size() == 3);
  const std::uint64_t expected[] = {4, 7, 7};
  for (std::size_t m = 0; m < 3; ++m) {
    CHECK(sink.sent[m].versions == of_one_version(sink.sent[m], expected[m]));
  }
}

TEST_CASE("an actor asks before it acts, and makes as many unrolls as are wanted",
          "[unit][actor]") {
  Actor actor(Seed{8});
  FakeSink sink;
  sink.wanted = GENERATE(1U, 2U, 5U, 9U);
  static_cast<void>(actor.loop.run(sink, {}));
  CHECK(sink.asked_with == std::vector<std::size_t>{0, 1, 2, 3});
  for (const Sequences& sequences : sink.sent) {
    REQUIRE(validate(sequences));
    CHECK(sequences.lengths ==
          std::vector<std::uint32_t>(std::min<std::size_t>(sink.wanted, 5), 8));
  }
}

TEST_CASE("environments take turns where not all are wanted, and go on where they stood",
          "[unit][actor]") {
  // What two actors of one seed make of the same weights, one of which takes two turns for it.
  Actor whole(Seed{9});
  Actor parts(Seed{9});
  whole.loop.set_parameters(weights(1));
  parts.loop.set_parameters(weights(1));
  const auto first_rows = [](const Sequences& u) {
    std::vector<float> rows;
    for (std::size_t b = 0; b < u.size(); ++b) {
      const auto row = u.observations.globals(b * (kConfig.unroll_length + 1));
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  };
  const auto all = first_rows(whole.run_unroll());
  std::vector<float> in_turns;
  for (const std::size_t size : {2U, 3U}) {
    const auto rows = first_rows(std::get<Sequences>(parts.loop.run_message(size)));
    in_turns.insert(in_turns.end(), rows.begin(), rows.end());
  }
  CHECK(in_turns == all);  // nobody was left out, or came twice
  CHECK(parts.loop.decisions() == whole.loop.decisions());
}

TEST_CASE("an actor ends when it is told to, or with what its connection says", "[unit][actor]") {
  Actor actor(Seed{7});
  FakeSink sink;
  SECTION("a stop token") {
    std::stop_source stop;
    sink.stop_when_full = &stop;
    sink.refusal = {Errc::kIo, "must not be asked again"};
    CHECK(actor.loop.run(sink, stop.get_token()).code == Errc::kStopped);
    CHECK(sink.sent.size() == 3);
  }
  SECTION("a refusal") {
    sink.refusal = {Errc::kVersionMismatch, "another network"};
    const Error ended = actor.loop.run(sink, {});
    CHECK(ended.code == Errc::kVersionMismatch);
    CHECK(ended.detail == "another network");
  }
}

TEST_CASE("an actor that acts for long tends its connection, and stops acting when that ends",
          "[unit][actor]") {
  // Half a minute for a message, at least.
  const ActorConfig slow{.environments = 2, .unroll_length = 20'000};
  const auto make = [] {
    return std::make_unique<env::ScriptedEnvironment>(
        [](Seed) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  };
  const env::EnvironmentSpec spec = make()->spec();
  const auto policy = model::make_fused_policy(model::smallest_shape(spec));
  ActorLoop loop(slow, make, *policy, std::make_unique<ImpalaBehaviour>(spec, slow, Seed{1}),
                 Seed{1});
  auto first = model::random_parameters(model::smallest_shape(spec), Seed{1});
  first.version = PolicyVersion{1};
  FakeSink sink;
  sink.first = first;
  int tended = 0;
  std::stop_source stop;
  SECTION("by what it hears") {
    sink.when_tended = [&tended]() -> Result<void> {
      if (++tended < 3) return {};
      return fail(Errc::kStopped, "the learner stops");
    };
    CHECK(loop.run(sink, {}).detail == "the learner stops");
  }
  SECTION("by a stop token") {
    sink.when_tended = [&]() -> Result<void> {
      if (++tended == 3) stop.request_stop();
      return {};
    };
    CHECK(loop.run(sink, stop.get_token()).code == Errc::kStopped);
  }
  CHECK(tended >= 3);
  CHECK(sink.sent.empty());
}

}  // namespace
}  // namespace pacml::actor
