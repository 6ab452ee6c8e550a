// The published network of Placeto and its training, as recorded, by the classes that act and
// train.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/trace/placement_episode.h"
#include "apps/trace/placement_json.h"
#include "apps/trace/trace_replay.h"
#include "env/placement/op_graph_json.h"
#include "learner/reinforce.h"
#include "model/fused_policy.h"
#include "model/layout.h"
#include "model/reference_policy.h"
#include "model/torch_network.h"
#include "model/torch_policy.h"
#include "tests/support/catch.h"
#include "tests/support/exact_output.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"
#include "tests/support/rounded_network.h"
#include "tests/support/rounding.h"
#include "tests/support/update_report.h"

namespace pacml {
namespace {

using nlohmann::json;
using testing::read_json;
namespace fs = std::filesystem;

std::vector<fs::path> reference_recordings() {
  return testing::recordings_in(testing::source_path("").parent_path().parent_path() / "shared" /
                                "golden_placement");
}

json own_network() {
  return read_json(testing::source_path("tests/golden/placement/q03_network.json"));
}

// `width` of a recording's rows; two of its features never change.
model::NetworkShape placeto_shape(int width, int rounds, int devices) {
  model::NetworkShape shape;
  shape.config.head = model::HeadKind::kPerceptron;
  shape.config.perceptron = {16 * width, 8 * width};
  shape.slots = {{2, 0, width - 2, true,
                  model::EncoderConfig{"groups", model::EncoderKind::kTwoWay, width, rounds}}};
  shape.actions = devices;
  return shape;
}

// What a recording calls layer i of a list, and what the layout does.
std::vector<std::pair<std::string, std::string>> names_of_layers() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [recorded, ours, layers] : {std::tuple{"node", "base", 3},
                                               {"down_f", "predecessors.term", 2},
                                               {"down_g", "predecessors.total", 2},
                                               {"up_f", "successors.term", 2},
                                               {"up_g", "successors.total", 2},
                                               {"anc_f", "ancestors.term", 2},
                                               {"anc_g", "ancestors.total", 2},
                                               {"desc_f", "descendants.term", 2},
                                               {"desc_g", "descendants.total", 2},
                                               {"par_f", "others.term", 2},
                                               {"par_g", "others.total", 2}}) {
    for (int i = 0; i < layers; ++i) {
      const std::string index = std::to_string(i);
      names.emplace_back("/" + std::string(recorded) + "/" + index,
                         "encoder.groups." + std::string(ours) + index);
    }
  }
  names.emplace_back("/head/0", "first");
  names.emplace_back("/head/1", "second");
  names.emplace_back("/head/2", "logits");
  return names;
}

// Recorded matrices are [in, out]. What is not recorded, the value's layer, is 0.
std::vector<float> in_our_order(const json& weights, const model::ParameterLayout& layout) {
  model::Parameters out{PolicyVersion{0}, layout.hash, std::vector<float>(layout.total, 0.0F)};
  for (const auto& [recorded, ours] : names_of_layers()) {
    const json& layer = weights.at(json::json_pointer(recorded));
    const auto matrix = view(out, layout, ours + ".weight");
    const auto bias = view(out, layout, ours + ".bias");
    const std::size_t inputs = layer.at(0).size();
    REQUIRE(matrix.size() == inputs * bias.size());
    REQUIRE(layer.at(1).size() == bias.size());
    for (std::size_t o = 0; o < bias.size(); ++o) {
      bias[o] = layer.at(1).at(o).get<float>();
      for (std::size_t i = 0; i < inputs; ++i) {
        matrix[o * inputs + i] = layer.at(0).at(i).at(o).get<float>();
      }
    }
  }
  return out.values;
}

env::GraphFeaturesPtr graph_of(const env::IndexLists& children, std::span<const float> rows,
                               std::size_t width) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = static_cast<int>(children.size());
  graph->node_width = 2;
  for (std::size_t v = 0; v < children.size(); ++v) {
    graph->node_features.insert(graph->node_features.end(), {rows[v * width], rows[v * width + 1]});
    for (const std::int32_t child : children[v]) {
      graph->edge_src.push_back(static_cast<std::int32_t>(v));
      graph->edge_dst.push_back(child);
    }
  }
  graph->num_edges = static_cast<int>(graph->edge_src.size());
  graph->hash = env::hash_features(*graph);
  return graph;
}

