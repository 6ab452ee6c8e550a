#include "env/ramp/episode_log.h"

namespace pacml::env {

void ClusterStepStats::restart(double now) {
  static_cast<ClusterStepFigures&>(*this) = {.start_time = now};
  mounted_utilisation.clear();
  cluster_utilisation.clear();
  completed.clear();
  blocked.clear();
}

}  // namespace pacml::env
