#include "env/placement/placement_simulator.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/index.h"
#include "env/placement/peak_memory.h"

namespace pacml::env {
namespace {

std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& permutation) {
  std::vector<std::int32_t> back(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    back[at(permutation[i])] = static_cast<std::int32_t>(i);
  }
  return back;
}

std::vector<std::int32_t> indices(std::size_t n) {
  std::vector<std::int32_t> list(n);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

// Devices in the order of their numbers as text, in which "10" comes before "2".
std::vector<std::int32_t> devices_by_text(std::size_t n) {
  auto list = indices(n);
  std::ranges::sort(list, {}, [](std::int32_t d) { return std::to_string(d); });
  return list;
}

}  // namespace

PlacementSimulator::PlacementSimulator(OpGraphPtr graph, DeviceSetPtr devices)
    : graph_(std::move(graph)),
      devices_(std::move(devices)),
      flows_(&graph_->flows(devices_->semantics())) {
  const std::size_t ops = graph_->num_ops();
  const bool is_placeto = devices_->semantics() == PlacementSemantics::kPlaceto;
  op_rank_ = indices(ops);
  device_of_rank_ = indices(devices_->size());
  if (is_placeto) {
    op_rank_.assign(graph_->name_rank().begin(), graph_->name_rank().end());
    device_of_rank_ = devices_by_text(devices_->size());
  }
  op_of_rank_ = inverse(op_rank_);
  device_rank_ = inverse(device_of_rank_);
  for (std::size_t v = 0; v < ops; ++v) {
    num_inputs_.push_back(static_cast<std::int32_t>(flows_->parents[v].size()));
  }
  for (const double bytes : graph_->output_bytes()) {
    transfer_us_.push_back(bytes / devices_->constants().bytes_per_us);
  }
  device_of_.resize(ops);
  is_watched_.resize(ops);
  state_.waiting.resize(ops);
  state_.last_release.resize(ops);
  state_.next_ready.resize(ops);
  state_.op_order.reserve(ops);
  state_.start_us.resize(ops);
  state_.end_us.resize(ops);
  state_.ready.resize(devices_->size());
  state_.channels.resize(devices_->num_channels());
  state_.asked.assign(graph_->num_outputs() * (is_placeto ? 1 : devices_->size()), 0);
  peak_bytes_.resize(devices_->size());
}

double PlacementSimulator::run(std::span<const std::int32_t> device_of) {
  place(device_of);
  begin();
  is_for_group_ = false;
  is_watching_ = false;
  return finish_run();
}

double PlacementSimulator::run_for(std::span<const std::int32_t> device_of, std::size_t group) {
  place(device_of);
  begin();
  is_for_group_ = true;
  has_kept_ = false;
  watch_parents(group);
  return finish_run();
}

double PlacementSimulator::rerun(std::span<const std::int32_t> device_of) {
  PACML_CHECK(is_for_group_, "a run that this one differs from in a group");
  place(device_of);
  is_watching_ = false;
  if (has_kept_) {
    state_ = kept_;
  } else {
    begin();
  }
  return finish_run();
}

double PlacementSimulator::finish_run() {
  has_peaks_ = false;
  const bool is_placeto = devices_->semantics() == PlacementSemantics::kPlaceto;
  runtime_us_ = is_placeto ? run_placeto() : run_corrected();
  PACML_CHECK(state_.op_order.size() == graph_->num_ops(), "an operation never ran");
  return runtime_us_;
}

void PlacementSimulator::place(std::span<const std::int32_t> device_of) {
  PACML_CHECK(device_of.size() == device_of_.size(), "a placement of another graph");
  const auto num_devices = static_cast<std::uint32_t>(devices_->size());
  std::uint32_t highest = 0;
  for (std::size_t v = 0; v < device_of.size(); ++v) {
    device_of_[v] = device_of[v];
    highest = std::max(highest, static_cast<std::uint32_t>(device_of[v]));
  }
  PACML_CHECK(highest < num_devices, "an operation is on a device that is not there");
}

void PlacementSimulator::begin() {
  std::ranges::copy(num_inputs_, state_.waiting.begin());
  std::ranges::fill(state_.last_release, Release{});
  std::ranges::fill(state_.ready, Queue{});
  std::ranges::fill(state_.channels, Queue{});
  state_.events.clear();
  state_.transfers.clear();
  state_.transfer_order.clear();
  state_.op_order.clear();
  state_.last_end_us = 0;
  state_.num_events = 0;
  ++state_.run;
  const bool is_placeto = devices_->semantics() == PlacementSemantics::kPlaceto;
  for (const std::int32_t v : graph_->sources()) {
    make_ready(v, is_placeto ? devices_->constants().init_offset_us : 0);
  }
}

void PlacementSimulator::watch_parents(std::size_t group) {
  std::ranges::fill(is_watched_, std::uint8_t{0});
  is_watching_ = true;
  const auto group_of = graph_->group_of();
  for (std::size_t v = 0; v < group_of.size(); ++v) {
    if (at(group_of[v]) != group) continue;
    // Where it is matters from the first moment on.
    if (graph_->parents()[v].empty()) is_watching_ = false;
    for (const std::int32_t parent : graph_->parents()[v]) is_watched_[at(parent)] = 1;
  }
}

void PlacementSimulator::watch() {
  const SimEvent& next = state_.events.top();
  if (next.kind() != kDevice) return;
  const std::int32_t op = state_.ready[at(device_of_rank_[next.a()])].head;
  if (op < 0 || is_watched_[at(op)] == 0) return;
  kept_ = state_;
  has_kept_ = true;
  is_watching_ = false;
}

// An operation is ready when its last input has released it, so that of all its releases one event
// is enough, posted when the last of them is known. Those whose time has come were taken from the
// published heap before any device or bus that could post another: the one that is posted comes
// behind them.
void PlacementSimulator::release(std::int32_t consumer, double time, std::uint64_t tie,
                                 double now) {
  Release& last = state_.last_release[at(consumer)];
  if (last.time <= now || time > last.time || (time == last.time && tie > last.tie)) {
    last = {time, tie};
  }
  if (--state_.waiting[at(consumer)] > 0) {
    ++state_.num_events;
    return;
  }
  state_.events.push(SimEvent::make(last.time, kReleased, last.tie,
                                    static_cast<std::uint64_t>(op_rank_[at(consumer)])));
}

void PlacementSimulator::make_ready(std::int32_t op, double now) {
  const auto device = at(device_of_[at(op)]);
  Queue& queue = state_.ready[device];
  state_.next_ready[at(op)] = -1;
  (queue.tail < 0 ? queue.head : state_.next_ready[at(queue.tail)]) = op;
  queue.tail = op;
  if (queue.is_armed) return;
  queue.is_armed = true;
  state_.events.push(
      SimEvent::make(now, kDevice, static_cast<std::uint64_t>(device_rank_[device])));
}

std::int32_t PlacementSimulator::take_ready(Queue& queue) {
  const std::int32_t op = queue.head;
  queue.head = state_.next_ready[at(op)];
  if (queue.head < 0) queue.tail = -1;
  return op;
}

void PlacementSimulator::ask_transfer(Queue& queue, std::size_t channel_rank,
                                      PlacedTransfer transfer) {
  const auto index = static_cast<std::int32_t>(state_.transfers.size());
  state_.transfers.push_back(transfer);
  (queue.tail < 0 ? queue.head : state_.transfers[at(queue.tail)].next) = index;
  queue.tail = index;
  if (queue.is_armed) return;
  queue.is_armed = true;
  state_.events.push(SimEvent::make(transfer.asked_us, kChannel, channel_rank));
}

std::int32_t PlacementSimulator::take_transfer(Queue& queue) {
  const std::int32_t index = queue.head;
  queue.head = state_.transfers[at(index)].next;
  if (queue.head < 0) queue.tail = -1;
  state_.transfer_order.push_back(index);
  return index;
}

double PlacementSimulator::run_placeto() {
  double now = 0;
  while (!state_.events.empty()) {
    if (is_watching_) watch();
    const SimEvent event = state_.events.pop();
    now = event.time;
    ++state_.num_events;
    switch (event.kind()) {
      case kReleased:
        make_ready(op_of_rank_[event.b()], now);
        break;
      case kChannel:
        send_on_bus(at(device_of_rank_[event.a()]), now);
        break;
      default:
        start_on_placeto(at(device_of_rank_[event.a()]), now);
    }
  }
  return now;
}

// Its outputs are queued for the bus now, stamped with its end: a device executes one operation
// after another, so that stamps never decrease.
void PlacementSimulator::start_on_placeto(std::size_t device, double now) {
  Queue& queue = state_.ready[device];
  if (queue.head < 0) {
    queue.is_armed = false;
    return;
  }
  const auto v = at(take_ready(queue));
  const double cost = graph_->cost_us()[v];
  const double end = now + cost;
  state_.op_order.push_back(static_cast<std::int32_t>(v));
  state_.start_us[v] = now;
  state_.end_us[v] = end;
  const auto device_rank = static_cast<std::uint64_t>(device_rank_[device]);
  const auto tie = static_cast<std::uint64_t>(op_rank_[v]);
  state_.events.push(SimEvent::make(cost == 0 ? end : end + devices_->constants().delta1_us,
                                    kDevice, device_rank));
  const auto consumers = flows_->consumers[v];
  const auto outputs = flows_->outputs[v];
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    if (at(device_of_[at(consumers[i])]) == device) {
      release(consumers[i], end, tie, now);
    } else if (std::uint64_t& asked = state_.asked[at(outputs[i])]; asked != state_.run) {
      asked = state_.run;
      ask_transfer(state_.channels[device], device_rank,
                   {.op = static_cast<std::int32_t>(v),
                    .output = outputs[i],
                    .from = static_cast<std::int32_t>(device),
                    .asked_us = end});
    }
  }
}

