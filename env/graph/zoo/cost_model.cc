#include "env/graph/zoo/cost_model.h"

#include <algorithm>
#include <cmath>

namespace pacml::env::zoo {

double time_ms(const Work& work, const Device& device) {
  const double half_peak = device.peak_half_flops > 0 ? device.peak_half_flops : device.peak_flops;
  const double compute = work.flops / (device.peak_flops * device.compute_efficiency) +
                         work.half_flops / (half_peak * device.compute_efficiency);
  const double memory = work.memory_bytes / (device.memory_bandwidth * device.memory_efficiency);
  const double seconds = std::max(compute, memory) + work.launches * device.launch_seconds +
                         work.decoded_images / device.decoded_images_per_second +
                         work.host_bytes / device.host_link_bandwidth;
  if (seconds == 0) return 0;
  return std::round((seconds + device.op_seconds) * 1e6) / 1e3;
}

Profile profile_of(const Network& network, const Device& device) {
  Profile profile;
  profile.model = network.model;
  for (const Layer& layer : network.layers) {
    const int id = static_cast<int>(profile.ops.size()) + 1;
    profile.ops.push_back(
        {.id = id,
         .description = layer.description,
         .forward_time = time_ms(layer.forward, device),
         .backward_time = time_ms(layer.backward, device),
         .activation_bytes = layer.element_bytes * network.batch * num_elements(layer.output),
         .parameter_bytes = kElementBytes * layer.parameters});
    for (const int input : layer.inputs) profile.dependencies.emplace_back(input + 1, id);
  }
  return profile;
}

}  // namespace pacml::env::zoo