void append(Observations& out, std::span<const float> rows, std::size_t width, std::size_t focus) {
  const auto nodes = static_cast<std::uint32_t>(rows.size() / width);
  const std::vector changing{nodes};
  const ObservationRow row = out.append({.candidates = 0, .nodes = changing});
  row.graph[0] = 0;
  row.focus[0] = static_cast<std::uint32_t>(focus);
  for (std::size_t v = 0; v < nodes; ++v) {
    std::ranges::copy(rows.subspan(v * width + 2, width - 2),
                      row.node_features.begin() + static_cast<std::ptrdiff_t>(v * (width - 2)));
  }
  std::ranges::fill(row.mask, std::uint8_t{1});
}

apps::PlacementEpisode episode_of(const json& recorded, const json& order) {
  const auto graph =
      std::make_shared<const env::OpGraph>(env::op_graph_from_json(recorded.at("graph")));
  return {graph, apps::recorded_devices(recorded), order.get<std::vector<std::int32_t>>()};
}

// How many logits were compared.
std::size_t compare_logits(const json& recorded) {
  std::size_t compared = 0;
  for (const json& episode : recorded.at("episodes")) {
    if (!episode.contains("weights")) continue;
    const json& steps = episode.at("steps");
    const auto width = steps.at(0).at("features").at(0).size();
    const auto devices = recorded.at("devices").get<int>();
    const model::NetworkShape shape =
        placeto_shape(static_cast<int>(width), episode.at("rounds").get<int>(), devices);
    Observations batch(model::input_shape(shape));
    std::vector<float> first;
    std::vector<std::vector<float>> said;  // logits of each step, and the value, which is 0
    for (const json& step : steps) {
      std::vector<float> rows;
      for (const json& row : step.at("features")) {
        const auto values = row.get<std::vector<float>>();
        rows.insert(rows.end(), values.begin(), values.end());
      }
      if (first.empty()) first = rows;
      append(batch, rows, width, step.at("node").get<std::size_t>());
      said.push_back(step.at("logits").get<std::vector<float>>());
      said.back().push_back(0.0F);
    }
    const auto children = episode_of(recorded, episode.at("order")).children();
    const std::vector graphs{graph_of(children, first, width)};
    const auto layout = model::make_layout(shape);
    const model::Parameters parameters{PolicyVersion{0}, layout.hash,
                                       in_our_order(episode.at("weights"), layout)};
    std::vector<Expected> expected;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      expected.push_back(model::expected_row(shape, parameters, graphs, batch, b));
      CHECK(worst_error(said[b], expected[b]) <= 1);
    }
    std::vector<std::unique_ptr<model::Policy>> policies;
    policies.push_back(model::make_reference_policy(shape));
    policies.push_back(std::make_unique<model::TorchPolicy>(shape));
    for (const auto path : {model::KernelPath::kPortable, model::KernelPath::kAvx2}) {
      if (model::is_supported(path)) policies.push_back(model::make_fused_policy(shape, path));
    }
    for (const auto& policy : policies) {
      policy->set_graphs(graphs);
      policy->set_parameters(parameters);
      model::PolicyOutput out;
      policy->evaluate(batch, out);
      const std::size_t actions = batch.num_candidates();
      REQUIRE(out.logits.size() == batch.size() * actions);
      for (std::size_t b = 0; b < batch.size(); ++b) {
        const auto logits = std::span(out.logits).subspan(b * actions, actions);
        std::vector<float> row(logits.begin(), logits.end());
        row.push_back(out.values[b]);
        CHECK(worst_error(row, expected[b]) <= 1);
        compared += actions;
      }
    }
  }
  return compared;
}

TEST_CASE("recorded weights say what the published network said, in every implementation",
          "[golden][placement]") {
  CHECK(compare_logits(own_network()) >= 36);
}

TEST_CASE("the reference's networks say what they said, where present", "[golden][placement]") {
  std::size_t compared = 0;
  for (const fs::path& file : reference_recordings()) {
    const json recorded = read_json(file);
    if (recorded.at("format") != "pacml-placement/1" || !recorded.contains("episodes")) continue;
    INFO(file.filename().string());
    compared += compare_logits(recorded);
  }
  if (compared == 0) {
    WARN("this test is skipped: this machine has no reference recordings beside the project");
    return;
  }
  CHECK(compared >= 300);
}

