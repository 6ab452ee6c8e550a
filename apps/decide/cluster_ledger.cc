#include "apps/decide/cluster_ledger.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "common/check.h"
#include "common/json_text.h"

namespace pacml::apps {
Result<void> ClusterLedger::advance(double time) {
  if (time < now_) {
    const auto text = [](double value) { return json_text(nlohmann::json(value)); };
    return wrong("time: must not go back, from " + text(now_) + " to " + text(time));
  }
  now_ = time;
  return {};
}

Result<void> ClusterLedger::replace(std::span<const RunningJob> jobs) {
  std::vector<Job> entries;
  std::unordered_set<std::string> names;
  env::ServerSet occupied(servers_);
  for (const RunningJob& job : jobs) {
    if (!names.insert(job.id).second) return wrong("running: two jobs are called " + job.id);
    Job entry{job.id, env::ServerSet(servers_), job.until};
    for (const int server : job.servers) {
      if (server < 0 || server >= servers_) {
        return wrong("running: there is no server " + std::to_string(server) +
                     "; the last one is " + std::to_string(servers_ - 1));
      }
      const auto number = static_cast<env::Server>(server);
      if (occupied.contains(number)) {
        return wrong("running: server " + std::to_string(server) + " is named twice");
      }
      occupied.insert(number);
      entry.servers.insert(number);
    }
    entries.push_back(std::move(entry));
  }
  occupied_ = std::move(occupied);
  jobs_ = std::move(entries);
  return {};
}

Result<void> ClusterLedger::check_new(const std::string& id) const {
  if (std::ranges::find(jobs_, id, &Job::id) == jobs_.end()) return {};
  return wrong("id: a job called " + id + " runs already");
}

void ClusterLedger::start(std::string id, const env::ServerSet& servers, double until) {
  PACML_CHECK(!occupied_.overlaps(servers), "a job starts on free servers");
  occupied_.insert(servers);
  jobs_.push_back({std::move(id), servers, until});
}

Result<void> ClusterLedger::finish(const std::string& id) {
  const auto job = std::ranges::find(jobs_, id, &Job::id);
  if (job == jobs_.end()) return wrong("id: no job called " + id + " runs");
  occupied_.erase(job->servers);
  jobs_.erase(job);
  return {};
}

}  // namespace pacml::apps
