#include "common/json_text.h"

#include <string>

#include "tests/support/catch.h"

namespace pacml {
namespace {

std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += i % 2 == 0 ? "[" : R"({"a":)";
  text += "0";
  for (int i = depth; i-- > 0;) text += i % 2 == 0 ? "]" : "}";
  return text;
}

TEST_CASE("documents are read as deep as is sensible, and no deeper", "[unit][common]") {
  CHECK(parse_json_text(nested(kMostJsonDepth)).has_value());
  const auto deeper = parse_json_text(nested(kMostJsonDepth + 1));
  REQUIRE_FALSE(deeper.has_value());
  CHECK(deeper.error().code == Errc::kOverLimit);
  CHECK_FALSE(parse_json_text(nested(2'000'000)).has_value());
  // Nor without an end.
  CHECK_FALSE(parse_json_text(std::string(2'000'000, '[')).has_value());
}

TEST_CASE("brackets in texts nest nothing", "[unit][common]") {
  const std::string brackets = R"(["\"\\)" + std::string(1000, '[') + R"(", "\\"])";
  const auto parsed = parse_json_text(brackets);
  REQUIRE(parsed.has_value());
  CHECK(parsed->at(0).get<std::string>() == "\"\\" + std::string(1000, '['));
}

TEST_CASE("what is no document is said where", "[unit][common]") {
  const auto wrong = parse_json_text("{\n  \"a\": }");
  REQUIRE_FALSE(wrong.has_value());
  CHECK_THAT(wrong.error().detail,
             Catch::StartsWith("it is no JSON document: parse error") && Catch::Contains("line 2"));
}

TEST_CASE("names that are no UTF-8 are written as far as they are", "[unit][common]") {
  const std::string name = "run\xff";
  CHECK(json_text(nlohmann::json{{"name", name}}) == "{\"name\":\"run\uFFFD\"}");
  CHECK(json_text(nlohmann::ordered_json{{"b", 1}, {"a", nullptr}}, 1) ==
        "{\n \"b\": 1,\n \"a\": null\n}");
}

}  // namespace
}  // namespace pacml
