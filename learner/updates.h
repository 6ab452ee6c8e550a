#pragma once

#include <cstddef>
#include <cstdint>
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
  // How many decisions an update waits for, of all replicas together.
  [[nodiscard]] virtual std::int64_t needed() const = 0;
  // Takes in experience until at least `count` decisions are at hand. What comes in is added to
  // `record`, whatever the outcome. kTimeout: they did not come in time (what came is kept);
  // kStopped.
  [[nodiscard]] virtual Result<void> collect(std::int64_t count, const std::stop_token& stop,
                                             Deadline deadline, LearnerRecord& record) = 0;
  // Decisions at hand.
  [[nodiscard]] virtual std::int64_t collected() const = 0;
  // One update from what is at hand, which may be nothing where others bring something. On an
  // error, it stays at hand.
  [[nodiscard]] virtual Result<UpdateReport> learn() = 0;
  // Messages or batches that wait to be taken in.
  [[nodiscard]] virtual std::size_t queue_depth() const = 0;
};

}  // namespace pacml::learner
