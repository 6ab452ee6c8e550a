#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/temp_dir.h"

namespace pacml::testing {

// A configuration that was trained, a little over real processes and then in one, where chance has
// no part in what comes of it, and judged beside other policies on 20 held-out episodes. What fails
// on the way ends the test.
class JudgedTraining {
 public:
  JudgedTraining(std::string_view config, const std::string& algorithm, int decisions,
                 const std::string& others) {
    std::ofstream(folder / "c.yaml") << config;
    train((folder / "several").string(), algorithm, 4'000, {});
    run = (folder / "run").string();
    // Evaluated at its end alone: which of its policies is the best would depend on the clock.
    train(run, algorithm, decisions, {"--deterministic", "--set", "learner.evaluate_seconds=1e6"});
    const std::string out = (folder / "e.json").string();
    const Outcome judged = pacml({"eval", (folder / "c.yaml").string(), "--policy",
                                  run + "," + others, "--seeds", "20", "--out", out});
    INFO(judged.err);
    REQUIRE(judged.code == 0);
    result_ = nlohmann::json::parse(text_of(out));
  }

  [[nodiscard]] std::string objective() const { return result_["objective"]; }
  // The objective's mean of the trained policy, 0, or of one of the others.
  [[nodiscard]] double mean(std::size_t policy) const {
    return result_["policies"][policy][objective()]["mean"].get<double>();
  }

  TempDir folder;
  std::string run;

 private:
  void train(const std::string& where, const std::string& algorithm, int decisions,
             const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "train",       (folder / "c.yaml").string(), "--run", where,
        "--decisions", std::to_string(decisions),    "--set", "algorithm=" + algorithm};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome trained = pacml(words);
    INFO(trained.err);
    REQUIRE(trained.code == 0);
  }

  nlohmann::json result_;
};

}  // namespace pacml::testing
