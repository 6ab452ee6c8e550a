#include "env/placement/placement_simulator.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/check.h"
#include "common/index.h"

namespace pacml::env {

PlacementSimulator::PlacementSimulator(OpGraphPtr graph, DeviceSetPtr devices)
    : graph_(std::move(graph)),
      devices_(std::move(devices)),
      flows_(&graph_->flows(devices_->semantics())),
      rules_(placement_rules(*graph_, *devices_)) {
  const std::size_t ops = graph_->num_ops();
  for (std::size_t v = 0; v < ops; ++v) {
    num_inputs_.push_back(static_cast<std::int32_t>(flows_->parents[v].size()));
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
  state_.asked.assign(std::visit([](const auto& rules) { return rules.num_copies(); }, rules_), 0);
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
  runtime_us_ = std::visit([this](const auto& rules) { return execute(rules); }, rules_);
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
  state_.num_events = 0;
  ++state_.run;
  std::visit(
      [this](const auto& rules) {
        for (const std::int32_t v : graph_->sources()) {
          make_ready(rules, at(v), rules.first_ready_us());
        }
      },
      rules_);
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

std::int32_t PlacementSimulator::take_ready(Queue& queue) {
  const std::int32_t op = queue.head;
  queue.head = state_.next_ready[at(op)];
  if (queue.head < 0) queue.tail = -1;
  return op;
}

std::int32_t PlacementSimulator::take_transfer(Queue& queue) {
  const std::int32_t index = queue.head;
  queue.head = state_.transfers[at(index)].next;
  if (queue.head < 0) queue.tail = -1;
  state_.transfer_order.push_back(index);
  return index;
}

template <class Rules>
double PlacementSimulator::execute(const Rules& rules) {
  double now = 0;
  while (!state_.events.empty()) {
    if (is_watching_) watch(rules);
    const SimEvent event = state_.events.pop();
    now = event.time;
    ++state_.num_events;
    switch (event.kind()) {
      case kFinished:
        put_out(rules, event.a(), now, now);
        break;
      case kReleased:
        make_ready(rules, rules.ops().of_rank(event.b()), now);
        break;
      case kChannel:
        carry_next(rules, rules.channels().of_rank(event.a()), now);
        break;
      default:
        start_next(rules, rules.devices().of_rank(event.a()), now);
    }
  }
  return rules.runtime_us(now, state_.end_us);
}

template <class Rules>
void PlacementSimulator::watch(const Rules& rules) {
  const SimEvent& next = state_.events.top();
  if (next.kind() != kDevice) return;
  const std::int32_t op = state_.ready[rules.devices().of_rank(next.a())].head;
  if (op < 0 || is_watched_[at(op)] == 0) return;
  kept_ = state_;
  has_kept_ = true;
  is_watching_ = false;
}

template <class Rules>
void PlacementSimulator::start_next(const Rules& rules, std::size_t device, double now) {
  Queue& queue = state_.ready[device];
  if (queue.head < 0) {
    queue.is_armed = false;
    return;
  }
  const auto v = at(take_ready(queue));
  const double end = now + rules.duration_us(v, device);
  state_.op_order.push_back(static_cast<std::int32_t>(v));
  state_.start_us[v] = now;
  state_.end_us[v] = end;
  state_.events.push(
      SimEvent::make(graph_->cost_us()[v] == 0 ? end : end + devices_->launch_us(device), kDevice,
                     rules.devices().rank(device)));
  if constexpr (Rules::kAsksAhead) {
    put_out(rules, v, end, now);
  } else {
    state_.events.push(SimEvent::make(end, kFinished, v));
  }
}

template <class Rules>
void PlacementSimulator::put_out(const Rules& rules, std::size_t op, double end, double now) {
  const auto from = at(device_of_[op]);
  const auto consumers = flows_->consumers[op];
  const auto outputs = flows_->outputs[op];
  for (std::size_t i = 0; i < consumers.size(); ++i) {
    const auto to = at(device_of_[at(consumers[i])]);
    if (to == from) {
      release(rules, consumers[i], end, rules.producer_rank(op), now);
    } else if (std::uint64_t& asked = state_.asked[rules.copy(at(outputs[i]), to)];
               asked != state_.run) {
      asked = state_.run;
      ask_transfer(rules, devices_->channel(from, to),
                   {.op = static_cast<std::int32_t>(op),
                    .output = outputs[i],
                    .from = static_cast<std::int32_t>(from),
                    .to = rules.receiver(to),
                    .asked_us = end});
    }
  }
}

template <class Rules>
void PlacementSimulator::ask_transfer(const Rules& rules, std::size_t channel,
                                      PlacedTransfer transfer) {
  Queue& queue = state_.channels[channel];
  const auto index = static_cast<std::int32_t>(state_.transfers.size());
  state_.transfers.push_back(transfer);
  (queue.tail < 0 ? queue.head : state_.transfers[at(queue.tail)].next) = index;
  queue.tail = index;
  if (queue.is_armed) return;
  queue.is_armed = true;
  state_.events.push(SimEvent::make(transfer.asked_us, kChannel, rules.channels().rank(channel)));
}

template <class Rules>
void PlacementSimulator::carry_next(const Rules& rules, std::size_t channel, double now) {
  Queue& queue = state_.channels[channel];
  if (queue.head < 0) {
    queue.is_armed = false;
    return;
  }
  const std::size_t rank = rules.channels().rank(channel);
  if (const double asked = state_.transfers[at(queue.head)].asked_us; asked > now) {
    state_.events.push(SimEvent::make(asked, kChannel, rank));
    return;
  }
  PlacedTransfer& transfer = state_.transfers[at(take_transfer(queue))];
  transfer.start_us = now;
  rules.carry(transfer);
  for (const std::int32_t c : flows_->output_consumers[at(transfer.output)]) {
    if (!rules.reaches(transfer, device_of_[at(c)])) continue;
    release(rules, c, transfer.arrive_us, rules.producer_rank(at(transfer.op)), now);
  }
  state_.events.push(SimEvent::make(transfer.free_us, kChannel, rank));
}

// An operation is ready when its last input has released it, so that of all its releases one event
// is enough, posted when the last of them is known. Those whose time has come were taken from the
// published heap before any device or bus that could post another: the one that is posted comes
// behind them.
template <class Rules>
void PlacementSimulator::release(const Rules& rules, std::int32_t consumer, double time,
                                 std::uint64_t tie, double now) {
  Release& last = state_.last_release[at(consumer)];
  if (last.time <= now || time > last.time || (time == last.time && tie > last.tie)) {
    last = {time, tie};
  }
  if (--state_.waiting[at(consumer)] > 0) {
    ++state_.num_events;
    return;
  }
  state_.events.push(
      SimEvent::make(last.time, kReleased, last.tie, rules.ops().rank(at(consumer))));
}

template <class Rules>
void PlacementSimulator::make_ready(const Rules& rules, std::size_t op, double now) {
  const auto device = at(device_of_[op]);
  const auto index = static_cast<std::int32_t>(op);
  Queue& queue = state_.ready[device];
  state_.next_ready[op] = -1;
  (queue.tail < 0 ? queue.head : state_.next_ready[at(queue.tail)]) = index;
  queue.tail = index;
  if (queue.is_armed) return;
  queue.is_armed = true;
  state_.events.push(SimEvent::make(now, kDevice, rules.devices().rank(device)));
}

std::span<const double> PlacementSimulator::peak_bytes() {
  if (!has_peaks_) {
    std::visit([this](const auto& rules) { rules.find_peaks(*this, peak_bytes_); }, rules_);
    has_peaks_ = true;
  }
  return peak_bytes_;
}

}  // namespace pacml::env
