#pragma once

#include "env/agent.h"

namespace pacml::testing {

// Answers the same action, whatever it is shown.
class AlwaysAgent final : public env::Agent {
 public:
  explicit AlwaysAgent(int action) : action_(action) {}
  [[nodiscard]] int act(const env::Environment& /*environment*/) override { return action_; }

 private:
  int action_;
};

}  // namespace pacml::testing
