#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/process/supervisor.h"
#include "common/clock.h"
#include "common/signals.h"

namespace pacml::apps {

// What a process is to a run.
enum class MemberKind {
  kLearner,   // the run ends with it
  kFollower,  // one of several learners, which the run can do without
  kShard,     // what it holds is part of the run
  kActor,     // any will do
};

struct Member {
  MemberKind kind = MemberKind::kActor;
  ChildSpec spec;  // of its first life
  // Changes what is started in a later life; may throw. See SupervisedChild.
  std::function<void(ChildSpec&, bool has_lived)> before_restart = {};
  std::optional<int> out_of_reach = {};  // see SupervisedChild
};

// How a run is looked after.
struct RunSupervision {
  std::chrono::milliseconds patience{};  // for all to stop in order, together
  std::chrono::milliseconds silence{};   // without a sign of life, before one is killed; 0: never
  std::chrono::milliseconds first_restart{50};       // after a death that everybody waits for
  std::chrono::milliseconds first_try_again{1'000};  // see Backoff
  // Within which two SIGTERM may be one request, told twice.
  std::chrono::milliseconds one_request{2'000};
  bool others_may_join = false;               // actors that are not ours
  std::function<bool()> has_checkpoint = {};  // the next learner goes on from one; may throw
  std::function<void()> learner_hears = {};   // called when one listens to signals; may throw
  // Asked when the learner has ended: whether it is known that it had no experience at all.
  std::function<bool()> learned_nothing = {};
};

// The processes of one run, wherever they are: starts again what dies or falls silent, gives up
// what dies too often, stops all in order (actors, the learner that leads, the others, shards, so
// that a shard's last snapshot has all that was inserted) and kills what does not. SIGINT, SIGTERM
// and SIGHUP stop the run in order; a second SIGINT kills, as does a SIGTERM that comes more than
// two seconds after the first request: before, it may be the same one, told twice. SIGUSR1 asks the
// learner for a checkpoint, as soon as it can hear. Thread-confined as Supervisor is.
//
// The exit code is the learner's, unless something else has ended the run, or a shard could not
// leave its last snapshot: then that one's; what was killed has 128 + SIGKILL. A run that comes to
// its end, having learned nothing because its actors kept dying, has that of the last of them.
class RunSupervisor {
 public:
  // A sentence for whoever looks on, without an end of line.
  using Tell = std::function<void(const std::string& sentence)>;

  // `done`: called once, from `io`, when all have ended.
  RunSupervisor(boost::asio::io_context& io, RunSupervision settings, Tell tell,
                std::function<void()> done);

  // One learner, with that name; pre and errors as Supervisor::start.
  void start(Member member);
  // In order; called again, kills at once.
  void stop();
  // As Supervisor::send, to all that run.
  void send_to_all(int signal);

  [[nodiscard]] int exit_code() const { return exit_code_; }
  // The same, but where the run was stopped by a signal, all ended well, and what is then asked
  // says that nothing is known to be saved: kExitStoppedBeforeTraining, which it tells.
  [[nodiscard]] int exit_code(const std::function<bool()>& is_saved) const;
  // Whether the learner that leads listens to signals, or did so when it ended for good: one that
  // does saves what it has when it is stopped.
  [[nodiscard]] bool learner_hears() const { return learner_hears_; }
  // What has ended without leaving all that it had, a sentence each: for whoever resumes the run.
  [[nodiscard]] const std::vector<std::string>& losses() const { return losses_; }

 private:
  void observe(const ChildReport& report);
  void restarting(const ChildReport& report);
  [[nodiscard]] bool goes_on_from_checkpoint() const;
  void ended(const ChildReport& report);
  void learner_ended(const ChildReport& report);
  void shard_ended(const ChildReport& report);
  void actor_ended(const ChildReport& report);
  // A learner sends those home that serve it when it stops. One that comes again wants them back.
  void went_home(const std::string& name);
  // Whether the learner's end is that of a run that learned nothing since its actors died; says so.
  [[nodiscard]] bool was_in_vain(const ChildReport& learner);
  // "; see LOG", of members that have one.
  [[nodiscard]] std::string see_log(const std::string& name) const;
  // ": it cannot be read", the error that its log ends with, if it could still say one.
  [[nodiscard]] std::string own_words(const ChildReport& report) const;
  // "NAME ended with code 3: it cannot be read; see LOG".
  void complain(const ChildReport& report) const;
  void end_run(const ChildReport& report, const std::string& why);
  void asked_to_stop(int signal);
  void ask_for_checkpoint();
  void tell_of_learner() const;

  const RunSupervision settings_;
  const Tell tell_;
  std::function<void()> done_;
  Signals signals_;
  std::map<std::string, MemberKind> kinds_;
  std::map<std::string, std::string> logs_;  // of members that have one
  std::set<std::string> out_of_reach_;       // of which that has been told
  std::string learner_;                      // its name
  bool learner_hears_ = false;
  bool learner_was_heard_ = false;   // in any life
  bool learner_is_away_ = false;     // between a life of it that ended and one that hears
  std::set<std::string> went_home_;  // of those that served the learner that runs
  bool checkpoint_wanted_ = false;
  std::int64_t actors_ = 0;
  std::int64_t actors_left_ = 0;
  std::int64_t actor_deaths_ = 0;
  ChildReport last_actor_death_;
  std::optional<TimePoint> asked_;  // to stop, by a signal, for the first time
  bool stopping_ = false;
  bool failed_ = false;  // exit_code_ is that of who ended the run
  int exit_code_ = 0;
  std::vector<std::string> losses_;
  Supervisor supervisor_;
};

}  // namespace pacml::apps
