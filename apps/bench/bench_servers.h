#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/process/child_process.h"
#include "common/transport/security_config.h"

namespace pacml::apps {

// A learner, and replay shards where some are asked for, as processes of their own for a benchmark:
// no evaluations in between, metrics every second, and a learner that does all the work of learning
// in steps too small to change anything. They are told to stop when this goes, and killed
// where they do not. Thread-confined to the thread that made it.
class BenchServers {
 public:
  // `config_arguments`: CONFIG and its options. `folder`: for the run, sockets and logs; short.
  // UserError: a process does not start.
  BenchServers(const std::vector<std::string>& config_arguments, std::size_t shards,
               const std::filesystem::path& folder);
  BenchServers(const BenchServers&) = delete;
  BenchServers& operator=(const BenchServers&) = delete;
  ~BenchServers();

  [[nodiscard]] const std::string& learner() const { return learner_address_; }
  [[nodiscard]] const std::vector<std::string>& shards() const { return shard_addresses_; }
  [[nodiscard]] pid_t learner_pid() const { return processes_.back().second.pid(); }
  [[nodiscard]] std::vector<pid_t> shard_pids() const;
  [[nodiscard]] std::filesystem::path metrics_file() const { return run_ / "metrics.jsonl"; }

  // Waits until each answers. UserError: one has ended, or says nothing for minutes; with what it
  // said in its log.
  void wait_until_ready(const transport::SecurityConfig& security);
  // UserError: one of them has ended; with what it said.
  void check_running();

 private:
  void start(const std::string& name, std::vector<std::string> command);
  [[nodiscard]] std::filesystem::path log(const std::string& name) const {
    return folder_ / (name + ".log");
  }

  std::filesystem::path folder_;
  std::filesystem::path run_;
  std::string learner_address_;
  std::vector<std::string> shard_addresses_;
  std::vector<std::pair<std::string, ChildProcess>> processes_;  // by name; the learner last
};

}  // namespace pacml::apps
