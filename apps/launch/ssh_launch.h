#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "apps/launch/hostfile.h"
#include "apps/launch/launch_request.h"

// Training on several hosts that ssh reaches, supervised from here.
//
// Every role is an ssh that runs a small attendant on the host, which runs the role. Signals travel
// down its stdin as numbers, and so do signs of life; when they stop, because the connection broke
// or this process died, the attendant ends the role: nothing is orphaned. The program, CONFIG, the
// run folder and the keys' folder have the same paths on every host; nothing is copied. Of the
// keys, a host of actors needs actor.key and server.pub alone.

namespace pacml::apps {

// One process of the run.
struct RemoteRole {
  std::string name;                  // "learner", "replay-0", "actor-3"
  std::string login;                 // where, as ssh is told
  int stage = 0;                     // what stops first has the highest
  std::vector<std::string> command;  // what runs there
};

// What runs where; shards, learner, actors. UserError: not enough slots; no keys where they are
// needed. Pure.
[[nodiscard]] std::vector<RemoteRole> plan_ssh_launch(const LaunchRequest& request,
                                                      const std::vector<Host>& hosts);

// The words of the ssh that runs a role. `directory`: where it runs. `restarted`: a former life of
// it may still be about to end, so that what it would otherwise give up for is no reason to. Pure.
[[nodiscard]] std::vector<std::string> ssh_command(const RemoteRole& role, const SshSite& site,
                                                   const std::string& directory, bool restarted);

void print_ssh_launch(const LaunchRequest& request, const std::vector<Host>& hosts,
                      std::ostream& out);

// Starts the roles, starts again what dies (a learner goes on from its last checkpoint), stops them
// in order. Logs are in RUN/logs. The exit code: the learner's. UserError: as above, and ssh is not
// there.
[[nodiscard]] int launch_over_ssh(const LaunchRequest& request, const std::vector<Host>& hosts);

}  // namespace pacml::apps
