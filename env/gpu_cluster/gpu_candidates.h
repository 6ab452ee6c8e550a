#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "env/gpu_cluster/gpu_cluster_state.h"

namespace pacml::env {

// When a job may share GPUs with another one.
enum class SharingRule { kNever, kFallback, kAlways };
constexpr auto enum_names(SharingRule /*unused*/) {
  return std::to_array<EnumName<SharingRule>>({{"never", SharingRule::kNever},
                                               {"fallback", SharingRule::kFallback},
                                               {"always", SharingRule::kAlways}});
}

// Which places a job is offered.
struct CandidateRules {
  bool spread = true;                       // several servers for a job that would fit into one
  bool always_spread = false;               // ... even where one has room
  SharingRule share = SharingRule::kNever;  // fallback: where nothing else is offered
  double gain = 0;  // two jobs share if their speeds, as shares, add up to at least this
  bool operator==(const CandidateRules&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, CandidateRules>
void visit_fields(Config& c, Visitor&& v) {
  v("spread", c.spread);
  v("always_spread", c.always_spread);
  v("share", c.share);
  v("gain", c.gain);
}
[[nodiscard]] std::vector<std::string> validate(const CandidateRules& c);

// A place for a job.
struct GpuCandidate {
  enum class Kind : std::uint8_t { kOneServer, kSeveralServers, kShared };
  Kind kind = Kind::kOneServer;
  // The server; the rack, the pod or 0, whichever is the narrowest scope that has room; the job
  // that it shares with.
  std::int32_t key = 0;
  std::size_t first_gpu = 0;  // among the candidates' GPUs; nothing for kOneServer
};

// Places for one job, in the order in which agents number them.
class GpuCandidates {
 public:
  [[nodiscard]] std::span<const GpuCandidate> all() const { return candidates_; }
  [[nodiscard]] bool empty() const { return candidates_.empty(); }
  [[nodiscard]] std::size_t size() const { return candidates_.size(); }
  [[nodiscard]] const GpuCandidate& operator[](std::size_t i) const { return candidates_[i]; }
  void clear() {
    candidates_.clear();
    gpus_.clear();
  }

 private:
  friend class CandidateFinder;
  std::vector<GpuCandidate> candidates_;
  std::vector<std::int32_t> gpus_;
};

// n idle GPUs of a server, ascending: of the group that has the fewest idle GPUs and room, or of
// such a socket, or of the whole server; within, first of the group or the socket that has most.
// Pre: the server has as many.
void pick_gpus(const GpuClusterState& state, std::int32_t server, std::int32_t n,
               std::vector<std::int32_t>& out);

// Finds places for jobs. Remembers nothing between calls but memory. Thread-confined.
class CandidateFinder {
 public:
  explicit CandidateFinder(const CandidateRules& rules) : rules_(rules) {}

  [[nodiscard]] const CandidateRules& rules() const { return rules_; }
  // Of a partition's servers, or of all (GpuClusterState::kWholeCluster).
  void find(const GpuClusterState& state, std::int32_t job, int partition, GpuCandidates& out);
  // Adds those of one kind only, and at most so many; true: there is one.
  bool find_spread(const GpuClusterState& state, std::int32_t job, int partition, std::size_t most,
                   GpuCandidates& out);
  bool find_shared(const GpuClusterState& state, std::int32_t job, int partition,
                   GpuCandidates& out);
  // Whether several servers would be offered at all, but for `always_spread` only where one has
  // no room.
  [[nodiscard]] bool may_spread(const GpuClusterState& state, std::int32_t job) const;
  // The GPUs of one of the candidates, ascending. Borrowed until the next call of anything.
  [[nodiscard]] std::span<const std::int32_t> gpus(const GpuClusterState& state, std::int32_t job,
                                                   const GpuCandidates& from, std::size_t which);

 private:
  enum class Scope { kRack, kPod, kAll };
  struct Range {
    std::int32_t first;
    std::int32_t end;
  };
  [[nodiscard]] static Range servers(const GpuClusterState& state, int partition);
  bool spread_over(const GpuClusterState& state, std::int32_t job, Range range, std::int32_t key,
                   GpuCandidates& out);

  CandidateRules rules_;
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> picked_;
  std::vector<std::int32_t> partners_;
};

}  // namespace pacml::env
