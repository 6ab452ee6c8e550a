#include "apps/run/run_directory.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/cli/files.h"
#include "apps/cli/version.h"
#include "common/atomic_file.h"
#include "common/base_name.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/try_again.h"
#include "learner/checkpoint.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLosses = "losses";
constexpr std::string_view kConfigHeader = "# Every setting of this run";

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw_system_error("cannot create the folder " + path.string(), error.value());
}

// A folder with the configuration of a run, not one that happens to hold a config.yaml.
bool is_run(const fs::path& folder) {
  const fs::path file = folder / "config.yaml";
  std::error_code absent;
  if (!fs::is_regular_file(file, absent)) return false;
  std::ifstream config(file);
  std::string line;
  return std::getline(config, line) && line.starts_with(kConfigHeader);
}

std::string recorded(std::string_view effective_config) {
  return std::string(kConfigHeader) + ", written by pacml " + version() + ".\n" +
         std::string(effective_config);
}

bool is_own_name(const std::string& file) {
  constexpr auto kOwn = std::to_array<std::string_view>(
      {".lock", "config.yaml", "graphs.json", "inputs.json", "losses", "tags"});
  return std::ranges::find(kOwn, file) != kOwn.end() ||
         (file.starts_with("metrics") && file.ends_with(".jsonl"));
}

bool is_own_folder(const std::string& name) {
  constexpr auto kOwn =
      std::to_array<std::string_view>({"checkpoints", "logs", "replay", "tensorboard"});
  return std::ranges::find(kOwn, name) != kOwn.end();
}

// Whether what lies there within a run's folder is one of the files that make the run up; but a log
// may be one of its logs.
bool is_own(const fs::path& within, Writes writes) {
  const std::string first = within.begin()->string();
  if (std::next(within.begin()) == within.end()) return is_own_name(first);
  return is_own_folder(first) && !(writes == Writes::kLog && first == "logs");
}

bool has_best_policy(const fs::path& run) {
  std::error_code absent;
  return fs::exists(learner::CheckpointFolder(run / "checkpoints", 1).best_file(), absent);
}

fs::path lock_file(const fs::path& run) { return run / ".lock"; }

// TryAgainError: another process has it, of which `has` ends the sentence "process 17 ...".
void take_lock(FileLock& lock, Duration patience, const fs::path& of, const std::string& has,
               const char* nobody_is_kept_from) {
  const auto outcome = lock.take(patience);
  if (outcome == FileLock::Outcome::kOthers) throw TryAgainError(lock.why() + " " + has);
  if (outcome == FileLock::Outcome::kNoLocks) {
    spdlog::warn("{} is on a file system without locks ({}): nothing keeps {}", of.string(),
                 lock.why(), nobody_is_kept_from);
  }
}

// Whether the process that a lock's file names may be looked for, and is one of ours, if it is on
// this machine. Its number may be another process's by now.
bool seems_to_live(const std::string& owner) {
  const auto pid = read_number<long>(owner);
  if (!pid || *pid < 1) return false;
  std::ifstream words("/proc/" + std::to_string(*pid) + "/cmdline");
  std::string program;
  return std::getline(words, program, '\0') && program.find("pacml") != std::string::npos;
}

}  // namespace

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {
  if (path_.empty()) throw UserError("the name of the run's folder is empty");
  const fs::path whole = fs::absolute(path_).lexically_normal();
  if (whole == whole.root_path()) {
    throw UserError("a run cannot be in " + whole.string() + " itself");
  }
}

bool RunDirectory::holds_run(const fs::path& path) {
  std::error_code error;
  const bool is_there = fs::exists(path / "config.yaml", error);
  // A run that cannot be looked at is not one that is not there.
  if (error) throw_system_error("cannot look into " + path.string(), error.value());
  return is_there;
}

void RunDirectory::refuse_own_file(const fs::path& file, Writes writes) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  if (error) return;  // it cannot be written either
  const fs::path folder = whole.parent_path();
  for (const fs::path& run : {folder, folder.parent_path()}) {
    if (is_run(run) && is_own(whole.lexically_relative(run), writes)) {
      throw UserError(file.string() + " is a run's own file; name another one");
    }
  }
}

void RunDirectory::refuse_file_in(const fs::path& run, const fs::path& file) {
  std::error_code error;
  const fs::path own = fs::weakly_canonical(run, error);
  const fs::path whole = fs::weakly_canonical(file, error);
  if (error) return;                                      // neither can be written
  const fs::path within = whole.lexically_relative(own);  // "../x" is no name of a run's own
  if (!within.empty() && is_own(within, Writes::kFile)) {
    throw UserError(file.string() + " would be a file of the run's own; name another one");
  }
}

