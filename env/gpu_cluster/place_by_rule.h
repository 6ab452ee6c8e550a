#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/config/fields.h"
#include "common/rng.h"
#include "env/gpu_cluster/gpu_candidates.h"

namespace pacml::env {

// Which of the candidates a job gets. All but `random` and the last two take one server before
// several before shared GPUs, and of shared ones those with the best joint speed; first_fit takes
// the first ones.
enum class PlacementRule {
  kFirstFit,
  kBestFit,            // the server with the fewest idle GPUs
  kLeastLoaded,        // ... with the most
  kTetris,             // ... that the job's wants align with best, in GPUs and host load
  kRandom,             // SplitMix64
  kLeastInterference,  // the least sum of slow-downs, its own and those of whom it disturbs
  kLeastDelay,         // the same in seconds
};
constexpr auto enum_names(PlacementRule /*unused*/) {
  return std::to_array<EnumName<PlacementRule>>(
      {{"first_fit", PlacementRule::kFirstFit},
       {"best_fit", PlacementRule::kBestFit},
       {"least_loaded", PlacementRule::kLeastLoaded},
       {"tetris", PlacementRule::kTetris},
       {"random", PlacementRule::kRandom},
       {"least_interference", PlacementRule::kLeastInterference},
       {"least_delay", PlacementRule::kLeastDelay}});
}

struct PlaceByRuleConfig {
  PlacementRule rule = PlacementRule::kFirstFit;
  double max_cost = 1e6;  // of the last two rules: a job waits rather than cost more
  CandidateRules candidates = {};
};

// The place that a rule gives a job. Value type; keeps its memory.
struct RulePlace {
  GpuCandidate::Kind kind = GpuCandidate::Kind::kOneServer;
  std::int32_t key = 0;            // as a candidate's
  std::vector<std::int32_t> gpus;  // ascending
};

// How well a job's wants align with what a server has left, in GPUs and host load. Pure.
[[nodiscard]] double rule_alignment(const GpuClusterState& state, std::int32_t job,
                                    std::int32_t server);

// Steele, Lea and Flood 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix64(state_ += kGoldenGamma); }

 private:
  std::uint64_t state_;
};

// Places jobs by a rule. It serves one state from its beginning, and copies of both go on together,
// since it remembers who found no room. Thread-confined.
class PlaceByRule {
 public:
  // The seed is of kRandom's draws.
  explicit PlaceByRule(const PlaceByRuleConfig& config, std::uint64_t seed = 0)
      : config_(config), finder_(config.candidates), random_(seed) {}

  // Where a job goes in a partition, or in all (GpuClusterState::kWholeCluster); false: it waits.
  bool find(GpuClusterState& state, std::int32_t job, int partition, RulePlace& out);

 private:
  std::uint64_t& remembered(const GpuClusterState& state, std::int32_t job, int partition);
  bool choose_server(const GpuClusterState& state, std::int32_t job, int partition,
                     RulePlace& out) const;
  static std::int32_t best_aligned(const GpuClusterState& state, std::int32_t job, int partition);
  bool choose_spread(const GpuClusterState& state, std::int32_t job, int partition, RulePlace& out);
  bool choose_shared(const GpuClusterState& state, std::int32_t job, int partition, RulePlace& out);
  double joint_speed(const GpuClusterState& state, std::int32_t job, std::size_t which);
  bool choose_of_all(GpuClusterState& state, std::int32_t job, RulePlace& out);
  bool stands_for_another(const GpuClusterState& state, const GpuCandidate& candidate);
  double cost_of(GpuClusterState& state, std::int32_t job, std::size_t which);
  void take(const GpuClusterState& state, std::int32_t job, std::size_t which, RulePlace& out);

  PlaceByRuleConfig config_;
  CandidateFinder finder_;
  SplitMix64 random_;
  // [partitions + 1, shapes]: the version at which there was no room, plus one.
  std::vector<std::uint64_t> full_since_;
  GpuCandidates candidates_;
  std::vector<DisturbedJob> disturbed_;
  std::vector<bool> seen_types_;
};

}  // namespace pacml::env
