#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"

namespace pacml {
namespace {

using testing::pacml;
using testing::text_of;
using testing::tiny_apex_config;
using testing::Workplace;

TEST_CASE("pacml bench load shows that a learner serves hundreds of actors without loss",
          "[integration][load]") {
  const Workplace place;
  const auto out = (place / "load.json").string();
  const auto outcome = pacml({"bench", "load", place.config_file(), "--actors", "200", "--seconds",
                              "2", "--warm-up", "0.5", "--out", out});
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("decisions/s"));
  const auto figures = nlohmann::json::parse(text_of(out)).at("load_impala_200_actors");
  CHECK(figures.at("welcomed") == 200);
  CHECK(figures.at("welcomed_seconds") > 0);
  CHECK(figures.at("sent_messages") > 0);
  CHECK(figures.at("lost_messages") == 0);
  CHECK(figures.at("gaps") == 0);
  CHECK(figures.at("duplicates") == 0);
  CHECK(figures.at("jain_index") > 0);  // how even it is, only a quiet machine tells
  CHECK(figures.at("learner_resident_bytes_most") > 0);
  // What computed is said in the words of pacml version, which says it below its own.
  const auto said = pacml({"version"});
  REQUIRE(said.code == 0);
  const auto math = figures.at("machine").at("math").get<std::string>();
  CHECK_THAT(math, Catch::StartsWith("LibTorch ") && Catch::Contains(" with "));
  CHECK_THAT(said.out, Catch::EndsWith("\n" + math + "\n"));
}

TEST_CASE("pacml bench load spreads actors over replay shards", "[integration][load]") {
  const Workplace place(tiny_apex_config());
  const auto out = (place / "load.json").string();
  const auto outcome =
      pacml({"bench", "load", place.config_file(), "--actors", "20", "--shards", "2", "--rate",
             "200", "--seconds", "1", "--warm-up", "0.5", "--out", out});
  REQUIRE(outcome.code == 0);
  const auto figures = nlohmann::json::parse(text_of(out)).at("load_apex_20_actors_2_shards");
  CHECK(figures.at("lost_messages") == 0);
  CHECK(figures.at("gaps") == 0);
  CHECK(figures.at("sent_messages") > 0);
  CHECK(figures.at("shards_resident_bytes_most") > 0);
}

TEST_CASE("pacml bench load tells why its learner ended", "[integration][load]") {
  // A client has all that it needs of these keys, and a learner has not.
  const Workplace place;
  const auto keys = place / "keys";
  REQUIRE(pacml({"keygen", keys.string()}).code == 0);
  REQUIRE(std::filesystem::remove(keys / "server.key"));
  const auto outcome = pacml({"bench", "load", place.config_file(), "--actors", "1", "--set",
                              "security.keys=" + keys.string()});
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, Catch::Contains("the benchmark's learner ended with code 2: ") &&
                              Catch::Contains("server.key"));
}

TEST_CASE("pacml bench load names the option that is wrong", "[integration][load]") {
  const Workplace place;
  const auto bad = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"bench", "load", place.config_file()});
    const auto outcome = pacml(options);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(bad({"--actors", "1,x"}), Catch::Contains("--actors: \"1,x\" is not a list"));
  CHECK_THAT(bad({"--shards", "1"}), Catch::Contains("uses no replay"));
  CHECK_THAT(bad({"--replay", "tcp://a:1"}), Catch::Contains("goes with --learner"));
  CHECK_THAT(bad({"--actors", "90000"}), Catch::Contains("ulimit -n"));
}

}  // namespace
}  // namespace pacml
