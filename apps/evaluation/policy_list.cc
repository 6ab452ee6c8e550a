#include "apps/evaluation/policy_list.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "apps/evaluation/model_file.h"
#include "apps/evaluation/searched_policy.h"
#include "apps/evaluation/trained_agent.h"
#include "apps/run/run_directory.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/text.h"
#include "env/refinable_task.h"
#include "planning/search_agent.h"
#include "planning/search_config.h"

namespace pacml::apps {
namespace {

// "best_constant" of "constant:8" is shown as "best_constant:8"; what was no choice, as it is.
std::string shown_as(const std::string& name, const std::string& chosen) {
  if (chosen == name) return name;
  const auto colon = chosen.find(':');
  return colon == std::string::npos ? name + ":" + chosen : name + chosen.substr(colon);
}

NamedPolicy trained(const std::string& name, const std::string& path, Choice choice,
                    const env::TaskPtr& task) {
  auto run = std::make_shared<const TrainedRun>(load_trained_policy(path, task->spec()));
  if (choice == Choice::kDrawn && run->heads != model::ValueHeads::kValue) {
    throw UserError(name + ": its network says what actions are worth, not how probable they are");
  }
  std::cerr << run->warning;
  return {name,
          [run, task, choice] {
            return std::make_unique<TrainedAgent>(run->shape, run->parameters, task->spec().graphs,
                                                  choice);
          },
          true};
}

constexpr std::string_view kSample = "+sample";
constexpr std::string_view kSearch = "+search";
constexpr std::string_view kRefine = "+refine";
constexpr std::string_view kRollout = "rollout:";

// "runs/a" and "K=64,H=12" of "runs/a+search:K=64,H=12"; without such a suffix nullopt.
struct Suffixed {
  std::string policy;
  std::string settings;
};
std::optional<Suffixed> with_suffix(const std::string& name, std::string_view suffix) {
  const auto at = name.rfind(suffix);
  if (at == std::string::npos) return std::nullopt;
  std::string settings = name.substr(at + suffix.size());
  if (!settings.empty() && settings.front() != ':') return std::nullopt;
  if (!settings.empty()) settings.erase(0, 1);
  return Suffixed{name.substr(0, at), std::move(settings)};
}

// A search over what a rule, or a trained network, would do.
NamedPolicy search(const std::string& name, const Suffixed& parts, const env::TaskPtr& task) {
  if (env::is_baseline(*task, parts.policy)) {
    static_cast<void>(task->make_agent(parts.policy));  // complains now, not in a thread
    const auto config = planning::parse_search(parts.settings);
    return {name, [task, config, rule = parts.policy] {
              return std::make_unique<planning::SearchAgent>(
                  config, planning::make_rule_policy(task->make_agent(rule)));
            }};
  }
  auto run = std::make_shared<const TrainedRun>(load_trained_policy(parts.policy, task->spec()));
  std::cerr << run->warning;
  static_cast<void>(search_agent(*run, *task, parts.settings));  // complains now, not in a thread
  return {name,
          [run, task, settings = parts.settings] { return search_agent(*run, *task, settings); },
          true};
}

// With as many simulations as `parts` says.
NamedPolicy refined(const NamedPolicy& policy, const Suffixed& parts, const env::TaskPtr& task) {
  const auto* refinable = dynamic_cast<const env::RefinableTask*>(task.get());
  if (refinable == nullptr) {
    throw UserError(std::string(kRefine) + ": the task " + task->spec().task +
                    " has nothing to search on from when an episode is over");
  }
  constexpr std::int64_t kMost = 10'000'000;
  std::optional<std::int64_t> simulations;
  if (!parts.settings.empty()) {
    simulations = read_number<std::int64_t>(parts.settings);
    if (!simulations || *simulations < 1 || *simulations > kMost) {
      throw UserError(parts.policy + std::string(kRefine) + ":" + parts.settings +
                      ": needs a number of simulations in 1.." + std::to_string(kMost));
    }
  }
  const std::string behind = parts.settings.empty() ? "" : ":" + parts.settings;
  return {policy.name + std::string(kRefine) + behind,
          [make = policy.make, task, refinable, simulations] {
            return refinable->refined(make(), simulations);
          },
          policy.learned};
}

// A run folder, or an exported policy.
bool is_trained(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none) ||
         (path.extension() == ".safetensors" && std::filesystem::exists(path, none));
}

// Where the name ends that begins at `begin`: at a comma, unless it belongs to a folder's name. The
// longest folder that is there counts.
std::size_t end_of_name(const std::string& list, std::size_t begin) {
  const std::size_t first = std::min(list.find(',', begin), list.size());
  for (std::size_t end = list.size(); end > first; end = list.rfind(',', end - 1)) {
    std::error_code none;
    if (std::filesystem::is_directory(list.substr(begin, end - begin), none)) return end;
  }
  return first;
}

// What a name stands for, as baseline_meant() says it of one task and seed.
using Meaning = std::function<std::string(const std::string& name)>;

// "constant:4" of "rollout:constant:4". nullopt: the name is a task's own, or a folder's, or begins
// otherwise.
std::optional<std::string> rolled_out(const std::string& name, const env::Task& task) {
  if (env::is_baseline(task, name) || is_trained(without_suffixes(name))) return std::nullopt;
  if (name.starts_with(kRollout)) return name.substr(kRollout.size());
  return name + ":" == kRollout ? std::optional<std::string>("") : std::nullopt;
}

constexpr const char* kTellsTheOwn = "; pacml eval CONFIG --list tells the task's own";

std::vector<std::string> names_of_baselines(const env::Task& task) {
  std::vector<std::string> names;
  for (const env::Baseline& baseline : task.baselines()) names.push_back(baseline.name);
  return names;
}

// Rollouts over a rule: a search of which nothing is set.
NamedPolicy rollout(const std::string& name, const std::string& rule, const env::TaskPtr& task,
                    const Meaning& chosen) {
  const std::string run = without_suffixes(rule);
  if (rule.empty()) throw UserError(std::string("rollout:RULE needs a rule") + kTellsTheOwn);
  if (with_suffix(rule, kSearch)) {
    throw UserError(name + ": rollout:RULE takes no settings; write " + rule);
  }
  if (rule.ends_with(kSample) && !is_trained(run)) {
    throw UserError(name + ": only the policy of a run can be sampled");
  }
  if (env::is_baseline(*task, rule)) {
    const std::string best = chosen(rule);
    return search(std::string(kRollout) + shown_as(rule, best), {best, ""}, task);
  }
  if (is_trained(run)) {
    throw UserError(name + ": rollout:RULE is over a rule; of a run write " + run +
                    std::string(kSearch));
  }
  const auto rules = names_of_baselines(*task);
  const bool is_near = !name_meant(rule, rules).empty();
  throw UserError(
      "there is no rule \"" + rule + "\" to roll out" +
      (is_near ? "; did you mean '" + std::string(kRollout) + nearest_name(rule, rules) + "'?"
               : kTellsTheOwn));
}

NamedPolicy name_policy(const std::string& name, const env::TaskPtr& task, const Meaning& chosen) {
  if (const auto best = chosen(name); best != name) {
    NamedPolicy policy = baseline(task, best);
    policy.name = shown_as(name, best);
    return policy;
  }
  if (const auto parts = with_suffix(name, kRefine); parts && !is_trained(name)) {
    return refined(name_policy(parts->policy, task, chosen), *parts, task);
  }
  if (const auto rule = rolled_out(name, *task)) return rollout(name, *rule, task, chosen);
  const auto is_policy = [&task](const std::string& known) {
    return env::is_baseline(*task, known) || is_trained(known);
  };
  if (const auto parts = with_suffix(name, kSearch); parts && is_policy(parts->policy)) {
    const std::string& rule = parts->policy;
    const std::string best = chosen(rule);
    return search(shown_as(rule, best) + name.substr(rule.size()), {best, parts->settings}, task);
  }
  if (env::is_baseline(*task, name)) return baseline(task, name);
  if (is_trained(name)) return trained(name, name, Choice::kBest, task);
  if (const auto parts = with_suffix(name, kSample);
      parts && parts->settings.empty() && is_trained(parts->policy)) {
    return trained(name, parts->policy, Choice::kDrawn, task);
  }
  // Of what stands behind a policy that is there.
  const std::size_t plus = name.rfind('+');
  if (plus != std::string::npos && is_policy(name.substr(0, plus))) {
    if (name.substr(plus) == kSample) {
      throw UserError(name + ": only the policy of a run can be sampled");
    }
    throw UserError(name + ": behind a policy may stand +sample, +search or +refine, not " +
                    name.substr(plus));
  }
  for (std::size_t at = name.find('+'); at != std::string::npos; at = name.find('+', at + 1)) {
    const std::string policy = name.substr(0, at);
    const std::string_view behind = std::string_view(name).substr(at);
    const bool is_suffix =
        behind.starts_with(kSample) || behind.starts_with(kSearch) || behind.starts_with(kRefine);
    if (!is_suffix || !is_policy(policy)) continue;
    throw UserError(name + ": behind " + policy +
                    " may stand one of +sample and +search, and +refine behind that");
  }
  std::vector<std::string> known = names_of_baselines(*task);
  known.insert(known.begin(), "baselines");
  if (name == known.front()) {
    throw UserError("\"baselines\" are several policies, where one is asked for; they are " +
                    join(names_of_baselines(*task)));
  }
  const std::string meant = did_you_mean(name, known);
  throw UserError("there is no policy and no run folder \"" + name + "\"" +
                  (meant.empty() ? kTellsTheOwn : meant));
}

// Whether what follows a name, behind a comma, is another setting of its search.
bool continues_search(const std::string& before, const std::string& next, const env::Task& task) {
  if (before.find(kSearch) == std::string::npos || next.find(kSearch) != std::string::npos) {
    return false;
  }
  const bool looks_like_one = next.find('=') != std::string::npos || planning::is_search_key(next);
  return looks_like_one && !is_trained(next) && !env::is_baseline(task, next);
}

// The runs in a folder that is none itself, in the order of their names; what cannot be looked into
// is none.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> runs;
  std::error_code none;
  const auto is_run = [&none](const fs::path& path) {
    return fs::exists(path / "config.yaml", none);
  };
  if (!fs::is_directory(folder, none) || is_run(folder)) return runs;
  for (fs::directory_iterator at(folder, none); at != fs::directory_iterator();
       at.increment(none)) {
    if (is_run(at->path())) runs.push_back(at->path());
  }
  std::ranges::sort(runs);
  return runs;
}

}  // namespace

