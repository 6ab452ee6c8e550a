#include "apps/trace/placement_trace.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/trace/placeto_network.h"
#include "apps/trace/trace_number.h"
#include "common/result.h"
#include "env/placement/op_graph_json.h"
#include "env/placement/placement_problem.h"
#include "env/placement/placeto_mdp.h"

namespace pacml::apps {
namespace {

using env::OpGraph;
using nlohmann::json;

// Of features, in all steps of an episode.
constexpr std::size_t kMostRows = 10'000'000;

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

const json& member(const json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || it == object.end()) {
    throw UserError(std::string("the recording has no \"") + key + "\"");
  }
  return *it;
}

double to_double(const json& value, const char* what) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number <= 1e18)) {
    throw UserError(std::string(what) + ": expected a number from 0 to 1e18");
  }
  return number;
}

std::int32_t to_index(const json& value, std::size_t below, const char* what) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number < static_cast<double>(below)) || number != std::floor(number)) {
    throw UserError(std::string(what) + ": expected a whole number below " + std::to_string(below) +
                    ", found " + value.dump());
  }
  return static_cast<std::int32_t>(number);
}

std::vector<std::int32_t> to_indices(const json& list, std::size_t below, const char* what) {
  if (!list.is_array()) throw UserError(std::string(what) + ": expected a list");
  std::vector<std::int32_t> indices;
  for (const json& value : list) indices.push_back(to_index(value, below, what));
  return indices;
}

// Whole amounts of bytes as whole numbers.
json amount(double v) {
  constexpr double kExact = 9007199254740992.0;
  if (v == std::floor(v) && std::abs(v) < kExact) return static_cast<std::int64_t>(v);
  return v;
}

json amounts(std::span<const double> values) {
  json list = json::array();
  for (const double v : values) list.push_back(amount(v));
  return list;
}

env::PlacetoConstants constants_of(const json& recorded) {
  const json& c = member(recorded, "constants");
  return {.delta1_us = to_double(member(c, "delta1_us"), "delta1_us"),
          .delta2_us = to_double(member(c, "delta2_us"), "delta2_us"),
          .init_offset_us = to_double(member(c, "init_offset_us"), "init_offset_us"),
          .bytes_per_us = to_double(member(c, "bytes_per_us"), "bytes_per_us")};
}

struct Penalty {
  env::MemoryPenalty memory;
  explicit Penalty(const json& recorded) {
    memory.s_per_gb = to_double(member(recorded, "penalty"), "penalty");
    memory.limit_gb = to_double(member(recorded, "limit_gb"), "limit_gb");
    memory.cap_s = to_double(member(recorded, "cap_s"), "cap_s");
  }
};

class PlacementReplay {
 public:
  explicit PlacementReplay(const json& recorded)
      : recorded_(recorded),
        graph_(std::make_shared<const OpGraph>(env::op_graph_from_json(member(recorded, "graph")))),
        devices_(std::make_shared<const env::DeviceSet>(env::DeviceSet::placeto(
            to_index(member(recorded, "devices"), env::kMostDevices + 1, "devices"),
            constants_of(recorded)))),
        groups_(*graph_),
        simulator_(graph_, devices_) {}

  json run() {
    json out = recorded_;
    for (const char* part : {"runs", "episodes"}) {
      const auto it = out.find(part);
      if (it == out.end()) continue;
      if (!it->is_array()) throw UserError(std::string(part) + ": expected a list");
      for (json& entry : *it) {
        if (part == std::string("runs")) {
          replay_run(entry);
        } else {
          replay_episode(entry);
        }
      }
    }
    return out;
  }

 private:
  [[nodiscard]] json transfers() const {
    json list = json::array();
    for (const std::int32_t t : simulator_.transfer_order()) {
      const env::PlacedTransfer& transfer = simulator_.transfer(t);
      std::set<std::int32_t> to;
      for (const std::int32_t c : graph_->output_consumers()[at(transfer.output)]) {
        const std::int32_t device = simulator_.device_of()[at(c)];
        if (device != transfer.from) to.insert(device);
      }
      list.push_back({transfer.op, transfer.output - graph_->first_output(at(transfer.op)),
                      transfer.from, to, transfer.start_us, transfer.arrive_us, transfer.free_us});
    }
    return list;
  }

