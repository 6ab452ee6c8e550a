#pragma once

#include <stop_token>

#include "common/clock.h"
#include "common/result.h"
#include "learner/serving/experience_server.h"
#include "model/parameters.h"

namespace pacml::learner {

// Where a learner's experience comes from. Thread-confined to the learner thread.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // The next message. kTimeout; kStopped.
  [[nodiscard]] virtual Result<ReceivedSequences> next(std::stop_token stop, Deadline deadline) = 0;
  // A message has been taken in, or left out: somebody may send another.
  virtual void consumed(const ReceivedSequences& received) = 0;
  [[nodiscard]] virtual std::size_t queue_depth() const = 0;
};

// Where a learner's weights go. Thread-confined to the learner thread.
class ParametersSink {
 public:
  virtual ~ParametersSink() = default;
  virtual void publish(model::Parameters parameters) = 0;
};

// Both, over an ExperienceServer that another thread runs.
class ServedActors final : public SampleSource, public ParametersSink {
 public:
  explicit ServedActors(ExperienceServer& server) : server_(&server) {}
  Result<ReceivedSequences> next(std::stop_token stop, Deadline deadline) override {
    return server_->pop(std::move(stop), deadline);
  }
  void consumed(const ReceivedSequences& received) override { server_->consumed(received); }
  [[nodiscard]] std::size_t queue_depth() const override { return server_->queue_depth(); }
  void publish(model::Parameters parameters) override { server_->publish(std::move(parameters)); }

 private:
  ExperienceServer* server_;
};

}  // namespace pacml::learner
