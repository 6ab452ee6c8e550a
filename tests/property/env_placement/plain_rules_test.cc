// The simulator of placements against plain statements of what it does, on graphs that are drawn
// with many equal times: the published algorithm word by word over sets of tuples, and, for
// corrected semantics, whether the schedule is the one that the rules allow.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/index.h"
#include "common/rng.h"
#include "env/placement/binding_chain.h"
#include "env/placement/families.h"
#include "env/placement/placement_simulator.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

double pick(Rng& rng, std::initializer_list<double> values) {
  return *(values.begin() + rng.below(values.size()));
}

OpGraphSpec draw_graph(Rng& rng) {
  OpGraphSpec spec;
  const std::size_t ops = 1 + rng.below(30);
  for (std::size_t v = 0; v < ops; ++v) {
    OpSpec op{.name = std::to_string(rng.below(1000)) + "_" + std::to_string(v),
              .cost_us = pick(rng, {0, 0, 5, 10, 10, 0.3}),
              .output_bytes = {}};
    for (std::uint64_t k = rng.below(3); k > 0; --k) {
      op.output_bytes.push_back(pick(rng, {0, 7600, 7600, 100}));
    }
    op.parameter_bytes = pick(rng, {0, 10});
    op.kept_bytes = pick(rng, {0, 0, 7});
    spec.ops.push_back(std::move(op));
  }
  for (std::size_t c = 1; c < ops; ++c) {
    for (std::uint64_t k = rng.below(4); k > 0; --k) {
      spec.edges.push_back({static_cast<std::int32_t>(rng.below(c)),
                            static_cast<std::int32_t>(rng.below(3)), static_cast<std::int32_t>(c)});
    }
  }
  return spec;
}

std::vector<std::int32_t> draw_placement(Rng& rng, std::size_t ops, std::size_t devices) {
  std::vector<std::int32_t> placement(ops);
  for (auto& d : placement) d = static_cast<std::int32_t>(rng.below(devices));
  return placement;
}

// One event of the published heap: time, kind, names, and what it is about.
using Event = std::tuple<double, int, std::string, std::string, std::size_t, std::size_t>;

struct Outcome {
  double runtime = 0;
  std::int64_t events = 0;
  std::vector<double> start;
};