void PlacementSimulator::send_on_bus(std::size_t device, double now) {
  Queue& queue = state_.channels[device];
  if (queue.head < 0) {
    queue.is_armed = false;
    return;
  }
  const auto device_rank = static_cast<std::uint64_t>(device_rank_[device]);
  if (const double stamp = state_.transfers[at(queue.head)].asked_us; stamp > now) {
    state_.events.push(SimEvent::make(stamp, kChannel, device_rank));
    return;
  }
  PlacedTransfer& transfer = state_.transfers[at(take_transfer(queue))];
  transfer.start_us = now;
  transfer.arrive_us = now + transfer_us_[at(transfer.output)];
  transfer.free_us = transfer.arrive_us + devices_->constants().delta2_us;
  const auto tie = static_cast<std::uint64_t>(op_rank_[at(transfer.op)]);
  for (const std::int32_t c : flows_->output_consumers[at(transfer.output)]) {
    if (at(device_of_[at(c)]) != device) release(c, transfer.arrive_us, tie, now);
  }
  state_.events.push(SimEvent::make(transfer.free_us, kChannel, device_rank));
}

double PlacementSimulator::run_corrected() {
  while (!state_.events.empty()) {
    if (is_watching_) watch();
    const SimEvent event = state_.events.pop();
    ++state_.num_events;
    switch (event.kind()) {
      case kReleased:
        make_ready(static_cast<std::int32_t>(event.b()), event.time);
        break;
      case kChannel:
        send_on_channel(event.a(), event.time);
        break;
      case kDevice:
        start_on_corrected(event.a(), event.time);
        break;
      default:
        finish(event.a(), event.time);
    }
  }
  return state_.last_end_us;
}

