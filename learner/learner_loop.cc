#include "learner/learner_loop.h"

#include <utility>

namespace pacml::learner {

LearnerLoop::LearnerLoop(Algorithm& algorithm, model::TrainableNetwork& network,
                         SampleSource& source, ParametersSink& sink, std::int64_t batch_decisions)
    : algorithm_(&algorithm),
      network_(&network),
      source_(&source),
      sink_(&sink),
      batch_decisions_(batch_decisions),
      version_(algorithm.snapshot().version.get()) {}

void LearnerLoop::accept(ReceivedUnrolls&& received) {
  const std::size_t known = graphs_.graphs().size();
  const auto& shape = network_->shape();
  for (auto& graph : received.graphs) {
    // A graph of other widths is left out, and with it every message that names it.
    const bool fits_network = graph->node_width == shape.node_features &&
                              graph->edge_width == shape.edge_features && graph->num_nodes > 0;
    if (fits_network) graphs_.add(std::move(graph));
  }
  if (graphs_.graphs().size() != known) network_->set_graphs(graphs_.graphs());
  // The credit goes back now, not with the update: a batch may take more messages than all actors
  // together have credits. What is gathered stays below a batch and one message.
  source_->consumed(received.peer);
  if (!fits(received.unrolls, shape, graphs_)) {
    ++counters_.misfits;
    return;
  }
  count(received.unrolls);
  gathered_decisions_ += static_cast<std::int64_t>(received.unrolls.num_decisions());
  gathered_.push_back(std::move(received));
}

void LearnerLoop::count(const Unrolls& unrolls) {
  counters_.decisions += static_cast<std::int64_t>(unrolls.num_decisions());
  for (const PolicyVersion version : unrolls.policy_version) {
    const std::uint64_t lag = version_ > version.get() ? version_ - version.get() : 0;
    statistics_.policy_lag.add(lag, unrolls.environments);
  }
  for (const auto& episode : unrolls.episodes) {
    ++counters_.episodes;
    ++statistics_.episodes;
    statistics_.return_sum += episode.episode_return;
    if (episode.arrived > 0) {
      statistics_.blocking_rate_sum +=
          static_cast<double>(episode.blocked) / static_cast<double>(episode.arrived);
    }
  }
}

Result<void> LearnerLoop::step(const std::stop_token& stop, Deadline deadline) {
  while (gathered_decisions_ < batch_decisions_) {
    auto received = source_->next(stop, deadline);
    if (!received) return tl::unexpected(received.error());
    accept(*std::move(received));
  }
  messages_.clear();
  for (const auto& received : gathered_) messages_.push_back(&received.unrolls);
  assemble(messages_, graphs_, batch_);
  gathered_.clear();  // the batch is a copy
  gathered_decisions_ = 0;

  const UpdateReport report = algorithm_->update(batch_);
  counters_.samples += report.decisions;
  counters_.stale += report.stale;
  if (!report.applied) return {};
  ++counters_.updates;
  ++statistics_.updates;
  statistics_.loss_sum += report.loss;
  for (const auto& [name, value] : report.scalars) {
    statistics_.scalar_sums[std::string(name)] += value;
  }
  auto parameters = algorithm_->snapshot();
  version_ = parameters.version.get();
  sink_->publish(std::move(parameters));
  return {};
}

LearnerStatistics LearnerLoop::take_statistics() { return std::exchange(statistics_, {}); }

}  // namespace pacml::learner
