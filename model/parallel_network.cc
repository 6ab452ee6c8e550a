#include "model/parallel_network.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "common/check.h"

namespace pacml::model {
namespace {

// `out` becomes the rows from `begin` to `end` of `batch`.
void take_rows(const Observations& batch, std::size_t begin, std::size_t end, Observations& out) {
  out.restart_as(batch);
  out.append_rows(batch, begin, end - begin);
}

}  // namespace

ParallelNetwork::ParallelNetwork(std::vector<std::unique_ptr<TrainableNetwork>> networks)
    : crew_(networks.size(), "learn") {
  for (auto& network : networks) {
    parts_.emplace_back().network = std::move(network);
    PACML_CHECK(parts_.back().network->layout().hash == layout().hash, "networks of one shape");
  }
  gradient_.resize(layout().total);
}

void ParallelNetwork::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  for (Part& part : parts_) part.network->set_graphs(graphs);
}

void ParallelNetwork::hold_value() {
  for (Part& part : parts_) part.network->hold_value();
}

template <class Forward>
TrainableNetwork::Outputs ParallelNetwork::run(std::size_t rows, const Forward& forward) {
  const auto actions = static_cast<std::size_t>(shape().actions);
  logits_.resize(rows * actions);
  values_.resize(rows);
  const std::span<const float> weights = std::as_const(*this).parameters();
  crew_.run([&](std::size_t number) {
    Part& part = parts_[number];
    if (part.places.empty()) return;
    if (number > 0) std::ranges::copy(weights, part.network->parameters().begin());
    const Outputs outputs = forward(part, number);
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      const std::size_t place = part.places[i];
      std::ranges::copy(outputs.logits.subspan(i * actions, actions),
                        logits_.begin() + static_cast<std::ptrdiff_t>(place * actions));
      values_[place] = outputs.values[i];
    }
  });
  return {logits_, values_};
}

TrainableNetwork::Outputs ParallelNetwork::forward(const Observations& batch) {
  PACML_CHECK(batch.size() > 0, "an empty batch has no outputs");
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    const std::size_t begin = first_row(batch.size(), number);
    parts_[number].places.resize(first_row(batch.size(), number + 1) - begin);
    std::iota(parts_[number].places.begin(), parts_[number].places.end(),
              static_cast<std::uint32_t>(begin));
  }
  return run(batch.size(), [&](Part& part, std::size_t number) {
    take_rows(batch, first_row(batch.size(), number), first_row(batch.size(), number + 1),
              part.batch);
    return part.network->forward(part.batch);
  });
}

void ParallelNetwork::prepare(const Observations& batch) {
  num_prepared_ = batch.size();
  crew_.run([&](std::size_t number) {
    Part& part = parts_[number];
    take_rows(batch, first_row(batch.size(), number), first_row(batch.size(), number + 1),
              part.prepared);
    if (part.prepared.size() > 0) part.network->prepare(part.prepared);
  });
}

TrainableNetwork::Outputs ParallelNetwork::forward_rows(std::span<const std::uint32_t> rows) {
  PACML_CHECK(!rows.empty(), "an empty batch has no outputs");
  for (Part& part : parts_) {
    part.rows.clear();
    part.places.clear();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    PACML_CHECK(rows[i] < num_prepared_, "a row that was prepared");
    // The part that has it, or one before: divisions round down, and parts may be empty.
    std::size_t number = rows[i] * parts_.size() / num_prepared_;
    while (rows[i] >= first_row(num_prepared_, number + 1)) ++number;
    parts_[number].rows.push_back(rows[i] -
                                  static_cast<std::uint32_t>(first_row(num_prepared_, number)));
    parts_[number].places.push_back(static_cast<std::uint32_t>(i));
  }
  return run(rows.size(), [](Part& part, std::size_t /*number*/) {
    return part.network->forward_rows(part.rows);
  });
}

std::span<float> ParallelNetwork::backward(std::span<const float> logit_gradients,
                                           std::span<const float> value_gradients) {
  PACML_CHECK(logit_gradients.size() == logits_.size() && value_gradients.size() == values_.size(),
              "gradients have the shapes of the outputs");
  const auto actions = static_cast<std::size_t>(shape().actions);
  crew_.run([&](std::size_t number) {
    Part& part = parts_[number];
    part.logit_gradients.clear();
    part.value_gradients.clear();
    for (const std::size_t place : part.places) {
      const auto row = logit_gradients.subspan(place * actions, actions);
      part.logit_gradients.insert(part.logit_gradients.end(), row.begin(), row.end());
      part.value_gradients.push_back(value_gradients[place]);
    }
    if (part.places.empty()) return;
    part.gradient = part.network->backward(part.logit_gradients, part.value_gradients);
  });
  std::ranges::fill(gradient_, 0.0F);
  for (const Part& part : parts_) {
    if (part.places.empty()) continue;
    std::ranges::transform(gradient_, part.gradient, gradient_.begin(), std::plus<>());
  }
  return gradient_;
}

}  // namespace pacml::model