// The published algorithm, one release at a time.
Outcome run_as_published(const OpGraphSpec& spec, const std::vector<std::int32_t>& place,
                         std::size_t devices, const PlacetoConstants& constants) {
  const std::size_t n = spec.ops.size();
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> consumers(n);  // with outputs
  std::vector<std::set<std::size_t>> parents(n);
  auto edges = spec.edges;
  std::ranges::stable_sort(edges, {}, &OpEdge::consumer);
  for (const OpEdge& e : edges) {
    auto& list = consumers[at(e.producer)];
    const auto known = std::ranges::find(list, at(e.consumer), [](auto& p) { return p.first; });
    if (known != list.end()) {
      known->second = at(e.output);
    } else {
      list.emplace_back(at(e.consumer), at(e.output));
    }
    parents[at(e.consumer)].insert(at(e.producer));
  }
  struct Waiting {
    double stamp;
    std::size_t op, output;
    std::vector<std::size_t> consumers;
  };
  constexpr int kRelease = 0;
  constexpr int kBus = 1;
  constexpr int kDevice = 2;
  Outcome out;
  out.start.assign(n, -1);
  std::set<Event> heap;
  std::vector<std::deque<std::size_t>> ready(devices);
  std::vector<std::deque<Waiting>> bus(devices);
  std::vector<bool> device_armed(devices);
  std::vector<bool> bus_armed(devices);
  const auto make_ready = [&](std::size_t v, double t) {
    const std::size_t d = at(place[v]);
    ready[d].push_back(v);
    if (!device_armed[d]) heap.insert({t, kDevice, std::to_string(d), "", d, 0});
    device_armed[d] = true;
  };
  for (std::size_t v = 0; v < n; ++v) {
    if (parents[v].empty()) make_ready(v, constants.init_offset_us);
  }
  std::vector<std::size_t> waiting(n);
  for (std::size_t v = 0; v < n; ++v) waiting[v] = parents[v].size();
  while (!heap.empty()) {
    const auto [t, kind, first, second, a, b] = *heap.begin();
    heap.erase(heap.begin());
    ++out.events;
    out.runtime = std::max(out.runtime, t);
    if (kind == kRelease) {
      if (--waiting[b] == 0) make_ready(b, t);
    } else if (kind == kDevice && ready[a].empty()) {
      device_armed[a] = false;
    } else if (kind == kBus && bus[a].empty()) {
      bus_armed[a] = false;
    } else if (kind == kDevice) {
      const std::size_t v = ready[a].front();
      ready[a].pop_front();
      const double cost = spec.ops[v].cost_us;
      out.start[v] = t;
      const double end = t + cost;
      heap.insert({cost == 0 ? end : end + constants.delta1_us, kDevice, first, "", a, 0});
      std::vector<Waiting> leaving;
      for (const auto& [c, k] : consumers[v]) {
        if (at(place[c]) == a) {
          heap.insert({end, kRelease, spec.ops[v].name, spec.ops[c].name, v, c});
          continue;
        }
        const auto known = std::ranges::find(leaving, k, &Waiting::output);
        if (known != leaving.end()) {
          known->consumers.push_back(c);
        } else {
          leaving.push_back({end, v, k, {c}});
        }
      }
      for (Waiting& w : leaving) {
        bus[a].push_back(w);
        if (!bus_armed[a]) heap.insert({end, kBus, first, "", a, 0});
        bus_armed[a] = true;
      }
    } else if (bus[a].front().stamp > t) {
      heap.insert({bus[a].front().stamp, kBus, first, "", a, 0});
    } else {
      const Waiting w = bus[a].front();
      bus[a].pop_front();
      const auto& sizes = spec.ops[w.op].output_bytes;
      const double bytes = w.output < sizes.size() ? sizes[w.output] : 0;
      const double arrive = t + bytes / constants.bytes_per_us;
      for (const std::size_t c : w.consumers) {
        heap.insert({arrive, kRelease, spec.ops[w.op].name, spec.ops[c].name, w.op, c});
      }
      heap.insert({arrive + constants.delta2_us, kBus, first, "", a, 0});
    }
  }
  return out;
}

TEST_CASE("runs are those of the published algorithm, to the last bit", "[property][placement]") {
  Rng rng(Seed{41});
  for (int round = 0; round < 3000; ++round) {
    const OpGraphSpec spec = draw_graph(rng);
    const std::size_t devices = 1 + rng.below(12);
    PlacetoConstants constants;
    if (rng.below(3) == 0) {
      constants = {.delta1_us = pick(rng, {0, 5}),
                   .delta2_us = pick(rng, {0, 5}),
                   .init_offset_us = pick(rng, {0, 3}),
                   .bytes_per_us = 1520};
    }
    PlacementSimulator simulator(std::make_shared<const OpGraph>(spec),
                                 std::make_shared<const DeviceSet>(
                                     DeviceSet::placeto(static_cast<int>(devices), constants)));
    CAPTURE(round);
    for (int run = 0; run < 3; ++run) {
      const auto placement = draw_placement(rng, spec.ops.size(), devices);
      const Outcome expected = run_as_published(spec, placement, devices, constants);
      REQUIRE(simulator.run(placement) == expected.runtime);
      REQUIRE(simulator.num_events() == expected.events);
      REQUIRE(std::vector<double>(simulator.start_us().begin(), simulator.start_us().end()) ==
              expected.start);
    }
  }
}

DevicesConfig draw_devices(Rng& rng) {
  DevicesConfig config;
  for (std::uint64_t d = 1 + rng.below(6); d > 0; --d) {
    config.corrected.devices.push_back({.name = "d" + std::to_string(d),
                                        .host = rng.below(2) == 0 ? "a" : "b",
                                        .speed = pick(rng, {1, 2, 0.5}),
                                        .memory_gb = 1,
                                        .launch_us = pick(rng, {0, 5})});
  }
  config.corrected.local = {
      .gb_per_s = 1.52,
      .latency_us = pick(rng, {0, 5}),
      .shared = rng.below(2) == 0 ? LinkSharing::kPair : LinkSharing::kDevice};
  config.corrected.remote = {.gb_per_s = 0.76,
                             .latency_us = 10,
                             .shared = rng.below(2) == 0 ? LinkSharing::kHost : LinkSharing::kPair};
  return config;
}

