#include "apps/dashboard/dashboard.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/run/run_directory.h"
#include "common/config/dump.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

// Two runs, one of which has told something, and a folder that is none.
struct Watched {
  testing::TempDir folder;
  RunDirectory first = RunDirectory::create(folder / "a", dump_config(testing::tiny_config()));
  RunDirectory second = RunDirectory::create(folder / "b", dump_config(testing::tiny_config()));
  Dashboard dashboard{{folder / "a", folder / "b", folder / "none"}};
  FurtherPages pages = dashboard.pages();

  Watched() {
    std::ofstream(first.metrics_file()) << R"({"seconds": 1.23456789, "loss": null})"
                                           "\n";
  }
  [[nodiscard]] json get(const std::string& path, unsigned status = 200) const {
    const auto reply = pages.for_readers(path);
    REQUIRE(reply);
    CHECK(reply->status == status);
    CHECK(reply->type == "application/json");
    return json::parse(reply->body);
  }
};

TEST_CASE("the page is whole, small, and tells nothing of the runs", "[unit][dashboard]") {
  const Watched watched;
  const auto page = watched.pages.for_anybody("/");
  REQUIRE(page);
  CHECK(page->type == "text/html; charset=utf-8");
  CHECK(page->body.size() < 500'000);
  CHECK_THAT(page->body, Catch::StartsWith("<!doctype html>") && Catch::EndsWith("</html>\n"));
  CHECK_THAT(page->body, Catch::Contains("Released under the MIT License"));
  for (const char* place : {"@style@", "@script@", "@chart_library@", "src=", "@import", "tiny"}) {
    CHECK_THAT(page->body, !Catch::Contains(place));
  }
  CHECK_FALSE(watched.pages.for_anybody("/dashboard/runs"));
}

TEST_CASE("every run is listed with what it tells, and what is none with a sentence",
          "[unit][dashboard]") {
  const Watched watched;
  const json runs = watched.get("/dashboard/runs");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0]["name"] == "a");
  CHECK(runs[0]["state"] == "ended");
  CHECK(runs[0]["newest"]["seconds"] == 1.23456789);
  CHECK(runs[1]["state"] == "never began");
  CHECK(runs[1]["newest"] == json::object());
  CHECK(runs[2]["state"] == "no run");
  CHECK_THAT(runs[2]["notes"][0].get<std::string>(), Catch::Contains("holds no run"));
}

TEST_CASE("what of a metrics file cannot be read is told, and the rest is shown",
          "[unit][dashboard]") {
  const Watched watched;
  std::ofstream(watched.first.metrics_file(), std::ios::app) << "garbage\n{\"seconds\": 3}\n{\"sec";
  const json run = watched.get("/dashboard/runs")[0];
  CHECK(run["newest"]["seconds"] == 3);
  std::string notes = run["notes"].dump();
  CHECK_THAT(notes, Catch::Contains("1 line of metrics.jsonl cannot be read") &&
                        Catch::Contains("ends within a line"));
}

TEST_CASE("curves are columns of as many rows, rounded to what a chart shows",
          "[unit][dashboard]") {
  const Watched watched;
  const json curves = watched.get("/dashboard/curves/0");
  CHECK(curves["rows"] == 1);
  CHECK(curves["more"] == false);
  CHECK(curves["columns"] == json{{"seconds", {1.23457}}});
  CHECK(watched.get("/dashboard/curves/2")["rows"] == 0);
}

TEST_CASE("an episode is played in the background, then there", "[unit][dashboard]") {
  const Watched watched;
  const std::string path = "/dashboard/episodes/0/7/constant:2";
  CHECK(watched.get(path, 202)["playing"] == true);
  testing::wait_until("it is there",
                      [&] { return watched.pages.for_readers(path)->status == 200; });
  const json episode = watched.get(path);
  CHECK(episode["policy"] == "constant:2");
  CHECK(episode["decisions"].size() > 5);
  testing::wait_until("it failed", [&] {
    return watched.pages.for_readers("/dashboard/episodes/0/7/nobody")->status == 409;
  });
}

TEST_CASE("the name of a baseline is percent-encoded in a path", "[unit][dashboard]") {
  const Watched watched;
  const std::string episode = "/dashboard/episodes/0/7/";
  testing::wait_until("it is there", [&] {
    return watched.pages.for_readers(episode + "%63onstant%3a2")->status == 200;
  });
  CHECK(watched.get(episode + "constant%3A2")["policy"] == "constant:2");
  const auto failure = [&](const std::string& name) {
    std::string body;
    testing::wait_until("it failed", [&] {
      const auto reply = watched.pages.for_readers(episode + name);
      body = reply->body;
      return reply->status == 409;
    });
    return json::parse(body)["error"].get<std::string>();
  };
  CHECK_THAT(failure("go%20right"), Catch::Contains("\"go right\""));
  CHECK_THAT(failure("run%3A1"), Catch::Contains("\"run:1\""));  // no run, therefore
  CHECK_THAT(failure("left%2fright%3F%FF"), Catch::Contains("left/right?"));
  CHECK(failure("best_constant") ==
        "the baseline \"best_constant\" is whichever of constant:1, constant:2, constant:4 does "
        "best on tuning episodes, which are played where policies are compared: name one of them");
  for (const char* name : {"%", "%2", "constant:2%", "%zz", "%+2", "% 2"}) {
    INFO(name);
    CHECK(watched.get(episode + name, 404)["error"] == "there is no such baseline");
  }
}

TEST_CASE("paths that lead nowhere are no pages", "[unit][dashboard]") {
  const Watched watched;
  for (const char* path : {"/x", "/dashboard/", "/dashboard/runs/0", "/dashboard/curves/3",
                           "/dashboard/curves/-1", "/dashboard/curves/0x", "/dashboard/curves/",
                           "/dashboard/curves/99999999999999999999", "/dashboard/settings/0"}) {
    INFO(path);
    CHECK_FALSE(watched.pages.for_readers(path));
  }
  CHECK(watched.get("/dashboard/episodes/0/x", 404).contains("error"));
  for (const char* other : {"3", "x", "", "-1"}) {
    CHECK(watched.get(std::string("/dashboard/episodes/0/7/run:") + other, 404)["error"] ==
          "there is no such run");
  }
}

}  // namespace
}  // namespace pacml::apps
