#pragma once

#include <array>

#include "common/config/fields.h"

namespace pacml::env {

// How a placement is simulated (docs/placement.md).
enum class PlacementSemantics {
  kPlaceto,    // as published, to the last bit: equal devices, one bus out of each
  kCorrected,  // links with bandwidth and latency, a transfer to each device, real memory
};
constexpr auto enum_names(PlacementSemantics /*unused*/) {
  return std::to_array<EnumName<PlacementSemantics>>(
      {{"placeto", PlacementSemantics::kPlaceto}, {"corrected", PlacementSemantics::kCorrected}});
}

}  // namespace pacml::env
