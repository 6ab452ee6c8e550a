#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/experience/observation_spec.h"
#include "env/task.h"

// Which task a run is about, and the settings of that task: one section of the configuration, whose
// key `task` says what the other keys mean.
//
//   env: {task: partitioning, ramp: {topology: [4, 4, 2]}, ...}
//
// A task's settings are a struct with visit_fields and validate, for which
//
//   ObservationSpec observation_spec(const Config&);     // pre: validate() finds no problem
//
// is found by argument-dependent lookup, too. Where it has a member `profiles`, that is the folder
// of job graphs, which `--profiles` sets. Other files that it reads are listed by
//
//   void visit_paths(Config&, Visitor&& v);              // v(std::string&) for each
//
// Its task is made as Task(config).

namespace pacml::env {

// The settings of a task whose type those do not know that pass them on.
class TaskSettings {
 public:
  virtual ~TaskSettings() = default;
  [[nodiscard]] virtual std::unique_ptr<TaskSettings> clone() const = 0;
  [[nodiscard]] virtual bool equals(const TaskSettings& other) const = 0;
  virtual void read(const ConfigNode& node, const std::string& path,
                    config_detail::Problems& problems) = 0;
  virtual void check(const ConfigNode& node, const std::string& path,
                     config_detail::Problems& problems) const = 0;
  [[nodiscard]] virtual ConfigNode to_node() const = 0;
  [[nodiscard]] virtual ObservationSpec observation() const = 0;
  [[nodiscard]] virtual std::string* profiles() = 0;            // null: it reads none
  [[nodiscard]] virtual std::vector<std::string*> paths() = 0;  // of all else that it reads
  [[nodiscard]] virtual TaskPtr make() const = 0;
};

// ... which these are.
template <class Config>
class SettingsHolding : public TaskSettings {
 public:
  [[nodiscard]] Config& config() { return config_; }

 protected:
  Config config_;
};

template <class Config, class TaskOfConfig>
class SettingsOf final : public SettingsHolding<Config> {
 public:
  [[nodiscard]] std::unique_ptr<TaskSettings> clone() const override {
    return std::make_unique<SettingsOf>(*this);
  }
  [[nodiscard]] bool equals(const TaskSettings& other) const override {
    const auto* same = dynamic_cast<const SettingsOf*>(&other);
    return same != nullptr && same->config_ == config_;
  }
  void read(const ConfigNode& node, const std::string& path,
            config_detail::Problems& problems) override {
    config_detail::read_value(config_, node, path, problems);
  }
  void check(const ConfigNode& node, const std::string& path,
             config_detail::Problems& problems) const override {
    config_detail::validate_all(config_, node, path, problems);
  }
  [[nodiscard]] ConfigNode to_node() const override { return config_detail::to_node(config_); }
  [[nodiscard]] ObservationSpec observation() const override { return observation_spec(config_); }
  [[nodiscard]] std::string* profiles() override {
    if constexpr (requires { config_.profiles; }) {
      return &config_.profiles;
    } else {
      return nullptr;
    }
  }
  [[nodiscard]] std::vector<std::string*> paths() override {
    std::vector<std::string*> all;
    if constexpr (requires { visit_paths(config_, [](std::string&) {}); }) {
      visit_paths(config_, [&all](std::string& path) { all.push_back(&path); });
    }
    return all;
  }
  [[nodiscard]] TaskPtr make() const override {
    return std::make_shared<const TaskOfConfig>(config_);
  }

 private:
  using SettingsHolding<Config>::config_;
};

// A kind of task: a line of the list of them (make_task.cc).
struct TaskKind {
  std::string name;         // env.task
  std::string description;  // one line
  std::shared_ptr<const TaskSettings> defaults;
};

template <class Config, class TaskOfConfig>
[[nodiscard]] TaskKind task_kind(std::string name, std::string description) {
  return {std::move(name), std::move(description),
          std::make_shared<const SettingsOf<Config, TaskOfConfig>>()};
}

// Every kind that there is; the first is what a configuration is about that names none.
[[nodiscard]] const std::vector<TaskKind>& task_kinds();
// For programs with a task of their own: adds it to the list, before main() begins: as the value of
// a constant at namespace scope. True. Pre: there is no task of that name (PACML_CHECK).
bool add_task_kind(TaskKind kind);

// Section `env` of a configuration. Value type.
class TaskConfig {
 public:
  TaskConfig();  // the first kind's defaults
  // That kind's defaults. UserError: there is no such kind.
  explicit TaskConfig(std::string_view task);
  TaskConfig(const TaskConfig& other);
  TaskConfig(TaskConfig&&) noexcept = default;
  TaskConfig& operator=(const TaskConfig& other);
  TaskConfig& operator=(TaskConfig&&) noexcept = default;
  ~TaskConfig() = default;

  [[nodiscard]] const std::string& task() const { return task_; }
  template <class Config>
  [[nodiscard]] bool is_of() const {
    return dynamic_cast<const SettingsHolding<Config>*>(settings_.get()) != nullptr;
  }
  // The settings of a task whose type is known. Pre: is_of() (PACML_CHECK).
  template <class Config>
  [[nodiscard]] Config& as() {
    auto* settings = dynamic_cast<SettingsHolding<Config>*>(settings_.get());
    PACML_CHECK(settings != nullptr, "the configuration is about another task");
    return settings->config();
  }
  template <class Config>
  [[nodiscard]] const Config& as() const {
    return const_cast<TaskConfig*>(this)->as<Config>();
  }

  // The folder of job graphs; empty: those that are built in, or it reads none.
  [[nodiscard]] std::string profiles() const;
  // UserError: the task reads none.
  void set_profiles(std::string folder);
  // What it reads: profiles, and the paths of visit_paths, as far as they are set.
  [[nodiscard]] std::vector<std::string> files() const;
  // Paths that hold from every folder.
  void make_paths_absolute();
  // Where files lie may differ from host to host: profiles as if they had never been set, and of
  // other paths the last part alone.
  void forget_folders();
  // Whether check() finds nothing.
  [[nodiscard]] bool is_valid() const;
  // What decisions show. Pre: is_valid().
  [[nodiscard]] ObservationSpec observation() const { return settings_->observation(); }
  // UserError: profiles that are missing or broken, settings that do not go with them.
  // UserError: also where what the task says of itself cannot be (env/spec_check.h).
  [[nodiscard]] TaskPtr make() const;

  // For the reader and the writer of configurations (common/config).
  void read(const ConfigNode& node, const std::string& path, config_detail::Problems& problems);
  void check(const ConfigNode& node, const std::string& path,
             config_detail::Problems& problems) const;
  [[nodiscard]] ConfigNode to_node() const;

  bool operator==(const TaskConfig& other) const {
    return task_ == other.task_ && settings_->equals(*other.settings_);
  }

 private:
  std::string task_;
  std::unique_ptr<TaskSettings> settings_;
};

}  // namespace pacml::env
