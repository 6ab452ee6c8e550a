#include "apps/launch/ssh_launch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>

#include "apps/cli/words.h"
#include "apps/launch/run_program.h"
#include "apps/launch/template_text.h"
#include "apps/process/run_supervisor.h"
#include "apps/run/endpoints.h"
#include "apps/run/minutes_left.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_news.h"
#include "common/asio.h"
#include "common/clock.h"
#include "common/config/dump.h"
#include "common/repeating_timer.h"
#include "common/result.h"
#include "common/transport/endpoint.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLearner = "learner";
constexpr std::chrono::milliseconds kFirstRestart{500};  // ssh takes its time as well
// Linux takes 128 KiB as one word, in which the attendant comes along.
constexpr std::size_t kMostConfigBytes = std::size_t{100} << 10;
constexpr int kSshFailed = 255;  // says ssh where it does not reach the host, or no longer

bool is_loopback(const Host& host) {
  return transport::Endpoint::parse("tcp://" + host.name + ":1").is_local();
}

// Who runs where, and with which words.
class Plan {
 public:
  Plan(const LaunchRequest& request, const std::vector<Host>& hosts)
      : request_(request),
        hosts_(hosts),
        shards_(shards_of(request)),
        learners_(request.config.learner.replicas),
        placement_(place_roles(hosts, learners_, shards_, request.actors)) {
    std::vector<std::size_t> servers = placement_.shards;
    servers.insert(servers.end(), placement_.learners.begin(), placement_.learners.end());
    const auto is_here = [&](std::size_t host) { return is_loopback(hosts_[host]); };
    const bool is_local = std::ranges::all_of(servers, is_here);
    const bool is_called_from_elsewhere =
        !is_local || !std::ranges::all_of(placement_.actors, is_here);
    const auto here = std::ranges::find_if(servers, is_here);
    if (is_called_from_elsewhere && here != servers.end()) {
      throw UserError("--hosts: " + hosts_[*here].name +
                      " is another machine on every host: name it as the others reach it");
    }
    if (!is_local) require_keys(request);
    for (const std::size_t host : placement_.learners) {
      check_all_reduce_host(request.config, all_reduce_host(host));
    }
  }

  [[nodiscard]] std::vector<RemoteRole> roles() const {
    std::vector<RemoteRole> all;
    for (std::int64_t s = 0; s < shards_; ++s) all.push_back(shard(s));
    for (std::int64_t k = 0; k < learners_; ++k) all.push_back(learner(k));
    for (std::size_t a = 0; a < placement_.actors.size(); ++a) all.push_back(actor(a));
    return all;
  }

 private:
  [[nodiscard]] std::string port() const {
    return ":" + std::to_string(request_.site.fixed_port());
  }
  // What the run's addresses on a host follow from: as its servers bind, and as others are told.
  [[nodiscard]] transport::Endpoint bound(std::size_t host) const {
    return transport::Endpoint::parse(
        "tcp://" + std::string(is_loopback(hosts_[host]) ? "127.0.0.1" : "*") + port());
  }
  [[nodiscard]] transport::Endpoint told(std::size_t host) const {
    return transport::Endpoint::parse("tcp://" + hosts_[host].name + port());
  }

