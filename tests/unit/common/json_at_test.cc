#include "common/json_at.h"

#include "tests/support/catch.h"

namespace pacml {
namespace {

using nlohmann::json;

TEST_CASE("a document's numbers and texts are found by pointers", "[json]") {
  const json document = {{"lag", {{"p99", 3}}}, {"name", "fifo"}, {"curve", {1.5, "two"}}};
  CHECK(number_at(document, "/lag/p99") == 3.0);
  CHECK(number_at(document, json::json_pointer("/lag") / "p99") == 3.0);
  CHECK(number_at(document, "/curve/0") == 1.5);
  CHECK(text_at(document, "/name") == "fifo");
}

TEST_CASE("what is absent or of another kind is nothing, whatever the document is", "[json]") {
  const char* const text = GENERATE(R"({"a": {"b": [true]}, "b": null})", "[1, [2]]", "7", "null",
                                    R"("a")", R"({"a": 1, "b": {"a": 2}})");
  const json document = json::parse(text);
  CHECK_FALSE(number_at(document, "/a/b"));
  CHECK_FALSE(number_at(document, "/a/b/0"));
  CHECK(text_at(document, "/a").empty());
  CHECK(text_at(document, "/b/a").empty());
}

}  // namespace
}  // namespace pacml
