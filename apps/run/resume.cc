#include "apps/run/resume.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/cli/files.h"
#include "common/config/diff.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

// How a run is run, and how it learns from now on; a name that ends with a dot stands for all that
// it begins. Everything else says what is learned, or what the run has saved.
constexpr auto kHarmless = std::to_array<std::string_view>({
    "actors",
    "actor.",
    "env.profiles",  // where they lie; check_inputs sees to what they are
    "exploration.",
    "learner.all_reduce_seconds",
    "learner.allow_insecure_all_reduce",
    "learner.checkpoint_seconds",
    "learner.credits_per_actor",
    "learner.evaluate_seconds",
    "learner.forget_seconds",
    "learner.keep_checkpoints",
    "learner.max_actors",
    "learner.max_waiting_bytes",
    "learner.metrics_seconds",
    "learner.replicas",
    "learner.tensorboard",
    "learner.threads",
    "patience.",
    "replay.credits_per_actor",
    "replay.forget_seconds",
    "replay.max_actors",
    "replay.max_waiting_bytes",
    "replay.patience_seconds",
    "replay.prefetch",
    "replay.snapshot_seconds",
    "security.",
    "supervision.",
    "transport.",
});

// Of every algorithm's section, which is named after it.
constexpr auto kHarmlessToLearning = std::to_array<std::string_view>({
    "batch_decisions",
    "entropy_cost.",
    "epochs",
    "learning_rate.",
    "max_policy_lag",
    "minibatch_decisions",
    "optimizer.gradient_clip",
    "samples_per_decision",
});

bool is_among(std::span<const std::string_view> list, std::string_view key) {
  return std::ranges::any_of(list, [key](std::string_view known) {
    return known.ends_with('.') ? key.starts_with(known) : key == known;
  });
}

bool is_harmless(std::string_view key) {
  if (is_among(kHarmless, key)) return true;
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return false;
  constexpr auto kAlgorithms = enum_names(AlgorithmKind{});
  const bool of_algorithm = std::ranges::find(kAlgorithms, key.substr(0, dot),
                                              &EnumName<AlgorithmKind>::name) != kAlgorithms.end();
  return of_algorithm && is_among(kHarmlessToLearning, key.substr(dot + 1));
}

using Hashes = std::map<std::string, std::string>;  // by name

fs::path graphs_file(const RunDirectory& run) { return run.path() / "graphs.json"; }
fs::path inputs_file(const RunDirectory& run) { return run.path() / "inputs.json"; }

void write_hashes(const fs::path& file, const Hashes& hashes) {
  write_user_file(file, nlohmann::json(hashes).dump(1) + "\n");
}

// What is not as the file says, by name; a file that is not there says nothing.
std::vector<std::string> differing(const fs::path& file, const Hashes& now,
                                   const std::string& what) {
  std::error_code none;
  if (!fs::exists(file, none)) return {};
  const auto recorded = nlohmann::json::parse(read_user_file(file), nullptr, false);
  if (!recorded.is_object()) throw UserError(file.string() + " does not name " + what);
  std::vector<std::string> other;
  for (const auto& [name, hash] : now) {
    if (recorded.value(name, nlohmann::json()) != hash) other.push_back(name);
  }
  for (const auto& [name, hash] : recorded.items()) {
    if (!now.contains(name)) other.push_back(name);
  }
  return other;
}

}  // namespace

TrainConfig as_recorded(TrainConfig config) {
  config.env.make_paths_absolute();
  std::string& keys = config.security.keys;
  if (!keys.empty()) keys = fs::absolute(keys).lexically_normal().string();
  return config;
}

Resumption resume_config(const RunDirectory& run, const ConfigSource& said,
                         const std::string& profiles, const std::string& keys) {
  const auto before =
      as_recorded(read_config<TrainConfig>(ConfigSource::from_file(run.config_file())));
  TrainConfig now = read_config(said, before);
  if (!profiles.empty()) now.env.set_profiles(profiles);
  // A configuration that spells out the default says nothing against what --profiles once said.
  if (now.env.profiles().empty() && !before.env.profiles().empty() &&
      now.env.task() == before.env.task()) {
    now.env.set_profiles(before.env.profiles());
  }
  if (!keys.empty()) now.security.keys = keys;
  Resumption resumption{as_recorded(std::move(now)), {}};

  std::vector<std::string> refused;
  for (const auto& [key, here, there] :
       compare_configs(dump_config(resumption.config), dump_config(before))) {
    if (is_harmless(key)) {
      resumption.changes.push_back(key + ": " + here + " from now on, " + there + " before");
    } else {
      refused.push_back(key + " is " + here + ", and " + there + " in the run");
    }
  }
  if (!refused.empty()) {
    throw UserError("a resumed run stays what it is: " + join(refused, "; ") +
                    "; leave that out, or begin a run of another name");
  }
  std::error_code none;
  const std::string folder = resumption.config.env.profiles();
  if (!folder.empty() && !fs::is_directory(folder, none)) {
    throw UserError("the run's job graphs were in " + folder +
                    ", which is no folder (any more); name theirs with --profiles");
  }
  return resumption;
}

void record_inputs(const RunDirectory& run, const Agreement& agreement) {
  write_hashes(graphs_file(run), agreement.graphs);
  if (!agreement.inputs.empty()) write_hashes(inputs_file(run), agreement.inputs);
}

void check_inputs(const RunDirectory& run, const Agreement& agreement) {
  const auto graphs = differing(graphs_file(run), agreement.graphs, "job graphs");
  if (!graphs.empty()) {
    throw UserError("the run was trained on other job graphs: " + join(graphs) +
                    (graphs.size() == 1 ? " is" : " are") +
                    " not what it was; name the folder of the run's with --profiles");
  }
  const auto inputs = differing(inputs_file(run), agreement.inputs, "files");
  if (inputs.empty()) return;
  throw UserError("the run was trained on another file: what " + join(inputs) +
                  (inputs.size() == 1 ? " names" : " name") +
                  " has changed since; put back what was there, or begin another run");
}

}  // namespace pacml::apps
