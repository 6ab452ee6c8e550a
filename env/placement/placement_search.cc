#include "env/placement/placement_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.h"
#include "env/placement/binding_chain.h"
#include "env/placement/families.h"

namespace pacml::env {
namespace {

// Keeps the best of what a search has seen.
class Best {
 public:
  explicit Best(PlacementEvaluator& evaluator)
      : evaluator_(evaluator), begin_(evaluator.num_simulations()) {}
  void offer(const GroupPlacement& placement, double runtime_s) {
    if (!found_.device_of_group.empty() && !(runtime_s < found_.runtime_s)) return;
    found_.device_of_group = placement;
    found_.runtime_s = runtime_s;
    found_.improvements.push_back({evaluator_.num_simulations() - begin_, runtime_s});
  }
  [[nodiscard]] FoundPlacement take() { return std::move(found_); }

 private:
  PlacementEvaluator& evaluator_;
  std::int64_t begin_;
  FoundPlacement found_;
};

// Temperatures of annealing, as shares of the first runtime.
struct Cooling {
  double from = 0;
  double to = 0;
};

}  // namespace

FoundPlacement descend(PlacementEvaluator& evaluator, const GroupPlacement& start, int passes,
                       std::int64_t most) {
  const std::int64_t begin = evaluator.num_simulations();
  const auto may_go_on = [&] { return evaluator.num_simulations() - begin < most; };
  const auto order = fifo_topological_order(evaluator.problem().groups->children());
  const auto num_devices = static_cast<std::int32_t>(evaluator.problem().num_devices());
  Best best(evaluator);
  GroupPlacement current = start;
  double now = evaluator.runtime_s(current);
  best.offer(current, now);
  for (int pass = 0; pass < passes; ++pass) {
    bool has_moved = false;
    for (const std::int32_t group : order) {
      std::int32_t& device = current[static_cast<std::size_t>(group)];
      const std::int32_t old = device;
      std::int32_t chosen = old;
      for (std::int32_t d = 0; d < num_devices; ++d) {
        if (d == old || !may_go_on()) continue;
        device = d;
        const double runtime = evaluator.runtime_s(current);
        if (runtime < now) {
          now = runtime;
          chosen = d;
          best.offer(current, now);
        }
      }
      device = chosen;
      has_moved |= chosen != old;
    }
    if (!has_moved || !may_go_on()) break;
  }
  return best.take();
}

namespace {

struct Move {
  std::size_t group = 0;
  std::int32_t device = 0;
};

// Any group to any other device.
class AnyMoves {
 public:
  AnyMoves(const PlacementProblem& problem, SplitMix& draws)
      : num_groups_(problem.num_groups()), num_devices_(problem.num_devices()), draws_(draws) {}

  Move draw(const GroupPlacement& current) {
    return to_another(draws_.below(num_groups_), current);
  }
  void made(const Move& /*back*/, const PlacementSimulator& /*run*/) {}
  void undone(const Move& /*move*/) {}

 private:
  friend class ChainMoves;
  Move to_another(std::size_t group, const GroupPlacement& current) {
    const std::uint64_t step = 1 + draws_.below(num_devices_ - 1);
    const auto old = static_cast<std::uint64_t>(current[group]);
    return {group, static_cast<std::int32_t>((old + step) % num_devices_)};
  }

  std::size_t num_groups_;
  std::size_t num_devices_;
  SplitMix& draws_;
};

// Mostly groups of the binding chain, none again that has just been tried.
class ChainMoves {
 public:
  ChainMoves(const PlacementProblem& problem, SplitMix& draws, const PlacementSimulator& run)
      : any_(problem, draws), tried_(problem.num_groups() * problem.num_devices(), 0) {
    look_at(run);
  }

  Move draw(const GroupPlacement& current) {
    constexpr int kTries = 20;
    constexpr double kChain = 0.9;
    Move move;
    for (int i = 0; i < kTries; ++i) {
      const bool is_of_chain = any_.draws_.unit() < kChain;
      const std::size_t group =
          is_of_chain ? static_cast<std::size_t>(chain_[any_.draws_.below(chain_.size())])
                      : any_.draws_.below(any_.num_groups_);
      move = any_.to_another(group, current);
      if (tried(move) != round_) break;
    }
    return move;
  }
  void made(const Move& back, const PlacementSimulator& run) {
    look_at(run);
    tried(back) = round_;
  }
  void undone(const Move& move) { tried(move) = round_; }

