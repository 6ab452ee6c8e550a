#include "env/tasks/cluster_scheduling/baselines.h"

#include <memory>
#include <string>

#include "common/read_number.h"
#include "common/result.h"
#include "env/tasks/gpu_scheduling/rule_agent.h"

namespace pacml::env {
namespace {

// A rule with a threshold of sharing takes it as an argument.
struct SchedulingRule {
  Baseline baseline;
  GpuRulesConfig rules;
};

const std::vector<SchedulingRule>& scheduling_rules() {
  constexpr CandidateRules kAlone = {.spread = false};
  constexpr CandidateRules kSharing = {.spread = false, .share = SharingRule::kFallback};
  using Order = ScheduleOrder;
  using Place = PlacementRule;
  static const std::vector<SchedulingRule> list = {
      {{"fifo_first_fit", "first in, first out; the first server with room", true, {}},
       {.order = Order::kFifo, .place = Place::kFirstFit}},
      {{"random", "first in, first out; anywhere", true, {}},
       {.place = Place::kRandom, .strict = false, .window = 64, .candidates = kSharing}},
      {{"load_balancing", "first in, first out; the emptiest server", true, {}},
       {.place = Place::kLeastLoaded, .strict = false, .window = 64, .candidates = kAlone}},
      {{"drf", "the user who has least; the fullest server", true, {}},
       {.order = Order::kDrf, .place = Place::kBestFit, .candidates = kAlone}},
      {{"tetris", "whose wants align best with what is left, and short ones", true, {}},
       {.order = Order::kTetris, .place = Place::kTetris, .window = 16, .candidates = kAlone}},
      {{"fifo_best_fit", "first in, first out; the fullest server", true, {}},
       {.place = Place::kBestFit, .strict = false, .window = 64, .candidates = kAlone}},
      {{"fifo_least_interference", "first in, first out; where it disturbs least", true, {}},
       {.place = Place::kLeastInterference, .strict = false, .window = 32, .candidates = kSharing}},
      {{"srtf_best_fit", "the shortest first; the fullest server", true, {}},
       {.order = Order::kSrtf,
        .place = Place::kBestFit,
        .strict = false,
        .window = 64,
        .candidates = kAlone}},
      {{"srsf_best_fit", "the least GPU time first; the fullest server", true, {}},
       {.order = Order::kSrsf,
        .place = Place::kBestFit,
        .strict = false,
        .window = 64,
        .candidates = kAlone}},
      {{"srtf_least_interference",
        "the shortest first; where it disturbs least, e.g. :1.4 to share"
        " only where both speeds add up to that",
        true,
        {}},
       {.order = Order::kSrtf,
        .place = Place::kLeastInterference,
        .strict = false,
        .window = 32,
        .candidates = kSharing}},
      {{"srtf_least_delay", "the shortest first; where it delays least, e.g. :1.4", true, {}},
       {.order = Order::kSrtf,
        .place = Place::kLeastDelay,
        .strict = false,
        .window = 32,
        .candidates = kSharing}},
  };
  return list;
}

double gain_of(std::string_view name, std::string_view argument) {
  const auto gain = read_number<double>(argument);
  if (!gain || !(*gain >= 0 && *gain <= 1e6)) {
    throw UserError(std::string(name) + ": needs a sum of two speeds, e.g. 1.4");
  }
  return *gain;
}

}  // namespace

std::vector<Baseline> cluster_scheduling_baselines() {
  std::vector<Baseline> list;
  for (const SchedulingRule& rule : scheduling_rules()) list.push_back(rule.baseline);
  return list;
}

std::unique_ptr<Agent> make_cluster_scheduling_agent(std::string_view name) {
  const std::string_view plain = name.substr(0, name.find(':'));
  for (const SchedulingRule& rule : scheduling_rules()) {
    if (rule.baseline.name != plain) continue;
    GpuRulesConfig config = rule.rules;
    if (plain.size() < name.size()) {
      if (config.candidates.share == SharingRule::kNever) {
        throw UserError(std::string(plain) + " takes no argument");
      }
      config.candidates.gain = gain_of(name, name.substr(plain.size() + 1));
    }
    return make_rule_agent(config);
  }
  throw no_such_baseline(name, cluster_scheduling_baselines());
}

}  // namespace pacml::env