// An operation and which of its outputs.
using Output = std::pair<std::int32_t, std::int32_t>;

Output sent_by(const PlacementSimulator& run, const PlacedTransfer& transfer) {
  return {transfer.op, transfer.output - run.graph().first_output(at(transfer.op))};
}

// With corrected semantics, who needs which outputs: what the edges say, and nothing else.
std::set<Output> inputs_of(const OpGraphSpec& spec, std::size_t v) {
  std::set<Output> inputs;
  for (const OpEdge& e : spec.edges) {
    if (at(e.consumer) == v) inputs.emplace(e.producer, e.output);
  }
  return inputs;
}

std::set<std::int32_t> consumers_of(const OpGraphSpec& spec, const Output& output) {
  std::set<std::int32_t> consumers;
  for (const OpEdge& e : spec.edges) {
    if (Output{e.producer, e.output} == output) consumers.insert(e.consumer);
  }
  return consumers;
}

double bytes_of(const OpGraphSpec& spec, const Output& output) {
  const auto& sizes = spec.ops[at(output.first)].output_bytes;
  return at(output.second) < sizes.size() ? sizes[at(output.second)] : 0;
}

// When the operation had all that it needs where it is.
double ready_time(const PlacementSimulator& run, std::size_t v) {
  double ready = 0;
  for (const Output& input : inputs_of(run.graph().spec(), v)) {
    const auto p = at(input.first);
    double there = run.end_us()[p];
    if (run.device_of()[p] != run.device_of()[v]) {
      there = -1;
      for (const std::int32_t t : run.transfer_order()) {
        const PlacedTransfer& transfer = run.transfer(t);
        if (sent_by(run, transfer) == input && transfer.to == run.device_of()[v]) {
          REQUIRE(there == -1);  // one copy for each device
          there = transfer.arrive_us;
        }
      }
      REQUIRE(there >= 0);
    }
    ready = std::max(ready, there);
  }
  return ready;
}

void check_device(const PlacementSimulator& run, std::size_t device) {
  double free = 0;
  double last_ready = 0;
  for (const std::int32_t op : run.op_order()) {
    const auto v = at(op);
    if (at(run.device_of()[v]) != device) continue;
    const double ready = ready_time(run, v);
    REQUIRE(run.start_us()[v] == std::max(free, ready));
    REQUIRE(ready >= last_ready);
    last_ready = ready;
    const double cost = run.graph().cost_us()[v];
    REQUIRE(run.end_us()[v] == run.start_us()[v] + cost / run.devices().speed(device));
    free = run.end_us()[v] + (cost == 0 ? 0 : run.devices().launch_us(device));
  }
}

void check_channels(const PlacementSimulator& run) {
  const OpGraphSpec& spec = run.graph().spec();
  std::map<std::size_t, double> free;
  std::map<std::size_t, double> last_asked;
  std::set<std::pair<Output, std::int32_t>> sent;
  for (const std::int32_t t : run.transfer_order()) {
    const PlacedTransfer& transfer = run.transfer(t);
    const auto from = at(transfer.from);
    const auto to = at(transfer.to);
    const std::size_t channel = run.devices().channel(from, to);
    REQUIRE(run.device_of()[at(transfer.op)] == transfer.from);
    REQUIRE(transfer.asked_us == run.end_us()[at(transfer.op)]);
    REQUIRE(transfer.asked_us >= last_asked[channel]);
    REQUIRE(transfer.start_us == std::max(free[channel], transfer.asked_us));
    const Output output = sent_by(run, transfer);
    const double bytes = bytes_of(spec, output);
    REQUIRE(transfer.free_us == transfer.start_us + bytes / run.devices().bytes_per_us(from, to));
    REQUIRE(transfer.arrive_us == transfer.free_us + run.devices().latency_us(from, to));
    REQUIRE(sent.emplace(output, transfer.to).second);
    free[channel] = transfer.free_us;
    last_asked[channel] = transfer.asked_us;
  }
  // Every output to every other device with a consumer, and nothing else.
  std::set<std::pair<Output, std::int32_t>> wanted;
  for (const OpEdge& e : spec.edges) {
    const std::int32_t to = run.device_of()[at(e.consumer)];
    if (run.device_of()[at(e.producer)] != to) wanted.emplace(Output{e.producer, e.output}, to);
  }
  REQUIRE(sent == wanted);
}

