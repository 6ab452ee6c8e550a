#include "apps/trace/placement_training.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "apps/trace/placement_episode.h"
#include "apps/trace/placement_json.h"
#include "apps/trace/placeto_network.h"
#include "common/index.h"
#include "common/json_text.h"
#include "common/result.h"
#include "env/placement/op_graph_json.h"
#include "env/placement/placeto_mdp.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

constexpr std::size_t kMostUpdates = 10'000;

// "1e-3 -> 1e-4 linear over 10 updates"
struct LinearSchedule {
  double start = 0;
  double end = 0;
  double updates = 1;

  LinearSchedule(const json& value, const char* key) {
    static const std::regex kForm(R"((\S{1,24}) -> (\S{1,24}) linear over (\d{1,9}) updates)");
    std::smatch parts;
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    try {
      if (std::regex_match(text, parts, kForm)) {
        start = std::stod(parts[1]);
        end = std::stod(parts[2]);
        updates = std::stod(parts[3]);
      }
    } catch (const std::exception&) {
      parts = {};
    }
    if (parts.empty() || !(updates >= 1)) {
      throw UserError(std::string("settings.") + key +
                      ": expected \"A -> B linear over N updates\"");
    }
  }
  // After `done` updates.
  [[nodiscard]] double at(double done) const {
    return end + (start - end) * (1 - std::min(done, updates) / updates);
  }
};

struct Settings {
  int rounds = 0;
  std::string reward;
  std::size_t window = 1;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double clip = 0;
  LinearSchedule learning_rate;
  LinearSchedule entropy_weight;

  explicit Settings(const json& s)
      : rounds(placement_index(placement_member(s, "rounds"), 1001, "settings.rounds")),
        reward(placement_member(s, "reward").get<std::string>()),
        window(at(placement_index(placement_member(s, "baseline_window"), 1'000'001,
                                  "settings.baseline_window"))),
        beta1(placement_number(placement_member(s, "beta1"), "settings.beta1")),
        beta2(placement_number(placement_member(s, "beta2"), "settings.beta2")),
        epsilon(placement_number(placement_member(s, "epsilon"), "settings.epsilon")),
        clip(placement_number(placement_member(s, "grad_clip"), "settings.grad_clip")),
        learning_rate(placement_member(s, "lr"), "lr"),
        entropy_weight(placement_member(s, "entropy_weight"), "entropy_weight") {
    if (window == 0) throw UserError("settings.baseline_window: must be at least 1");
    if (!(beta1 < 1 && beta2 < 1)) throw UserError("settings: beta1 and beta2 must be below 1");
    if (!(clip > 0)) throw UserError("settings.grad_clip: must be above 0");
  }
};

using Weights = PlacetoNetwork::Weights;

// Calls f with each number of `a` and those of the others at the same place.
template <class F, class... More>
void for_each_weight(Weights& a, F f, More&... more) {
  for (auto& [name, stack] : a) {
    for (std::size_t i = 0; i < stack.size(); ++i) {
      for (std::size_t k = 0; k < stack[i].matrix.size(); ++k) {
        f(stack[i].matrix[k], more.at(name)[i].matrix[k]...);
      }
      for (std::size_t k = 0; k < stack[i].bias.size(); ++k) {
        f(stack[i].bias[k], more.at(name)[i].bias[k]...);
      }
    }
  }
}

class TrainingReplay {
 public:
  explicit TrainingReplay(const json& recorded)
      : recorded_(recorded),
        settings_(placement_member(recorded, "settings")),
        graph_(std::make_shared<const env::OpGraph>(
            env::op_graph_from_json(placement_member(recorded, "graph")))),
        devices_(recorded_devices(recorded)),
        episode_(
            graph_, devices_,
            placement_indices(placement_member(recorded, "order"), graph_->num_groups(), "order")),
        network_(placement_member(recorded, "weights"), env::placeto_width(devices_->size(), false),
                 devices_->size(), settings_.rounds),
        mean_(network_.zeroes()),
        square_(network_.zeroes()),
        window_(episode_.num_nodes()) {}

