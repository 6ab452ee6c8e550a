#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/pacml_process.h"
#include "tests/support/tiny_run.h"

// pacml train with several learners, as a user runs it.

namespace pacml::testing {
namespace {

apps::TrainConfig replicated(apps::TrainConfig config) {
  config.learner.replicas = 2;
  config.actors = 2;
  return config;
}

void check_run(const Workplace& place) {
  const auto trained =
      pacml({"train", place.config_file(), "--run", place.run(), "--decisions", "20000"});
  INFO(trained.err << place.log("learner") << place.log("learner-1"));
  REQUIRE(trained.code == 0);
  const auto last = place.metrics().back();
  CHECK(last.at("decisions").get<std::int64_t>() >= 20'000);
  CHECK(last.at("replicas").at("divergences") == 0);
  CHECK(last.at("misfits") == 0);
  // Both took part to the end, which came at the same update.
  const auto others = nlohmann::json::parse([&] {
    std::istringstream lines(text_of(place / "run/metrics-1.jsonl"));
    std::string newest;
    for (std::string line; std::getline(lines, line);) newest = line;
    return newest;
  }());
  CHECK(others.at("updates") == last.at("updates"));
  CHECK(others.at("samples") == last.at("samples"));
  CHECK(others.at("replicas").at("together") == 2);
}

TEST_CASE("two learners train one policy with IMPALA", "[integration][replicas]") {
  const Workplace place(replicated(tiny_config()));
  check_run(place);
  // Every decision was received by one of the two, and learned from once or not at all.
  const auto last = place.metrics().back();
  CHECK(last.at("samples").get<std::int64_t>() + last.at("stale").get<std::int64_t>() <=
        last.at("decisions").get<std::int64_t>());
}

TEST_CASE("two learners train one policy with Ape-X", "[integration][replicas]") {
  const Workplace place(replicated(tiny_apex_config()));
  check_run(place);
}

TEST_CASE("a learner of several says what it lacks", "[integration][replicas]") {
  const Workplace place(replicated(tiny_config()));
  const auto complaint = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"learner", place.config_file(), "--run", place.run(),
                                      "--bind",  place.socket()};
    words.insert(words.end(), more.begin(), more.end());
    const auto outcome = pacml(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(complaint({}), Catch::Contains("--leader"));
  CHECK_THAT(complaint({"--replica", "2", "--leader", place.socket() + "b"}),
             Catch::Contains("0..1"));
  CHECK_THAT(complaint({"--leader", place.socket() + "b", "--all-reduce-host", "0.0.0.0"}),
             Catch::Contains("allow_insecure_all_reduce"));
}

}  // namespace
}  // namespace pacml::testing