learner::ScheduleConfig linear_schedule(double start, double end, std::int64_t decisions) {
  return {learner::ScheduleKind::kLinear, start, end, learner::ScheduleSpan::kDecisions, decisions};
}

// REINFORCE as published, with the schedules of recorded training.
learner::ReinforceConfig published_config(const json& settings, std::int64_t steps) {
  REQUIRE(settings.at("lr") == "1e-3 -> 1e-4 linear over 10 updates");
  REQUIRE(settings.at("entropy_weight") == "1 -> 0 linear over 8 updates");
  learner::ReinforceConfig config;
  config.baseline_window = settings.at("baseline_window").get<std::int64_t>();
  config.advantage_scaling = learner::AdvantageScaling::kNone;
  config.entropy_cost = linear_schedule(1, 0, 8 * steps);
  config.normalise_entropy = false;
  config.entropy_offset = 1e-3;
  config.loss_reduction = learner::LossReduction::kSum;
  config.learning_rate = linear_schedule(1e-3, 1e-4, 10 * steps);
  config.optimizer.beta1 = settings.at("beta1").get<double>();
  config.optimizer.beta2 = settings.at("beta2").get<double>();
  config.optimizer.epsilon = settings.at("epsilon").get<double>();
  config.optimizer.epsilon_hat = true;
  config.optimizer.gradient_clip = settings.at("grad_clip").get<double>();
  return config;
}

// An update's episode, whose rewards add up to its recorded returns.
learner::TrainBatch batch_of(const json& update, apps::PlacementEpisode& episode,
                             const model::NetworkShape& shape, std::size_t width) {
  const auto actions = update.at("actions").get<std::vector<std::int32_t>>();
  const auto returns = update.at("returns").get<std::vector<double>>();
  learner::TrainBatch batch;
  batch.sequences = {{0, actions.size()}};
  batch.first_steps = {0};
  batch.observations = Observations(model::input_shape(shape));
  batch.actions = actions;
  episode.begin(update.at("initial").get<std::vector<std::int32_t>>());
  for (std::size_t i = 0; i < actions.size(); ++i) {
    std::vector<float> rows;
    const auto decision = episode.decision(false, 0, rows);
    append(batch.observations, rows, width, decision.node);
    episode.place(actions[i]);
    const bool is_last = i + 1 == actions.size();
    batch.rewards.push_back(static_cast<float>(returns[i] - (is_last ? 0 : returns[i + 1])));
    batch.terminated.push_back(is_last ? 1 : 0);
    batch.next_row.push_back(static_cast<std::uint32_t>(is_last ? i : i + 1));
  }
  batch.ends = batch.terminated;
  batch.behaviour_log_probs.assign(actions.size(), -1.0F);
  batch.elapsed.assign(actions.size(), 1.0F);
  batch.policy_versions.assign(actions.size(), PolicyVersion{0});
  return batch;
}

// Of -advantage * log p(action) - weight * entropy by the logits of an update's decision i.
std::vector<float> slopes_of(std::span<const double> logits, const learner::TrainBatch& batch,
                             const json& update, std::size_t i) {
  const double cost = update.at("entropy_weight").get<double>();
  const double advantage = update.at("advantage").at(i).get<double>();
  const double greatest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - greatest);
  std::vector<double> probabilities;
  std::vector<double> slopes;
  double mean = 0;
  for (const double z : logits) {
    const double p = std::exp(z - greatest) / sum;
    probabilities.push_back(p);
    slopes.push_back(std::log(p + 1e-3) + p / (p + 1e-3));
    mean += p * slopes.back();
  }
  std::vector<float> out;
  for (std::size_t d = 0; d < logits.size(); ++d) {
    const double p = probabilities[d];
    const double chosen = static_cast<std::size_t>(batch.actions[i]) == d ? 1 : 0;
    out.push_back(static_cast<float>(-advantage * (chosen - p) + cost * p * (slopes[d] - mean)));
  }
  return out;
}

// By LibTorch's network.
std::vector<float> gradient_of(model::TorchNetwork& network, const learner::TrainBatch& batch,
                               const json& update) {
  const auto outputs = network.forward(batch.observations);
  const auto devices = static_cast<std::size_t>(network.shape().actions);
  std::vector<float> by_logits;
  for (std::size_t i = 0; i < batch.decisions(); ++i) {
    const auto logits = outputs.logits.subspan(i * devices, devices);
    const auto slopes =
        slopes_of(std::vector<double>(logits.begin(), logits.end()), batch, update, i);
    by_logits.insert(by_logits.end(), slopes.begin(), slopes.end());
  }
  const std::vector<float> by_values(outputs.values.size(), 0.0F);
  const auto gradient = network.backward(by_logits, by_values);
  return {gradient.begin(), gradient.end()};
}

