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

std::int32_t best_device(std::span<const double> runtimes, std::int32_t current) {
  const auto least = std::ranges::min_element(runtimes);
  if (!(*least < runtimes[static_cast<std::size_t>(current)])) return current;
  return static_cast<std::int32_t>(least - runtimes.begin());
}

FoundPlacement descend(PlacementEvaluator& evaluator, const GroupPlacement& start, int passes) {
  const auto order = fifo_topological_order(evaluator.problem().groups->children());
  Best best(evaluator);
  GroupPlacement current = start;
  double now = evaluator.runtime_s(current);
  best.offer(current, now);
  for (int pass = 0; pass < passes; ++pass) {
    bool has_moved = false;
    for (const std::int32_t g : order) {
      const auto group = static_cast<std::size_t>(g);
      const auto runtimes = evaluator.runtimes_if_moved(current, group, now);
      const std::int32_t device = best_device(runtimes, current[group]);
      if (device == current[group]) continue;
      has_moved = true;
      current[group] = device;
      now = runtimes[static_cast<std::size_t>(device)];
      best.offer(current, now);
    }
    if (!has_moved) break;
  }
  return best.take();
}

namespace {

// Groups of one device that go to another one together.
struct Move {
  std::vector<std::int32_t> groups;
  std::int32_t from = 0;
  std::int32_t to = 0;

  void make(GroupPlacement& placement) const { put(placement, to); }
  void undo(GroupPlacement& placement) const { put(placement, from); }

 private:
  void put(GroupPlacement& placement, std::int32_t device) const {
    for (const std::int32_t g : groups) placement[static_cast<std::size_t>(g)] = device;
  }
};

// Any group to any other device.
class AnyMoves {
 public:
  AnyMoves(const PlacementProblem& problem, SplitMix& draws)
      : num_groups_(problem.num_groups()), num_devices_(problem.num_devices()), draws_(draws) {}

  void draw(const GroupPlacement& current, Move& move) {
    away(static_cast<std::int32_t>(draws_.below(num_groups_)), current, move);
  }
  // That group to any other device.
  void away(std::int32_t group, const GroupPlacement& current, Move& move) {
    move.groups.assign(1, group);
    move.from = current[static_cast<std::size_t>(group)];
    const std::uint64_t step = 1 + draws_.below(num_devices_ - 1);
    move.to =
        static_cast<std::int32_t>((static_cast<std::uint64_t>(move.from) + step) % num_devices_);
  }
  void made(const Move& /*move*/, const PlacementSimulator& /*run*/) {}
  void undone(const Move& /*move*/) {}

 private:
  std::size_t num_groups_;
  std::size_t num_devices_;
  SplitMix& draws_;
};

// Mostly a group of the binding chain, more often than not with others on its device that one of
// them exchanges something with: what each would lose alone they may gain together. None again that
// has just been tried alone.
class ChainMoves {
 public:
  ChainMoves(const PlacementProblem& problem, SplitMix& draws, const PlacementSimulator& run)
      : problem_(problem),
        draws_(draws),
        any_(problem, draws),
        tried_(problem.num_groups() * problem.num_devices(), 0) {
    look_at(run);
  }

  void draw(const GroupPlacement& current, Move& move) {
    constexpr int kTries = 20;
    constexpr double kChain = 0.9;
    for (int i = 0; i < kTries; ++i) {
      if (draws_.unit() < kChain) {
        any_.away(chain_[draws_.below(chain_.size())], current, move);
      } else {
        any_.draw(current, move);
      }
      add_neighbours(current, move);
      if (move.groups.size() > 1 || tried(move, move.to) != round_) return;
    }
  }
  void made(const Move& move, const PlacementSimulator& run) {
    look_at(run);
    if (move.groups.size() == 1) tried(move, move.from) = round_;
  }
  void undone(const Move& move) {
    if (move.groups.size() == 1) tried(move, move.to) = round_;
  }

 private:
  void look_at(const PlacementSimulator& run) {
    chain_ = binding_groups(run);
    ++round_;
  }
  void add_neighbours(const GroupPlacement& current, Move& move) {
    constexpr double kMore = 0.6;
    while (draws_.unit() < kMore) {
      const auto last = static_cast<std::size_t>(move.groups.back());
      const auto parents = problem_.groups->parents()[last];
      const auto children = problem_.groups->children()[last];
      if (parents.size() + children.size() == 0) return;
      const std::size_t i = draws_.below(parents.size() + children.size());
      const std::int32_t next = i < parents.size() ? parents[i] : children[i - parents.size()];
      if (current[static_cast<std::size_t>(next)] != move.from) return;
      move.groups.push_back(next);
    }
  }
  std::uint64_t& tried(const Move& move, std::int32_t device) {
    return tried_[static_cast<std::size_t>(move.groups.front()) * problem_.num_devices() +
                  static_cast<std::size_t>(device)];
  }

  const PlacementProblem& problem_;
  SplitMix& draws_;
  AnyMoves any_;
  std::vector<std::int32_t> chain_;
  std::vector<std::uint64_t> tried_;  // [groups, devices], in which round
  std::uint64_t round_ = 0;           // since a move was made
};

// `now`: what `current` takes, which `best` has been offered.
template <class Moves>
void anneal_by(Moves moves, PlacementEvaluator& evaluator, GroupPlacement current, double now,
               std::int64_t simulations, Cooling cooling, SplitMix& draws, Best& best) {
  double temperature = cooling.from * now;
  const double shrink = std::pow(cooling.to / cooling.from, 1.0 / static_cast<double>(simulations));
  Move move;
  for (std::int64_t i = 0; i < simulations; ++i) {
    moves.draw(current, move);
    move.make(current);
    const double runtime = evaluator.runtime_s(current);
    if (runtime <= now || draws.unit() < std::exp((now - runtime) / temperature)) {
      now = runtime;
      best.offer(current, now);
      moves.made(move, evaluator.simulator());
    } else {
      move.undo(current);
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
