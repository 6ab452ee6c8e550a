#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"

namespace pacml::learner {

// Several learners that take every update together, each on its share of the batch. Every call
// below is made by all of them, in the same order, with the same lengths; it returns when all have
// made it, and leaves the same bits with each. Real: gloo_group.h. Thread-confined to the learner
// thread.
//
// Any error means that the group has come to its end: a replica died (kDisconnected) or did not
// call in time (kTimeout). What the call was to change is then unspecified.
class ReplicaGroup {
 public:
  virtual ~ReplicaGroup() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  // In 0 .. size() - 1; the leader is 0.
  [[nodiscard]] virtual std::size_t rank() const = 0;

  // What each has: `all` becomes [size, mine.size()], row r of rank r.
  [[nodiscard]] virtual Result<void> gather(std::span<const double> mine,
                                            std::vector<double>& all) = 0;
  // Every value becomes its sum over the replicas.
  [[nodiscard]] virtual Result<void> sum(std::span<float> values) = 0;
  // Everybody's bytes become the leader's.
  [[nodiscard]] virtual Result<void> broadcast(std::string& bytes) = 0;
};

// One learner without others: gathers what it gives, changes nothing, never fails. Immutable, and
// therefore for everybody.
[[nodiscard]] ReplicaGroup& alone();

}  // namespace pacml::learner
