#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "learner/sample_source.h"
#include "learner/transition_source.h"
#include "model/action_distribution.h"
#include "model/policy.h"
#include "tests/support/signal_chain.h"

namespace pacml::testing {

// What the learner sees of the signal chain.
enum class ChainView {
  kTable,  // one number, 2 place + coin, for tabular networks; one graph for all
  kGraph,  // as the environment shows it
};

// An actor in the signal chain and a prioritized replay, as simple as they can be: the actor takes
// some steps whenever the learner asks for a batch, priorities are powers of errors as reported,
// drawing walks along all of them. For learning tests. Thread-confined.
class ChainReplay final : public learner::TransitionSource, public learner::ParametersSink {
 public:
  struct Options {
    ChainView view = ChainView::kTable;
    int episode_limit = 4;  // steps; the rest of an episode is truncated
    std::size_t steps = 1;  // n
    double discount = 0.9;
    double epsilon = 0.4;         // share of random actions
    double exponent = 0.6;        // of priorities
    std::size_t capacity = 4096;  // transitions; the oldest go first
    std::size_t batch_size = 64;
    std::size_t decisions_per_batch = 16;
  };

  ChainReplay(const Options& options, std::unique_ptr<model::Policy> policy, Seed seed)
      : options_(options),
        policy_(std::move(policy)),
        chain_(options.episode_limit),
        rng_(seed),
        graphs_(graphs(options.view)) {
    policy_->set_graphs(graphs_);
    begin_episode();
  }

  // The observation space of a view.
  [[nodiscard]] static int num_globals(ChainView view) {
    return view == ChainView::kTable ? 1 : env::SignalChain::kLength;
  }
  [[nodiscard]] static ObservationShape shape(ChainView view) {
    return plain_shape(static_cast<std::size_t>(num_globals(view)), kActions);
  }
  [[nodiscard]] static std::vector<env::GraphFeaturesPtr> graphs(ChainView view) {
    if (view == ChainView::kGraph) return env::SignalChain(1).spec().graphs;
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->num_nodes = 1;
    graph->hash = GraphHash{1};
    return {std::move(graph)};
  }
  // One row per place and coin: row 2 place + coin.
  [[nodiscard]] static Observations every_state(ChainView view) {
    constexpr int kPlaces = env::SignalChain::kLength;
    Observations batch(shape(view), 2 * kPlaces);
    for (int place = 0; place < kPlaces; ++place) {
      for (int coin = 0; coin < 2; ++coin) {
        const auto row = batch.row(static_cast<std::size_t>(2 * place + coin));
        row.graph[0] = static_cast<std::uint16_t>(view == ChainView::kGraph ? coin : 0);
        std::ranges::fill(row.globals, 0.0F);
        if (view == ChainView::kGraph) {
          row.globals[static_cast<std::size_t>(place)] = 1;
        } else {
          row.globals[0] = static_cast<float>(2 * place + coin);
        }
        std::ranges::fill(row.mask, std::uint8_t{1});
        row.mask[env::SignalChain::kDecoyAction] = place == 0 ? 1 : 0;
      }
    }
    return batch;
  }

  void publish(model::Parameters parameters) override {
    version_ = parameters.version;
    policy_->set_parameters(parameters);
  }

  // Pre: weights were published.
  Result<learner::SampledTransitions> next(std::stop_token, Deadline) override {
    do {
      for (std::size_t i = 0; i < options_.decisions_per_batch; ++i) act();
    } while (stored_.empty());
    double total = 0;
    for (const Stored& stored : stored_) total += stored.weight;
    learner::SampledTransitions out;
    out.transitions = nothing();
    out.graphs = graphs_;
    out.ticket = ++tickets_;
    drawn_.clear();
    for (std::size_t n = 0; n < options_.batch_size; ++n) {
      const std::size_t slot = draw(total);
      drawn_.push_back(slot);
      out.probabilities.push_back(stored_[slot].weight / total);
      const Transitions& row = stored_[slot].row;
      out.transitions.append(row.heads[0], row.observations, 0, row.observations, 1);
    }
    return out;
  }

  void report_priorities(std::uint64_t ticket, std::span<const float> priorities) override {
    PACML_CHECK(ticket == tickets_, "the batch that was handed out last");
    for (std::size_t n = 0; n < priorities.size(); ++n) {
      stored_[drawn_[n]].weight = weight_of(priorities[n]);
    }
  }
  News take_news() override { return std::exchange(news_, {}); }
  [[nodiscard]] std::size_t queue_depth() const override { return 0; }

