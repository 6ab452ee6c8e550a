#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/decide/decision_request.h"
#include "common/result.h"
#include "env/ramp/cluster.h"
#include "env/ramp/topology.h"
#include "env/tasks/ramp/recent_arrivals.h"

namespace pacml::apps {

// Which jobs run on which servers of a cluster, and until when, and what arrived of late: what a
// decision service knows of the cluster from what it is told. Times are those of whoever tells.
// Thread-confined.
class ClusterLedger {
 public:
  ClusterLedger(int servers, const env::RecentArrivals& arrivals)
      : servers_(servers), occupied_(servers), arrivals_(arrivals) {}

  struct Job {
    std::string id;
    env::ServerSet servers;
    double until = 0;
  };

  // All of these, here and below: kCorruptFrame with a sentence, and nothing has changed.
  // It is later now. Pre: none.
  [[nodiscard]] Result<void> advance(double time);
  // These run, and no others.
  [[nodiscard]] Result<void> replace(std::span<const RunningJob> jobs);
  // A job arrives now; `fraction`: its limit.
  void arrive(double fraction) { arrivals_.add(fraction, now_); }
  // As if these had arrived, and nothing else.
  void set_arrivals(const env::RecentArrivals& arrivals) { arrivals_ = arrivals; }
  // Whether a job of that name may start.
  [[nodiscard]] Result<void> check_new(const std::string& id) const;
  // Pre: check_new(id), and its servers are free (PACML_CHECK).
  void start(std::string id, const env::ServerSet& servers, double until);
  [[nodiscard]] Result<void> finish(const std::string& id);

  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] int num_servers() const { return servers_; }
  [[nodiscard]] int num_free() const { return servers_ - occupied_.count(); }
  [[nodiscard]] std::span<const Job> jobs() const { return jobs_; }
  [[nodiscard]] const env::RecentArrivals& arrivals() const { return arrivals_; }

 private:
  int servers_;
  double now_ = 0;
  env::ServerSet occupied_;
  std::vector<Job> jobs_;  // in the order in which they started
  env::RecentArrivals arrivals_;
};

}  // namespace pacml::apps
