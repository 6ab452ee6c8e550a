#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "common/bounded_queue.h"
#include "common/thread_group.h"

namespace pacml::apps {

// Which episode: of a run's best policy, of a baseline or of another run's, on the run's held-out
// episodes.
struct EpisodeRequest {
  std::filesystem::path run;
  std::int64_t episode = 0;          // as `pacml eval --first-seed`
  std::string baseline = {};         // empty: a run's policy,
  std::filesystem::path other = {};  // that of this one; empty: the run's own
  [[nodiscard]] const std::filesystem::path& decides() const { return other.empty() ? run : other; }
  bool operator==(const EpisodeRequest&) const = default;
};

// The recording as JSON. UserError: what is wrong with a run, or with the baseline's name, or that
// the other run's policy is of another task. Null when `stop` was requested meanwhile.
[[nodiscard]] std::shared_ptr<const std::string> play(const EpisodeRequest& request,
                                                      const std::stop_token& stop);

// Plays episodes for a page whose server must not wait: one at a time, on a thread of its own that
// yields to everything else, and keeps the last few. Thread-safe.
class EpisodeDesk {
 public:
  struct Answer {
    enum class State { kPlaying, kReady, kFailed, kBusy } state = State::kPlaying;
    std::shared_ptr<const std::string> text;  // kReady: the recording; kFailed: why, a sentence
  };
  using Player = std::function<std::shared_ptr<const std::string>(const EpisodeRequest&,
                                                                  const std::stop_token&)>;
  explicit EpisodeDesk(Player player = play);
  EpisodeDesk(const EpisodeDesk&) = delete;
  EpisodeDesk& operator=(const EpisodeDesk&) = delete;
  ~EpisodeDesk();

  // What is there of it. Where it is neither there nor being played, it is from now on, unless
  // others wait already (kBusy): ask again. What failed is forgotten once it was told, and what was
  // told is played anew when the run's policy has changed: its best one, or its newest where none
  // was evaluated.
  [[nodiscard]] Answer ask(const EpisodeRequest& request);

 private:
  struct Entry {
    EpisodeRequest request;
    std::filesystem::file_time_type policy_of;  // when the policy that decides was written
    Answer answer;
    bool told = false;  // what came of it
  };
  void work(const std::stop_token& stop);

  static constexpr std::size_t kKept = 6;     // up to 17 MiB each
  static constexpr std::size_t kWaiting = 4;  // to be played

  const Player player_;
  BoundedQueue<EpisodeRequest> queue_{kWaiting};
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last asked for first; under mutex_
  bool started_ = false;      // under mutex_
  ThreadGroup threads_;
};

}  // namespace pacml::apps
