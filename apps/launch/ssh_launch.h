#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "apps/launch/hostfile.h"
#include "apps/launch/launch_request.h"
#include "apps/process/run_supervisor.h"

// Training on several hosts that ssh reaches, supervised from here.
//
// Every role is an ssh that runs a small attendant on the host, which runs the role. Signals travel
// down its stdin as numbers, and so do our signs of life; the role's own come back as its stdout.
// When ours stop, because the connection broke or this process died, the attendant ends the role:
// nothing is orphaned. The configuration goes along; the program, the run folder, the keys' and
// whatever else the configuration names have the same paths on every host. Of the keys, a host of
// actors needs actor.key and server.pub alone.

namespace pacml::apps {

// One process of the run.
struct RemoteRole {
  std::string name;   // "learner", "learner-1", "replay-0", "actor-3"
  std::string login;  // where, as ssh is told
  MemberKind member = MemberKind::kActor;
  std::string kind;                  // what of pacml runs there: "actor"
  std::vector<std::string> options;  // what it is told besides the configuration
};

// What runs where; shards, learners, actors. UserError: not enough slots; no keys where they are
// needed; learners on several hosts without learner.allow_insecure_all_reduce. Pure.
[[nodiscard]] std::vector<RemoteRole> plan_ssh_launch(const LaunchRequest& request,
                                                      const std::vector<Host>& hosts);

// The words of the ssh that runs a role. `directory`: where it runs. Pure.
[[nodiscard]] std::vector<std::string> ssh_command(const RemoteRole& role,
                                                   const LaunchRequest& request,
                                                   const std::string& directory);

void print_ssh_launch(const LaunchRequest& request, const std::vector<Host>& hosts,
                      std::ostream& out);

// Starts the roles and looks after them (apps/process/run_supervisor.h). Logs are in RUN/logs. The
// exit code: RunSupervisor's. UserError: as above, and ssh is not there.
[[nodiscard]] int launch_over_ssh(const LaunchRequest& request, const std::vector<Host>& hosts);

}  // namespace pacml::apps