// By what says how far rounding takes it.
Expected expected_gradient(const model::TorchNetwork& network,
                           const std::vector<env::GraphFeaturesPtr>& graphs,
                           const learner::TrainBatch& batch, const json& update) {
  const auto weights = network.parameters();
  const model::Parameters parameters{PolicyVersion{0}, network.layout().hash,
                                     std::vector<float>(weights.begin(), weights.end())};
  return expected_within_rounding([&](Rounding& rounding) {
    model::RoundedNetwork rounded(network.shape(), parameters, rounding);
    std::vector<model::RoundedNetwork::Decision> decisions;
    std::vector<float> by_logits;
    for (std::size_t i = 0; i < batch.decisions(); ++i) {
      decisions.push_back(rounded.decide_perceptron(batch.observations, i, graphs));
      std::vector<double> logits;
      for (const auto logit : decisions.back().logits) logits.push_back(rounded.at(logit));
      const auto slopes = slopes_of(logits, batch, update, i);
      by_logits.insert(by_logits.end(), slopes.begin(), slopes.end());
    }
    const std::vector<float> by_values(decisions.size(), 0.0F);
    return rounded.gradients(decisions, batch.observations, by_logits, by_values);
  });
}

// The same with gradient and weights after each update, by what recomputes recordings in double
// precision (placement_test.cc holds that against the recordings).
json with_all_weights(json training) {
  for (json& update : training.at("updates")) {
    update["gradient"] = nullptr;
    update["weights_after"] = nullptr;
  }
  return apps::replay_trace(training, "");
}

// Weights after updates. Where all of a weight's gradients were but rounding, Adam has nevertheless
// taken whole steps by them: so does the reference when it computes in single precision. Such
// weights are only held to such steps.
class WeightsAfter {
 public:
  explicit WeightsAfter(std::size_t weights) : has_learned_(weights, false) {}

  void require(std::span<const float> ours, std::span<const float> recorded,
               std::span<const float> gradient, double learning_rate) {
    const auto greatest = [](std::span<const float> values) {
      double most = 0;
      for (const float x : values) most = std::max(most, std::abs(double{x}));
      return most;
    };
    const double least = 1e-3 * greatest(gradient);
    // Rounding takes a gradient less than 1e-5 of the greatest away (expected_gradient()), that is
    // a hundredth of the least one here; or more, where a rectified sum is all but 0. Adam's step
    // is about the learning rate, of which 1e-4 of the greatest weight is an eighth at most in
    // these recordings: steps that are missing, or go the other way, are found out.
    const double tolerance = 1e-4 * greatest(recorded);
    double error = 0;
    double step = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (std::abs(double{gradient[i]}) > least) has_learned_[i] = true;
      double& worst = has_learned_[i] ? error : step;
      const double difference = std::abs(double{ours[i]} - double{recorded[i]});
      worst = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                     : std::max(worst, difference);
    }
    CHECK(error <= tolerance);
    CHECK(step <= 3 * learning_rate);
    CHECK(std::ranges::count(has_learned_, true) > 1000);
  }

 private:
  std::vector<bool> has_learned_;
};

