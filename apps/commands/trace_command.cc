#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/cli/files.h"
#include "apps/commands/commands.h"
#include "apps/trace/trace_replay.h"
#include "common/json_text.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

json parse(const std::string& file) {
  auto document = parse_json_text(read_user_file(file));
  if (!document) throw UserError(file + ": " + document.error().detail);
  return std::move(*document);
}

// Part of the document is the user's: a member of another type is theirs to mend.
json replay(const std::string& file, const std::string& profiles, bool take_decisions) {
  try {
    const json recorded = parse(file);
    if (!profiles.empty() && recorded.is_object() &&
        recorded.value("format", "") != "ramp-golden-1") {
      throw UserError("--profiles: only recordings of format ramp-golden-1 name models");
    }
    return replay_trace(recorded, profiles, take_decisions);
  } catch (const json::exception& error) {
    throw UserError(file + " is no recorded run: " + error.what());
  } catch (const UserError& error) {
    const std::string sentence = error.what();
    throw UserError(sentence.find(file) == std::string::npos ? file + ": " + sentence : sentence);
  }
}

std::string summary_of_placements(const json& replayed) {
  const auto count = [&](const char* part, const char* one, const char* several) {
    const std::size_t n = replayed.contains(part) ? replayed.at(part).size() : 0;
    return std::to_string(n) + " " + (n == 1 ? one : several);
  };
  if (replayed.contains("updates")) return count("updates", "update", "updates");
  return count("runs", "placement", "placements") + ", " + count("episodes", "episode", "episodes");
}

std::string summary_of_schedule(const json& replayed) {
  const json& metrics = replayed.at("metrics");
  std::string text = json_text(metrics.at("finished")) + " of " +
                     std::to_string(replayed.at("jobs").size()) + " jobs finished";
  if (const json& jct = metrics.at("avg_jct"); jct.is_number()) {
    text += ", after " + json_text(jct) + " s on average";
  }
  return text;
}

std::string summary_of_decisions(const json& replayed) {
  std::map<std::string, int> counts;
  for (const json& step : replayed.at("steps")) {
    std::string outcome = step.at("outcome").get<std::string>();
    if (const auto cause = step.find("cause"); cause != step.end() && cause->is_string()) {
      outcome += " (" + cause->get<std::string>() + ")";
    }
    ++counts[outcome];
  }
  std::string text = std::to_string(replayed.at("steps").size()) + " decisions: ";
  std::string separator;
  for (const auto& [outcome, count] : counts) {
    text += separator + std::to_string(count) + " " + outcome;
    separator = ", ";
  }
  return text;
}

class TraceCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"trace",
            "replay a recorded run: its actions or placements, every other figure computed anew",
            {{"trace run.json --profiles my_models --out replayed.json",
              "compare the two files to see whether the simulator agrees with the recording"},
             {"trace placements.json --out replayed.json",
              "the same for recorded placements of operations on devices"},
             {"trace schedule.json --replay --out replayed.json",
              "a schedule of jobs on a GPU cluster that a policy of your own has decided"}}};
  }
  void declare(Options& options) override {
    options.argument("FILE.json", &file_,
                     "a recording of format ramp-golden-1, cluster-golden-1, pacml-placement/1 or "
                     "pacml-placement-training/1");
    options.required_output("--out OUT.json", &out_, "the same document with computed figures");
    options.option("--profiles DIR", &profiles_,
                   "folder of <model>/graph.txt; built-in models if not given");
    options.option("--replay", &take_decisions_,
                   "of cluster-golden-1: replay the recorded decisions, not the policy");
  }
  [[nodiscard]] int run() override {
    const json replayed = replay(file_, profiles_, take_decisions_);
    write_user_file(out_, json_text(replayed, 1) + "\n");
    std::cout << summary(replayed) << "\n";
    return 0;
  }

 private:
  static std::string summary(const json& replayed) {
    if (replayed.at("format") == "cluster-golden-1") return summary_of_schedule(replayed);
    return replayed.contains("steps") ? summary_of_decisions(replayed)
                                      : summary_of_placements(replayed);
  }

  std::string file_;
  std::string out_;
  std::string profiles_;
  bool take_decisions_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_command() { return std::make_unique<TraceCommand>(); }

}  // namespace pacml::apps
