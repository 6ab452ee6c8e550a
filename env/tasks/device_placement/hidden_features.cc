#include "env/tasks/device_placement/hidden_features.h"

#include <algorithm>
#include <utility>

namespace pacml::env {
namespace {

struct NamedColumns {
  std::vector<std::string> nodes;
  std::vector<std::string> globals;
  std::vector<std::string> devices;
};

NamedColumns columns_of(const DevicePlacementConfig& config) {
  const ObservationSpec spec = observation_spec(config);
  const auto names = [](const std::string& of, const std::vector<FeatureSpec>& features) {
    std::vector<std::string> all;
    for (const FeatureSpec& feature : features) all.push_back(of + feature.name);
    return all;
  };
  NamedColumns columns{.nodes = {}, .globals = names("global.", spec.globals), .devices = {}};
  if (config.shown == ShownPlacements::kPublished) {
    columns.nodes = {"group.visits", "group.is_focus", "group.start"};
    columns.nodes.resize(spec.slots.front().dynamic_width, "group.device");
    return columns;
  }
  columns.nodes = names("group.", group_dynamic_features());
  columns.devices = names("device.", spec.candidates.features);
  return columns;
}

}  // namespace

std::vector<std::string> names_of_features(const DevicePlacementConfig& config) {
  NamedColumns columns = columns_of(config);
  std::vector<std::string> all = std::move(columns.nodes);
  all.insert(all.end(), columns.globals.begin(), columns.globals.end());
  all.insert(all.end(), columns.devices.begin(), columns.devices.end());
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

HiddenFeatures::HiddenFeatures(const DevicePlacementConfig& config) {
  const NamedColumns named = columns_of(config);
  for (const auto& [names, columns] :
       {std::pair{&named.nodes, &nodes_}, std::pair{&named.globals, &globals_},
        std::pair{&named.devices, &devices_}}) {
    columns->width = names->size();
    for (std::size_t i = 0; i < names->size(); ++i) {
      const bool hidden = std::ranges::find(config.hidden, (*names)[i]) != config.hidden.end();
      if (hidden) columns->hidden.push_back(i);
    }
  }
}

void HiddenFeatures::hide(ShownPlacement& shown) const {
  nodes_.clear(shown.nodes);
  globals_.clear(shown.globals);
  devices_.clear(shown.devices);
}

void HiddenFeatures::Columns::clear(std::vector<float>& rows) const {
  for (const std::size_t column : hidden) {
    for (std::size_t i = column; i < rows.size(); i += width) rows[i] = 0;
  }
}

}  // namespace pacml::env
