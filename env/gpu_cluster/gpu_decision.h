#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pacml::env {

// What was decided about a job, as recordings have it. Value type.
struct GpuDecision {
  enum class Kind : std::uint8_t {
    kPlaced,     // on `gpus`
    kActed,      // an agent chose one of its actions
    kPreempted,  // its GPUs were taken away
  };

  double time_s = 0;
  std::int32_t job = 0;
  Kind kind = Kind::kPlaced;
  // kPlaced: ascending; and the rates (steps/s) of all jobs on its sockets and links from then on,
  // by job.
  std::vector<std::int32_t> gpus = {};
  std::vector<std::pair<std::int32_t, double>> rates = {};
  // kActed: which of how many actions; 0 waits, then come the other schedulers, then candidates.
  std::int32_t scheduler = 0;
  std::int64_t action = 0;
  std::int64_t num_actions = 0;
  // kPreempted: how often the job was until now.
  std::int32_t preemptions = 0;
};

}  // namespace pacml::env
