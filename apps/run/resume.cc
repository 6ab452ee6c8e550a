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
#include "common/json_text.h"
#include "common/result.h"
#include "common/text.h"
#include "common/try_again.h"

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
    "learner.evaluate_share",
    "learner.forget_seconds",
    "learner.grant_seconds",
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
    "replay.grant_seconds",
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
  keep_user_file(file, json_text(nlohmann::json(hashes), 1) + "\n");
}

// Where `said` says the key, or the innermost map of it that it has; empty: nowhere. A name may
// hold dots itself, such as the values of a pmf: then it is the map around it.
std::string place_of(const ConfigNode& said, std::string_view key) {
  const ConfigNode* node = &said;
  std::string place;
  while (node != nullptr && !key.empty()) {
    const std::size_t dot = key.find('.');
    node = node->find(key.substr(0, dot));
    if (node != nullptr) place = node->where;
    key = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
  }
  return place;
}

std::string refusal(const ConfigDifference& difference, const ConfigNode& said) {
  const auto& [key, here, there] = difference;
  std::string words = key + " is " + here + ", and " + there + " in the run";
  const std::string place = place_of(said, key);
  if (!place.empty()) words += " (" + place + ")";
  return words;
}

std::string one_sentence(const std::vector<std::string>& differences) {
  constexpr std::size_t kShown = 4;
  if (differences.size() <= kShown + 1) return join(differences, "; ");
  const std::vector<std::string> first(differences.begin(), differences.begin() + kShown);
  return join(first, "; ") + "; and " + std::to_string(differences.size() - kShown) +
         " more settings differ";
}

// `said` over the run's own. A configuration that is right by itself may contradict what the run
// has where it says nothing: then the sentence must not blame its lines alone.
TrainConfig changed(const TrainConfig& before, const ConfigSource& said, const fs::path& own) {
  try {
    return read_config(said, before);
  } catch (const TryAgainError&) {
    throw;  // of neither
  } catch (const UserError& both) {
    static_cast<void>(read_config<TrainConfig>(said));
    throw UserError(said.name() + " does not go with the run, which keeps what is not said: " +
                    both.what() + "; " + own.string() + " is the run's own configuration");
  }
}

// `what`: that it is to name. A file that is not there names nothing.
nlohmann::json read_hashes(const fs::path& file, const std::string& what) {
  if (!is_there(file)) return nullptr;
  auto recorded = nlohmann::json::parse(read_user_file(file), nullptr, false);
  if (!recorded.is_object()) throw UserError(file.string() + " does not name " + what);
  return recorded;
}

// What is not as the file says, by name; a file that is not there says nothing.
std::vector<std::string> differing(const fs::path& file, const Hashes& now,
                                   const std::string& what) {
  const auto recorded = read_hashes(file, what);
  if (recorded.is_null()) return {};
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
  for (std::string* path : {&config.security.keys, &config.warm_start.from}) {
    if (!path->empty()) *path = fs::absolute(*path).lexically_normal().string();
  }
  return config;
}

Resumption resume_config(const RunDirectory& run, const ConfigSource& said,
                         const std::string& profiles, const std::string& keys) {
  const auto before =
      as_recorded(read_config<TrainConfig>(ConfigSource::from_file(run.config_file())));
  TrainConfig now = changed(before, said, run.config_file());
  if (!profiles.empty()) now.env.set_profiles(profiles);
  // A configuration that spells out the default says nothing against what --profiles once said.
  if (now.env.profiles().empty() && !before.env.profiles().empty() &&
      now.env.task() == before.env.task()) {
    now.env.set_profiles(before.env.profiles());
  }
  if (!keys.empty()) now.security.keys = keys;
  Resumption resumption{as_recorded(std::move(now)), {}};

  std::vector<std::string> refused;
  for (const auto& difference :
       compare_configs(dump_config(resumption.config), dump_config(before))) {
    const auto& [key, here, there] = difference;
    if (is_harmless(key)) {
      resumption.changes.push_back(key + ": " + here + " from now on, " + there + " before");
    } else {
      refused.push_back(refusal(difference, said.root()));
    }
  }
  if (!refused.empty()) {
    throw UserError("a resumed run stays what it is: " + one_sentence(refused) +
                    "; to go on as it was, say nothing of that or leave CONFIG out; or begin a run "
                    "of another name");
  }
  std::error_code none;
  const std::string folder = resumption.config.env.profiles();
  if (!folder.empty() && !fs::is_directory(folder, none)) {
    if (passes_by_itself(none.value())) throw_system_error("cannot read " + folder, none.value());
    throw UserError("the run's job graphs were in " + folder +
                    ", which is no folder (any more); name theirs with --profiles");
  }
  return resumption;
}

void record_inputs(const RunDirectory& run, const Agreement& agreement) {
  write_hashes(graphs_file(run), agreement.graphs);
  if (!agreement.inputs.empty()) write_hashes(inputs_file(run), agreement.inputs);
}

std::vector<std::string> other_graphs(const RunDirectory& run, const env::EnvironmentSpec& here) {
  const auto recorded = read_hashes(graphs_file(run), "job graphs");
  std::vector<std::string> other;
  for (const auto& [name, hash] : graph_hashes(here)) {
    if (recorded.contains(name) && recorded[name] != hash) other.push_back(name);
  }
  return other;
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