  [[nodiscard]] std::size_t host_of_shard(std::int64_t s) const {
    return placement_.shards[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::size_t host_of_learner(std::int64_t k) const {
    return placement_.learners[static_cast<std::size_t>(k)];
  }
  // Learners that share a host exchange gradients without leaving it.
  [[nodiscard]] std::string all_reduce_host(std::size_t host) const {
    const bool is_alone =
        std::ranges::all_of(placement_.learners, [&](std::size_t other) { return other == host; });
    return is_alone || is_loopback(hosts_[host]) ? "127.0.0.1" : hosts_[host].name;
  }

  [[nodiscard]] RemoteRole role(const std::string& kind, const std::string& name, std::size_t host,
                                MemberKind member) const {
    return {name, hosts_[host].login, member, kind, key_words(request_)};
  }

  [[nodiscard]] Words replay_words() const {
    Words words;
    for (std::int64_t s = 0; s < shards_; ++s) {
      append(words, {"--replay", shard_endpoint(told(host_of_shard(s)), s).str()});
    }
    return words;
  }

  [[nodiscard]] RemoteRole shard(std::int64_t s) const {
    const std::size_t host = host_of_shard(s);
    const std::string number = std::to_string(s);
    RemoteRole made = role("replay", "replay-" + number, host, MemberKind::kShard);
    append(made.options,
           {"--bind", shard_endpoint(bound(host), s).str(), "--shard", number, "--snapshot",
            RunDirectory::snapshot_file(request_.run, s).string(), "--run-id", run_name(request_)});
    return made;
  }

  [[nodiscard]] RemoteRole learner(std::int64_t k) const {
    const bool leads = k == 0;
    const std::size_t host = host_of_learner(k);
    const std::string number = std::to_string(k);
    RemoteRole made = role("learner", leads ? kLearner : kLearner + ("-" + number), host,
                           leads ? MemberKind::kLearner : MemberKind::kFollower);
    append(made.options,
           {"--run", request_.run, "--bind", learner_endpoint(bound(host), shards_, k).str()});
    append(made.options, replay_words());
    if (learners_ > 1) {
      const auto at = leads ? bound(host) : told(host_of_learner(0));
      append(made.options,
             {"--replica", number, "--leader", board_endpoint(at, shards_, learners_).str(),
              "--all-reduce-host", all_reduce_host(host)});
    }
    if (leads) append(made.options, http_words(request_));
    return made;
  }

  [[nodiscard]] RemoteRole actor(std::size_t a) const {
    const std::string number = std::to_string(a);
    RemoteRole made = role("actor", "actor-" + number, placement_.actors[a], MemberKind::kActor);
    for (std::int64_t k = 0; k < learners_; ++k) {
      append(made.options,
             {"--learner", learner_endpoint(told(host_of_learner(k)), shards_, k).str()});
    }
    append(made.options, {"--id", number, "--run-id", run_name(request_)});
    append(made.options, replay_words());
    return made;
  }

  const LaunchRequest& request_;
  const std::vector<Host>& hosts_;
  std::int64_t shards_;
  std::int64_t learners_;
  Placement placement_;
};

// Runs on the other host, with the silence after which we are gone, the patience for the role's
// end, where it runs, the configuration, and its command in its arguments. All lives of all roles
// have the same configuration, whatever becomes of the file that it was read from. bash, because
// its `read` knows a time limit. What the role prints goes to stderr, since stdout is its life
// line. What bash says of a role that was killed is no word of the role's. A role that ends since
// nothing was heard of us asks for another try: it has not come to its end.
constexpr std::string_view kAttendant = R"(trap "" HUP PIPE
deserted=
trap deserted=1 ALRM
silence=$1 patience=$2 directory=$3 settings=$4 program=$5 kind=$6; shift 6
cd "$directory" || exit 2
config=$(mktemp "${TMPDIR:-/tmp}/pacml-config.XXXXXX") || exit 75
trap 'rm -f "$config"' EXIT
printf %s "$settings" >"$config" || exit 75
exec 3<&0
PACML_LIFE_LINE=4 "$program" "$kind" "$config" "$@" </dev/null 4>&1 >&2 3<&- &
role=$!
{
  while :; do
    read -r -t "$silence" signal; heard=$?
    [[ $heard -eq 0 ]] || break
    kill "-$signal" "$role"
  done
  if [[ $heard -gt 128 ]]; then
    kill -ALRM $$
    [[ $patience -gt 5 ]] && patience=5
  fi
  kill -TERM "$role"
  end=$((SECONDS + patience))
  while kill -0 "$role"; do
    if ((SECONDS >= end)); then kill -KILL "$role"; break; fi
    sleep 0.2 || sleep 1
  done
} <&3 >/dev/null 2>&1 &
attendant=$!
wait "$role" 2>/dev/null; code=$?
[[ -z $deserted ]] || { wait "$role" 2>/dev/null; code=75; }
kill "$attendant" 2>/dev/null
exit "$code")";

Words words_for_ssh(const RemoteRole& role, const LaunchRequest& request,
                    const std::string& directory, const std::string& config) {
  const SshSite& site = request.site.ssh;
  const std::string beat = std::to_string(std::max<std::int64_t>(1, site.silence_seconds / 4));
  // Of two values of an option, ssh takes the first.
  Words words = {"ssh", "-T"};
  append(words, site.options);
  append(words, {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o",
                 "ServerAliveInterval=" + beat, "-o", "ServerAliveCountMax=4"});
  append(words, {"--", role.login});
  Words remote = {"exec",
                  "bash",
                  "-c",
                  std::string(kAttendant),
                  "pacml",
                  std::to_string(std::max<std::int64_t>(2, site.silence_seconds / 2)),
                  std::to_string(stop_seconds(request)),
                  directory,
                  config,
                  program_of(request),
                  role.kind};
  append(remote, role.options);
  // ssh hands one line to the shell of the other side.
  words.push_back(shell_words(remote));
  return words;
}

// What is said to a role of a run once, when it is launched: its learner goes on, or its shards
// have nothing to go on from, unless a run of that name has left something on a host that shares no
// folder with this one.
Words words_at_launch(const RemoteRole& role, const LaunchRequest& request) {
  if (role.name == kLearner && request.resume) return {"--resume"};
  if (role.member == MemberKind::kShard && !request.resume) return {"--run-begins"};
  return {};
}

class SshRun {
 public:
  SshRun(const LaunchRequest& request, const std::vector<Host>& hosts)
      : request_(request),
        roles_(plan_ssh_launch(request, hosts)),
        ssh_(find_program("ssh")),
        directory_(directory_of(request)),
        news_(request.run, kForever, steady().now()),
        supervisor_(
            io_,
            {.patience = request.config.supervision.stop_seconds.milliseconds(),
             .silence = request.config.supervision.silence_seconds.milliseconds(),
             .first_restart = kFirstRestart,
             .learned_nothing =
                 [this] {
                   look_for_news();
                   return news_.learned_nothing();
                 }},
            [](const std::string& sentence) { std::cerr << sentence << "\n"; },
            [this] { beats_.stop(); }),
        beats_(io_, std::chrono::milliseconds(request.site.ssh.silence_seconds * 125),
               [this] {
                 supervisor_.send_to_all(0);
                 // A shared disk that does not answer must not keep us from the next beat for
                 // longer than it takes to know this.
                 if (!news_.learned_something()) look_for_news();
               }),
        started_(steady().now()) {}