TEST_CASE("with corrected semantics devices and links work in the order in which they were asked",
          "[property][placement]") {
  Rng rng(Seed{42});
  for (int round = 0; round < 2000; ++round) {
    const OpGraphSpec spec = draw_graph(rng);
    const auto devices = std::make_shared<const DeviceSet>(draw_devices(rng));
    PlacementSimulator simulator(std::make_shared<const OpGraph>(spec), devices);
    CAPTURE(round);
    for (int run = 0; run < 2; ++run) {
      const double runtime = simulator.run(draw_placement(rng, spec.ops.size(), devices->size()));
      REQUIRE(simulator.op_order().size() == spec.ops.size());
      for (std::size_t d = 0; d < devices->size(); ++d) check_device(simulator, d);
      check_channels(simulator);
      REQUIRE(runtime == *std::ranges::max_element(simulator.end_us()));
    }
  }
}

bool same(const PlacedTransfer& a, const PlacedTransfer& b) {
  return std::tie(a.op, a.output, a.from, a.to, a.asked_us, a.start_us, a.arrive_us, a.free_us) ==
         std::tie(b.op, b.output, b.from, b.to, b.asked_us, b.start_us, b.arrive_us, b.free_us);
}

TEST_CASE("going on from where a moved group begins to matter is a whole run, to the last bit",
          "[property][placement]") {
  Rng rng(Seed{45});
  int moved = 0;
  for (int round = 0; round < 1000; ++round) {
    OpGraphSpec spec = draw_graph(rng);
    for (OpSpec& op : spec.ops) {  // groups of several here and there
      if (rng.below(4) == 0) op.group = "g" + std::to_string(rng.below(4));
    }
    const auto graph = std::make_shared<const OpGraph>(spec);
    const auto devices = std::make_shared<const DeviceSet>(
        rng.below(2) == 0 ? DeviceSet::placeto(2 + static_cast<int>(rng.below(6)))
                          : DeviceSet(draw_devices(rng)));
    PlacementSimulator whole(graph, devices);
    PlacementSimulator resumed(graph, devices);
    CAPTURE(round);
    for (int series = 0; series < 3; ++series) {
      auto placement = draw_placement(rng, spec.ops.size(), devices->size());
      const std::size_t group = rng.below(graph->num_groups());
      for (int run = 0; run < 4; ++run) {
        const auto device = static_cast<std::int32_t>(rng.below(devices->size()));
        for (std::size_t v = 0; v < placement.size(); ++v) {
          if (at(graph->group_of()[v]) == group) placement[v] = device;
        }
        const double runtime =
            run == 0 ? resumed.run_for(placement, group) : resumed.rerun(placement);
        REQUIRE(runtime == whole.run(placement));
        REQUIRE(resumed.num_events() == whole.num_events());
        REQUIRE(std::ranges::equal(resumed.start_us(), whole.start_us()));
        REQUIRE(std::ranges::equal(resumed.end_us(), whole.end_us()));
        REQUIRE(std::ranges::equal(resumed.op_order(), whole.op_order()));
        REQUIRE(std::ranges::equal(resumed.transfer_order(), whole.transfer_order()));
        for (const std::int32_t t : whole.transfer_order()) {
          REQUIRE(same(resumed.transfer(t), whole.transfer(t)));
        }
        REQUIRE(std::ranges::equal(resumed.peak_bytes(), whole.peak_bytes()));
        ++moved;
      }
      static_cast<void>(resumed.run(draw_placement(rng, spec.ops.size(), devices->size())));
    }
  }
  CHECK(moved == 12000);
}

