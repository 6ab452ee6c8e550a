#include "apps/process/run_supervisor.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "apps/process/last_error.h"
#include "apps/process/open_files.h"
#include "common/check.h"
#include "common/exit_codes.h"

namespace pacml::apps {
namespace {

using std::chrono::milliseconds;

constexpr int kMostDeaths = 8;               // of one member ...
constexpr std::chrono::minutes kWindow{10};  // ... within which it is no accident
constexpr milliseconds kFirstRestart{250};   // after a death that nobody waits for

int stage_of(MemberKind kind) {
  switch (kind) {
    case MemberKind::kShard:
      return 0;
    case MemberKind::kFollower:  // ends by the leader's word, and so sends its actors home
      return 1;
    case MemberKind::kLearner:
      return 2;
    case MemberKind::kActor:
      return 3;
  }
  return 0;
}

// By a signal here, or, as a shell tells it, on another host.
bool was_killed_by(const ChildExit& exit, int signal) {
  return exit.signal == signal || exit.code == 128 + signal;
}

}  // namespace

RunSupervisor::RunSupervisor(boost::asio::io_context& io, RunSupervision settings, Tell tell,
                             std::function<void()> done)
    : settings_(std::move(settings)),
      tell_(std::move(tell)),
      done_(std::move(done)),
      signals_(io, {.stop = [this](int signal) { asked_to_stop(signal); },
                    .checkpoint = [this] { ask_for_checkpoint(); }}),
      supervisor_(io, [this](const ChildReport& report) { observe(report); }) {
  raise_open_file_limit();  // each process has a life line
  // That nobody reads any more what we print is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
}

void RunSupervisor::start(Member member) {
  const std::string name = member.spec.name;
  const bool is_learner = member.kind == MemberKind::kLearner;
  PACML_CHECK(!is_learner || learner_.empty(), "a run has one learner that leads");
  const bool is_waited_for = is_learner || member.kind == MemberKind::kShard;
  SupervisedChild child;
  child.spec = std::move(member.spec);
  child.stage = stage_of(member.kind);
  child.restart = Backoff{.first = is_waited_for ? settings_.first_restart
                                                 : std::max(settings_.first_restart, kFirstRestart),
                          .first_try_again = settings_.first_try_again,
                          .most_deaths = kMostDeaths,
                          .window = kWindow};
  child.before_restart = std::move(member.before_restart);
  child.may_finish = member.kind != MemberKind::kShard;  // whoever ends it, its actors wait for it
  child.silence = settings_.silence;
  child.out_of_reach = member.out_of_reach;
  const std::string log = child.spec.log.string();
  supervisor_.start(std::move(child));
  kinds_[name] = member.kind;
  if (!log.empty()) logs_[name] = log;
  if (is_learner) learner_ = name;
  if (member.kind == MemberKind::kActor) ++actors_, ++actors_left_;
}

int RunSupervisor::exit_code(const std::function<bool()>& is_saved) const {
  if (!asked_ || exit_code_ != 0 || is_saved()) return exit_code_;
  tell_(learner_was_heard_ && !learner_hears_
            ? "stopped before the learner that died was replaced: no checkpoint of it is known"
            : "stopped before training began: nothing is saved");
  return kExitStoppedBeforeTraining;
}

void RunSupervisor::asked_to_stop(int signal) {
  const TimePoint now = steady().now();
  if (!asked_) {
    asked_ = now;
    if (!stopping_) stop();
    return;
  }
  // Of one lost session there may be two SIGHUP. A batch system may tell a job's processes and then
  // its script, which tells us again. In both cases nobody is impatient.
  if (signal == SIGHUP || (signal == SIGTERM && now - *asked_ < settings_.one_request)) return;
  stop();
}

void RunSupervisor::stop() {
  // A second request means that nobody wants to wait.
  if (std::exchange(stopping_, true)) return supervisor_.stop({}, {});
  supervisor_.stop(settings_.patience, [this] {
    signals_.cancel();
    done_();
  });
}

void RunSupervisor::send_to_all(int signal) {
  for (const auto& [name, kind] : kinds_) supervisor_.send(name, signal);
}

void RunSupervisor::ask_for_checkpoint() {
  if (stopping_) return;  // it leaves one at its end
  // Before it listens to signals, this one would end it: the request waits.
  checkpoint_wanted_ = !learner_hears_ || !supervisor_.send(learner_, SIGUSR1);
}

void RunSupervisor::observe(const ChildReport& report) {
  switch (report.kind) {
    case ChildReport::Kind::kStarted:
      return;
    case ChildReport::Kind::kReady:
      out_of_reach_.erase(report.name);
      if (report.name != learner_) return;
      learner_hears_ = true;
      learner_was_heard_ = true;
      learner_is_away_ = false;
      if (checkpoint_wanted_) ask_for_checkpoint();
      return tell_of_learner();
    case ChildReport::Kind::kSilent:
      return tell_(report.name + " hangs (" + report.why + "): killing it");
    case ChildReport::Kind::kForced:
      return tell_(report.name + " had not stopped yet: killed");
    case ChildReport::Kind::kRestarting:
      return restarting(report);
    case ChildReport::Kind::kEnded:
      return ended(report);
  }
}

void RunSupervisor::restarting(const ChildReport& report) {
  const bool is_learner = report.name == learner_;
  if (is_learner) {
    learner_hears_ = false;
    learner_is_away_ = true;
    for (const auto& name : std::exchange(went_home_, {})) supervisor_.start_again(name);
  }
  if (kinds_.at(report.name) == MemberKind::kActor) {
    ++actor_deaths_;
    last_actor_death_ = report;
  }
  if (report.out_of_reach) {
    if (!out_of_reach_.insert(report.name).second) return;
    return tell_(report.name + " cannot be reached" + see_log(report.name) +
                 "; trying again until it can");
  }
  const bool resumes = is_learner && goes_on_from_checkpoint();
  tell_(report.name + " " +
        (report.started ? describe(report.exit) : "cannot be started (" + report.why + ")") +
        "; starting it again" + (resumes ? " from its last checkpoint" : "") + " in " +
        std::to_string(report.delay.count()) + " ms");
}

// What cannot be told to others now is no reason to stop learning from those who know it.
void RunSupervisor::tell_of_learner() const {
  if (!settings_.learner_hears) return;
  try {
    settings_.learner_hears();
  } catch (const std::exception& error) {
    tell_(error.what());
  }
}

// A disk that cannot be read now is no reason to lose the other processes; the next learner says
// so.
bool RunSupervisor::goes_on_from_checkpoint() const {
  try {
    return settings_.has_checkpoint && settings_.has_checkpoint();
  } catch (const std::exception&) {
    return false;
  }
}

void RunSupervisor::ended(const ChildReport& report) {
  switch (kinds_.at(report.name)) {
    case MemberKind::kLearner:
      return learner_ended(report);
    case MemberKind::kShard:
      return shard_ended(report);
    case MemberKind::kFollower:
      if (stopping_) return;
      if (report.exit.clean()) return went_home(report.name);
      complain(report);
      return tell_("going on with fewer learners");
    case MemberKind::kActor:
      return actor_ended(report);
  }
}

void RunSupervisor::learner_ended(const ChildReport& report) {
  // Stopped before it could even listen to signals: it had nothing to lose.
  if (stopping_ && !report.forced && was_killed_by(report.exit, SIGTERM)) return;
  if (was_in_vain(report)) {
    exit_code_ = last_actor_death_.exit.shell_code();
    failed_ = true;
  }
  // A shard that has left no snapshot may have ended before the learner did.
  if (!failed_ && (!report.exit.clean() || exit_code_ == 0)) exit_code_ = report.exit.shell_code();
  if (report.forced)
    losses_.push_back("the learner was killed before it had left its last checkpoint");
  const bool unread = !report.exit.clean() && logs_.contains(report.name);
  if (report.exit.signal != 0 && !unread) {
    tell_("the " + report.name + " " + describe(report.exit) +
          (goes_on_from_checkpoint() ? "; --resume goes on from its last checkpoint" : ""));
  } else if (unread || report.deaths > 0) {
    complain(report);
  }  // else its own sentence stands above ours
  if (!stopping_) stop();
}

bool RunSupervisor::was_in_vain(const ChildReport& learner) {
  // Whoever stops a run early knows that it has not come far.
  if (stopping_ || failed_ || !learner.exit.clean() || actor_deaths_ == 0) return false;
  if (!settings_.learned_nothing || !settings_.learned_nothing()) return false;
  const ChildReport& death = last_actor_death_;
  tell_("nothing was learned, since no actor lived long enough: " + death.name + " " +
        (death.started ? describe(death.exit) : "cannot be started (" + death.why + ")") +
        (actor_deaths_ > 1 ? ", the last of " + std::to_string(actor_deaths_) + " deaths" : "") +
        see_log(death.name));
  return true;
}

void RunSupervisor::shard_ended(const ChildReport& report) {
  if (stopping_) {
    if (!report.forced && was_killed_by(report.exit, SIGTERM)) return;  // it had not begun
    if (report.exit.clean()) return;
    complain(report);
    // Without its last snapshot the run cannot go on where it was.
    losses_.push_back(report.name +
                      (report.forced ? " was killed before it had left" : " could not leave") +
                      " its last snapshot: its table is older than the checkpoint");
    if (exit_code_ == 0) exit_code_ = report.exit.shell_code();
    return;
  }
  // What its actors have would wait for ever.
  end_run(report, "a replay shard is lost for good: stopping");
}

void RunSupervisor::actor_ended(const ChildReport& report) {
  if (stopping_) return;
  // Dismissed by its learner: one that a signal ended asks for another life.
  if (report.exit.clean()) return went_home(report.name);
  if (--actors_left_ == 0 && !settings_.others_may_join) {
    return end_run(report, "no actor is left: stopping");
  }
  complain(report);
  tell_("going on with " + std::to_string(actors_left_) + " of " + std::to_string(actors_) +
        " actors");
}

void RunSupervisor::went_home(const std::string& name) {
  if (learner_is_away_) return supervisor_.start_again(name);
  went_home_.insert(name);
}

std::string RunSupervisor::see_log(const std::string& name) const {
  const auto log = logs_.find(name);
  return log != logs_.end() ? "; see " + log->second : "";
}

void RunSupervisor::complain(const ChildReport& report) const {
  tell_(report.name + " " + describe(report.exit) +
        (report.deaths > 0 ? ", as " + std::to_string(report.deaths) + " times within " +
                                 std::to_string(kWindow.count()) + " minutes"
                           : "") +
        own_words(report) + see_log(report.name));
}

std::string RunSupervisor::own_words(const ChildReport& report) const {
  const auto log = logs_.find(report.name);
  if (log == logs_.end() || report.exit.signal != 0) return {};
  const std::string error = last_error(log->second);
  return error.empty() ? error : ": " + error;
}

void RunSupervisor::end_run(const ChildReport& report, const std::string& why) {
  complain(report);
  tell_(why);
  exit_code_ = report.exit.shell_code();
  failed_ = true;
  stop();
}

}  // namespace pacml::apps
