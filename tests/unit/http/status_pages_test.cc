#include "apps/http/status_pages.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

const std::string kToken = "0123456789abcdef";

struct Role {
  RoleReport report{R"({"role": "learner", "updates": 3})", true, {}};
  StatusPages pages;

  explicit Role(const std::string& token = {}) : pages([this] { return report; }, token) {}
  [[nodiscard]] HttpReply get(const std::string& path,
                              const std::string& authorization = {}) const {
    return pages.answer({path, authorization}, {});
  }
};

TEST_CASE("health is ok while every thread turns, else it names the one that hangs",
          "[unit][http]") {
  Role role;
  role.report.ready = false;
  CHECK(role.get("/healthz").status == 200);
  CHECK(role.get("/healthz").body == "ok\n");
  role.report.hangs = "thread learn has been silent for 42 s";
  CHECK(role.get("/healthz").status == 503);
  CHECK(role.get("/healthz").body == "stuck: thread learn has been silent for 42 s\n");
}

TEST_CASE("readiness is the role's", "[unit][http]") {
  Role role;
  CHECK(role.get("/readyz").status == 200);
  role.report.ready = false;
  CHECK(role.get("/readyz").status == 503);
  CHECK(role.get("/readyz").body == "not ready\n");
}

TEST_CASE("the status is the role's own, as JSON", "[unit][http]") {
  const Role role;
  const auto reply = role.get("/status");
  CHECK(reply.status == 200);
  CHECK(reply.type == "application/json");
  CHECK(nlohmann::json::parse(reply.body) == nlohmann::json::parse(role.report.status));
}

TEST_CASE("metrics are in Prometheus' format", "[unit][http]") {
  const Role role;
  const auto reply = role.get("/metrics");
  CHECK(reply.status == 200);
  CHECK(reply.type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(reply.body, Catch::Contains("pacml_updates_total{role=\"learner\"} 3\n"));
  CHECK_THAT(reply.body, Catch::Contains("pacml_ready{role=\"learner\"} 1\n"));
}

TEST_CASE("without a token, a request that names another host is refused", "[unit][http]") {
  const Role role;
  const auto status_for = [&](const std::string& host, const std::string& path = "/status") {
    return role.pages.answer({path, {}, host}, {}).status;
  };
  for (const char* here : {"", "localhost", "localhost:9100", "LOCALHOST:1", "a.localhost",
                           "127.0.0.1", "127.0.0.1:9100", "[::1]", "[::1]:9100"}) {
    INFO(here);
    CHECK(status_for(here) == 200);
  }
  for (const char* elsewhere :
       {"evil.example", "evil.example:9100", "localhost.evil.example", ":", "[", "[]", "[::1",
        "127.0.0.1.evil.example", "localhost:1:2", " localhost"}) {
    INFO(elsewhere);
    CHECK(status_for(elsewhere) == 403);
    CHECK(status_for(elsewhere, "/healthz") == 403);
  }
}

TEST_CASE("with a token, any name may lead here", "[unit][http]") {
  const Role role(kToken);
  CHECK(role.pages.answer({"/status", "Bearer " + kToken, "learner.example:9100"}, {}).status ==
        200);
  CHECK(role.pages.answer({"/healthz", {}, "learner.example:9100"}, {}).status == 200);
}

TEST_CASE("any other page is not there, and says which are", "[unit][http]") {
  const Role role;
  for (const char* path : {"", "/", "/status/", "/STATUS", "/healthz/x", "*", "status",
                           "http://here/status", "/../status"}) {
    CHECK(role.get(path).status == 404);
    CHECK_THAT(role.get(path).body, Catch::Contains("/metrics"));
  }
}

TEST_CASE("with a token, status and metrics are for those who show it", "[unit][http]") {
  const Role role(kToken);
  for (const char* page : {"/status", "/metrics"}) {
    INFO(page);
    CHECK(role.get(page, "Bearer " + kToken).status == 200);
    CHECK(role.get(page, "bEARER   " + kToken).status == 200);
    for (const auto& wrong : std::vector<std::string>{
             "", kToken, "Bearer", "Bearer ", "Basic " + kToken, "Bearer" + kToken,
             "Bearer " + kToken + "0", "Bearer " + kToken.substr(1), "Bearer 0123456789abcdeF",
             "Bearer x123456789abcdef", "Bearer " + kToken + " ", "Bearer \t" + kToken}) {
      INFO(wrong);
      const auto reply = role.get(page, wrong);
      CHECK(reply.status == 401);
      CHECK_THAT(reply.body, !Catch::Contains("updates"));
    }
  }
}

TEST_CASE("health and readiness are for anybody, and tell nothing else", "[unit][http]") {
  const Role role(kToken);
  CHECK(role.get("/healthz").body == "ok\n");
  CHECK(role.get("/readyz").body == "ok\n");
}

TEST_CASE("a server is ready when its board says so", "[unit][http]") {
  serving::StatusBoard board;
  CHECK_FALSE(report_of(board).ready);
  CHECK(report_of(board).status == "{}");
  board.publish(R"({"serves_weights": false})", steady().now());
  CHECK(report_of(board).ready);
  CHECK_FALSE(report_of(board, "serves_weights").ready);
  board.publish(R"({"serves_weights": true})", steady().now());
  CHECK(report_of(board, "serves_weights").ready);
}

TEST_CASE("further pages are asked for the token but for those that tell nothing", "[unit][http]") {
  const auto page = [](const std::string& wanted) {
    return [wanted](const std::string& path) -> std::optional<HttpReply> {
      if (path != wanted) return std::nullopt;
      return HttpReply{200, "text/plain", wanted};
    };
  };
  RoleReport report{"{}", true, {}};
  const StatusPages pages([&report] { return report; }, kToken,
                          {page("/"), page("/figures"), "/one, "});
  CHECK(pages.answer({"/", ""}, {}).body == "/");
  CHECK(pages.answer({"/figures", ""}, {}).status == 401);
  CHECK(pages.answer({"/figures", "Bearer " + kToken}, {}).body == "/figures");
  CHECK(pages.answer({"/other", ""}, {}).status == 401);
  const auto other = pages.answer({"/other", "Bearer " + kToken}, {});
  CHECK(other.status == 404);
  CHECK(other.body == "there is /one, /status, /metrics, /healthz and /readyz\n");
  CHECK(pages.answer({"/healthz", ""}, {}).status == 200);
  const StatusPages open([&report] { return report; }, {}, {page("/"), page("/figures"), "/one, "});
  CHECK(open.answer({"/", "", "evil.example"}, {}).status == 403);
  CHECK(open.answer({"/figures", "", "localhost:80"}, {}).status == 200);
}

}  // namespace
}  // namespace pacml::apps