 private:
  void look_at(const PlacementSimulator& run) {
    chain_ = binding_groups(run);
    ++round_;
  }
  std::uint64_t& tried(const Move& move) {
    return tried_[move.group * any_.num_devices_ + static_cast<std::size_t>(move.device)];
  }

  AnyMoves any_;
  std::vector<std::int32_t> chain_;
  std::vector<std::uint64_t> tried_;  // in which round
  std::uint64_t round_ = 0;
};

// `now`: what `current` takes, which `best` has been offered.
template <class Moves>
void anneal_by(Moves moves, PlacementEvaluator& evaluator, GroupPlacement current, double now,
               std::int64_t simulations, Cooling cooling, SplitMix& draws, Best& best) {
  double temperature = cooling.from * now;
  const double shrink = std::pow(cooling.to / cooling.from, 1.0 / static_cast<double>(simulations));
  for (std::int64_t i = 0; i < simulations; ++i) {
    const Move move = moves.draw(current);
    const Move back{move.group, std::exchange(current[move.group], move.device)};
    const double runtime = evaluator.runtime_s(current);
    if (runtime <= now || draws.unit() < std::exp((now - runtime) / temperature)) {
      now = runtime;
      best.offer(current, now);
      moves.made(back, evaluator.simulator());
    } else {
      current[back.group] = back.device;
      moves.undone(move);
    }
    temperature *= shrink;
  }
}

// From a good placement a short search cannot afford to lose its way, a long one can: what did best
// on graphs of the families, but not on those that figures are given for.
Cooling cooling_for(const PlacementProblem& problem, std::int64_t simulations) {
  const auto moves = static_cast<double>(problem.num_groups() * problem.num_devices());
  const double length = static_cast<double>(simulations) / moves;
  return {.from = std::clamp(0.01 * std::sqrt(length), 0.01, 0.05), .to = 0.001};
}

}  // namespace

FoundPlacement anneal(PlacementEvaluator& evaluator, const GroupPlacement& start,
                      std::int64_t simulations, std::uint64_t seed) {
  Best best(evaluator);
  const double now = evaluator.runtime_s(start);
  best.offer(start, now);
  if (evaluator.problem().num_devices() > 1 && simulations > 0) {
    SplitMix draws(seed);
    anneal_by(AnyMoves(evaluator.problem(), draws), evaluator, start, now, simulations,
              {.from = 0.05, .to = 0.0001}, draws, best);
  }
  return best.take();
}

FoundPlacement improve(PlacementEvaluator& evaluator, const GroupPlacement& start,
                       std::int64_t simulations, std::uint64_t seed) {
  PACML_CHECK(simulations >= 1, "a search of at least the simulation of where it starts");
  Best best(evaluator);
  const double now = evaluator.runtime_s(start);
  best.offer(start, now);
  if (evaluator.problem().num_devices() > 1 && simulations > 1) {
    SplitMix draws(seed);
    const Cooling cooling = cooling_for(evaluator.problem(), simulations);
    anneal_by(ChainMoves(evaluator.problem(), draws, evaluator.simulator()), evaluator, start, now,
              simulations - 1, cooling, draws, best);
  }
  return best.take();
}

std::optional<FoundPlacement> enumerate(PlacementEvaluator& evaluator, std::int64_t most) {
  const std::size_t num_groups = evaluator.problem().num_groups();
  const auto num_devices = static_cast<std::int32_t>(evaluator.problem().num_devices());
  std::int64_t count = 1;
  for (std::size_t g = 0; g < num_groups; ++g) {
    if (count > most / num_devices) return std::nullopt;
    count *= num_devices;
  }
  Best best(evaluator);
  GroupPlacement current(num_groups, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    best.offer(current, evaluator.runtime_s(current));
    for (std::int32_t& device : current) {
      if (++device < num_devices) break;
      device = 0;
    }
  }
  return best.take();
}

}  // namespace pacml::env
