#include "env/placement/placing_schedule.h"

#include <algorithm>

#include "common/index.h"

namespace pacml::env {

PlacingSchedule::PlacingSchedule(const PlacementProblem& problem)
    : problem_(&problem),
      device_of_(problem.num_groups(), -1),
      end_us_(problem.num_groups(), 0.0),
      sent_us_(problem.num_groups() * problem.num_devices(), -1.0),
      free_us_(problem.num_devices(), 0.0),
      channel_free_us_(problem.devices->num_channels(), 0.0) {}

double PlacingSchedule::arrival_us(std::size_t parent, std::size_t device) const {
  const auto from = at(device_of_[parent]);
  if (from == device) return end_us_[parent];
  const double sent = sent_us_[parent * problem_->num_devices() + device];
  if (sent >= 0) return sent;
  const DeviceSet& devices = *problem_->devices;
  return std::max(end_us_[parent], channel_free_us_[devices.channel(from, device)]) +
         problem_->groups->attributes()[parent].out_bytes / devices.bytes_per_us(from, device) +
         devices.latency_us(from, device);
}

PlacingSchedule::Slot PlacingSchedule::slot(std::size_t group, std::size_t device) const {
  Slot slot;
  for (const std::int32_t parent : problem_->groups->parents()[group]) {
    if (device_of_[at(parent)] < 0) continue;
    slot.ready_us = std::max(slot.ready_us, arrival_us(at(parent), device));
  }
  slot.start_us = std::max(slot.ready_us, free_us_[device]);
  slot.finish_us = slot.start_us +
                   problem_->groups->attributes()[group].cost_us / problem_->devices->speed(device);
  return slot;
}

void PlacingSchedule::place(std::size_t group, std::size_t device) {
  const DeviceSet& devices = *problem_->devices;
  for (const std::int32_t parent : problem_->groups->parents()[group]) {
    if (device_of_[at(parent)] < 0 || at(device_of_[at(parent)]) == device) continue;
    double& sent = sent_us_[at(parent) * devices.size() + device];
    if (sent >= 0) continue;
    sent = arrival_us(at(parent), device);
    const auto from = at(device_of_[at(parent)]);
    channel_free_us_[devices.channel(from, device)] = sent - devices.latency_us(from, device);
  }
  const Slot slot = this->slot(group, device);
  device_of_[group] = static_cast<std::int32_t>(device);
  end_us_[group] = slot.finish_us;
  free_us_[device] = slot.finish_us;
  length_us_ = std::max(length_us_, slot.finish_us);
}

}  // namespace pacml::env
