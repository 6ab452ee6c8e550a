#include "apps/trace/placement_trace.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/trace/placement_episode.h"
#include "apps/trace/placement_json.h"
#include "apps/trace/placement_training.h"
#include "apps/trace/placeto_network.h"
#include "apps/trace/trace_number.h"
#include "common/index.h"
#include "common/result.h"
#include "env/placement/op_graph_json.h"
#include "env/placement/placement_problem.h"
#include "env/placement/placeto_mdp.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

// That all steps of all episodes show together; each takes some tens of bytes.
constexpr double kMostNumbers = 1e8;

env::MemoryPenalty penalty_of(const json& recorded) {
  const auto number = [&](const char* key) {
    return placement_number(placement_member(recorded, key), key);
  };
  return {.s_per_gb = number("penalty"), .limit_gb = number("limit_gb"), .cap_s = number("cap_s")};
}

class PlacementReplay {
 public:
  explicit PlacementReplay(const json& recorded)
      : recorded_(recorded),
        graph_(std::make_shared<const env::OpGraph>(
            env::op_graph_from_json(placement_member(recorded, "graph")))),
        devices_(recorded_devices(recorded)),
        simulator_(graph_, devices_) {}

  json run() {
    json out = recorded_;
    check_size(out);
    for_each(out, "runs", [&](json& entry) { replay_run(entry); });
    for_each(out, "episodes", [&](json& entry) { replay_episode(entry); });
    return out;
  }

 private:
  template <class F>
  static void for_each(json& document, const char* part, F f) {
    const auto it = document.find(part);
    if (it == document.end()) return;
    if (!it->is_array()) throw UserError(std::string(part) + ": expected a list");
    for (json& entry : *it) f(entry);
  }

  // Each action shows all groups: their features, and which of three sets they are in.
  void check_size(json& document) const {
    const std::size_t width = env::placeto_width(devices_->size(), true) + 3;
    double numbers = 0;
    for_each(document, "episodes", [&](const json& entry) {
      numbers += static_cast<double>(placement_member(entry, "actions").size()) *
                 static_cast<double>(graph_->num_groups() * width);
    });
    if (numbers > kMostNumbers) {
      throw UserError("episodes: their actions on " + std::to_string(graph_->num_groups()) +
                      " groups and " + std::to_string(devices_->size()) +
                      " devices show too much to write down");
    }
  }

  [[nodiscard]] json transfers() const {
    json list = json::array();
    for (const std::int32_t t : simulator_.transfer_order()) {
      const env::PlacedTransfer& transfer = simulator_.transfer(t);
      std::set<std::int32_t> to;
      for (const std::int32_t c :
           graph_->flows(devices_->semantics()).output_consumers[at(transfer.output)]) {
        const std::int32_t device = simulator_.device_of()[at(c)];
        if (device != transfer.from) to.insert(device);
      }
      list.push_back({transfer.op, transfer.output - graph_->first_output(at(transfer.op)),
                      transfer.from, to, transfer.start_us, transfer.arrive_us, transfer.free_us});
    }
    return list;
  }

  void replay_run(json& entry) {
    const auto placement = placement_indices(placement_member(entry, "placement"), devices_->size(),
                                             "runs[].placement");
    if (placement.size() != graph_->num_ops()) {
      throw UserError("runs[].placement: expected a device for each operation");
    }
    const double runtime_us = simulator_.run(placement);
    entry["runtime_us"] = runtime_us;
    entry["start_us"] = simulator_.start_us();
    entry["end_us"] = simulator_.end_us();
    entry["peak_bytes"] = byte_amounts(simulator_.peak_bytes());
    entry["events"] = simulator_.num_events();
    entry["transfers"] = transfers();
    const auto penalised = entry.find("penalised");
    if (penalised == entry.end()) return;
    for (json& row : *penalised) {
      row["runtime_s"] =
          env::penalised_runtime_s(runtime_us, simulator_.peak_bytes(), *devices_, penalty_of(row));
    }
  }

