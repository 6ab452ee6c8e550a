#include "actor/actor_config.h"

#include "tests/support/catch.h"

namespace pacml::actor {
namespace {

TEST_CASE("an actor's sizes are what a message may hold", "[unit][actor]") {
  CHECK(validate(ActorConfig{}).empty());
  CHECK(validate({.environments = 1, .unroll_length = 4096}).empty());
  using Sentences = std::vector<std::string>;
  CHECK(validate({.environments = 0, .unroll_length = 1}) ==
        Sentences{"environments: must be in 1..4096"});
  CHECK(validate({.environments = 512, .unroll_length = 1024}).empty());
  CHECK(validate({.environments = 512, .unroll_length = 1025}) ==
        Sentences{"unroll_length: times environments must be at most 524288"});
  CHECK(validate({.environments = 4097, .unroll_length = -1}) ==
        Sentences{"environments: must be in 1..4096", "unroll_length: must be in 1..4096"});
}

}  // namespace
}  // namespace pacml::actor
