#include "env/tasks/device_placement/environment.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "common/check.h"
#include "common/rng.h"

namespace pacml::env {
namespace {

std::vector<std::int32_t> visit_order(const PlacementProblem& problem, VisitOrder kind, Rng& rng) {
  const IndexLists& children = problem.groups->children();
  if (kind == VisitOrder::kLifo) return lifo_topological_order(children);
  auto order = fifo_topological_order(children);
  if (kind == VisitOrder::kRandom) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  }
  return order;
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g s", seconds);
  return text;
}

}  // namespace

PlacementEvaluator& PlacementEvaluators::of(const PlacementProblemPtr& problem) {
  auto& made = made_[problem.get()];
  if (!made) made = std::make_unique<PlacementEvaluator>(problem);
  return *made;
}

DevicePlacementEnv::DevicePlacementEnv(std::shared_ptr<const DevicePlacementTask> task,
                                       std::shared_ptr<PlacementEvaluators> evaluators)
    : task_(std::move(task)), evaluators_(std::move(evaluators)) {}

void DevicePlacementEnv::reset(Seed seed) {
  Rng rng(seed);
  reset(seed, rng.below(task_->problems().size()));
}

void DevicePlacementEnv::reset(Seed seed, std::size_t problem) {
  PACML_CHECK(problem < num_problems(), "no such problem");
  problem_ = problem;
  const PlacementProblem& about = *this->problem().problem;
  Rng rng(derive(seed, Purpose::kEpisode, problem));
  order_ = visit_order(about, task_->config().order, rng);
  device_ = this->problem().start;
  if (device_.empty()) device_ = random_placements(about, 1, rng.next()).front();
  at_ = 0;
  round_ = 0;
  is_over_ = false;
  visited_.assign(order_.size(), 0);
  placed_.emplace(about);
  return_ = 0;
  decisions_ = 0;
  simulations_ = 0;
  simulate();
  best_s_ = runtime_s_;
  look();
}

const std::string& DevicePlacementEnv::problem_name(std::size_t problem) const {
  PACML_CHECK(problem < num_problems(), "no such problem");
  return task_->problems()[problem].name;
}

void DevicePlacementEnv::simulate() {
  const PlacementProblem& about = *problem().problem;
  PlacementEvaluator& evaluator = evaluators_->of(problem().problem);
  runtime_s_ = evaluator.runtime_s(device_);
  ++simulations_;
  PlacementSimulator& run = evaluator.simulator();
  start_us_.assign(about.num_groups(), std::numeric_limits<double>::infinity());
  end_us_.assign(about.num_groups(), 0.0);
  const auto group_of = about.graph->group_of();
  for (std::size_t v = 0; v < group_of.size(); ++v) {
    const auto g = static_cast<std::size_t>(group_of[v]);
    start_us_[g] = std::min(start_us_[g], run.start_us()[v]);
    end_us_[g] = std::max(end_us_[g], run.end_us()[v]);
  }
  leader_start_us_.clear();
  if (task_->config().shown == ShownPlacements::kPublished) {
    for (std::size_t g = 0; g < about.num_groups(); ++g) {
      leader_start_us_.push_back(
          run.start_us()[static_cast<std::size_t>(about.graph->groups()[g].front())]);
    }
  }
  peak_bytes_.clear();
  if (about.is_limited()) peak_bytes_.assign(run.peak_bytes().begin(), run.peak_bytes().end());
  over_memory_gb_ = about.over_limit_bytes(peak_bytes_) / 1e9;
}

void DevicePlacementEnv::look() {
  const PlacementProblem& about = *problem().problem;
  what_if_s_.clear();
  if (task_->config().what_if) {
    const auto moved =
        evaluators_->of(problem().problem).runtimes_if_moved(device_, group(), runtime_s_);
    what_if_s_.assign(moved.begin(), moved.end());
    simulations_ += static_cast<std::int64_t>(about.num_devices()) - 1;
  }
  what_if_rest_s_.clear();
  if (task_->config().what_if_rest) {
    const auto runtimes = rest_.runtimes(evaluators_->of(problem().problem), *placed_, group(),
                                         std::span(order_).subspan(at_ + 1), device_);
    what_if_rest_s_.assign(runtimes.begin(), runtimes.end());
    simulations_ += static_cast<std::int64_t>(about.num_devices());
  }
  const auto steps = static_cast<double>(order_.size()) * task_->config().rounds;
  const PlacementState state{.device = device_,
                             .visited = visited_,
                             .rounds_done = round_,
                             .focus = group(),
                             .start_us = start_us_,
                             .end_us = end_us_,
                             .leader_start_us = leader_start_us_,
                             .peak_bytes = peak_bytes_,
                             .runtime_s = runtime_s_,
                             .single_s = problem().single_s,
                             .best_s = best_s_,
                             .progress = static_cast<double>(decisions_) / steps,
                             .placed = &*placed_,
                             .what_if_s = what_if_s_,
                             .what_if_rest_s = what_if_rest_s_};
  if (task_->config().shown == ShownPlacements::kPublished) {
    shown_.look_at_published(about, state);
  } else {
    shown_.look_at(about, state);
  }
  task_->hidden().hide(shown_);
}

