#include "apps/evaluation/model_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/files.h"
#include "apps/run/run_directory.h"
#include "common/config/reader.h"
#include "common/finite.h"
#include "common/read_number.h"
#include "common/result.h"
#include "env/tasks/partitioning/config.h"
#include "learner/export/policy_export.h"
#include "learner/export/safetensors.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

// Far more than any policy takes.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

learner::Safetensors read_exported(const fs::path& file) {
  std::error_code none;
  if (fs::is_regular_file(file, none) && fs::file_size(file, none) > kMostBytes) {
    throw UserError(file.string() + " is larger than 1 GiB, which no policy is");
  }
  auto read = learner::decode_safetensors(read_user_file(file));
  if (!read) throw UserError(file.string() + " " + read.error().detail);
  for (const char* key : {"config", "policy_version"}) {
    if (!read->metadata.contains(key)) {
      throw UserError(file.string() +
                      " is no policy that `pacml export --format safetensors` wrote: it does not "
                      "say its " +
                      key);
    }
  }
  return *std::move(read);
}

ConfigSource source_of(const fs::path& file, const learner::Safetensors& exported,
                       const std::vector<std::string>& changes = {}) {
  return ConfigSource::from_text(file.string() + " (its configuration)",
                                 exported.metadata.at("config"), changes);
}

// A task in Python is code: a file of weights, from whomever it is, does not get to say which.
void refuse_code(const fs::path& file, const ConfigSource& source) {
  if (!names_code(source)) return;
  throw UserError(file.string() +
                  " is a policy of a task in Python, which is code that a file does not get to "
                  "run: take its run folder, or open it for the task itself");
}

TrainConfig config_of(const fs::path& file, const learner::Safetensors& exported,
                      const std::vector<std::string>& changes = {}) {
  const ConfigSource source = source_of(file, exported, changes);
  refuse_code(file, source);
  return read_config<TrainConfig>(source);
}

// The task that the file was trained for; nullopt: it is code, or cannot be read here.
std::optional<env::TaskConfig> own_task(const fs::path& file,
                                        const learner::Safetensors& exported) {
  const ConfigSource source = source_of(file, exported);
  const ConfigNode* const said = source.root().find("env");
  if (said == nullptr || names_code(source)) return std::nullopt;
  env::TaskConfig task;
  config_detail::Problems problems;
  task.read(*said, "env", problems);
  if (!problems.empty()) return std::nullopt;
  return task;
}

PolicyVersion version_of(const fs::path& file, const learner::Safetensors& exported) {
  const std::string& text = exported.metadata.at("policy_version");
  const auto version = read_number<std::uint64_t>(text);
  if (!version) {
    throw UserError(file.string() + " says a policy_version that is no number: " + text);
  }
  return PolicyVersion{*version};
}

TrainedRun policy_of(const fs::path& file, const learner::Safetensors& exported, TrainConfig config,
                     const env::EnvironmentSpec& spec) {
  TrainedRun out;
  out.config = std::move(config);
  for (const auto& problem : model::unreadable(out.config.network, spec.observation)) {
    throw UserError(file.string() + " was trained for other decisions: " + problem);
  }
  out.shape = model::make_shape(out.config.network, spec);
  const auto layout = model::make_layout(out.shape);
  // All of them are looked at before there is room for any: a small file may name a huge network.
  std::vector<const learner::NamedTensor*> tensors;
  for (const auto& entry : layout.entries) {
    const auto tensor =
        std::ranges::find(exported.tensors, entry.name, &learner::NamedTensor::name);
    if (tensor == exported.tensors.end() || tensor->shape != entry.shape) {
      throw UserError(file.string() + " was trained for other decisions: it has no weights \"" +
                      entry.name + "\" of that shape");
    }
    if (!all_finite(tensor->values)) {
      throw UserError(file.string() + " holds weights \"" + entry.name + "\" that are no numbers");
    }
    tensors.push_back(&*tensor);
  }
  out.parameters = {version_of(file, exported), layout.hash, std::vector<float>(layout.total)};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::ranges::copy(tensors[i]->values,
                      model::view(out.parameters, layout, layout.entries[i].name).begin());
  }
  if (exported.tensors.size() != layout.entries.size()) {
    throw UserError(file.string() + " holds weights that its own network does not have");
  }
  out.file = file;
  out.heads = heads_of(out.config);
  out.discount = discount_of(out.config);
  const auto unit = exported.metadata.find(std::string(learner::kValueUnit));
  if (unit != exported.metadata.end() && unit->second == learner::kRewards) {
    out.valued = out.parameters;
  }
  if (const auto rate = exported.metadata.find(learner::kRewardRate);
      rate != exported.metadata.end()) {
    const auto number = read_number<double>(rate->second);
    if (!number || !std::isfinite(*number)) {
      throw UserError(file.string() + " says a reward_rate that is no number: " + rate->second);
    }
    out.reward_rate = *number;
  }
  return out;
}

// A policy of clusters of several sizes decides about one: about the first, or what `changes` say.
std::vector<std::string> for_one_cluster(const TrainConfig& own,
                                         const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    if (change.starts_with("env.")) continue;
    throw UserError("--set " + change +
                    ": settings of the task alone, env. and so on, may differ from the training's");
  }
  if (!own.env.is_of<env::PartitioningConfig>()) return changes;
  if (own.env.as<env::PartitioningConfig>().further_topologies.empty()) return changes;
  std::vector<std::string> all = {"env.further_topologies=[]"};
  all.insert(all.end(), changes.begin(), changes.end());
  return all;
}

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

}  // namespace

TrainedRun load_exported_policy(const fs::path& file, const env::EnvironmentSpec& spec) {
  const auto exported = read_exported(file);
  const auto own = own_task(file, exported);
  if (own) check_only_graphs(file, *own, spec.observation);
  // Only what says how to read the weights, for a task that is there: nothing depends on whether
  // what the file says of its own can be read.
  TrainConfig config = read_config_without_task(source_of(file, exported));
  TrainedRun out = policy_of(file, exported, std::move(config), spec);
  if (own) out.warning += warn_of_other_features(file, *own, spec.observation);
  return out;
}

TrainedRun load_trained_policy(const fs::path& path, const env::EnvironmentSpec& spec) {
  return is_folder(path) ? load_trained_run(path, spec) : load_exported_policy(path, spec);
}

Model load_model(const fs::path& path, const std::string& profiles,
                 const std::vector<std::string>& changes) {
  const auto task_of = [&](TrainConfig& config) {
    if (!profiles.empty()) config.env.set_profiles(profiles);
    return config.env.make();
  };
  if (is_folder(path)) {
    const auto file = RunDirectory::open(path).config_file();
    const auto own = read_config<TrainConfig>(ConfigSource::from_file(file));
    auto config =
        read_config<TrainConfig>(ConfigSource::from_file(file, for_one_cluster(own, changes)));
    env::TaskPtr task = task_of(config);
    TrainedRun run = load_trained_run(path, task->spec());
    return {std::move(task), std::move(run)};
  }
  const auto exported = read_exported(path);
  const TrainConfig own = config_of(path, exported);
  TrainConfig config = config_of(path, exported, for_one_cluster(own, changes));
  env::TaskPtr task = task_of(config);
  check_only_graphs(path, own.env, task->spec().observation);
  TrainedRun run = policy_of(path, exported, std::move(config), task->spec());
  run.warning += warn_of_other_features(path, own.env, task->spec().observation);
  return {std::move(task), std::move(run)};
}

}  // namespace pacml::apps