TEST_CASE("the binding chain goes from the last end to something that waited for nothing",
          "[property][placement]") {
  Rng rng(Seed{44});
  for (int round = 0; round < 1000; ++round) {
    const OpGraphSpec spec = draw_graph(rng);
    const bool is_placeto = rng.below(2) == 0;
    const auto devices = std::make_shared<const DeviceSet>(
        is_placeto ? DeviceSet::placeto(1 + static_cast<int>(rng.below(6)))
                   : DeviceSet(draw_devices(rng)));
    PlacementSimulator simulator(std::make_shared<const OpGraph>(spec), devices);
    CAPTURE(round);
    static_cast<void>(simulator.run(draw_placement(rng, spec.ops.size(), devices->size())));
    const auto chain = binding_groups(simulator);  // a group is an operation here
    REQUIRE(!chain.empty());
    const auto& end = simulator.end_us();
    REQUIRE(end[at(chain.front())] == *std::ranges::max_element(end));
    REQUIRE(simulator.start_us()[at(chain.back())] == 0);
    REQUIRE(std::set(chain.begin(), chain.end()).size() == chain.size());
    // Not starts: what goes through a host's port first may have begun later, elsewhere.
    for (std::size_t i = 1; i < chain.size(); ++i) {
      REQUIRE(end[at(chain[i])] <= end[at(chain[i - 1])]);
    }
  }
}

// What is held at one time, looked at wherever something changes.
double held_at(const PlacementSimulator& run, std::size_t device, double time) {
  const OpGraphSpec& spec = run.graph().spec();
  double bytes = 0;
  for (std::size_t v = 0; v < spec.ops.size(); ++v) {
    if (at(run.device_of()[v]) == device) {
      bytes += spec.ops[v].parameter_bytes * run.devices().bytes_per_parameter_byte();
      bytes += spec.ops[v].kept_bytes;
    }
    for (std::int32_t k = 0; k < 3; ++k) {  // as many outputs as are drawn
      const Output output{static_cast<std::int32_t>(v), k};
      const bool is_here = at(run.device_of()[v]) == device;
      double from = is_here ? run.start_us()[v] : -1;
      double until = is_here ? run.end_us()[v] : -1;
      for (const std::int32_t t : run.transfer_order()) {
        const PlacedTransfer& transfer = run.transfer(t);
        if (sent_by(run, transfer) != output) continue;
        if (is_here) until = std::max(until, transfer.free_us);
        if (at(transfer.to) == device) {
          from = transfer.start_us;
          until = transfer.arrive_us;
        }
      }
      if (from < 0) continue;
      for (const std::int32_t c : consumers_of(spec, output)) {
        if (at(run.device_of()[at(c)]) == device) until = std::max(until, run.end_us()[at(c)]);
      }
      if (from <= time && time < until) bytes += bytes_of(spec, output);
    }
  }
  return bytes;
}

TEST_CASE("with corrected semantics the peak is what is held at the worst time",
          "[property][placement]") {
  Rng rng(Seed{43});
  for (int round = 0; round < 300; ++round) {
    const OpGraphSpec spec = draw_graph(rng);
    const auto devices = std::make_shared<const DeviceSet>(draw_devices(rng));
    PlacementSimulator simulator(std::make_shared<const OpGraph>(spec), devices);
    static_cast<void>(simulator.run(draw_placement(rng, spec.ops.size(), devices->size())));
    std::set<double> times(simulator.start_us().begin(), simulator.start_us().end());
    for (const std::int32_t t : simulator.transfer_order()) {
      times.insert(simulator.transfer(t).start_us);
    }
    CAPTURE(round);
    for (std::size_t d = 0; d < devices->size(); ++d) {
      double expected = 0;
      for (const double time : times) expected = std::max(expected, held_at(simulator, d, time));
      REQUIRE(simulator.peak_bytes()[d] == Approx(expected));
    }
  }
}

}  // namespace
}  // namespace pacml::env
