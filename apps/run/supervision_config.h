#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/config/seconds.h"

namespace pacml::apps {

// How the processes of a run are looked after, wherever they are. What Slurm and Kubernetes are
// told follows from it, unless the site says otherwise.
struct SupervisionConfig {
  // For all processes of a run to stop in order, before what is left of them is killed; 1..1e6.
  Seconds stop_seconds = 60;
  // A process, or a thread of one, that gives no sign of life for so long hangs: /healthz says so,
  // and it is killed and started again; 5..1e6, 0: never.
  Seconds silence_seconds = 30;
  bool operator==(const SupervisionConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SupervisionConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("stop_seconds", c.stop_seconds);
  v("silence_seconds", c.silence_seconds);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const SupervisionConfig& config);

}  // namespace pacml::apps