std::vector<std::string> split_names(const std::vector<std::string>& lists, const env::Task& task) {
  std::vector<std::string> compared;
  for (const env::Baseline& baseline : task.baselines()) {
    if (baseline.compared) compared.push_back(baseline.name);
  }
  std::vector<std::string> names;
  for (const auto& list : lists) {
    const std::size_t of_former = names.size();
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = end_of_name(list, begin);
      const std::string name = list.substr(begin, end - begin);
      begin = end + 1;
      if (name.empty()) throw UserError("--policy " + list + ": a name is empty");
      if (names.size() > of_former && continues_search(names.back(), name, task)) {
        names.back() += "," + name;
        continue;
      }
      if (name == "baselines") {
        names.insert(names.end(), compared.begin(), compared.end());
      } else {
        names.push_back(name);
      }
    }
  }
  return names.empty() ? compared : names;
}

std::string baseline_meant(const std::string& name, const env::TaskPtr& task, Seed run, int threads,
                           const EvaluationWatch& watch) {
  const auto baselines = task->baselines();
  const auto found = std::ranges::find(baselines, name, &env::Baseline::name);
  if (found == baselines.end() || found->best_of.empty()) return name;
  return tuned_baseline(task, found->best_of, run, kTuningEpisodes, threads, watch);
}

