#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/graph/profile.h"
#include "env/graph/zoo/device.h"
#include "env/graph/zoo/network.h"

// The built-in models. With their default mini-batches on an A100 (float32, no tensor cores) a
// training step takes about 0.6 to 0.8 s for the four convolutional networks, a large part of it in
// preparing images, and about 0.1 s for GNMT. At the published setting (50 steps a job,
// milliseconds read as seconds, one job every 1000, 32 servers) the five offer a load of about 0.9.

namespace pacml::env {

// The names of those that are meant where none is named, sorted: the five whose load is above.
[[nodiscard]] std::vector<std::string> zoo_models();
// ... and of all, sorted.
[[nodiscard]] std::vector<std::string> all_zoo_models();

// The model's usual mini-batch. An unknown name here and below: UserError with the nearest one.
[[nodiscard]] int zoo_batch(std::string_view model);

// Layer by layer, on no device in particular. Pre: batch > 0.
[[nodiscard]] zoo::Network zoo_network(std::string_view model, int batch);

// As a profiler would have measured it. Pure. Pre: batch > 0.
[[nodiscard]] Profile zoo_profile(std::string_view model, const zoo::Device& device, int batch);
// With the usual mini-batch on an A100.
[[nodiscard]] Profile zoo_profile(std::string_view model);

}  // namespace pacml::env
