#include "apps/dashboard/episode_desk.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "apps/evaluation/episode_recording.h"
#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/watched_policy.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/config/reader.h"
#include "common/json_text.h"
#include "common/result.h"
#include "learner/checkpoint.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

// Of the thread alone, as Linux has it: whoever trains comes first.
void yield_to_others() {
  constexpr int kLeast = 19;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLeast));
}

// Of the best policy; where none was evaluated, of the newest checkpoint, which then decides.
fs::file_time_type policy_time(const fs::path& run) {
  const learner::CheckpointFolder folder(RunDirectory::open(run).checkpoints(), 1);
  std::error_code absent;
  const auto best = fs::last_write_time(folder.best_file(), absent);
  if (!absent) return best;
  const auto checkpoints = folder.list();
  if (checkpoints.empty()) return {};
  const auto newest = fs::last_write_time(checkpoints.front(), absent);
  return absent ? fs::file_time_type{} : newest;
}

}  // namespace

std::shared_ptr<const std::string> play(const EpisodeRequest& request,
                                        const std::stop_token& stop) {
  const auto run = RunDirectory::open(request.run);
  const auto config = read_config<TrainConfig>(ConfigSource::from_file(run.config_file()));
  const env::TaskPtr task = config.env.make();
  WatchedPolicy policy = request.baseline.empty()
                             ? WatchedPolicy::of_run(task, request.decides())
                             : WatchedPolicy::of_baseline(task, request.baseline);
  if (!policy.warning().empty()) spdlog::warn("{}", policy.warning());
  const Seed seed =
      evaluation_seeds(Seed{static_cast<std::uint64_t>(config.seed)}, 1, request.episode).front();
  auto recording = record_episode(*task, policy, seed, stop);
  if (!recording) return nullptr;
  return std::make_shared<const std::string>(*std::move(recording));
}

EpisodeDesk::EpisodeDesk(Player player) : player_(std::move(player)) {}

EpisodeDesk::~EpisodeDesk() {
  threads_.request_stop();
  queue_.close();
}

EpisodeDesk::Answer EpisodeDesk::ask(const EpisodeRequest& request) {
  fs::file_time_type policy_of;
  try {
    if (request.baseline.empty()) policy_of = policy_time(request.decides());
  } catch (const UserError& error) {
    return {Answer::State::kFailed, std::make_shared<const std::string>(error.what())};
  }
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(entries_, request, &Entry::request);
  if (found != entries_.end()) {
    const bool playing = found->answer.state == Answer::State::kPlaying;
    // Checkpoints may come faster than episodes are played: whoever waited for this one gets it.
    const bool waited_for = !playing && !std::exchange(found->told, true);
    if (playing || waited_for || found->policy_of == policy_of) {
      entries_.splice(entries_.begin(), entries_, found);
      Answer answer = found->answer;
      if (answer.state == Answer::State::kFailed) entries_.erase(found);
      return answer;
    }
    entries_.erase(found);
  }
  if (!std::exchange(started_, true)) {
    threads_.spawn("episodes", [this](const std::stop_token& stop) { work(stop); });
  }
  auto wanted = request;
  if (!queue_.try_push(std::move(wanted))) return {Answer::State::kBusy, nullptr};
  entries_.push_front({request, policy_of, {}});
  // What is being played stays: it is about to be asked for.
  while (entries_.size() > kKept && entries_.back().answer.state != Answer::State::kPlaying) {
    entries_.pop_back();
  }
  return entries_.front().answer;
}

void EpisodeDesk::work(const std::stop_token& stop) {
  yield_to_others();
  while (auto request = queue_.pop(stop)) {
    Answer answer;
    try {
      answer = {Answer::State::kReady, player_(*request, stop)};
      if (answer.text == nullptr) return;
    } catch (const std::exception& error) {
      answer = {Answer::State::kFailed, std::make_shared<const std::string>(error.what())};
    }
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(entries_, *request, &Entry::request);
    if (found != entries_.end()) found->answer = std::move(answer);
  }
}

}  // namespace pacml::apps
