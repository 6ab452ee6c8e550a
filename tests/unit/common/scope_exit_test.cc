#include "common/scope_exit.h"

#include <stdexcept>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("what is to be done where a scope ends is done once, also by an exception", "[common]") {
  int done = 0;
  {
    const ScopeExit at_end([&] { ++done; });
    CHECK(done == 0);
  }
  CHECK(done == 1);
  CHECK_THROWS([&] {
    const ScopeExit at_end([&] { ++done; });
    throw std::runtime_error("broken");
  }());
  CHECK(done == 2);
}

}  // namespace
}  // namespace pacml
