#include "apps/process/life_line.h"

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

TEST_CASE("a life line's words are understood, in whatever pieces they come") {
  LifeLineReader reader;
  CHECK_FALSE(reader.take("").lives);
  CHECK_FALSE(reader.take("pacml ").lives);
  LifeSigns signs = reader.take("~\npac");
  CHECK(signs.lives);
  CHECK_FALSE(signs.ready);
  signs = reader.take("ml +\n");
  CHECK(signs.lives);
  CHECK(signs.ready);
  CHECK(signs.hangs.empty());
  signs = reader.take("pacml ! thread learn has been silent for 31 s\n");
  CHECK(signs.lives);
  CHECK(signs.hangs == "thread learn has been silent for 31 s");
}

TEST_CASE("a thread that was slow and goes on does not hang") {
  LifeLineReader reader;
  CHECK(reader.take("pacml ! thread learn has been silent for 31 s\npacml +\n").hangs.empty());
}

TEST_CASE("what somebody else says on a life line means nothing, however long it is") {
  LifeLineReader reader;
  for (const char* words : {"Welcome to host!\n", "\n", "pacml\n", "pacml ?\n", " pacml +\n"}) {
    INFO(words);
    CHECK_FALSE(reader.take(words).lives);
  }
  CHECK_FALSE(reader.take(std::string(1'000'000, 'x')).lives);
  CHECK(reader.take("\npacml +\n").lives);
}

}  // namespace
}  // namespace pacml::apps