// Compares each update, every one from the recorded weights.
void compare_training(const json& recorded) {
  const json& settings = recorded.at("settings");
  const auto devices = recorded.at("devices").get<int>();
  const std::size_t width = 5 + static_cast<std::size_t>(devices);
  const model::NetworkShape shape =
      placeto_shape(static_cast<int>(width), settings.at("rounds").get<int>(), devices);
  apps::PlacementEpisode episode = episode_of(recorded, recorded.at("order"));
  const auto steps = static_cast<std::int64_t>(episode.num_nodes());
  model::TorchNetwork network(shape);
  std::ranges::copy(in_our_order(recorded.at("weights"), network.layout()),
                    network.parameters().begin());
  episode.begin(recorded.at("updates").at(0).at("initial").get<std::vector<std::int32_t>>());
  std::vector<float> rows;
  static_cast<void>(episode.decision(false, 0, rows));
  const std::vector graphs{graph_of(episode.children(), rows, width)};
  network.set_graphs(graphs);
  learner::Reinforce learner(published_config(settings, steps), network);
  WeightsAfter weights(network.layout().total);
  for (const json& update : recorded.at("updates")) {
    const auto batch = batch_of(update, episode, shape, width);
    const auto gradient = in_our_order(update.at("gradient"), network.layout());
    // Recordings have that of the last update. Of others only the norm: where a rectified sum is
    // all but 0, single precision may take it for none, the reference's as well.
    if (&update == &recorded.at("updates").back()) {
      const Expected expected = expected_gradient(network, graphs, batch, update);
      CHECK(worst_error(gradient_of(network, batch, update), expected) <= 1);
      CHECK(worst_error(gradient, expected) <= 1);
    }
    const auto report = learner.update(batch).value();
    REQUIRE(report.outcome == learner::Outcome::kApplied);
    double entropy = 0;
    double policy = 0;
    for (std::size_t i = 0; i < batch.decisions(); ++i) {
      entropy += update.at("entropy").at(i).get<double>();
      policy -= update.at("advantage").at(i).get<double>() * update.at("logp").at(i).get<double>();
    }
    const double cost = update.at("entropy_weight").get<double>();
    // Sums over four to six decisions, of what float32 knows to a millionth as far as a decision is
    // open at all; the rest is for terms that cancel. One that is wrong changes them by hundredths.
    const auto near = [](double x) { return Approx(x).epsilon(1e-4).margin(1e-7); };
    CHECK(scalar(report, "learning_rate") == near(update.at("lr").get<double>()));
    CHECK(scalar(report, "entropy_cost") == near(cost));
    CHECK(scalar(report, "entropy_loss") == near(-cost * entropy));
    CHECK(scalar(report, "policy_loss") == near(policy));
    CHECK(scalar(report, "gradient_norm") == near(update.at("grad_norm").get<double>()));
    const auto after = in_our_order(update.at("weights_after"), network.layout());
    weights.require(network.parameters(), after, gradient, update.at("lr").get<double>());
    std::ranges::copy(after, network.parameters().begin());
  }
}

// The network of a recording of ours, trained by what recomputes recordings in double precision.
json own_training(double bytes_per_us, double gradient_clip) {
  const json network = own_network();
  const json& episode = network.at("episodes").at(0);
  json out = {{"format", "pacml-placement-training/1"},
              {"devices", network.at("devices")},
              {"constants", network.at("constants")},
              {"graph", network.at("graph")},
              {"order", episode.at("order")},
              {"weights", episode.at("weights")},
              {"settings",
               {{"rounds", episode.at("rounds")},
                {"reward", "best_later"},
                {"baseline_window", 3},
                {"beta1", 0.9},
                {"beta2", 0.999},
                {"epsilon", 1e-8},
                {"grad_clip", gradient_clip},
                {"lr", "1e-3 -> 1e-4 linear over 10 updates"},
                {"entropy_weight", "1 -> 0 linear over 8 updates"}}}};
  out["constants"]["bytes_per_us"] = bytes_per_us;
  const auto groups = out.at("order").size();
  const auto devices = out.at("devices").get<std::size_t>();
  for (std::size_t u = 0; u < 6; ++u) {
    json update = {{"initial", json::array()}, {"actions", json::array()}};
    for (std::size_t g = 0; g < groups; ++g) {
      update["initial"].push_back((u + g * g) % devices);
      update["actions"].push_back((u * g + g / 2) % devices);
    }
    out["updates"].push_back(update);
  }
  return with_all_weights(std::move(out));
}

TEST_CASE("REINFORCE makes the updates of the published training", "[golden][placement]") {
  compare_training(own_training(7600, 100));
  compare_training(own_training(0.01, 0.5));  // runtimes of seconds; the gradient is clipped
}

TEST_CASE("REINFORCE makes the reference's updates, where present", "[golden][placement]") {
  std::size_t compared = 0;
  for (const fs::path& file : reference_recordings()) {
    const json recorded = read_json(file);
    if (recorded.at("format") != "pacml-placement-training/1") continue;
    INFO(file.filename().string());
    compare_training(with_all_weights(recorded));
    ++compared;
  }
  if (compared == 0) {
    WARN("this test is skipped: this machine has no reference recordings beside the project");
    return;
  }
  CHECK(compared >= 2);
}

}  // namespace
}  // namespace pacml
