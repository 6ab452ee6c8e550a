#pragma once

#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/run/resume.h"
#include "apps/run/train_config.h"
#include "common/result.h"

namespace pacml::apps {

// The options of every command that reads a configuration file.
struct ConfigOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string profiles;
  std::string keys;

  void declare(Options& options) {
    options.argument("CONFIG", &config, "configuration file (YAML), e.g. configs/quickstart.yaml");
    declare_changes(options);
  }
  // Of commands that may resume a run, which has a configuration; they call settle().
  void declare_or_resume(Options& options) {
    options.optional_argument("CONFIG", &config,
                              "configuration file (YAML), e.g. configs/quickstart.yaml; with "
                              "--resume it may be left out, the run has one");
    declare_changes(options);
  }
  void declare_changes(Options& options) {
    options.option("--set KEY=VALUE", &overrides,
                   "replaces one key, e.g. impala.discount=0.99 (docs/configuration.md has "
                   "all); may be repeated");
    options.option(
        "--profiles DIR", &profiles,
        "folder of <model>/graph.txt; without it those of the configuration, or else the "
        "built-in models where the task has any");
  }
  // Of commands whose processes talk to others.
  void declare_keys(Options& options) {
    options.option("--keys DIR", &keys,
                   "encrypt, and let in nobody else: folder that `pacml keygen` made "
                   "(security.keys)");
  }
  // Takes the run's own configuration where none is named. UserError: there is no such run, or none
  // is resumed.
  void settle(bool resume, const std::string& run) {
    if (!config.empty()) return;
    if (!resume) throw UserError("CONFIG is required; see --help");
    config = RunDirectory::open(run).config_file().string();
  }
  // The same options as words, to hand on to another program.
  [[nodiscard]] std::vector<std::string> arguments() const {
    std::vector<std::string> words = {config};
    for (const auto& change : overrides) words.insert(words.end(), {"--set", change});
    if (!profiles.empty()) words.insert(words.end(), {"--profiles", profiles});
    if (!keys.empty()) words.insert(words.end(), {"--keys", keys});
    return words;
  }
  // For a run that goes on; UserError as resume_config.
  [[nodiscard]] Resumption resume(const RunDirectory& run) const {
    return resume_config(run, ConfigSource::from_file(config, overrides), profiles, keys);
  }
  [[nodiscard]] TrainConfig load() const {
    auto loaded = load_train_config(config, overrides, profiles);
    if (!keys.empty()) loaded.security.keys = keys;
    return loaded;
  }
};

}  // namespace pacml::apps
