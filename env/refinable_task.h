#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "env/agent.h"

namespace pacml::env {

// A task of which what an episode came to can be searched on from, such as a placement.
class RefinableTask {
 public:
  virtual ~RefinableTask() = default;
  // Plays an episode of `agent` in mind, improves what it came to with at most so many simulations,
  // and then does that. nullopt: as many as the task thinks fit for the problem. Pre: >= 1
  // (PACML_CHECK).
  [[nodiscard]] virtual std::unique_ptr<Agent> refined(
      std::unique_ptr<Agent> agent, std::optional<std::int64_t> simulations) const = 0;
};

}  // namespace pacml::env
