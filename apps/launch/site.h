#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"

// What belongs to a place and not to the science: a file of its own (configs/sites/), so that one
// run configuration goes everywhere.

namespace pacml::apps {

// What one process may take.
struct RoleResources {
  std::int64_t cpus = 1;
  std::int64_t memory_mib = 1024;
  bool operator==(const RoleResources&) const = default;
};

struct SshSite {
  std::string directory;              // where the roles run, on every host; empty: the same as here
  std::int64_t silence_seconds = 20;  // a host that is silent for so long is given up
  std::vector<std::string> options;   // for ssh, e.g. ["-F", "ssh_config"]
  bool operator==(const SshSite&) const = default;
};

struct SlurmSite {
  std::string partition;                // empty: the cluster's default
  std::string time_limit = "24:00:00";  // of each job, which is requeued when it is over
  // So long before it, a job stops in order; 0: supervision.stop_seconds, and half a minute.
  std::int64_t warning_seconds = 0;
  // How often each actor whose learner says nothing asks Slurm what became of it.
  std::int64_t ask_seconds = 60;
  std::vector<std::string> options;  // for both jobs, e.g. "--account=physics"
  bool operator==(const SlurmSite&) const = default;
};

struct KubernetesSite {
  std::string name = "pacml";        // begins the name of every object
  std::string name_space = "pacml";  // key: namespace
  std::string image = "pacml:latest";
  std::string storage_class;      // empty: the cluster's default
  std::int64_t storage_gib = 20;  // of the run folder, and of each shard's snapshots
  // For a role to stop in order; 0: supervision.stop_seconds.
  std::int64_t stop_seconds = 0;
  std::string keys_secret = "pacml-keys";  // server's and actors' end in -server and -actor
  std::string token_secret = "pacml-http-token";
  bool operator==(const KubernetesSite&) const = default;
};

struct Site {
  std::string program;  // pacml on the other hosts; empty: the same path as here
  // The learner's; the next one announces weights, then come the shards. 0: kUsualPort, or, on
  // Slurm, any that is free where the learner runs.
  std::int64_t port = 0;
  static constexpr std::int64_t kUsualPort = 5555;
  [[nodiscard]] std::int64_t fixed_port() const { return port == 0 ? kUsualPort : port; }
  std::int64_t http_port = 0;   // of the learner's status and metrics; 0: none (Kubernetes: 9100)
  std::string http_token_file;  // of it, where it listens beyond this host
  RoleResources learner{2, 4096};
  RoleResources replay{1, 4096};
  RoleResources actor{1, 512};
  SshSite ssh;
  SlurmSite slurm;
  KubernetesSite kubernetes;
  bool operator==(const Site&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, RoleResources>
void visit_fields(Config& c, Visitor&& v) {
  v("cpus", c.cpus);
  v("memory_mib", c.memory_mib);
}

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SshSite>
void visit_fields(Config& c, Visitor&& v) {
  v("directory", c.directory);
  v("silence_seconds", c.silence_seconds);
  v("options", c.options);
}

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SlurmSite>
void visit_fields(Config& c, Visitor&& v) {
  v("partition", c.partition);
  v("time_limit", c.time_limit);
  v("warning_seconds", c.warning_seconds);
  v("ask_seconds", c.ask_seconds);
  v("options", c.options);
}

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, KubernetesSite>
void visit_fields(Config& c, Visitor&& v) {
  v("name", c.name);
  v("namespace", c.name_space);
  v("image", c.image);
  v("storage_class", c.storage_class);
  v("storage_gib", c.storage_gib);
  v("stop_seconds", c.stop_seconds);
  v("keys_secret", c.keys_secret);
  v("token_secret", c.token_secret);
}

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, Site>
void visit_fields(Config& c, Visitor&& v) {
  v("program", c.program);
  v("port", c.port);
  v("http_port", c.http_port);
  v("http_token_file", c.http_token_file);
  v("learner", c.learner);
  v("replay", c.replay);
  v("actor", c.actor);
  v("ssh", c.ssh);
  v("slurm", c.slurm);
  v("kubernetes", c.kubernetes);
}

[[nodiscard]] std::vector<std::string> validate(const RoleResources& config);
[[nodiscard]] std::vector<std::string> validate(const SshSite& config);
[[nodiscard]] std::vector<std::string> validate(const SlurmSite& config);
[[nodiscard]] std::vector<std::string> validate(const KubernetesSite& config);
[[nodiscard]] std::vector<std::string> validate(const Site& config);
// As Slurm reads it: minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S. nullopt: it is none of these.
[[nodiscard]] std::optional<std::int64_t> seconds_of_slurm_time(std::string_view text);
constexpr std::int64_t kPortsOfShards = 256;  // above the learner's two
// What is wrong with status pages at that port where roles listen at `port` and so many behind it,
// those of one host by default; empty: nothing.
[[nodiscard]] std::string clash_of_ports(std::int64_t http_port, std::int64_t port,
                                         std::int64_t behind = 1 + kPortsOfShards);

// Reads a site file; an empty path means the defaults. `overrides` as for every configuration.
// UserError names file, line and key.
[[nodiscard]] Site load_site(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace pacml::apps
