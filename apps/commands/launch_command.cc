#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/files.h"
#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/limits.h"
#include "apps/launch/kubernetes_launch.h"
#include "apps/launch/launch_request.h"
#include "apps/launch/local_launch.h"
#include "apps/launch/slurm_launch.h"
#include "apps/launch/ssh_launch.h"
#include "apps/roles/encryption.h"
#include "common/result.h"
#include "common/text.h"
#include "env/task.h"

namespace pacml::apps {
namespace {

class LaunchCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {
        "launch",
        "train on one machine, on hosts by ssh, on Slurm or on Kubernetes",
        {{"launch configs/paper/beta_a.yaml --run runs/a --on local", "as pacml train does"},
         {"launch configs/paper/beta_a.yaml --run runs/a --on ssh --hosts hosts.txt --keys keys",
          "starts and supervises the roles on the hosts of a list"},
         {"launch configs/paper/beta_a.yaml --run runs/a --on slurm --actors 64 --keys keys",
          "submits a learner and an array of 64 actors"},
         {"launch configs/paper/beta_a.yaml --run runs/a --on kubernetes --keys keys --dry-run",
          "prints the manifests, for kubectl apply -f -"}}};
  }
  void declare(Options& options) override {
    config_.declare_or_resume(options);
    options.required_option("--run DIR", &run_, "folder of the run; made, never overwritten");
    options.required_option("--on WHERE", &where_, "local, ssh, slurm or kubernetes");
    options.option("--dry-run", &dry_run_, "print what would be run or submitted, and do nothing");
    options.option("--site FILE", &site_,
                   "what belongs to the place: ports, resources, partition, image, ...; see "
                   "configs/sites/");
    options.option("--site-set KEY=VALUE", &site_overrides_,
                   "replaces one of its keys, e.g. slurm.partition=long; may be repeated");
    options.option("--hosts FILE", &hosts_,
                   "ssh: one host a line, [USER@]HOST [slots=N] [role=learner|replay|actor]");
    options.option("--actors K", &actors_, "actors (default: the configuration's; ssh: all slots)");
    options.option("--minutes M", &minutes_, "stop after M minutes (not on slurm and kubernetes)");
    options.option("--decisions N", &decisions_,
                   "stop after N decisions of the run (not on kubernetes)");
    options.option("--resume", &resume_,
                   "go on from the run's last checkpoint (kubernetes always does)");
    options.option("--keys DIR", &keys_, "keys for encryption; see pacml keygen");
  }
  [[nodiscard]] int run() override {
    const Place place = place_named(where_);
    if (place != Place::kSsh && !hosts_.empty()) throw UserError("--hosts goes with --on ssh");
    const LaunchRequest request = make_request(place);
    const bool keys_are_here = place != Place::kKubernetes && !dry_run_;
    if (keys_are_here) check_keys({.keys = request.keys, .client = request.config.security.client});
    // What is printed would be refused. Hosts may share no folder with this one: then they look.
    const bool run_is_here = place != Place::kKubernetes && (place != Place::kSsh || !resume_);
    if (dry_run_ && run_is_here) check_run_folder(request);
    switch (place) {
      case Place::kLocal:
        if (dry_run_) return printed(print_local_launch, request);
        launch_locally(request);
      case Place::kSsh:
        return on_ssh(request);
      case Place::kSlurm:
        return dry_run_ ? printed(print_slurm_launch, request)
                        : launch_on_slurm(request, std::cout);
      case Place::kKubernetes:
        if (!dry_run_) return launch_on_kubernetes(request, std::cout);
        std::cout << make_manifests(request);
        return 0;
    }
    return 0;
  }

 private:
  enum class Place { kLocal, kSsh, kSlurm, kKubernetes };

  static Place place_named(const std::string& name) {
    static constexpr std::array<std::pair<std::string_view, Place>, 4> kPlaces{
        {{"local", Place::kLocal},
         {"ssh", Place::kSsh},
         {"slurm", Place::kSlurm},
         {"kubernetes", Place::kKubernetes}}};
    std::vector<std::string> names;
    for (const auto& [known, place] : kPlaces) {
      if (name == known) return place;
      names.emplace_back(known);
    }
    throw UserError("--on: there is no '" + name + "'" + did_you_mean(name, names));
  }

  static int printed(void (*print)(const LaunchRequest&, std::ostream&),
                     const LaunchRequest& request) {
    print(request, std::cout);
    return 0;
  }

  // What every role is to have. Of a run that is here, its own, as far as nothing else is said.
  [[nodiscard]] TrainConfig load_config(Place place) const {
    const bool goes_on = resume_ && place != Place::kKubernetes && RunDirectory::holds_run(run_);
    return goes_on ? config_.resume(RunDirectory::open(run_)).config : config_.load();
  }

  [[nodiscard]] LaunchRequest make_request(Place place) {
    config_.settle(resume_, run_);
    check_limits(minutes_, decisions_);
    check_actors(actors_, 1);
    LaunchRequest request;
    request.config = load_config(place);
    const auto task = request.config.env.make();
    check_against_task(request.config, *task);
    request.config_words = config_.arguments();
    request.run = run_;
    request.actors = actors_;
    request.minutes = minutes_;
    request.decisions = decisions_;
    request.resume = resume_;
    request.keys = keys_.empty() ? request.config.security.keys : keys_;
    request.config.security.keys.clear();  // roles are told by --keys, wherever theirs are
    request.site = load_site(site_, site_overrides_);
    if (place != Place::kSsh) set_actors(request, actors_of(request));
    return request;
  }

  // How many explore is a part of what they explore: roles are told.
  static void set_actors(LaunchRequest& request, std::int64_t actors) {
    check_room(request.config, actors, request.actors ? "" : "; say --actors");
    request.config.actors = actors;
  }

  [[nodiscard]] int on_ssh(LaunchRequest request) const {
    if (hosts_.empty()) throw UserError("--on ssh needs --hosts FILE");
    const auto hosts = parse_hostfile(hosts_, read_user_file(hosts_));
    set_actors(request, std::ranges::count(plan_ssh_launch(request, hosts), MemberKind::kActor,
                                           &RemoteRole::member));
    if (!dry_run_) return launch_over_ssh(request, hosts);
    print_ssh_launch(request, hosts, std::cout);
    return 0;
  }

  ConfigOptions config_;
  std::string run_;
  std::string where_;
  bool dry_run_ = false;
  std::string site_;
  std::vector<std::string> site_overrides_;
  std::string hosts_;
  std::optional<std::int64_t> actors_;
  std::optional<double> minutes_;
  std::optional<std::int64_t> decisions_;
  bool resume_ = false;
  std::string keys_;
};

}  // namespace

std::unique_ptr<Command> make_launch_command() { return std::make_unique<LaunchCommand>(); }

}  // namespace pacml::apps