  void replay_run(json& entry) {
    const auto placement =
        to_indices(member(entry, "placement"), devices_->size(), "runs[].placement");
    if (placement.size() != graph_->num_ops()) {
      throw UserError("runs[].placement: expected a device for each operation");
    }
    const double runtime_us = simulator_.run(placement);
    entry["runtime_us"] = number(runtime_us);
    entry["start_us"] = simulator_.start_us();
    entry["end_us"] = simulator_.end_us();
    entry["peak_bytes"] = amounts(simulator_.peak_bytes());
    entry["events"] = simulator_.num_events();
    entry["transfers"] = transfers();
    const auto penalised = entry.find("penalised");
    if (penalised == entry.end()) return;
    for (json& row : *penalised) {
      row["runtime_s"] = env::penalised_runtime_s(runtime_us, simulator_.peak_bytes(), *devices_,
                                                  Penalty(row).memory);
    }
  }

  // Nodes of an episode are groups in the order in which it visits them.
  struct Episode {
    std::vector<std::int32_t> order;  // groups
    std::vector<env::GroupAttributes> attributes;
    std::vector<std::int32_t> device;
    std::vector<int> visits;
    std::vector<double> start_us;
    env::IndexLists children;
    env::IndexLists parents;
    bool with_memory = false;
    int peers = 0;
  };

  [[nodiscard]] Episode begin_episode(const json& entry) const {
    Episode e;
    const std::size_t nodes = groups_.size();
    e.order = to_indices(member(entry, "order"), nodes, "episodes[].order");
    e.device = to_indices(member(entry, "initial"), devices_->size(), "episodes[].initial");
    std::vector<std::int32_t> position(nodes, -1);
    for (std::size_t i = 0; i < e.order.size(); ++i) {
      position[at(e.order[i])] = static_cast<std::int32_t>(i);
    }
    if (e.order.size() != nodes || e.device.size() != nodes ||
        std::ranges::find(position, -1) != position.end()) {
      throw UserError("episodes[]: order and initial must name each group once");
    }
    std::vector<std::vector<std::int32_t>> children(nodes);
    std::vector<std::vector<std::int32_t>> parents(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      e.attributes.push_back(groups_.attributes()[at(e.order[i])]);
      for (const std::int32_t c : groups_.children()[at(e.order[i])]) {
        children[i].push_back(position[at(c)]);
      }
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      for (const std::int32_t c : children[i]) parents[at(c)].push_back(static_cast<int>(i));
    }
    e.children = env::IndexLists(children);
    e.parents = env::IndexLists(parents);
    e.visits.assign(nodes, 0);
    e.start_us.resize(nodes);
    e.with_memory = entry.value("use_mem", false);
    if (const auto it = entry.find("n_peers"); it != entry.end() && !it->is_null()) {
      e.peers = to_index(*it, nodes + 1, "episodes[].n_peers");
    }
    return e;
  }

  double simulate(Episode& e) {
    std::vector<std::int32_t> device_of(graph_->num_ops());
    for (std::size_t i = 0; i < e.order.size(); ++i) {
      for (const std::int32_t op : graph_->groups()[at(e.order[i])]) {
        device_of[at(op)] = e.device[i];
      }
    }
    const double runtime_us = simulator_.run(device_of);
    for (std::size_t i = 0; i < e.order.size(); ++i) {
      e.start_us[i] = simulator_.start_us()[at(graph_->groups()[at(e.order[i])].front())];
    }
    return runtime_us;
  }

  [[nodiscard]] json step(const Episode& e, const env::Reachability& reachable, std::size_t node,
                          std::size_t action, const PlacetoNetwork* network) const {
    const std::size_t nodes = e.order.size();
    const auto features = env::placeto_features({.attributes = e.attributes,
                                                 .start_us = e.start_us,
                                                 .device = e.device,
                                                 .visits = e.visits,
                                                 .current = node,
                                                 .num_devices = devices_->size(),
                                                 .with_memory = e.with_memory});
    PlacetoNetwork::Decision decision{.features = features, .node = node};
    for (std::size_t i = 0; i < nodes; ++i) {
      decision.ancestors.push_back(reachable.reaches(i, node) ? 1 : 0);
      decision.descendants.push_back(reachable.reaches(node, i) ? 1 : 0);
      decision.parallel.push_back(
          i != node && decision.ancestors[i] == 0 && decision.descendants[i] == 0 ? 1 : 0);
    }
    decision.parallel = env::nearest_parallel(decision.parallel, e.start_us, node, e.peers);
    json rows = json::array();
    const std::size_t width = env::placeto_width(devices_->size(), e.with_memory);
    for (std::size_t i = 0; i < nodes; ++i) {
      rows.push_back(std::span(features).subspan(i * width, width));
    }
    json out = {{"node", node},
                {"features", std::move(rows)},
                {"ancestors", decision.ancestors},
                {"descendants", decision.descendants},
                {"parallel", decision.parallel}};
    if (network != nullptr) {
      put_distribution(network->logits(decision, e.children, e.parents), action, out);
    }
    return out;
  }