  static std::string directory_of(const LaunchRequest& request) {
    return request.site.ssh.directory.empty() ? fs::current_path().string()
                                              : request.site.ssh.directory;
  }

  int run() {
    make_logs();
    for (const auto& loss : RunDirectory::take_losses(request_.run)) {
      std::cerr << "the run's former end: " << loss << "\n";
    }
    beats_.start();
    for (const RemoteRole& role : roles_) {
      start(role);
      beats_.catch_up();  // of many roles the first would not hear of us until the last is there
    }
    std::cerr << "started " << roles_.size() << " processes; logs: " << logs().string() << "\n";
    io_.run();
    RunDirectory::note_losses(request_.run, supervisor_.losses());
    return supervisor_.exit_code([this] { return is_saved(); });
  }

 private:
  // Whether there is something to go on from, as far as that is known: it lies on the learner's
  // host, whose folder is seen from here where it is shared.
  [[nodiscard]] bool is_saved() const {
    if (request_.resume || supervisor_.learner_hears()) return true;
    try {
      return RunDirectory::has_checkpoint(request_.run);
    } catch (const std::exception&) {
      return false;
    }
  }

  void look_for_news() { static_cast<void>(news_.look(steady().now(), progress_)); }

  [[nodiscard]] fs::path logs() const { return fs::path(request_.run) / "logs"; }