StepResult DevicePlacementEnv::step(int action) {
  const auto num_devices = static_cast<int>(problem().problem->num_devices());
  PACML_CHECK(!is_over_ && action >= 0 && action < num_devices, "no such decision");
  const double before = runtime_s_;
  const double best_before = best_s_;
  const std::size_t placed = group();
  last_group_ = placed;
  before_s_ = before;
  if (device_[placed] != action) {
    device_[placed] = action;
    simulate();
  }
  best_s_ = std::min(best_s_, runtime_s_);
  visited_[placed] = 1;
  placed_->place(placed, static_cast<std::size_t>(action));
  ++decisions_;
  if (++at_ == order_.size()) {
    at_ = 0;
    ++round_;
    std::ranges::fill(visited_, std::uint8_t{0});
    placed_.emplace(*problem().problem);
  }
  is_over_ = round_ == task_->config().rounds;

  double gained = 0;
  switch (task_->config().reward) {
    case PlacementReward::kImprovement:
      gained = before - runtime_s_;
      break;
    case PlacementReward::kBestSoFar:
      gained = best_before - best_s_;
      break;
    case PlacementReward::kTerminal:
      gained = is_over_ ? -runtime_s_ : 0;
  }
  StepResult result;
  result.reward = static_cast<float>(gained / std::max(problem().single_s, 1e-9));
  result.terminated = is_over_;
  return_ += static_cast<double>(result.reward);
  // What the last decision showed stays.
  if (!is_over_) look();
  return result;
}

void DevicePlacementEnv::observe(Observations& out) const {
  const auto nodes = static_cast<std::uint32_t>(order_.size());
  const auto num_devices = static_cast<std::uint32_t>(problem().problem->num_devices());
  const std::size_t width = shown_.devices.size() / num_devices;
  const ObservationRow row = out.append({.candidates = num_devices, .nodes = {&nodes, 1}});
  PACML_CHECK(row.candidates.size() == num_devices * width &&
                  row.node_features.size() == shown_.nodes.size() &&
                  row.globals.size() == shown_.globals.size(),
              "a store of another shape than the spec's");
  row.graph[0] = static_cast<std::uint16_t>(problem_);
  row.focus[0] = shown_.focus;
  std::ranges::copy(shown_.nodes, row.node_features.begin());
  std::ranges::copy(shown_.globals, row.globals.begin());
  std::ranges::copy(shown_.devices, row.candidates.begin());
  std::ranges::fill(row.mask, std::uint8_t{1});
}

std::unique_ptr<Environment> DevicePlacementEnv::clone() const {
  return std::make_unique<DevicePlacementEnv>(*this);
}

EpisodeRecord DevicePlacementEnv::summary() const {
  EpisodeRecord record;
  record.episode_return = return_;
  record.decisions = decisions_;
  const double single = std::max(problem().single_s, 1e-9);
  record.metrics[0] = runtime_s_ / single;
  record.metrics[1] = best_s_ / single;
  record.metrics[2] = runtime_s_;
  record.metrics[3] = static_cast<double>(simulations_);
  record.metrics[4] = over_memory_gb_;
  return record;
}

std::string DevicePlacementEnv::describe(int action) const {
  const PlacementProblem& about = *problem().problem;
  return about.graph->group_name(group()) + " on " +
         about.devices->name(static_cast<std::size_t>(action));
}

std::string DevicePlacementEnv::describe_kind(int action) const {
  return "on " + problem().problem->devices->name(static_cast<std::size_t>(action));
}

Picture DevicePlacementEnv::picture() const {
  const PlacementProblem& about = *problem().problem;
  constexpr int kColumns = 8;
  const auto groups = static_cast<int>(about.num_groups());
  const int rows = (groups + kColumns - 1) / kColumns;
  Picture picture;
  picture.now = static_cast<double>(decisions_);
  picture.facts = {{"graph", problem().name}, {"runtime", seconds_text(runtime_s_)}};
  if (!is_over_) picture.facts.push_back({"to be placed", about.graph->group_name(group())});
  for (std::size_t d = 0; d < about.num_devices(); ++d) {
    const auto here = std::ranges::count(device_, static_cast<std::int32_t>(d));
    picture.items.push_back({static_cast<std::int64_t>(d),
                             about.devices->name(d) + ": " + std::to_string(here) + " groups", 0,
                             0});
  }
  PictureGrid grid{.title = "groups by their devices",
                   .shape = {1, rows, kColumns},
                   .of = {"graph", "row", "group"},
                   .items = std::vector<int>(static_cast<std::size_t>(rows) * kColumns, -2)};
  std::ranges::copy(device_, grid.items.begin());
  picture.grids.push_back(std::move(grid));
  if (decisions_ > 0) {
    PictureOutcome last;
    last.item = {static_cast<std::int64_t>(last_group_),
                 about.graph->group_name(last_group_) + " on " +
                     about.devices->name(static_cast<std::size_t>(device_[last_group_])),
                 picture.now - 1, picture.now};
    last.kept = runtime_s_ <= before_s_;
    last.reason =
        "runtime " + seconds_text(runtime_s_) + ", " + seconds_text(before_s_) + " before";
    picture.last = std::move(last);
  }
  return picture;
}

}  // namespace pacml::env
