#include "apps/cli/parse.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;
using Words = std::vector<std::string>;

namespace {

// A command line with one of each kind.
struct Sample {
  std::string config;
  std::string run;
  std::optional<double> minutes;
  std::int64_t actors = 2;
  double rate = 0.25;
  std::optional<std::int64_t> decisions;
  bool resume = false;
  std::vector<std::string> settings;
  Options options;

  Sample() {
    options.argument("CONFIG", &config, "the configuration");
    options.required_option("--run DIR", &run, "where the run is kept");
    options.option("--minutes M", &minutes, "how long to train");
    options.option("--actors K", &actors, "processes that act");
    options.option("--rate R", &rate, "a rate");
    options.option("--decisions N", &decisions, "how many");
    options.option("--resume", &resume, "go on");
    options.option("--set KEY=VALUE", &settings, "a setting");
  }
  std::optional<std::string> parse(const Words& words) const {
    return parse_options("pacml train",
                         {"train", "trains", {{"train a.yaml --run r", "an example"}}}, options,
                         words);
  }
  std::string sentence_for(const Words& words) const {
    try {
      parse(words);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
};

}  // namespace

TEST_CASE("every kind of option reaches its variable") {
  Sample s;
  REQUIRE_FALSE(
      s.parse({"a.yaml", "--run", "r", "--minutes", "1.5", "--actors=3", "--rate", "1e-3",
               "--decisions", "1000000000000", "--resume", "--set", "a.b=1", "--set", "c=[1, 2]"}));
  CHECK(s.config == "a.yaml");
  CHECK(s.run == "r");
  CHECK(s.minutes == 1.5);
  CHECK(s.actors == 3);
  CHECK(s.rate == 1e-3);
  CHECK(s.decisions == 1'000'000'000'000);
  CHECK(s.resume);
  CHECK(s.settings == Words{"a.b=1", "c=[1, 2]"});
}

TEST_CASE("an option that is not given leaves its variable alone") {
  Sample s;
  REQUIRE_FALSE(s.parse({"--run", "r", "a.yaml"}));
  CHECK(s.actors == 2);
  CHECK_FALSE(s.minutes.has_value());
  CHECK_FALSE(s.resume);
}

TEST_CASE("a repeated option does not swallow the argument after it") {
  Sample s;
  REQUIRE_FALSE(s.parse({"--set", "a=1", "a.yaml", "--run", "r"}));
  CHECK(s.config == "a.yaml");
  CHECK(s.settings == Words{"a=1"});
}

TEST_CASE("help shows options, defaults and examples, and is no error though much is missing") {
  Sample s;
  const auto help = s.parse({"--help"});
  REQUIRE(help);
  CHECK_THAT(*help, Catch::Contains("--run DIR"));
  CHECK_THAT(*help, Catch::Contains("(default 2)"));
  CHECK_THAT(*help, Catch::Contains("(default 0.25)"));
  CHECK_THAT(*help, Catch::Contains("pacml train a.yaml --run r"));
}

TEST_CASE("an unknown option is named, with the nearest one") {
  CHECK(Sample().sentence_for({"a.yaml", "--runn", "r"}) ==
        "train has no option --runn; did you mean '--run'?");
  CHECK(Sample().sentence_for({"a.yaml", "--run", "r", "--minuts=3"}) ==
        "train has no option --minuts; did you mean '--minutes'?");
}

TEST_CASE("an argument that is a list takes every word without dashes") {
  std::vector<std::string> runs;
  std::string out;
  Options options;
  options.argument("RUN", &runs, "runs");
  options.option("--out FILE", &out, "a file");
  REQUIRE_FALSE(
      parse_options("pacml x", {"x", "does", {}}, options, {"a", "b", "--out", "f", "c"}));
  CHECK(runs == std::vector<std::string>{"a", "b", "c"});
  CHECK(out == "f");
  CHECK_THROWS_AS(parse_options("pacml x", {"x", "does", {}}, options, {"--out", "f"}), UserError);
}

TEST_CASE("what is missing, superfluous or of the wrong kind is named") {
  CHECK_THAT(Sample().sentence_for({"a.yaml"}), Catch::Contains("--run is required"));
  CHECK_THAT(Sample().sentence_for({"--run", "r"}), Catch::Contains("CONFIG is required"));
  CHECK_THAT(Sample().sentence_for({"a.yaml", "b.yaml", "--run", "r"}),
             Catch::Contains("'b.yaml'"));
  CHECK(Sample().sentence_for({"a.yaml", "--run"}) == "train: --run needs a value");
  CHECK(Sample().sentence_for({"a.yaml", "--run", "--resume"}) == "train: --run needs a value");
  for (const Words& words : {Words{"a.yaml", "--run", ""}, Words{"a.yaml", "--run="}}) {
    CHECK(Sample().sentence_for(words) == "train: --run needs a value, not ''");
  }
  CHECK(Sample().sentence_for({"a.yaml", "--run", "r", "--set", ""}) ==
        "train: --set needs a value, not ''");
  CHECK_THAT(Sample().sentence_for({"a.yaml", "--run", "r", "--actors", "2.5"}),
             Catch::Contains("--actors needs a whole number, not '2.5'"));
  CHECK_THAT(Sample().sentence_for({"a.yaml", "--run", "r", "--minutes", "soon"}),
             Catch::Contains("--minutes needs a number, not 'soon'"));
  CHECK_THAT(Sample().sentence_for({"a.yaml", "--run", "r", "--minutes", "nan"}),
             Catch::Contains("--minutes needs a number, not 'nan'"));
}
