#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "env/gpu_cluster/gpu_candidates.h"
#include "env/tasks/gpu_scheduling/config.h"

namespace pacml::env {

// One thing that a scheduler may do next.
struct Offer {
  enum class Kind : std::uint8_t { kPass, kOneServer, kSeveralServers, kShared, kForward };
  Kind kind = Kind::kPass;
  std::int32_t job = -1;  // kPass: none
  // kForward: the other scheduler; kShared: the job beside which it would be; else 0.
  std::int32_t to = 0;
  bool waits = false;         // kForward: for GPUs that are not idle there
  std::int32_t shape = -1;    // of a place: of the job on as many GPUs
  std::size_t first_gpu = 0;  // of a place, among the offers' GPUs
  std::size_t num_gpus = 0;
  // What a place would come to, if nothing else happened.
  double rate = 0;         // steps/s
  double own_delay_s = 0;  // to be done later than alone on the best GPUs, as many as it asks for
  double others_loss = 0;  // sum of 1 - speed / speed before of the jobs that it disturbs
  double others_delay_s = 0;  // ... of the time that they lose while it runs
};

// Whether all of a scheduler's GPUs are idle: it may not pass then, nor hand jobs on to wait
// elsewhere, so that every job is done once, and what nobody wants is not left until the whole
// cluster is empty.
[[nodiscard]] bool has_to_begin(const GpuClusterState& state, int partition);

// What a scheduler may do: nothing, or put one of its jobs somewhere. Bounded: the first jobs in
// line, a few places for each. It serves one state from its beginning, and copies of both go on
// together. Thread-confined.
class Offers {
 public:
  // `place`: the one place that a job is offered; none: the best ones.
  Offers(const OffersConfig& config, std::optional<PlacementRule> place)
      : config_(config), finder_(config.rules) {
    // What is offered may cost whatever it does.
    constexpr double kNoLimit = 1e18;
    if (place) {
      rule_.emplace(
          PlaceByRuleConfig{.rule = *place, .max_cost = kNoLimit, .candidates = config.rules});
    }
  }

  // Replaces all() by what the scheduler of a partition may do; false: nothing but to wait. The
  // state is not changed. What comes first are jobs in the order of the line, and of each its
  // places in the order of candidates (or of sizes), then forwards; passing is the very first.
  bool find(GpuClusterState& state, int partition);

  [[nodiscard]] const OffersConfig& config() const { return config_; }
  [[nodiscard]] std::span<const Offer> all() const { return offers_; }
  [[nodiscard]] const Offer& operator[](std::size_t i) const { return offers_[i]; }
  [[nodiscard]] std::size_t size() const { return offers_.size(); }
  // Of a place, ascending. Borrowed until the next find().
  [[nodiscard]] std::span<const std::int32_t> gpus(std::size_t i) const {
    return std::span(gpus_).subspan(offers_[i].first_gpu, offers_[i].num_gpus);
  }

 private:
  bool find_sizes(GpuClusterState& state, int partition);
  bool add_sizes(GpuClusterState& state, std::int32_t job, int partition);
  bool add_places(GpuClusterState& state, std::int32_t job, int partition);
  bool add_forwards(const GpuClusterState& state, std::int32_t job, int partition);
  bool add_upgrade(const GpuClusterState& state, std::int32_t job, int partition);
  void choose_partners(const GpuClusterState& state, std::int32_t job);
  bool add_place_of_rule(GpuClusterState& state, std::int32_t job, double best_rate, int partition);
  // `best_rate`: steps/s, which delays are against.
  Offer value(GpuClusterState& state, std::int32_t job, double best_rate, GpuCandidate::Kind kind,
              std::int32_t key, std::span<const std::int32_t> gpus);
  void add_place(Offer offer, std::span<const std::int32_t> gpus);
  void keep_best();

  OffersConfig config_;
  CandidateFinder finder_;
  std::optional<PlaceByRule> rule_;
  RulePlace of_rule_;
  std::vector<Offer> offers_;
  std::vector<std::int32_t> gpus_;
  std::vector<std::int32_t> line_;  // scratch
  // Memory that is used again and again.
  struct Valued {
    Offer offer;
    std::size_t candidate = 0;
    bool is_kept = false;
  };
  GpuCandidates candidates_;
  std::vector<std::size_t> looked_at_;  // of the candidates
  std::vector<std::pair<double, std::size_t>> partners_;
  std::vector<Valued> valued_;
  std::vector<std::size_t> by_delay_;
  std::vector<DisturbedJob> disturbed_;
  std::vector<std::uint8_t> no_place_;  // [shapes]
  std::vector<std::uint8_t> no_room_;
  std::vector<std::uint8_t> no_faster_;
  std::vector<std::pair<std::int64_t, int>> with_room_;
};

}  // namespace pacml::env
