#pragma once

#include <cstddef>
#include <stop_token>

#include "common/clock.h"
#include "common/result.h"
#include "learner/algorithm.h"
#include "learner/learner_record.h"

namespace pacml::learner {

// Turns experience into updates of an algorithm: the part of a learner that knows what experience
// looks like. Thread-confined to the learner thread.
class Updates {
 public:
  virtual ~Updates() = default;
  // Waits for the experience of one update and makes it. What came in meanwhile is added to
  // `record`, whatever the outcome; the update itself is not. kTimeout: the experience did not come
  // in time (what came is kept); kStopped.
  [[nodiscard]] virtual Result<UpdateReport> next(const std::stop_token& stop, Deadline deadline,
                                                  LearnerRecord& record) = 0;
  // Messages or batches that wait to be learned from.
  [[nodiscard]] virtual std::size_t queue_depth() const = 0;
};

}  // namespace pacml::learner
