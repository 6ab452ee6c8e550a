#include "apps/roles/status_text.h"

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace pacml::apps;
using nlohmann::json;

TEST_CASE("a status is read from its sentence down to its tables") {
  const json status = json::parse(R"({
    "limiter": "actors wait", "decisions": 1415680, "decisions_per_second": 81963.20638591204,
    "policy_lag": {"p50": 5, "p99": 9}, "waits": true, "loss": null, "names": ["a", "b"],
    "peers": [{"actor": 0, "silent_seconds": 0.00123456}, {"actor": 12, "acts": false}]})");
  CHECK(status_text(status, 80) ==
        "actors wait\n"
        "\n"
        "decisions             1415680\n"
        "decisions_per_second  81963\n"
        "limiter               actors wait\n"
        "loss                  -\n"
        "names                 [\"a\",\"b\"]\n"
        "policy_lag.p50        5\n"
        "policy_lag.p99        9\n"
        "waits                 yes\n"
        "\n"
        "peers\n"
        "actor  silent_seconds  acts\n"
        "0            0.001235      \n"
        "12                       no\n");
}

TEST_CASE("a status that says little is shown as it is") {
  CHECK(status_text(json::object(), 80).empty());
  CHECK(status_text(json::parse(R"({"a": [], "b": [1, {"c": 2}]})"), 80) ==
        "a  []\nb  [1,{\"c\":2}]\n");
}
