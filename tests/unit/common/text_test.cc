#include "common/text.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml {
namespace {

const std::vector<std::string> kNames = {"batch_size", "learning_rate", "rate"};

TEST_CASE("join puts the separator between parts only", "[text]") {
  REQUIRE(join(std::vector<std::string>{}) == "");
  REQUIRE(join(std::vector<std::string>{"a"}) == "a");
  REQUIRE(join(std::vector<std::string>{"a", "", "c"}, "-") == "a--c");
}

TEST_CASE("edit distance counts single-character changes", "[text]") {
  REQUIRE(edit_distance("", "") == 0);
  REQUIRE(edit_distance("", "abc") == 3);
  REQUIRE(edit_distance("kitten", "sitting") == 3);
  REQUIRE(edit_distance("ab", "ba") == 2);
}

TEST_CASE("the nearest name is the one with the fewest changes", "[text]") {
  REQUIRE(nearest_name("batchsize", kNames) == "batch_size");
  REQUIRE(nearest_name("lerning_rate", kNames) == "learning_rate");
  REQUIRE(nearest_name("anything", std::vector<std::string>{}) == "");
}

TEST_CASE("equally near names give the first", "[text]") {
  REQUIRE(nearest_name("c", std::vector<std::string>{"b", "a"}) == "b");
}

TEST_CASE("a suggestion needs a candidate", "[text]") {
  REQUIRE(did_you_mean("rat", kNames) == "; did you mean 'rate'?");
  REQUIRE(did_you_mean("rat", std::vector<std::string>{}) == "");
  REQUIRE(did_you_mean("", std::vector<std::string>{""}) == "");
}

TEST_CASE("a name is suggested where it may have been meant, or else there is a short list",
          "[text]") {
  const std::vector<std::string> names = {"impala", "ppo", "apex"};
  REQUIRE(did_you_mean("nope", names) == "; there are impala, ppo, apex");
  REQUIRE(did_you_mean("", names) == "; there are impala, ppo, apex");
  REQUIRE(did_you_mean("imp", names) == "; did you mean 'impala'?");
  REQUIRE(did_you_mean("apex2", names) == "; did you mean 'apex'?");
  REQUIRE(did_you_mean("pp", names) == "; did you mean 'ppo'?");
  const std::vector<std::string> many(40, "learning_rate");
  REQUIRE(did_you_mean("nope", many) == "");
  REQUIRE(did_you_mean("learing_rate", many) == "; did you mean 'learning_rate'?");
}

}  // namespace
}  // namespace pacml
