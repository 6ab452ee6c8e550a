#include "apps/run/run_tags.h"

#include <fstream>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using Tags = std::vector<std::string>;

TEST_CASE("tags are added to a run, each once", "[unit][apps]") {
  const testing::TempDir folder;
  const auto run = folder / "new";
  CHECK(tags_of(run).empty());
  add_tags(run, {});
  CHECK_FALSE(std::filesystem::exists(run));
  add_tags(run, {"paper", "beta_a-1.0"});
  add_tags(run, {"paper", "again"});
  CHECK(tags_of(run) == Tags{"again", "beta_a-1.0", "paper"});
  forget_tags(run);
  CHECK(tags_of(run).empty());
  forget_tags(run);
  forget_tags(folder / "nowhere");
}

TEST_CASE("what is no tag is refused, and left out of a file", "[unit][apps]") {
  const testing::TempDir folder;
  for (const std::string& wrong : {std::string(), std::string("two words"), std::string("a/b"),
                                   std::string(65, 'x'), std::string("a\nb")}) {
    INFO(wrong);
    CHECK_THROWS_AS(add_tags(folder.path(), {"fine", wrong}), UserError);
  }
  CHECK(tags_of(folder.path()).empty());
  std::ofstream(folder / "tags") << "good\n\x1b[31mred\n\nbetter";
  CHECK(tags_of(folder.path()) == Tags{"better", "good"});
}

}  // namespace
}  // namespace pacml::apps