void PlacementSimulator::start_on_corrected(std::size_t device, double now) {
  Queue& queue = state_.ready[device];
  if (queue.head < 0) {
    queue.is_armed = false;
    return;
  }
  const auto v = at(take_ready(queue));
  const double cost = graph_->cost_us()[v];
  const double end = now + cost / devices_->speed(device);
  state_.op_order.push_back(static_cast<std::int32_t>(v));
  state_.start_us[v] = now;
  state_.end_us[v] = end;
  state_.last_end_us = std::max(state_.last_end_us, end);
  state_.events.push(SimEvent::make(end, kFinished, v));
  state_.events.push(
      SimEvent::make(cost == 0 ? end : end + devices_->launch_us(device), kDevice, device));
}

void PlacementSimulator::finish(std::size_t op, double now) {
  const auto from = at(device_of_[op]);
  const auto consumers = flows_->consumers[op];
  const auto outputs = flows_->outputs[op];
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    const auto to = at(device_of_[at(consumers[i])]);
    if (to == from) {
      release(consumers[i], now, 0, now);
    } else if (std::uint64_t& asked = state_.asked[at(outputs[i]) * devices_->size() + to];
               asked != state_.run) {
      asked = state_.run;
      const std::size_t channel = devices_->channel(from, to);
      ask_transfer(state_.channels[channel], channel,
                   {.op = static_cast<std::int32_t>(op),
                    .output = outputs[i],
                    .from = static_cast<std::int32_t>(from),
                    .to = static_cast<std::int32_t>(to),
                    .asked_us = now});
    }
  }
}

void PlacementSimulator::send_on_channel(std::size_t channel, double now) {
  Queue& queue = state_.channels[channel];
  if (queue.head < 0) {
    queue.is_armed = false;
    return;
  }
  PlacedTransfer& transfer = state_.transfers[at(take_transfer(queue))];
  const auto from = at(transfer.from);
  const auto to = at(transfer.to);
  transfer.start_us = now;
  transfer.free_us =
      now + graph_->output_bytes()[at(transfer.output)] / devices_->bytes_per_us(from, to);
  transfer.arrive_us = transfer.free_us + devices_->latency_us(from, to);
  for (const std::int32_t c : flows_->output_consumers[at(transfer.output)]) {
    if (at(device_of_[at(c)]) == to) release(c, transfer.arrive_us, 0, now);
  }
  state_.events.push(SimEvent::make(transfer.free_us, kChannel, channel));
}

std::span<const double> PlacementSimulator::peak_bytes() {
  if (!has_peaks_) {
    if (devices_->semantics() == PlacementSemantics::kPlaceto) {
      placeto_peak_bytes(*this, peak_bytes_);
    } else {
      corrected_peak_bytes(*this, peak_bytes_);
    }
    has_peaks_ = true;
  }
  return peak_bytes_;
}

}  // namespace pacml::env
