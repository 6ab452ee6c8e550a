#include "common/try_again.h"

#include <cerrno>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("what may pass by itself is told from what a person must mend", "[unit][common]") {
  for (const int error : {EIO, ESTALE, EADDRINUSE, ENOMEM, EMFILE, ETIMEDOUT}) {
    INFO(error);
    CHECK_THROWS_AS(throw_system_error("cannot read x", error), TryAgainError);
  }
  for (const int error : {ENOENT, EACCES, EISDIR, EROFS, ENOSPC}) {
    INFO(error);
    CHECK_FALSE(passes_by_itself(error));
    CHECK_THROWS_AS(throw_system_error("cannot read x", error), UserError);
  }
  CHECK_THROWS_WITH(throw_system_error("cannot read x", ESTALE),
                    "cannot read x: Stale file handle");
}

}  // namespace
}  // namespace pacml
