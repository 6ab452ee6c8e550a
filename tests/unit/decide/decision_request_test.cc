#include "apps/decide/decision_request.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

using Kind = DecisionRequest::Kind;

TEST_CASE("a request holds what its line says", "[unit][decide]") {
  const auto request = parse_decision_request(
      R"({"type": "arrive", "schema": 1, "id": "a", "time": 2.5, "model": "alexnet",)"
      R"( "limit": 0.5, "steps": 50,)"
      R"( "running": [{"id": "b", "servers": [3, 0], "until": 7}]})");
  REQUIRE(request);
  CHECK(request->kind == Kind::kArrive);
  CHECK(request->id == "a");
  CHECK(request->time == 2.5);
  CHECK(request->model == "alexnet");
  CHECK(request->limit == 0.5);
  CHECK_FALSE(request->limit_time);
  CHECK(request->steps == 50);
  REQUIRE(request->running);
  REQUIRE(request->running->size() == 1);
  CHECK(request->running->front().id == "b");
  CHECK(request->running->front().servers == std::vector<int>{3, 0});
  CHECK(request->running->front().until == 7);
}

TEST_CASE("a limit may be a time", "[unit][decide]") {
  const auto request =
      parse_decision_request(R"({"type":"ask","id":"a","model":"m","limit":{"time":90}})");
  REQUIRE(request);
  CHECK(request->kind == Kind::kAsk);
  CHECK(request->limit_time == 90);
  CHECK_FALSE(request->limit);
}

TEST_CASE("a line that is no request is told what it should be", "[unit][decide]") {
  const std::string long_name(kLongestJobName + 1, 'x');
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"", "one JSON object a line"},
      {"[]", "one JSON object a line"},
      {R"({"type": "arrive")", "one JSON object a line"},
      {"\xff\xfe", "one JSON object a line"},
      {R"({"type": "ask", "limit": 1e400})", "number overflow"},
      {R"({"type": "ask", "id": "\ud800"})", "surrogate"},
      {"{}", "type: must be describe, arrive"},
      {R"({"type": 1})", "type: must be describe, arrive"},
      {R"({"type": "leave"})", "type: must be describe, arrive"},
      {R"({"type": "describe", "schema": 2})", "schema: this is 1"},
      {R"({"type": "describe", "time": 1})", "there is no such key as \"time\""},
      {R"({"type": "finish", "ids": "a"})", "did you mean 'id'?"},
      {R"({"type": "finish"})", "needs \"id\""},
      {R"({"type": "finish", "id": ""})", "id: must be a text of 1 .. 256 bytes"},
      {R"({"type": "finish", "id": ")" + long_name + "\"}", "id: must be a text"},
      {R"({"type": "finish", "id": "a", "time": -1})", "time: must be a number in 0.0 .."},
      {R"({"type": "finish", "id": "a", "time": "1"})", "time: must be a number"},
      {R"({"type": "finish", "id": "a", "time": 1e300})", "time: must be a number"},
      {R"({"type": "cluster"})", "needs \"running\""},
      {R"({"type": "cluster", "running": {}})", "running: must be a list"},
      {R"({"type": "cluster", "running": [{"id": "a"}]})", "running[0]: must be"},
      {R"({"type": "cluster", "running": [{"id": "a", "servers": [], "until": 1}]})",
       "running[0].servers"},
      {R"({"type": "cluster", "running": [{"id": "a", "servers": [-1], "until": 1}]})",
       "running[0].servers"},
      {R"({"type": "cluster", "running": [{"id": "a", "servers": [0.5], "until": 1}]})",
       "running[0].servers"},
      {R"({"type": "arrive", "id": "a", "limit": 1})", "needs \"model\""},
      {R"({"type": "arrive", "id": "a", "model": "m"})", "needs \"limit\""},
      {R"({"type": "arrive", "id": "a", "model": "m", "limit": 0})", "limit: must be a number"},
      {R"({"type": "arrive", "id": "a", "model": "m", "limit": "1"})", "limit: must be a share"},
      {R"({"type": "arrive", "id": "a", "model": "m", "limit": {"time": 0}})", "limit.time"},
      {R"({"type": "arrive", "id": "a", "model": "m", "limit": 1, "steps": 1.5})", "steps: must"},
  };
  for (const auto& [line, sentence] : lines) {
    INFO(line);
    const auto request = parse_decision_request(line);
    REQUIRE_FALSE(request);
    CHECK(request.error().code == Errc::kCorruptFrame);
    CHECK_THAT(request.error().detail, Catch::Contains(sentence));
  }
}

}  // namespace
}  // namespace pacml::apps
