#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

// What a decision service is asked: one JSON object a line. docs/decide.md has the whole schema.

namespace pacml::apps {

// Of all lines and answers.
inline constexpr int kDecisionSchema = 1;
// Longer names of jobs are refused.
inline constexpr std::size_t kLongestJobName = 256;

// What was asked for cannot be; `sentence` is for whoever asked.
[[nodiscard]] inline tl::unexpected<Error> wrong(std::string sentence) {
  return fail(Errc::kCorruptFrame, std::move(sentence));
}

// A job that runs, as whoever runs it tells.
struct RunningJob {
  std::string id;
  std::vector<int> servers;  // numbers; not empty
  double until = 0;          // when it is expected to be done
};

struct DecisionRequest {
  enum class Kind {
    kDescribe,  // what is served here?
    kArrive,    // a job arrives, and is started as decided
    kAsk,       // what would be decided, were it to arrive
    kFinish,    // a job has ended, and its servers are free
    kCluster,   // the cluster is as this says
  };
  Kind kind = Kind::kDescribe;
  std::string id;              // of kArrive, kAsk, kFinish
  std::optional<double> time;  // none: that of the request before
  // Of kArrive and kAsk. The limit is either a share of the job's sequential time or a time.
  std::string model;
  std::optional<double> limit;
  std::optional<double> limit_time;
  std::optional<std::int64_t> steps;
  // What runs instead of what ran so far, as far as is known; of kArrive, kAsk, kCluster.
  std::optional<std::vector<RunningJob>> running;
};

// Any bytes are safe to pass. kCorruptFrame: the detail is a sentence for whoever wrote the line;
// also then, `id` (where it is given) becomes the line's "id" if there is a right one, so that they
// know which. Thread-safe.
[[nodiscard]] Result<DecisionRequest> parse_decision_request(std::string_view line,
                                                             std::string* id = nullptr);

}  // namespace pacml::apps