void RunDirectory::refuse_existing(const fs::path& path) {
  static_cast<void>(RunDirectory(path));
  const bool is_run_there = holds_run(path);
  const bool can_go_on = has_checkpoint(path);
  const bool has_learned = can_go_on || has_best_policy(path);
  if (!is_run_there) {
    if (!has_learned) return;
    throw UserError(path.string() +
                    " has checkpoints of a run whose config.yaml is missing: name another folder");
  }
  if (has_learned && !can_go_on) {
    throw UserError(path.string() +
                    " holds a run that has lost its checkpoints, but not its best policy: name "
                    "another folder");
  }
  throw UserError(path.string() +
                  " already holds a run: continue it with --resume, or name another folder");
}

bool RunDirectory::has_checkpoint(const fs::path& path) {
  return !learner::CheckpointFolder(path / "checkpoints", 1).list().empty();
}

bool RunDirectory::resume_or_clear(const fs::path& path) {
  if (has_checkpoint(path)) return true;
  if (has_best_policy(path)) return false;  // it began: create() will say what it lacks
  const RunDirectory run(path);
  // Somebody's own file of that name stays: create() will say that a run is there.
  const auto text = read_file(run.config_file());
  if (!text || !text->starts_with(kConfigHeader)) return false;
  const RunLock lock(run);  // a former life that is about to write its first checkpoint has it
  if (has_checkpoint(path)) return true;
  std::error_code ignored;
  fs::remove(run.config_file(), ignored);
  return false;
}

void RunDirectory::clear_what_never_began(const fs::path& path) {
  if (resume_or_clear(path)) {
    throw TryAgainError(path.string() + " has a checkpoint by now, which another process has made");
  }
}

void RunDirectory::note_losses(const fs::path& path, const std::vector<std::string>& sentences) {
  std::string text;
  for (const auto& sentence : sentences) text += sentence + "\n";
  if (!text.empty()) static_cast<void>(write_file_atomically(path / kLosses, text));
}

std::vector<std::string> RunDirectory::take_losses(const fs::path& path) {
  const auto text = read_file(path / kLosses, 1 << 20);
  if (!text) return {};
  std::error_code ignored;
  fs::remove(path / kLosses, ignored);
  std::vector<std::string> sentences;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) sentences.push_back(line);
  return sentences;
}

RunDirectory RunDirectory::create(const fs::path& path, std::string_view effective_config) {
  refuse_existing(path);
  const RunDirectory run(path);
  // Whoever opens it refuses it as well, but when the folder is a run already.
  std::error_code absent;
  if (fs::is_fifo(run.metrics_file(), absent)) {
    throw UserError("cannot write " + run.metrics_file().string() + ": it is a pipe");
  }
  for (const char* folder : {"checkpoints", "logs"}) make_folder(path / folder);
  const auto is_ours = write_new_file(run.config_file(), recorded(effective_config));
  if (!is_ours) throw_error(is_ours.error());
  if (!*is_ours) refuse_existing(path);
  return run;
}

void RunDirectory::record(std::string_view effective_config) const {
  keep_user_file(config_file(), recorded(effective_config));
}

void RunDirectory::abandon() const {
  std::error_code ignored;
  fs::remove(config_file(), ignored);
}

RunDirectory RunDirectory::open(const fs::path& path) {
  RunDirectory run(path);
  if (!holds_run(path)) {
    throw UserError(path.string() + " holds no run: its config.yaml is missing");
  }
  return run;
}

RunDirectory RunDirectory::join(const fs::path& path) {
  RunDirectory run(path);
  make_folder(path / "logs");
  return run;
}

std::string RunDirectory::name() const { return base_name(path_); }

RunLock::RunLock(const RunDirectory& run, Duration patience) : lock_(lock_file(run.path())) {
  take_lock(lock_, patience, run.path(), "is training in " + run.path().string() + " already",
            "a second process from training in it");
  for (const fs::path& folder : {run.path(), run.checkpoints()}) remove_stale_temporaries(folder);
}

bool RunLock::is_held(const fs::path& run) {
  const fs::path file = lock_file(run);
  const auto state = FileLock::state(file);
  if (state == FileLock::State::kUnknown) return seems_to_live(FileLock::owner(file));
  return state == FileLock::State::kHeld;
}

SnapshotLock::SnapshotLock(const fs::path& snapshot, Duration patience) : lock_(lock_of(snapshot)) {
  take_lock(
      lock_, patience, snapshot,
      "has " + snapshot.string() + ": a former shard that still saves its table there, perhaps",
      "a second shard from saving its table there");
  remove_stale_temporaries(snapshot.parent_path());
}

bool SnapshotLock::is_held(const fs::path& snapshot) {
  return FileLock::state(lock_of(snapshot)) == FileLock::State::kHeld;
}

fs::path SnapshotLock::lock_of(const fs::path& snapshot) {
  return snapshot.parent_path() / ("." + snapshot.filename().string() + ".lock");
}

}  // namespace pacml::apps
