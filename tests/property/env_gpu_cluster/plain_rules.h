#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/gpu_cluster/gpu_decision.h"
#include "tests/property/env_gpu_cluster/random_cluster.h"

namespace pacml::env {

// The rules of a cluster in the words of docs/gpu_cluster.md, one after the other: every sum is
// summed anew, every list is searched from its beginning, nothing is remembered. What the
// simulator is compared with, to the last bit.
class PlainCluster {
 public:
  explicit PlainCluster(const RandomCluster& cluster);
  void run();

  struct Job {
    double left = 0;
    double since = 0;
    double rate = 0;
    double thaw = 0;
    double start = -1;
    double finish = -1;
    double forwarded = -1;
    int partition = 0;
    int preemptions = 0;
    int version = 0;
    std::vector<int> gpus;  // empty: it does not run
  };
  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] const std::vector<GpuDecision>& decisions() const { return decisions_; }
  [[nodiscard]] const std::vector<double>& progress() const { return progress_; }
  [[nodiscard]] double busy_gpu_s() const { return busy_gpu_s_; }
  [[nodiscard]] double active_job_s() const { return active_job_s_; }

 private:
  struct Profile {
    double compute = 0;
    double network = 0;
    std::map<int, double> links;
    std::map<int, int> sockets;
  };
  struct Candidate {
    int kind = 0;
    int key = 0;
    std::vector<int> gpus;
  };
  using Event = std::tuple<double, int, int, int>;  // time, kind, job, version

  [[nodiscard]] const GpuJobSpec& spec(int j) const { return cluster_.jobs[j]; }
  [[nodiscard]] int server(int gpu) const { return gpu / per_server_; }
  [[nodiscard]] int rack(int s) const { return s / per_rack_; }
  [[nodiscard]] int pod(int s) const { return rack(s) / racks_per_pod_; }
  [[nodiscard]] const std::string& type_of(int gpu) const { return gpu_type_[server(gpu)]; }
  [[nodiscard]] GpuSpeed speed(int j, const std::string& gpu_type) const;
  [[nodiscard]] double best_rate(int j) const;
  [[nodiscard]] double pair(const std::string& gpu_type, int a, int b) const;
  [[nodiscard]] int level(const std::vector<int>& gpus) const;
  [[nodiscard]] std::map<int, double> links(const std::vector<int>& gpus, GpuComm comm) const;
  [[nodiscard]] double capacity(int link) const;
  [[nodiscard]] Profile profile(int j, const std::vector<int>& gpus) const;
  [[nodiscard]] std::vector<int> residents(int gpu) const;
  [[nodiscard]] double host_load(int socket) const;
  [[nodiscard]] double rate(int j) const;
  [[nodiscard]] std::set<int> affected(int j) const;
  [[nodiscard]] int idle(int first, int end) const;
  [[nodiscard]] double left(int j) const;
  void settle(int j);
  void rebase(const std::set<int>& ids);
  void place(int j, const std::vector<int>& gpus);
  void release(int j);

  [[nodiscard]] std::vector<int> pick(int s, int n) const;
  [[nodiscard]] std::vector<int> by_group(const std::vector<int>& idle_gpus, int n) const;
  [[nodiscard]] std::vector<Candidate> candidates(int j, int first, int end) const;
  [[nodiscard]] std::optional<Candidate> choose(int j, int first, int end);
  [[nodiscard]] double cost(int j, const Candidate& candidate);
  [[nodiscard]] double align(int j, int s) const;
  [[nodiscard]] std::vector<int> order(std::vector<int> queue) const;
  [[nodiscard]] int bound(int p) const;
  std::uint64_t draw();

  [[nodiscard]] int route(int j) const;
  void decide();
  void decide_drf(std::vector<int> queue, int first, int end);
  void decide_tetris(std::vector<int> queue, int first, int end);
  void decide_agent(const std::vector<int>& queue, int p);
  void decide_preempting();
  [[nodiscard]] double round_up(double t) const;

  RandomCluster cluster_;
  int per_group_, per_socket_, per_server_, servers_, per_rack_, racks_, racks_per_pod_;
  std::vector<std::string> gpu_type_;  // [servers]
  std::vector<Job> jobs_;
  std::set<int> waiting_;
  std::set<int> running_;
  std::set<Event> events_;
  std::vector<GpuDecision> decisions_;
  std::vector<double> progress_;
  double now_ = 0;
  double busy_gpu_s_ = 0;
  double active_job_s_ = 0;
  std::uint64_t random_;
};

}  // namespace pacml::env
