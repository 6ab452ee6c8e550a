#include "apps/cli/text_table.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace pacml::apps;

TEST_CASE("what would move a terminal's cursor is not shown as it is", "[unit][apps]") {
  CHECK(align_columns({{"a\nb", "1"}, {"\x1b[31mX", "2"}}) == "a?b     1\n?[31mX  2\n");
}

TEST_CASE("columns are as wide as their widest cell, names left and figures right") {
  CHECK(align_columns({{"name", "n"}, {"a", "100"}}) ==
        "name    n\n"
        "a     100\n");
}

TEST_CASE("a character of several bytes takes one column") {
  CHECK(align_columns({{"a", "±1"}, {"b", "22"}}) == "a  ±1\nb  22\n");
}

TEST_CASE("columns that find no room follow below, beside the names again", "[unit][apps]") {
  const std::vector<std::vector<std::string>> rows = {
      {"name", "one", "two", "three"}, {"a", "1", "±22", "333"}, {"bb", "4", "5"}};
  CHECK(align_columns(rows, 21) == align_columns(rows));
  CHECK(align_columns(rows, 20) ==
        "name  one  two\n"
        "a       1  ±22\n"
        "bb      4    5\n"
        "\n"
        "name  three\n"
        "a       333\n"
        "bb\n");
  // One column at least, however narrow it is.
  CHECK(align_columns({{"name", "one", "two"}, {"a", "1", "2"}}, 3) ==
        "name  one\n"
        "a       1\n"
        "\n"
        "name  two\n"
        "a       2\n");
  CHECK(align_columns({{"name"}, {"a"}}, 2) == "name\na\n");
}

TEST_CASE("a table of nothing is empty") { CHECK(align_columns({}).empty()); }

TEST_CASE("numbers are short") {
  CHECK(format_number(0.22084, 4) == "0.2208");
  CHECK(format_number(1234567.0, 1) == "1.235e+06");
  CHECK(format_number(std::nan(""), 1) == "-");
}