  json run() {
    json out = recorded_;
    json& updates = out["updates"];
    if (!updates.is_array() || updates.size() > kMostUpdates) {
      throw UserError("updates: expected a list of at most " + std::to_string(kMostUpdates));
    }
    require_known_updates(updates.size());
    for (std::size_t u = 0; u < updates.size(); ++u) {
      replay_greedy(out, u + 1);
      const bool is_last = u + 1 == updates.size();
      replay_update(updates[u], static_cast<double>(u), is_last);
    }
    out["attributes"] = attributes_json(episode_);
    return out;
  }

 private:
  struct Step {
    std::vector<float> features;
    PlacetoNetwork::Decision decision;
    std::size_t action = 0;
    PlacetoChoice choice;
  };

  [[nodiscard]] std::vector<double> logits(const PlacetoNetwork::Decision& decision) const {
    return network_.logits(decision, episode_.children(), episode_.parents());
  }
  [[nodiscard]] double runtime_s() { return episode_.simulator().runtime_us() / 1e6; }

  [[nodiscard]] std::vector<std::int32_t> start_of(const json& update) const {
    return placement_indices(placement_member(update, "initial"), devices_->size(),
                             "updates[].initial");
  }

  // One visit of each node; R_0 .. R_T.
  std::vector<double> play(const std::vector<std::int32_t>& actions, std::vector<Step>& steps) {
    std::vector<double> runtimes{runtime_s()};
    for (const std::int32_t action : actions) {
      Step& step = steps.emplace_back();
      step.decision = episode_.decision(false, 0, step.features);
      step.action = at(action);
      step.choice = placeto_choice(logits(step.decision), step.action);
      episode_.place(action);
      runtimes.push_back(runtime_s());
    }
    return runtimes;
  }

  void replay_update(json& update, double done, bool is_last) {
    const auto actions = placement_indices(placement_member(update, "actions"), devices_->size(),
                                           "updates[].actions");
    if (actions.size() != episode_.num_nodes()) {
      throw UserError("updates[].actions: expected one for each group");
    }
    episode_.begin(start_of(update));
    std::vector<Step> steps;
    steps.reserve(actions.size());  // decisions borrow their features
    const auto runtimes = play(actions, steps);
    const auto returns = env::placeto_returns(settings_.reward, runtimes, 1.0);
    std::vector<double> baseline;
    std::vector<double> advantage;
    find_advantages(returns, baseline, advantage);
    const double entropy_weight = std::max(0.0, settings_.entropy_weight.at(done));
    const double rate = settings_.learning_rate.at(done);
    Weights gradient = network_.zeroes();
    std::vector<double> log_probability;
    std::vector<double> entropy;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      add_gradient(steps[i], static_cast<double>(static_cast<float>(advantage[i])), entropy_weight,
                   gradient);
      log_probability.push_back(steps[i].choice.log_probability);
      entropy.push_back(steps[i].choice.entropy);
    }
    double norm = 0;
    for_each_weight(gradient, [&](double& g) { norm += g * g; });
    norm = std::sqrt(norm);

