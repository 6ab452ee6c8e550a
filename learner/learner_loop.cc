#include "learner/learner_loop.h"

namespace pacml::learner {

Result<void> LearnerLoop::step(const std::stop_token& stop, Deadline deadline) {
  const auto report = updates_->next(stop, deadline, record_);
  if (!report) return tl::unexpected(report.error());
  record_.add(*report);
  if (report->applied) publish();
  return {};
}

}  // namespace pacml::learner
