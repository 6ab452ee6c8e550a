#include <algorithm>
#include <csignal>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/addresses.h"
#include "tests/support/pacml_process.h"
#include "tests/support/tiny_run.h"

// pacml train with several learners, as a user runs it.

namespace pacml::testing {
namespace {

apps::TrainConfig replicated(apps::TrainConfig config) {
  config.learner.replicas = 2;
  config.learner.all_reduce_seconds = 300;  // a learner that waits for the disk is not left behind
  config.actors = 2;
  return config;
}

// Its newest line of metrics.
nlohmann::json last_of_follower(const Workplace& place) {
  std::istringstream lines(text_of(place / "run/metrics-1.jsonl"));
  std::string newest;
  // The last one may be half written.
  for (std::string line; std::getline(lines, line) && !lines.eof();) newest = line;
  return newest.empty() ? nlohmann::json::object() : nlohmann::json::parse(newest);
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
  const auto& each = last.at("replicas").at("decisions");
  REQUIRE(each.size() == 2);
  CHECK(each[0].get<double>() + each[1].get<double>() == last.at("decisions").get<double>());
  // Both took part to the end, which came at the same update.
  const auto others = last_of_follower(place);
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

TEST_CASE("actors from elsewhere join each of two learners", "[integration][replicas]") {
  const Workplace place(replicated(tiny_config()));
  const auto port = sixteen_ports();
  const auto at = [&](int offset) { return "tcp://127.0.0.1:" + std::to_string(port + offset); };
  Pacml train(
      {"train", place.config_file(), "--run", place.run(), "--bind", at(0), "--actors", "0"});
  std::vector<std::unique_ptr<Pacml>> actors;
  for (const char* number : {"0", "1"}) {
    actors.push_back(std::make_unique<Pacml>(
        std::vector<std::string>{"actor", place.config_file(), "--id", number, "--learner", at(0),
                                 "--learner", at(2)}));  // behind the first one's two ports
  }
  wait_until("each learner has experience of its own", [&] {
    return place.latest("decisions") > 2'000 && last_of_follower(place).value("decisions", 0) > 500;
  });
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
  for (const auto& actor : actors) CHECK(actor->end() == 0);
}

TEST_CASE("a follower needs no run that the leader begins with", "[integration][replicas]") {
  const Workplace first;
  REQUIRE(pacml({"train", first.config_file(), "--run", first.run(), "--decisions", "1000"}).code ==
          0);
  const Workplace place(replicated(tiny_config()));
  const auto port = sixteen_ports();
  const auto at = [&](int offset) { return "tcp://127.0.0.1:" + std::to_string(port + offset); };
  const auto words = [&](const char* number, int bind, const std::string& begins_with) {
    return std::vector<std::string>{"learner",   place.config_file(),
                                    "--run",     place.run(),
                                    "--bind",    at(bind),
                                    "--replica", number,
                                    "--leader",  at(4),
                                    "--set",     "warm_start.from=" + begins_with};
  };
  Pacml leader(words("0", 0, first.run()));
  Pacml follower(words("1", 2, (place / "elsewhere").string()));
  wait_until("both learn together", [&] {
    return last_of_follower(place).value(nlohmann::json::json_pointer("/replicas/together"), 0) ==
           2;
  });
  leader.signal(SIGTERM);
  CHECK(leader.end() == 0);
  CHECK(follower.end() == 0);
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
