#pragma once

#include <cstddef>
#include <span>

namespace pacml::env {

class DeviceSet;
class OpGraph;
class PlacementSimulator;

// What an operation has on its device all the time: weights, with what an optimiser keeps of them,
// and what it keeps besides; in `placeto` nothing. Pure.
[[nodiscard]] double resident_bytes(const OpGraph& graph, const DeviceSet& devices, std::size_t op);

// Bytes at most at one time on each device in the simulator's last run. Pure but for `peak`,
// [devices], which they fill. O((V + transfers) log).

// As published: an operation's outputs are on its device from its start until a microsecond before
// the last consumer ends, by whole microseconds (rounded down), or until its start if that is
// later. What receivers hold and weights are not counted.
void placeto_peak_bytes(const PlacementSimulator& run, std::span<double> peak);

// Each output is on its device from the operation's start until the operation, its consumers there
// and its transfers have ended; and on each device that it is sent to from the transfer's start
// until the consumers there have ended; resident_bytes besides.
void corrected_peak_bytes(const PlacementSimulator& run, std::span<double> peak);

}  // namespace pacml::env