  // Entropy as published: a thousandth is added under the logarithm.
  static void put_distribution(const std::vector<double>& logits, std::size_t action, json& out) {
    const double top = *std::ranges::max_element(logits);
    double sum = 0;
    for (const double z : logits) sum += std::exp(z - top);
    double entropy = 0;
    for (const double z : logits) {
      const double p = std::exp(z - top) / sum;
      entropy -= p * std::log(p + 1e-3);
    }
    json list = json::array();
    for (const double z : logits) list.push_back(number(z));
    out["logits"] = std::move(list);
    out["logp"] = number(std::log(std::exp(logits[action] - top) / sum));
    out["entropy"] = number(entropy);
  }

  void replay_episode(json& entry) {
    Episode e = begin_episode(entry);
    const auto actions =
        to_indices(member(entry, "actions"), devices_->size(), "episodes[].actions");
    std::unique_ptr<const PlacetoNetwork> network;
    if (entry.contains("weights")) {
      network = std::make_unique<const PlacetoNetwork>(
          entry.at("weights"), env::placeto_width(devices_->size(), e.with_memory),
          devices_->size(), to_index(member(entry, "rounds"), 1001, "episodes[].rounds"));
    }
    if (actions.size() * e.order.size() > kMostRows) {
      throw UserError("episodes[]: " + std::to_string(actions.size()) + " actions on " +
                      std::to_string(e.order.size()) + " groups show too much to write down");
    }
    const env::MemoryPenalty penalty = Penalty(member(entry, "penalty")).memory;
    const env::Reachability reachable(e.children);

    json runtimes = json::array();
    json peaks = json::array();
    std::vector<double> rewarded;
    const auto record = [&](double runtime_us) {
      runtimes.push_back(runtime_us);
      peaks.push_back(amounts(simulator_.peak_bytes()));
      rewarded.push_back(
          env::penalised_runtime_s(runtime_us, simulator_.peak_bytes(), *devices_, penalty));
    };
    json steps = json::array();
    record(simulate(e));
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const std::size_t node = i % e.order.size();
      steps.push_back(step(e, reachable, node, at(actions[i]), network.get()));
      e.device[node] = actions[i];
      ++e.visits[node];
      record(simulate(e));
    }
    put_attributes(e, entry);
    entry["runtime_us"] = std::move(runtimes);
    entry["peak_bytes"] = std::move(peaks);
    entry["reward_runtime_s"] = rewarded;
    entry["steps"] = std::move(steps);
    put_returns(rewarded, entry);
  }

  static void put_attributes(const Episode& e, json& entry) {
    json rows = json::array();
    for (const env::GroupAttributes& a : e.attributes) {
      rows.push_back({amount(a.cost_us), amount(a.out_bytes), amount(a.memory_bytes)});
    }
    entry["attributes"] = std::move(rows);
  }

  static void put_returns(const std::vector<double>& runtimes, json& entry) {
    std::vector<std::string> kinds{"best_later", "improvement"};
    if (const auto it = entry.find("returns"); it != entry.end() && it->is_object()) {
      kinds.clear();
      for (const auto& [kind, values] : it->items()) kinds.push_back(kind);
    }
    json returns = json::object();
    const auto gamma = entry.find("gamma");
    const double discount = gamma == entry.end() ? 1.0 : to_double(*gamma, "episodes[].gamma");
    if (discount > 1) throw UserError("episodes[].gamma: expected a number from 0 to 1");
    for (const std::string& kind : kinds) {
      returns[kind] = env::placeto_returns(kind, runtimes, discount);
    }
    entry["returns"] = std::move(returns);
  }

  const json& recorded_;
  env::OpGraphPtr graph_;
  env::DeviceSetPtr devices_;
  env::GroupGraph groups_;
  env::PlacementSimulator simulator_;
};

}  // namespace

json replay_placements(const json& recorded) {
  try {
    if (member(recorded, "format") != "pacml-placement/1") {
      throw UserError("the recording is not of format pacml-placement/1");
    }
    return PlacementReplay(recorded).run();
  } catch (const json::exception& error) {
    throw UserError(std::string("the recording is malformed: ") + error.what());
  }
}

}  // namespace pacml::apps
