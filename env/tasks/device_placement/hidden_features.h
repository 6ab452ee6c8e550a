#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "env/tasks/device_placement/config.h"
#include "env/tasks/device_placement/observation.h"

namespace pacml::env {

// What decisions show and may hide (DevicePlacementConfig::hidden): "group.start",
// "global.progress", "device.finish". What never changes of a group is its graph's, and stays.
// Pre: devices can be read. Pure.
[[nodiscard]] std::vector<std::string> names_of_features(const DevicePlacementConfig& config);

// The features that a configuration hides: zeroes in every decision, so that a policy trained
// without them says what they are worth. Immutable.
class HiddenFeatures {
 public:
  HiddenFeatures() = default;  // none
  // Pre: validate(config) finds no problem.
  explicit HiddenFeatures(const DevicePlacementConfig& config);
  void hide(ShownPlacement& shown) const;

 private:
  struct Columns {
    std::size_t width = 0;
    std::vector<std::size_t> hidden;
    void clear(std::vector<float>& rows) const;
  };
  Columns nodes_;
  Columns globals_;
  Columns devices_;
};

}  // namespace pacml::env
