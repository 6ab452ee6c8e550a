#include "env/task_config.h"
#include "tests/support/catch.h"
#include "tests/support/environment_contract.h"

namespace pacml::env {
namespace {

TEST_CASE("a task of one's own keeps the environment contract", "[conformance][env]") {
  const TaskPtr task = TaskConfig("corridor").make();
  for (const std::uint64_t seed : {3U, 30U, 300U}) {
    testing::check_environment_contract(task->make_factory(), Seed{seed});
  }
}

}  // namespace
}  // namespace pacml::env