  [[nodiscard]] json step(const PlacementEpisode& episode, bool with_memory, int peers,
                          std::size_t action, const PlacetoNetwork* network) const {
    std::vector<float> features;
    const auto decision = episode.decision(with_memory, peers, features);
    json rows = json::array();
    const std::size_t width = env::placeto_width(devices_->size(), with_memory);
    for (std::size_t i = 0; i < episode.num_nodes(); ++i) {
      rows.push_back(std::span(features).subspan(i * width, width));
    }
    json out = {{"node", decision.node},
                {"features", std::move(rows)},
                {"ancestors", decision.ancestors},
                {"descendants", decision.descendants},
                {"parallel", decision.parallel}};
    if (network == nullptr) return out;
    const auto logits = network->logits(decision, episode.children(), episode.parents());
    const PlacetoChoice choice = placeto_choice(logits, action);
    out["logits"] = json::array();
    for (const double z : logits) out["logits"].push_back(number(z));
    out["logp"] = number(choice.log_probability);
    out["entropy"] = number(choice.entropy);
    return out;
  }

  void replay_episode(json& entry) {
    PlacementEpisode episode(graph_, devices_,
                             placement_indices(placement_member(entry, "order"),
                                               graph_->num_groups(), "episodes[].order"));
    const auto actions = placement_indices(placement_member(entry, "actions"), devices_->size(),
                                           "episodes[].actions");
    const bool with_memory = entry.value("use_mem", false);
    int peers = 0;
    if (const auto it = entry.find("n_peers"); it != entry.end() && !it->is_null()) {
      peers = placement_index(*it, episode.num_nodes() + 1, "episodes[].n_peers");
    }
    std::unique_ptr<const PlacetoNetwork> network;
    if (entry.contains("weights")) {
      network = std::make_unique<const PlacetoNetwork>(
          entry.at("weights"), env::placeto_width(devices_->size(), with_memory), devices_->size(),
          placement_index(placement_member(entry, "rounds"), 1001, "episodes[].rounds"));
    }
    const env::MemoryPenalty penalty = penalty_of(placement_member(entry, "penalty"));

    json runtimes = json::array();
    json peaks = json::array();
    std::vector<double> rewarded;
    const auto record = [&] {
      env::PlacementSimulator& run = episode.simulator();
      runtimes.push_back(run.runtime_us());
      peaks.push_back(byte_amounts(run.peak_bytes()));
      rewarded.push_back(
          env::penalised_runtime_s(run.runtime_us(), run.peak_bytes(), *devices_, penalty));
    };
    json steps = json::array();
    episode.begin(placement_indices(placement_member(entry, "initial"), devices_->size(),
                                    "episodes[].initial"));
    record();
    for (const std::int32_t action : actions) {
      steps.push_back(step(episode, with_memory, peers, at(action), network.get()));
      episode.place(action);
      record();
    }
    entry["attributes"] = attributes_json(episode);
    entry["runtime_us"] = std::move(runtimes);
    entry["peak_bytes"] = std::move(peaks);
    entry["reward_runtime_s"] = rewarded;
    entry["steps"] = std::move(steps);
    put_returns(rewarded, entry);
  }

  static void put_returns(const std::vector<double>& runtimes, json& entry) {
    std::vector<std::string> kinds{"best_later", "improvement"};
    if (const auto it = entry.find("returns"); it != entry.end() && it->is_object()) {
      kinds.clear();
      for (const auto& [kind, values] : it->items()) kinds.push_back(kind);
    }
    json returns = json::object();
    const auto gamma = entry.find("gamma");
    const double discount =
        gamma == entry.end() ? 1.0 : placement_number(*gamma, "episodes[].gamma");
    if (discount > 1) throw UserError("episodes[].gamma: expected a number from 0 to 1");
    for (const std::string& kind : kinds) {
      returns[kind] = env::placeto_returns(kind, runtimes, discount);
    }
    entry["returns"] = std::move(returns);
  }

  const json& recorded_;
  env::OpGraphPtr graph_;
  env::DeviceSetPtr devices_;
  env::PlacementSimulator simulator_;
};

}  // namespace

json replay_placements(const json& recorded) {
  try {
    const json& format = placement_member(recorded, "format");
    if (format == "pacml-placement-training/1") return replay_placement_training(recorded);
    if (format != "pacml-placement/1") {
      throw UserError("the recording is not of format pacml-placement/1");
    }
    return PlacementReplay(recorded).run();
  } catch (const json::exception& error) {
    throw UserError(std::string("the recording is malformed: ") + error.what());
  }
}

}  // namespace pacml::apps
