#include "apps/roles/message_sizes.h"

#include <cstdint>

#include "tests/support/catch.h"
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

}  // namespace
}  // namespace pacml::apps