  void make_logs() const {
    std::error_code error;
    fs::create_directories(logs(), error);
    if (error) {
      throw UserError("cannot create the folder " + logs().string() + ": " + error.message());
    }
  }

  [[nodiscard]] Words command_of(const RemoteRole& role, bool restarted) const {
    RemoteRole life = role;
    if (role.name == kLearner) {
      LaunchRequest left = request_;
      left.minutes = minutes_left(request_.minutes, started_, steady().now());  // in each life
      append(life.options, limit_words(left));
      if (restarted) life.options.emplace_back("--continue");
    }
    if (!restarted) append(life.options, words_at_launch(role, request_));
    Words words = ssh_command(life, request_, directory_);
    words[0] = ssh_;
    return words;
  }

  void start(const RemoteRole& role) {
    Member member{.kind = role.member, .spec = {}};
    member.spec.name = role.name;
    member.spec.command = command_of(role, false);
    member.spec.log = logs() / (role.name + ".log");
    member.spec.signals_by_stdin = true;
    member.spec.life_line = LifeLineKind::kStdout;
    // A run can wait for hosts that only act, or that learn as well as others.
    const bool can_wait = role.member == MemberKind::kActor || role.member == MemberKind::kFollower;
    if (can_wait) member.out_of_reach = kSshFailed;
    // What never reached its host is told what is told at the launch.
    member.before_restart = [this, role](ChildSpec& spec, bool has_lived) {
      spec.command = command_of(role, has_lived);
    };
    supervisor_.start(std::move(member));
  }

  const LaunchRequest& request_;
  std::vector<RemoteRole> roles_;
  std::string ssh_;
  std::string directory_;
  RunNews news_;  // none, where the run's folder is not shared
  TrainProgress progress_;
  boost::asio::io_context io_;
  RunSupervisor supervisor_;
  // Attendants end their roles when they hear nothing for half the time after which we give up.
  RepeatingTimer beats_;
  TimePoint started_;
};

}  // namespace

std::vector<RemoteRole> plan_ssh_launch(const LaunchRequest& request,
                                        const std::vector<Host>& hosts) {
  const Site& site = request.site;
  if (const auto clash = clash_of_ports(site.http_port, site.fixed_port()); !clash.empty()) {
    throw UserError(clash);
  }
  const std::size_t bytes = shell_word(dump_config(request.config)).size();
  if (bytes > kMostConfigBytes) {
    throw UserError("--on ssh: the configuration takes " + std::to_string(bytes) +
                    " bytes, and ssh hands over at most " + std::to_string(kMostConfigBytes));
  }
  return Plan(request, hosts).roles();
}

std::vector<std::string> ssh_command(const RemoteRole& role, const LaunchRequest& request,
                                     const std::string& directory) {
  return words_for_ssh(role, request, directory, dump_config(request.config));
}

void print_ssh_launch(const LaunchRequest& request, const std::vector<Host>& hosts,
                      std::ostream& out) {
  const std::string directory = SshRun::directory_of(request);
  out << "==> CONFIG <==\n" << dump_config(request.config) << "\n==> and then <==\n";
  for (RemoteRole role : plan_ssh_launch(request, hosts)) {
    if (role.name == kLearner) append(role.options, limit_words(request));
    append(role.options, words_at_launch(role, request));
    Words command = {program_of(request), role.kind, "CONFIG"};
    append(command, role.options);
    out << "# " << role.name << " on " << role.login << ", in " << directory << ":\n"
        << shell_words(command) << "\n";
  }
  const RemoteRole any{"", "HOST", MemberKind::kActor, "ROLE", {"..."}};
  out << "# each by an attendant that ends it when the connection is gone:\n"
      << shell_words(words_for_ssh(any, request, directory, "CONFIG")) << "\n";
}

int launch_over_ssh(const LaunchRequest& request, const std::vector<Host>& hosts) {
  // Where the folder is not shared, the learner sees to it.
  if (!request.resume) RunDirectory::refuse_existing(request.run);
  return SshRun(request, hosts).run();
}

}  // namespace pacml::apps
