#include "apps/launch/template_text.h"

#include <array>
#include <stdexcept>

#include "apps/launch/run_program.h"
#include "tests/support/catch.h"

using namespace pacml::apps;

TEST_CASE("names between at-signs become values, once") {
  const TemplateValues t{{{"A", "1"}, {"B_C", "@A@"}}, {}};
  CHECK(fill_template("@A@-@B_C@-@@A@-user@host-@a@-@", t) == "1-@A@-@1-user@host-@a@-@");
}

TEST_CASE("lines with a condition stay where it holds") {
  const std::string text = "a\nb #? X\nc #? !X\nd #? Y";
  CHECK(fill_template(text, {{}, {"X"}}) == "a\nb\n");
  CHECK(fill_template(text, {{}, {"Y"}}) == "a\nc\nd\n");
}

TEST_CASE("a template and its values must fit") {
  CHECK_THROWS_WITH(fill_template("@A@", {}), Catch::Contains("@A@"));
  CHECK_THROWS_AS(fill_template("@A@", {}), std::logic_error);
  CHECK_THROWS_WITH(fill_template("none", {{{"A", "1"}}, {}}), Catch::Contains("@A@"));
}

TEST_CASE("any text is one word of a shell") {
  CHECK(shell_word("a/b-c.d") == "a/b-c.d");
  CHECK(shell_word("") == "''");
  CHECK(shell_words(std::array{"a b", "c"}) == "'a b' c");
  for (const std::string text :
       {"it's", "$(false)", "a\nb", "*", "~", "\\", "\"`'!#", "--x=y z", "ümlaut", "a;b|c&d"}) {
    INFO(text);
    CHECK(output_of({"sh", "-c", "printf %s " + shell_word(text)}) == text);
  }
}

TEST_CASE("lines are moved to the right, empty ones not") {
  CHECK(indented("a\n\n b\nc", 2) == "  a\n\n   b\n  c");
}
