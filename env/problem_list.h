#pragma once

#include <cstddef>
#include <string>

#include "common/ids.h"

namespace pacml::env {

// An environment each of whose episodes is about one of a list of problems, such as a graph on a
// set of devices. Environment::reset draws one of them; whoever wants each of them once says which.
class ProblemList {
 public:
  virtual ~ProblemList() = default;
  // 0: there is no such list with these settings, and every episode is about something new.
  [[nodiscard]] virtual std::size_t num_problems() const = 0;
  // For people. Pre: problem < num_problems(), here and below (PACML_CHECK).
  [[nodiscard]] virtual const std::string& problem_name(std::size_t problem) const = 0;
  // Starts an episode about that problem; everything else is a pure function of `seed`.
  virtual void reset(Seed seed, std::size_t problem) = 0;
};

}  // namespace pacml::env