    update["update"] = static_cast<std::int64_t>(done) + 1;
    update["reward_runtime_s"] = runtimes;
    update["returns"] = returns;
    update["baseline"] = baseline;
    update["advantage"] = advantage;
    update["logp"] = log_probability;
    update["entropy"] = entropy;
    update["lr"] = rate;
    update["entropy_weight"] = entropy_weight;
    update["grad_norm"] = norm;
    if (is_last || update.contains("gradient")) update["gradient"] = to_json(gradient);
    descend(gradient, std::max(norm / settings_.clip, 1.0), rate, done + 1);
    if (is_last || update.contains("weights_after")) {
      update["weights_after"] = to_json(network_.weights());
    }
  }

  void find_advantages(const std::vector<double>& returns, std::vector<double>& baseline,
                       std::vector<double>& advantage) {
    for (std::size_t i = 0; i < returns.size(); ++i) {
      const auto rounded = static_cast<double>(static_cast<float>(returns[i]));
      auto& window = window_[i];
      window.push_back(rounded);
      if (window.size() > settings_.window) window.pop_front();
      baseline.push_back(std::accumulate(window.begin(), window.end(), 0.0) /
                         static_cast<double>(window.size()));
      advantage.push_back(rounded - baseline.back());
    }
  }

  // Of -advantage * log p(action) - weight * entropy.
  void add_gradient(const Step& step, double advantage, double weight, Weights& gradient) const {
    const auto& p = step.choice.probabilities;
    std::vector<double> by_p;
    double mean = 0;
    for (const double q : p) {
      by_p.push_back(std::log(q + 1e-3) + q / (q + 1e-3));
      mean += q * by_p.back();
    }
    std::vector<double> by_logits;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const double chosen = j == step.action ? 1.0 : 0.0;
      by_logits.push_back(-advantage * (chosen - p[j]) + weight * p[j] * (by_p[j] - mean));
    }
    network_.add_gradient(step.decision, episode_.children(), episode_.parents(), by_logits,
                          gradient);
  }

  void descend(Weights& gradient, double divisor, double rate, double t) {
    const double b1 = settings_.beta1;
    const double b2 = settings_.beta2;
    const double step = rate * std::sqrt(1 - std::pow(b2, t)) / (1 - std::pow(b1, t));
    for_each_weight(
        network_.weights(),
        [&](double& w, double& g, double& m, double& v) {
          const double clipped = g / divisor;
          m = b1 * m + (1 - b1) * clipped;
          v = b2 * v + (1 - b2) * clipped * clipped;
          w -= step * m / (std::sqrt(v) + settings_.epsilon);
        },
        gradient, mean_, square_);
  }

  // An episode before an update that is none would keep what was recorded of it.
  void require_known_updates(std::size_t updates) const {
    const auto it = recorded_.find("greedy");
    if (it == recorded_.end()) return;
    for (const json& entry : *it) {
      const json& update = placement_member(entry, "before_update");
      const double number = update.is_number() ? update.get<double>() : 0;
      if (!(number >= 1 && number <= static_cast<double>(updates)) ||
          number != std::floor(number)) {
        throw UserError("greedy[].before_update: there is no update " + json_text(update));
      }
    }
  }

  // Episodes of the most probable actions that were recorded before this update.
  void replay_greedy(json& document, std::size_t update) {
    const auto it = document.find("greedy");
    if (it == document.end()) return;
    for (json& entry : *it) {
      if (placement_member(entry, "before_update") != update) continue;
      episode_.begin(start_of(document.at("updates").at(update - 1)));
      json actions = json::array();
      json runtimes = json::array({runtime_s()});
      for (std::size_t i = 0; i < episode_.num_nodes(); ++i) {
        std::vector<float> features;
        const auto scores = logits(episode_.decision(false, 0, features));
        const auto action =
            static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
        episode_.place(action);
        actions.push_back(action);
        runtimes.push_back(runtime_s());
      }
      entry["actions"] = std::move(actions);
      entry["runtime_s"] = std::move(runtimes);
    }
  }

  const json& recorded_;
  Settings settings_;
  env::OpGraphPtr graph_;
  env::DeviceSetPtr devices_;
  PlacementEpisode episode_;
  PlacetoNetwork network_;
  Weights mean_;
  Weights square_;
  std::vector<std::deque<double>> window_;  // [steps], the last returns
};

}  // namespace

json replay_placement_training(const json& recorded) { return TrainingReplay(recorded).run(); }

}  // namespace pacml::apps
