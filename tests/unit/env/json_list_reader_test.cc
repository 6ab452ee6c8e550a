#include "env/text/json_list_reader.h"

#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "common/json_text.h"
#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

std::vector<std::string> elements_of(const std::string& text) {
  std::istringstream in(text);
  JsonListReader reader(in, "list.json");
  std::vector<std::string> elements;
  while (const auto element = reader.next()) elements.push_back(json_text(*element));
  CHECK_FALSE(reader.next());
  return elements;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(elements_of(text));
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was read";
}

using Texts = std::vector<std::string>;

TEST_CASE("a list is read element by element, whatever these are", "[unit][env]") {
  CHECK(elements_of("[]").empty());
  CHECK(elements_of(" [ ] \n").empty());
  CHECK(elements_of("[1, \"a,]\\\"[\",\n{\"b\": [2, {}]},[3,4] , null]") ==
        Texts{"1", "\"a,]\\\"[\"", "{\"b\":[2,{}]}", "[3,4]", "null"});
  // Over the ends of what is read at once.
  std::string many = "[0";
  Texts expected{"0"};
  for (int i = 1; i < 30'000; ++i) {
    expected.push_back("{\"number\":" + std::to_string(i) + "}");
    many += ", " + expected.back();
  }
  CHECK(elements_of(many + "]") == expected);
}

TEST_CASE("what is no list is refused where it is none", "[unit][env]") {
  CHECK(refusal("") == "list.json:1:1: expected a list");
  CHECK(refusal("\n {}") == "list.json:2:2: expected a list");
  CHECK(refusal("[") == "list.json:1:2: it is no JSON from here on");
  CHECK(refusal("[1,\n 2") == "list.json:2:3: it is no JSON from here on");
  CHECK(refusal("[1,]") == "list.json:1:4: it is no JSON from here on");
  CHECK(refusal("[,1]") == "list.json:1:2: it is no JSON from here on");
  CHECK(refusal("[1 2]") == "list.json:1:4: it is no JSON from here on");
  CHECK(refusal("[1}") == "list.json:1:3: it is no JSON from here on");
  CHECK(refusal("[\"a]") == "list.json:1:5: it is no JSON from here on");
  CHECK(refusal("[1]\n]") == "list.json:2:1: it is no JSON from here on");
  CHECK(refusal("[1,\n{\"a\":\n }]") == "list.json:3:2: it is no JSON from here on");
  CHECK(refusal("[1e999]") == "list.json:1:2: it has a number that is beyond all bounds");
  CHECK(refusal("[" + std::string(kMostJsonDepth - 1, '[') + std::string(kMostJsonDepth, ']')) ==
        "it was read");
  CHECK_THAT(refusal(std::string(1000, '[')), Catch::Contains("deeper than"));
}

TEST_CASE("an element without an end is refused", "[unit][env]") {
  // A text that never ends.
  class Endless : public std::streambuf {
   public:
    explicit Endless(std::string first) : text_(std::move(first)) {
      setg(text_.data(), text_.data(), text_.data() + text_.size());
    }

   private:
    int_type underflow() override {
      text_.assign(1 << 16, 'x');
      setg(text_.data(), text_.data(), text_.data() + text_.size());
      return traits_type::to_int_type(*gptr());
    }
    std::string text_;
  };
  Endless text("[1, \"");
  std::istream in(&text);
  JsonListReader reader(in, "endless");
  CHECK(reader.next() == 1);
  CHECK_THROWS_WITH(reader.next(), Catch::Contains("an element is longer than 64 MiB"));
}

}  // namespace
}  // namespace pacml::env
