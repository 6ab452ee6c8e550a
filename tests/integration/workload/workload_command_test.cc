#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/temp_dir.h"

// What a user sees of `pacml workload`.

namespace pacml::testing {
namespace {

constexpr const char* kHeader =
    "job_id,submit_s,gpus,gpu_share,duration_s,steps,job_type,user,vc,gpu_type,state\n";

std::string write(const TempDir& folder, const std::string& name, const std::string& text) {
  const auto file = (folder / name).string();
  std::ofstream(file) << text;
  return file;
}

std::string four_jobs() {
  return std::string(kHeader) +
         "a,0,1,1,100,,t,u,,,done\nb,10,4,1,200,,t,u,,,done\nc,20,2,1,300,,t,v,,,failed\n"
         "d,40,1,1,,,t,v,,,done\n";
}

TEST_CASE("a trace is summed up, cut, scaled and written", "[integration][workload]") {
  const TempDir folder;
  const auto file = write(folder, "jobs.csv", four_jobs());
  const auto out = (folder / "out.csv").string();
  const Outcome shown = pacml({"workload", file});
  INFO(shown.err);
  REQUIRE(shown.code == 0);
  for (const char* text : {"jobs", "4", "GPU-hours", "0.4", "failed", "arrivals over the span"}) {
    CHECK_THAT(shown.out, Catch::Contains(text));
  }
  // b and c want 1400 GPU-seconds within 10 s: 10 GPUs are busy to the half of it in 280 s.
  const Outcome cut = pacml({"workload", file, "--first", "1", "--jobs", "2", "--load", "0.5",
                             "--gpus", "10", "--out", out});
  INFO(cut.err);
  REQUIRE(cut.code == 0);
  CHECK(text_of(out) ==
        std::string(kHeader) + "b,0,4,1,200,,t,u,,,done\nc,280,2,1,300,,t,v,,,failed\n");
}

TEST_CASE("jobs of a RAMP cluster are summed up", "[integration][workload]") {
  const TempDir folder;
  for (const std::string& text :
       {std::string("arrival,model,fraction\n0,a,0.25\n10,b,0.5\n40,a,\n"),
        std::string("{\"arrival\": 0, \"model\": \"a\", \"fraction\": 0.25}\n"
                    "{\"arrival\": 10, \"model\": \"b\", \"fraction\": 0.5}\n"
                    "{\"arrival\": 40, \"model\": \"a\"}\n")}) {
    const Outcome shown = pacml({"workload", write(folder, "jobs", text)});
    INFO(shown.err);
    REQUIRE(shown.code == 0);
    for (const char* part : {"between arrivals, mean", "with a fraction", "20.0", "0.250", "0.500",
                             "66.7", "fraction, greatest", "arrivals over the span"}) {
      CHECK_THAT(shown.out, Catch::Contains(part));
    }
  }
  const auto file = write(folder, "jobs", "arrival,model\n0,a\n1,a\n");
  const Outcome refused = pacml({"workload", file, "--jobs", "1"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("has jobs of a RAMP cluster"));
  CHECK_THAT(pacml({"workload", write(folder, "jobs", "arrival,model\n")}).err,
             Catch::Contains("there are no jobs"));
}

TEST_CASE("pairs that were not measured are fitted and written", "[integration][workload]") {
  const TempDir folder;
  nlohmann::json types;
  nlohmann::json pairs;
  const std::vector<std::string> names = {"a-b1", "a-b2", "a-b4", "b-b8", "b-b16", "c"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    types[names[i]] = {{"thr", {{"v100", {{"1", {1.0, 1.0}}}}}}};
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (i == 1 && j == 3) continue;
      pairs["v100"][names[i]][names[j]] = i == j ? 0.0 : 0.9 - 0.1 * static_cast<double>(j);
    }
  }
  const auto file = write(folder, "speeds.json",
                          nlohmann::json{{"types", types}, {"pairs", pairs}, {"note", 7}}.dump());
  const auto out = (folder / "filled.json").string();
  const Outcome fitted = pacml({"fit-interference", file, "--out", out});
  INFO(fitted.err);
  REQUIRE(fitted.code == 0);
  CHECK_THAT(fitted.out,
             Catch::Contains("6 types of jobs, 3 families") && Catch::Contains("v100        29 "));
  const auto filled = nlohmann::json::parse(text_of(out));
  CHECK(filled["note"] == 7);
  CHECK(filled["types"] == types);
  const double share = filled["pairs"]["v100"]["a-b2"]["b-b8"];
  CHECK(share > 0.4);
  CHECK(share < 0.8);
  CHECK(filled["pairs"]["v100"]["a-b1"] == pairs["v100"]["a-b1"]);
  REQUIRE(pacml({"fit-interference", file, "--out", out, "--all"}).code == 0);
  const auto all = nlohmann::json::parse(text_of(out));
  const double fitted_share = all["pairs"]["v100"]["a-b1"]["a-b2"];
  CHECK(fitted_share == Approx(0.8).margin(0.1));
  CHECK(fitted_share != 0.8);
  const auto refused = [&](const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"fit-interference", write(folder, "bad.json", text)};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = pacml(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused("{"), Catch::Contains("bad.json: it "));
  CHECK_THAT(refused(R"({"types": {}})"), Catch::Contains("it has no pairs"));
  CHECK_THAT(
      refused(nlohmann::json{{"types", types}, {"pairs", {{"v100", {{"c", {{"c", 1}}}}}}}}.dump()),
      Catch::Contains("1 pairs on v100 are too few"));
  auto tiny = pairs;
  tiny["v100"]["c"]["a-b1"] = 1e-320;
  CHECK_THAT(refused(nlohmann::json{{"types", types}, {"pairs", tiny}}.dump()),
             Catch::Contains("pair \"c\" beside \"a-b1\" on v100: the share must be 0 or in "
                             "1e-9..1e6"));
  CHECK_THAT(refused("{}", {"--form", "x"}), Catch::Contains("--form: there is no \"x\""));
}

TEST_CASE("what is no trace is refused in a sentence", "[integration][workload]") {
  const TempDir folder;
  const auto refusal = [&](const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"workload", write(folder, "jobs.csv", text)};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = pacml(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  const std::string good = four_jobs();
  CHECK_THAT(refusal("a,b\n1,2\n"), Catch::Contains("jobs.csv:1:1: the first line"));
  CHECK_THAT(refusal(good + "e,50"), Catch::Contains("jobs.csv:6:1: the line has 2 columns"));
  CHECK_THAT(refusal(good + "e,5,1,1,,,t,u,,,\n"), Catch::Contains("--sort puts them in order"));
  CHECK_THAT(refusal(good + "e,-1,1,1,,,t,u,,,\n"), Catch::Contains("jobs.csv:6:3: "));
  CHECK_THAT(refusal(kHeader), Catch::Contains("there are no jobs"));
  CHECK_THAT(refusal(good, {"--load", "2"}), Catch::Contains("needs --gpus"));
  CHECK_THAT(refusal(good, {"--format", "excel"}), Catch::Contains("known are pacml, gavel"));
  CHECK(pacml({"workload", "/nowhere.csv"}).code == 2);
  // ... and in order it is taken.
  const auto file = write(folder, "jobs.csv", good + "e,5,1,1,,,t,u,,,\n");
  const auto out = (folder / "out.csv").string();
  REQUIRE(pacml({"workload", file, "--sort", "--out", out}).code == 0);
  CHECK_THAT(text_of(out), Catch::Contains("a,0,1,1,100,,t,u,,,done\ne,5,"));
}

TEST_CASE("dates before those of the first row are put in order, and written from 0 on",
          "[integration][workload]") {
  const TempDir folder;
  const auto file = write(folder, "log.csv",
                          "job_id,user,vc,gpu_num,state,submit_time,duration\n"
                          "b,u,v,1,COMPLETED,2020-02-28 23:00:10,36\n"
                          "a,u,v,1,COMPLETED,2020-02-28 23:00:00,20\n");
  const auto out = (folder / "out.csv").string();
  CHECK(pacml({"workload", file}).code == 2);
  const Outcome sorted = pacml({"workload", file, "--sort", "--out", out});
  INFO(sorted.err);
  REQUIRE(sorted.code == 0);
  CHECK(text_of(out) ==
        std::string(kHeader) + "a,0,1,1,20,,,u,v,,COMPLETED\nb,10,1,1,36,,,u,v,,COMPLETED\n");
  CHECK(pacml({"workload", out}).code == 0);
  const Outcome far = pacml({"workload", out, "--first", "1", "--jobs", "9223372036854775807"});
  CHECK(far.code == 0);
}

}  // namespace
}  // namespace pacml::testing
