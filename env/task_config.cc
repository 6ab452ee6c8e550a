#include "env/task_config.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/result.h"
#include "common/text.h"
#include "env/spec_check.h"

namespace pacml::env {
namespace {

constexpr std::string_view kTaskKey = "task";

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const TaskKind& kind : task_kinds()) names.push_back(kind.name);
  return names;
}

const TaskKind* find_kind(std::string_view name) {
  const auto found = std::ranges::find(task_kinds(), name, &TaskKind::name);
  return found != task_kinds().end() ? &*found : nullptr;
}

}  // namespace

TaskConfig::TaskConfig() : TaskConfig(task_kinds().front().name) {}

TaskConfig::TaskConfig(std::string_view task) : task_(task) {
  const TaskKind* kind = find_kind(task);
  if (kind == nullptr) {
    throw UserError("there is no task \"" + task_ + "\"" + did_you_mean(task, names_of_kinds()));
  }
  settings_ = kind->defaults->clone();
}

TaskConfig::TaskConfig(const TaskConfig& other)
    : task_(other.task_), settings_(other.settings_->clone()) {}

TaskConfig& TaskConfig::operator=(const TaskConfig& other) {
  if (this != &other) *this = TaskConfig(other);
  return *this;
}

std::string TaskConfig::profiles() const {
  const std::string* folder = settings_->profiles();
  return folder != nullptr ? *folder : std::string{};
}

void TaskConfig::set_profiles(std::string folder) {
  std::string* setting = settings_->profiles();
  if (setting == nullptr) throw UserError("--profiles: the task " + task_ + " reads none");
  *setting = std::move(folder);
}

std::vector<std::string> TaskConfig::files() const {
  std::vector<std::string> all;
  if (const std::string* folder = settings_->profiles()) all.push_back(*folder);
  for (const std::string* path : settings_->paths()) all.push_back(*path);
  std::erase(all, "");
  return all;
}

void TaskConfig::make_paths_absolute() {
  std::vector<std::string*> all = settings_->paths();
  if (std::string* folder = settings_->profiles()) all.push_back(folder);
  for (std::string* path : all) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
  }
}

void TaskConfig::forget_folders() {
  if (std::string* folder = settings_->profiles()) folder->clear();
  for (std::string* path : settings_->paths()) {
    *path = std::filesystem::path(*path).filename().string();
  }
}

TaskPtr TaskConfig::make() const {
  TaskPtr task = settings_->make();
  if (const auto problem = problem_of(task->spec())) {
    throw UserError("the task " + task_ + ": " + *problem);
  }
  return task;
}

bool TaskConfig::is_valid() const {
  config_detail::Problems problems;
  check({}, "", problems);
  return problems.empty();
}

void TaskConfig::read(const ConfigNode& node, const std::string& path,
                      config_detail::Problems& problems) {
  if (node.kind == ConfigNode::Kind::kNull) return;  // every key commented out: the defaults
  if (!config_detail::expect_map(node, path, problems)) return;
  const ConfigNode* const named = node.find(kTaskKey);
  if (named != nullptr) {
    const TaskKind* kind =
        named->kind == ConfigNode::Kind::kScalar ? find_kind(named->text) : nullptr;
    if (kind == nullptr) {
      config_detail::report_unknown_name(*named, config_detail::child_path(path, kTaskKey),
                                         names_of_kinds(), problems);
      return;
    }
    if (kind->name != task_) *this = TaskConfig(kind->name);
  }
  ConfigNode rest = node;
  std::erase_if(rest.entries, [](const ConfigEntry& entry) { return entry.key == kTaskKey; });
  config_detail::Problems others;
  settings_->read(rest, path, others);
  if (named != nullptr && named->is_override() && others.concern_text()) {
    // One mistake, whatever number of settings the other task has.
    problems.add(*named, config_detail::child_path(path, kTaskKey),
                 "the settings beside it are not all of " + task_ +
                     "; begin with a configuration of that task");
    return;
  }
  problems.add(std::move(others));
}

void TaskConfig::check(const ConfigNode& node, const std::string& path,
                       config_detail::Problems& problems) const {
  settings_->check(node, path, problems);
}

ConfigNode TaskConfig::to_node() const {
  ConfigNode node = settings_->to_node();
  node.entries.insert(node.entries.begin(),
                      {std::string(kTaskKey), config_detail::scalar(task_, true)});
  return node;
}

}  // namespace pacml::env
