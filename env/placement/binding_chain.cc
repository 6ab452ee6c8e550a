#include "env/placement/binding_chain.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/index.h"

namespace pacml::env {
namespace {

// Walks an execution backwards.
class Chain {
 public:
  explicit Chain(const PlacementSimulator& run)
      : run_(run),
        flows_(run.graph().flows(run.devices().semantics())),
        is_placeto_(run.devices().semantics() == PlacementSemantics::kPlaceto),
        before_op_(run.graph().num_ops(), -1),
        transfer_of_(run.graph().num_outputs() * (is_placeto_ ? 1 : run.devices().size()), -1),
        before_transfer_(run.transfer_order().size(), -1),
        is_seen_(run.graph().num_groups(), 0) {
    std::vector<std::int32_t> last(run.devices().size(), -1);
    for (const std::int32_t v : run.op_order()) {
      before_op_[at(v)] = std::exchange(last[at(run.device_of()[at(v)])], v);
    }
    last.assign(run.devices().num_channels(), -1);
    for (const std::int32_t t : run.transfer_order()) {
      const PlacedTransfer& transfer = run.transfer(t);
      const std::size_t channel = is_placeto_
                                      ? at(transfer.from)
                                      : run.devices().channel(at(transfer.from), at(transfer.to));
      before_transfer_[at(t)] = std::exchange(last[channel], t);
      transfer_of_[slot(transfer.output, at(std::max(transfer.to, 0)))] = t;
    }
  }

  std::vector<std::int32_t> walk() {
    std::int32_t op =
        static_cast<std::int32_t>(std::ranges::max_element(run_.end_us()) - run_.end_us().begin());
    while (op >= 0) {
      add(op);
      std::int32_t transfer = -1;
      step_back(op, transfer);
      while (transfer >= 0) {
        const PlacedTransfer& sent = run_.transfer(transfer);
        add(sent.op);
        op = sent.op;
        const std::int32_t before = before_transfer_[at(transfer)];
        const bool has_waited = before >= 0 && run_.transfer(before).free_us >= sent.start_us &&
                                sent.start_us > sent.asked_us;
        transfer = has_waited ? before : -1;
      }
    }
    return std::move(groups_);
  }

 private:
  [[nodiscard]] std::size_t slot(std::int32_t output, std::size_t to) const {
    return is_placeto_ ? at(output) : at(output) * run_.devices().size() + to;
  }
  void add(std::int32_t op) {
    const std::int32_t group = run_.graph().group_of()[at(op)];
    if (std::exchange(is_seen_[at(group)], 1) == 0) groups_.push_back(group);
  }
  // To the operation before it, or to the transfer that it waited for; neither: -1 and -1.
  void step_back(std::int32_t& op, std::int32_t& transfer) const {
    const std::size_t v = at(op);
    const std::size_t device = at(run_.device_of()[v]);
    double latest = -1;
    op = -1;
    for (std::size_t i = 0; i < flows_.parents[v].size(); ++i) {
      const std::int32_t parent = flows_.parents[v][i];
      const bool is_here = at(run_.device_of()[at(parent)]) == device;
      const std::int32_t by =
          is_here ? -1 : transfer_of_[slot(flows_.parent_outputs[v][i], device)];
      const double there = is_here ? run_.end_us()[at(parent)] : run_.transfer(by).arrive_us;
      if (there <= latest) continue;
      latest = there;
      op = is_here ? parent : -1;
      transfer = by;
    }
    if (const std::int32_t before = before_op_[v]; before >= 0 && run_.start_us()[v] > latest) {
      op = before;
      transfer = -1;
    }
  }

  const PlacementSimulator& run_;
  const OpFlows& flows_;
  bool is_placeto_;
  std::vector<std::int32_t> before_op_;        // on its device
  std::vector<std::int32_t> transfer_of_;      // [outputs], [outputs, devices]
  std::vector<std::int32_t> before_transfer_;  // on its channel
  std::vector<std::uint8_t> is_seen_;
  std::vector<std::int32_t> groups_;
};

}  // namespace

std::vector<std::int32_t> binding_groups(const PlacementSimulator& run) {
  return Chain(run).walk();
}

}  // namespace pacml::env