 private:
  static constexpr int kActions = 3;

  struct Stored {
    Transitions row;  // one
    double weight = 0;
  };
  struct Moment {
    Observations state;  // one row
    int action = 0;
    float reward = 0;
  };

  [[nodiscard]] Transitions nothing() const {
    Transitions out(shape(options_.view));
    std::vector<GraphHash> hashes;
    for (const auto& graph : graphs_) hashes.push_back(graph->hash);
    out.observations.set_graphs(std::move(hashes));
    return out;
  }
  [[nodiscard]] double weight_of(double priority) const {
    return std::pow(priority + 1e-3, options_.exponent);  // none is never drawn
  }

  // The present state, written into row 0 of a batch for the policy.
  [[nodiscard]] Moment observe() {
    constexpr auto kLength = static_cast<std::size_t>(env::SignalChain::kLength);
    Observations seen = chain_.spec().make_observations();
    chain_.observe(seen);
    batch_ = nothing().observations;
    if (options_.view == ChainView::kTable) {
      std::size_t place = 0;
      while (place + 1 < kLength && seen.globals(0)[place] == 0) ++place;
      const auto state = static_cast<float>(2 * place + seen.graph(0));
      append_plain(batch_, 0, std::vector{state}, seen.mask(0));
    } else {
      batch_ = seen;
    }
    return {batch_};
  }

  [[nodiscard]] int choose(const Moment& now) {
    if (rng_.uniform() >= options_.epsilon) {
      policy_->evaluate(batch_, output_);
      return model::best_action(output_.logits);
    }
    int action = 0;
    do {
      action = static_cast<int>(rng_.below(kActions));
    } while (now.state.mask(0)[static_cast<std::size_t>(action)] == 0);
    return action;
  }

  void begin_episode() {
    chain_.reset(Seed{rng_.next()});
    episode_.assign(1, observe());
  }

  void act() {
    Moment& now = episode_.back();
    now.action = choose(now);
    const env::StepResult result = chain_.step(now.action);
    now.reward = result.reward;
    episode_.push_back(observe());
    if (!result.terminated && !result.truncated) return;
    store_episode(result.terminated);
    const auto summary = chain_.summary();
    news_.episodes.push_back(summary);
    begin_episode();
  }

  // The episode's decisions, each with the state at most n steps later.
  void store_episode(bool terminated) {
    const std::size_t length = episode_.size() - 1;
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t k = std::min(options_.steps, length - t);
      TransitionHead head;
      double discount = 1;
      double sum = 0;
      double time = 0;
      for (std::size_t i = 0; i < k; ++i) {
        sum += discount * episode_[t + i].reward;
        time += discount;
        discount *= options_.discount;
      }
      const Moment& now = episode_[t];
      const Moment& then = episode_[t + k];
      head.policy_version = version_;
      head.n_step_return = static_cast<float>(sum);
      head.discount = terminated && t + k == length ? 0.0F : static_cast<float>(discount);
      head.action = now.action;
      head.discounted_time = static_cast<float>(time);
      Stored stored;
      stored.row = nothing();
      stored.row.append(head, now.state, 0, then.state, 0);
      stored.weight = weight_of(1);  // about the greatest error there is
      ++news_.inserted;
      if (stored_.size() < options_.capacity) {
        stored_.push_back(std::move(stored));
      } else {
        stored_[oldest_] = std::move(stored);
        oldest_ = (oldest_ + 1) % options_.capacity;
      }
    }
  }

  [[nodiscard]] std::size_t draw(double total) {
    double left = rng_.uniform() * total;
    std::size_t slot = 0;
    while (slot + 1 < stored_.size() && left >= stored_[slot].weight)
      left -= stored_[slot++].weight;
    return slot;
  }

  Options options_;
  std::unique_ptr<model::Policy> policy_;
  env::SignalChain chain_;
  Rng rng_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  PolicyVersion version_{0};
  std::vector<Moment> episode_;
  std::vector<Stored> stored_;
  std::size_t oldest_ = 0;
  std::vector<std::size_t> drawn_;  // slots of the last batch
  std::uint64_t tickets_ = 0;
  News news_;
  Observations batch_;
  model::PolicyOutput output_;
};

}  // namespace pacml::testing