std::string without_suffixes(const std::string& policy) {
  std::string bare = policy;
  for (const std::string_view suffix : {kRefine, kSearch, kSample}) {
    if (is_trained(bare)) break;
    if (auto parts = with_suffix(bare, suffix)) bare = std::move(parts->policy);
  }
  return bare;
}

std::vector<NamedPolicy> name_policies(const std::vector<std::string>& names,
                                       const env::TaskPtr& task, Seed run, int threads,
                                       const EvaluationWatch& watch) {
  // What is chosen on tuning episodes is chosen once, however many policies begin with it.
  std::map<std::string, std::string> settled;
  const Meaning chosen = [&](const std::string& name) {
    const auto found = settled.find(name);
    if (found != settled.end()) return found->second;
    return settled.emplace(name, baseline_meant(name, task, run, threads, watch)).first->second;
  };
  std::vector<NamedPolicy> policies;
  for (const auto& name : names) policies.push_back(name_policy(name, task, chosen));
  return policies;
}

std::vector<NamedPolicy> list_policies(const std::vector<std::string>& lists,
                                       const env::TaskPtr& task, Seed run, int threads,
                                       const EvaluationWatch& watch) {
  std::vector<std::string> names;
  std::vector<std::string> methods;
  for (const std::string& name : split_names(lists, *task)) {
    const std::string folder = without_suffixes(name);
    std::vector<std::filesystem::path> trainings;
    if (!env::is_baseline(*task, folder)) trainings = runs_in(folder);
    if (trainings.empty()) {
      names.push_back(name);
      methods.emplace_back();
      continue;
    }
    if (std::ranges::find(methods, name) != methods.end()) {
      throw UserError(name + ": the trainings in this folder are named twice");
    }
    for (const auto& training : trainings) {
      names.push_back(training.string() + name.substr(folder.size()));
      methods.push_back(trainings.size() > 1 ? name : std::string());
    }
  }
  auto policies = name_policies(names, task, run, threads, watch);
  for (std::size_t i = 0; i < policies.size(); ++i) policies[i].method = methods[i];
  return policies;
}

}  // namespace pacml::apps
