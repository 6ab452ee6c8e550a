#include "apps/roles/message_sizes.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "actor/sequence_writer.h"
#include "actor/vector_env.h"
#include "common/rng.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/source_path.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

TEST_CASE("the messages that a run's own settings make fit, however large they are",
          "[unit][train]") {
  TrainConfig config = GENERATE(testing::tiny_config(), testing::tiny_apex_config());
  const auto task = config.env.make();
  for (const std::int64_t environments : {1, 32, 4096}) {
    for (const std::int64_t unroll_length : {1, 100}) {
      config.actor = {environments, unroll_length};
      const auto room = room_for(config, *task);
      CHECK(room.unrolls_of(static_cast<std::uint64_t>(unroll_length)) >=
            static_cast<std::uint64_t>(environments));
    }
  }
}

TEST_CASE("another actor's messages fit as far as the sockets go", "[unit][train]") {
  const TrainConfig config = GENERATE(testing::tiny_config(), testing::tiny_apex_config());
  const auto task = config.env.make();
  const auto room = room_for(config, *task);
  // The longest unroll that fits, alone; one more decision, and it does not.
  const std::uint64_t longest = room.steps - room.beside;
  CHECK(room.unrolls_of(longest) == 1);
  CHECK(room.unrolls_of(longest + 1) == 0);
  TrainConfig wide = config;
  wide.transport.max_part_bytes *= 4;
  CHECK(room_for(wide, *task).steps > 3 * room.steps);
}

// What travels is what candidates are computed from, not what networks read of them (ADR 14).
TEST_CASE("a decision that shows the cluster's servers takes at most 200 bytes on the wire",
          "[unit][train]") {
  const auto file = testing::source_path("configs/cluster/beta_a.yaml").string();
  const TrainConfig config = load_train_config(file, {}, {});
  const auto task = config.env.make();  // of the built-in job graphs
  const env::EnvironmentSpec& spec = task->spec();
  // Two graph indices, where the servers' features end, of each of 32 servers the time until it is
  // free, the time left and the job's limit, and which of 17 candidates are valid.
  const std::size_t shown = 2 * 2 + 4 + 32 * 4 + 2 * 4 + 17;
  REQUIRE(shown == 161);  // docs/simulator.md, "Partitioning"
  CHECK(spec.observation.row_bytes() == shown);

  // As it learns; of more environments, a decision takes no more.
  constexpr std::size_t kEnvironments = 2;
  const auto steps = static_cast<std::size_t>(config.actor.unroll_length);
  actor::VectorEnv envs(task->make_factory(), kEnvironments, Seed{1});
  actor::SequenceWriter writer(spec, kEnvironments, steps);
  Rng rng(Seed{2});
  const std::vector<float> log_probs(kEnvironments, -1.0F);
  while (!writer.full()) {
    writer.observe(envs.observations(), envs.agents());
    std::vector<int> actions;
    for (std::size_t b = 0; b < kEnvironments; ++b) {
      std::vector<int> valid;
      const auto mask = envs.observations().mask(b);
      for (std::size_t a = 0; a < mask.size(); ++a) {
        if (mask[a] != 0) valid.push_back(static_cast<int>(a));
      }
      actions.push_back(valid[rng.below(valid.size())]);
    }
    writer.step(actions, log_probs, PolicyVersion{1}, envs.step(actions));
  }
  Sequences sequences = writer.take(envs.observations(), envs.agents());
  const std::size_t decisions = sequences.num_decisions();
  REQUIRE(decisions == kEnvironments * steps);
  const std::size_t bytes = wire::frame_bytes(wire::encode(
      wire::Experience{ActorId{0}, Incarnation{1}, Sequence{1}, std::move(sequences)}));
  // The project's bound. Beside what is shown: action, log-probability, reward and flags, which are
  // 11 bytes; of each unroll, what its last decision led to; and the message's envelope.
  INFO(bytes << " bytes of " << decisions << " decisions");
  CHECK(bytes <= 200 * decisions);
  CHECK(bytes > shown * decisions);
  // What networks read of three candidates would be more than ten times as much.
  CHECK(3 * spec.candidate_view->width() * sizeof(float) > 10 * shown);
}

}  // namespace
}  // namespace pacml::apps
