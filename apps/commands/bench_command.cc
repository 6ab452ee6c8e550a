#include "apps/commands/bench_command.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "apps/bench/bench_report.h"
#include "apps/cli/files.h"
#include "common/result.h"
#include "common/spell_number.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

constexpr std::int64_t kMostRounds = 1000;

class BenchCommand final : public Command {
 public:
  BenchCommand(std::vector<NamedBench> benches, std::function<std::string()> math)
      : benches_(std::move(benches)), math_(std::move(math)) {}
  [[nodiscard]] CommandText text() const override {
    return {
        "bench",
        "measure this build on this machine",
        {{"bench", "every benchmark, some minutes"},
         {"bench simulator --config configs/paper/beta_a.yaml", "decisions per second, one core"},
         {"bench learner --config configs/quickstart.yaml",
          "samples learned per second, one core, of what an actor does there"},
         {"bench pipeline --seconds 60 --out pipeline.json",
          "a whole training run; the figures also as JSON"},
         {"bench pipeline --keys keys --rounds 5 --seconds 15",
          "what encryption costs: five pairs of runs over tcp"},
         {"bench pipeline --watched --rounds 5 --seconds 15",
          "what the dashboard, Prometheus and TensorBoard cost"}}};
  }
  void declare(Options& options) override {
    options.optional_argument("NAME", &name_, join(names()) + " (default: all)");
    options.option(
        "--config CONFIG", &settings_.config,
        "configuration to measure (default: the paper's setting A on the built-in models; learner: "
        "the published network, by IMPALA and Ape-X, on made-up graphs)");
    options.option("--profiles DIR", &settings_.profiles, "folder of <model>/graph.txt");
    options.option(
        "--seconds S", &seconds_,
        "length of the pipeline's run (default " + spell_number(settings_.seconds) + ")");
    options.option("--keys DIR", &settings_.keys,
                   "pipeline: pairs of runs, in the clear and with these keys");
    options.option("--watched", &settings_.watched,
                   "pipeline: pairs of runs, alone and with everything that shows it");
    options.option("--rounds N", &rounds_,
                   "how many pairs (default " + std::to_string(settings_.rounds) + ")");
    options.output("--out FILE.json", &out_, "write the figures as JSON");
  }
  [[nodiscard]] int run() override {
    settings_.seconds = seconds_.value_or(settings_.seconds);
    if (!(settings_.seconds >= 5)) throw UserError("--seconds: must be at least 5");
    if (settings_.watched && !settings_.keys.empty()) {
      throw UserError("--watched and --keys are pairs of different kinds");
    }
    if (!name_.empty() && name_ != "pipeline") {
      for (const auto& [option, is_said] : {std::pair{"--watched", settings_.watched},
                                            {"--keys", !settings_.keys.empty()},
                                            {"--seconds", seconds_.has_value()}}) {
        if (!is_said) continue;
        throw UserError(std::string(option) + ": is of the benchmark pipeline, not of " + name_);
      }
    }
    const std::int64_t rounds = rounds_.value_or(settings_.rounds);
    if (rounds < 1 || rounds > kMostRounds) {
      throw UserError("--rounds: must be in 1.." + std::to_string(kMostRounds));
    }
    if (rounds_ && !settings_.watched && settings_.keys.empty()) {
      throw UserError("--rounds: is how many pairs, which --keys or --watched measures");
    }
    settings_.rounds = rounds;
    if (!name_.empty()) check_named();
    const std::string math = math_();
    std::cout << math << "\n" << std::flush;
    BenchReport report;
    for (const auto& bench : benches_) {
      if (!name_.empty() && bench.name != name_) continue;
      // Some take a minute; figures alone go to the standard output.
      std::cerr << "measuring " << bench.name << "\n";
      const std::size_t before = report.size();
      bench.run(settings_, report);
      std::cout << format_report(
                       {report.begin() + static_cast<std::ptrdiff_t>(before), report.end()})
                << std::flush;
    }
    if (!out_.empty()) write_user_file(out_, report_to_json(report, math));
    return 0;
  }

 private:
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& bench : benches_) all.push_back(bench.name);
    return all;
  }
  // UserError: there is no such benchmark, or it has no use for what is said.
  void check_named() const {
    const auto named = std::ranges::find(benches_, name_, &NamedBench::name);
    if (named == benches_.end()) {
      throw UserError("there is no benchmark \"" + name_ + "\"" + did_you_mean(name_, names()));
    }
    const bool has_config = !settings_.config.empty();
    if (!has_config && settings_.profiles.empty()) return;
    if (named->takes_config == TakesConfig::kNever) {
      throw UserError(std::string(has_config ? "--config" : "--profiles") + ": the benchmark " +
                      name_ + " measures what no configuration changes");
    }
    if (named->takes_config == TakesConfig::kIfGiven && !has_config) {
      throw UserError("--profiles: the benchmark " + name_ +
                      " reads them with --config alone, and else graphs of its own");
    }
  }

  std::vector<NamedBench> benches_;
  std::function<std::string()> math_;
  std::string name_;
  std::optional<std::int64_t> rounds_;
  std::optional<double> seconds_;
  BenchSettings settings_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command(std::vector<NamedBench> benches,
                                            std::function<std::string()> math) {
  return std::make_unique<BenchCommand>(std::move(benches), std::move(math));
}

}  // namespace pacml::apps
