#include "apps/evaluation/trained_run.h"

#include <algorithm>

#include "apps/run/resume.h"
#include "apps/run/run_directory.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "common/text.h"
#include "common/try_again.h"
#include "env/tasks/python/config.h"
#include "learner/checkpoint.h"
#include "learner/network_training.h"
#include "learner/reward_rate.h"
#include "learner/state_of_training.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

struct Found {
  learner::Checkpoint checkpoint;
  std::filesystem::path file;
  std::string warning;
};

Found newest(const learner::CheckpointFolder& folder, const model::ParameterLayout& layout) {
  auto loaded = learner::load_newest(folder, layout);
  std::string warning;
  for (const auto& skipped : loaded.skipped) {
    warning += skipped + ": remove it; taking " + loaded.file.string() + " instead\n";
  }
  return {std::move(loaded.checkpoint), std::move(loaded.file), std::move(warning)};
}

void warn_of_best(const std::string& trouble, Found& taken) {
  taken.warning =
      trouble + "; taking " + taken.file.string() + ", which need not be as good\n" + taken.warning;
}

Found best_or_newest(const learner::CheckpointFolder& folder,
                     const model::ParameterLayout& layout) {
  const auto best = folder.best_file();
  if (!is_there(best)) {
    Found found = newest(folder, layout);
    if (found.checkpoint.best_score) warn_of_best(best.string() + " is missing", found);
    return found;
  }
  auto checkpoint = learner::read_checkpoint(best, layout);
  if (checkpoint) return {*std::move(checkpoint), best, {}};
  // It may be whole: that it cannot be read now is no reason to take another one.
  if (checkpoint.error().passes) throw_error(checkpoint.error());
  Found found;
  try {
    found = newest(folder, layout);
  } catch (const TryAgainError&) {
    throw;
  } catch (const UserError&) {
    // There is nothing else, so this is what the user has to mend.
    throw UserError(checkpoint.error().detail);
  }
  warn_of_best(checkpoint.error().detail + ": remove it", found);
  return found;
}

// As above. Where the network is of another size since its decisions show something else, that is
// what the user can mend.
Found policy_of(const RunDirectory& run, const TrainConfig& own, const env::EnvironmentSpec& spec,
                const model::ParameterLayout& layout) {
  try {
    return best_or_newest(learner::CheckpointFolder(run.checkpoints(), 1), layout);
  } catch (const TryAgainError&) {
    throw;
  } catch (const UserError& error) {
    if (!own.env.is_valid() || own.env.observation() == spec.observation) throw;
    throw UserError(std::string(error.what()) + "; its decisions showed other things than these: " +
                    run.config_file().string() + " has the env that it was trained for");
  }
}

// Everything that networks read, in the order in which they do.
std::vector<std::string> features_of(const ObservationSpec& shown) {
  std::vector<std::string> all;
  for (const SlotSpec& slot : shown.slots) all.push_back("the " + slot.name);
  const auto add = [&all](const std::string& of, const std::vector<FeatureSpec>& features) {
    for (const FeatureSpec& feature : features) {
      all.push_back(of + " " + feature.name + " [" + feature.unit + "]");
    }
  };
  add("the global", shown.globals);
  add("the candidates'", shown.candidates.features);
  return all;
}

}  // namespace

model::ValueHeads heads_of(const TrainConfig& config) {
  switch (config.algorithm) {
    case AlgorithmKind::kImpala:
    case AlgorithmKind::kPpo:
    case AlgorithmKind::kReinforce:
      return model::ValueHeads::kValue;
    case AlgorithmKind::kApex:
      return config.apex.heads;
    case AlgorithmKind::kExpertIteration:
      return model::ValueHeads::kActions;
  }
  return model::ValueHeads::kValue;
}

double discount_of(const TrainConfig& config) {
  switch (config.algorithm) {
    case AlgorithmKind::kImpala:
      return config.impala.discount;
    case AlgorithmKind::kPpo:
      return config.ppo.discount;
    case AlgorithmKind::kApex:
      return config.transitions.discount;
    case AlgorithmKind::kExpertIteration:
      return config.expert.discount;
    case AlgorithmKind::kReinforce:
      return config.reinforce.discount;
  }
  return 1;
}

bool learns_values(const TrainConfig& config) {
  return config.algorithm != AlgorithmKind::kReinforce;
}

double reward_scale_of(const TrainConfig& config) {
  switch (config.algorithm) {
    case AlgorithmKind::kImpala:
      return config.impala.reward_scale;
    case AlgorithmKind::kPpo:
      return config.ppo.reward_scale;
    case AlgorithmKind::kApex:
      return config.transitions.reward_scale;
    case AlgorithmKind::kExpertIteration:
    case AlgorithmKind::kReinforce:
      return 1;
  }
  return 1;
}

void check_only_graphs(const std::filesystem::path& policy, const env::TaskConfig& own,
                       const ObservationSpec& here) {
  const auto has_one = [](const SlotSpec& slot) { return !slot.only_graph.empty(); };
  // Whoever need not know does not ask a task what it shows, which may take an interpreter.
  if (std::ranges::none_of(here.slots, has_one) || !own.is_valid()) return;
  const ObservationSpec shown = own.observation();
  for (const SlotSpec& slot : here.slots) {
    const auto same = std::ranges::find(shown.slots, slot.name, &SlotSpec::name);
    if (same == shown.slots.end() || !has_one(*same) || !has_one(slot)) continue;
    if (same->only_graph == slot.only_graph) continue;
    throw UserError(
        policy.string() + " was trained on the " + slot.name + " of " + same->only_graph +
        ", which its decisions show one by one, and is not for those of " + slot.only_graph);
  }
}

std::string warn_of_other_features(const std::filesystem::path& policy, const env::TaskConfig& own,
                                   const ObservationSpec& here) {
  // What such a task shows, its code says, which need no longer be there and takes an interpreter.
  if (own.is_of<env::PythonConfig>() || !own.is_valid()) return {};
  const std::vector<std::string> then = features_of(own.observation());
  const std::vector<std::string> now = features_of(here);
  // Of another number no weights fit, which is told as that.
  if (then.size() != now.size()) return {};
  const auto [was, is] = std::ranges::mismatch(then, now);
  if (was == then.end()) return {};
  return policy.string() + " was trained on other decisions than these, which are as wide: on " +
         *was + " where these have " + *is + "; what it does here was not learned there\n";
}

TrainedRun load_trained_run(const std::filesystem::path& path, const env::EnvironmentSpec& spec) {
  const auto run = RunDirectory::open(path);
  TrainedRun trained;
  trained.config = read_config<TrainConfig>(ConfigSource::from_file(run.config_file()));
  for (const auto& problem : model::unreadable(trained.config.network, spec.observation)) {
    throw UserError(path.string() + " was trained for other decisions: " + problem);
  }
  check_only_graphs(path, trained.config.env, spec.observation);
  trained.shape = model::make_shape(trained.config.network, spec);
  const auto layout = model::make_layout(trained.shape);
  auto [checkpoint, file, warning] = policy_of(run, trained.config, spec, layout);
  trained.file = std::move(file);
  trained.warning =
      std::move(warning) + warn_of_other_features(path, trained.config.env, spec.observation);
  if (const auto others = other_graphs(run, spec); !others.empty()) {
    trained.warning += path.string() +
                       " was trained on other job graphs than these: " + join(others) +
                       (others.size() == 1 ? " is" : " are") +
                       " not what it was; --profiles names the folder of theirs\n";
  }
  const auto* parameters = learner::parameters_of(checkpoint.algorithm);
  if (parameters == nullptr) throw UserError(trained.file.string() + " holds no policy");
  trained.parameters.values = *parameters;
  trained.parameters.layout_hash = layout.hash;
  trained.parameters.version =
      PolicyVersion{static_cast<std::uint64_t>(checkpoint.counters["updates"])};
  if (trained.parameters.version == PolicyVersion{0}) {
    trained.warning += trained.file.string() +
                       " is of a run that has not been updated once: what its policy does was not "
                       "learned there\n";
  }
  trained.heads = heads_of(trained.config);
  trained.has_moments = learner::has_moments(checkpoint.algorithm);
  trained.discount = discount_of(trained.config);
  const double scale = reward_scale_of(trained.config);
  // What nobody has trained says nothing.
  const bool has_value = learns_values(trained.config);
  if (auto weights = learner::folded_weights(checkpoint.algorithm, layout, trained.heads)) {
    learner::scale_values(has_value ? 1 / scale : 0, layout, trained.heads, *weights);
    trained.valued = {trained.parameters.version, layout.hash, *std::move(weights)};
  }
  const auto rate = learner::RewardRate::saved_in(checkpoint.algorithm);
  // Transitions bring rewards that are scaled already.
  trained.reward_rate =
      trained.config.algorithm == AlgorithmKind::kApex ? rate.value() / scale : rate.value();
  return trained;
}

}  // namespace pacml::apps
