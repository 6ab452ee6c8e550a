#include "apps/evaluation/explanation.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/text_table.h"
#include "apps/evaluation/timeline_text.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

Decide as_decided_by(WatchedPolicy& who) {
  return [&who](const env::Environment& state) { return who.ask(state).action; };
}

nlohmann::ordered_json to_json(const env::Timeline& timeline) {
  const auto shares = busy_shares(timeline);
  auto lanes = nlohmann::ordered_json::array();
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    lanes.push_back({{"group", timeline.lanes[lane].group},
                     {"name", timeline.lanes[lane].name},
                     {"busy", shares[lane]}});
  }
  return {{"title", timeline.title},
          {"unit", timeline.unit},
          {"ends", timeline.ends},
          {"lanes", std::move(lanes)}};
}

}  // namespace

Explanation explain(const env::Task& task, WatchedPolicy& policy, WatchedPolicy& baseline,
                    Seed seed, std::int64_t number, std::int64_t horizon) {
  const auto environment = task.make_factory()();
  environment->reset(seed);
  policy.reset(seed);
  baseline.reset(seed);
  for (std::int64_t d = 0; d < number; ++d) {
    if (environment->step(policy.ask(*environment).action).final()) {
      throw UserError("decision " + std::to_string(number) + ": the episode has " +
                      std::to_string(d + 1) + " decisions, counted from 0");
    }
  }
  const Opinion opinion = policy.ask(*environment);
  Explanation out;
  out.decision = number;
  out.view = look_at(*environment, opinion);
  out.policy = policy.name();
  out.baseline = baseline.name();
  out.baseline_action = baseline.ask(*environment).action;
  out.baseline_text = environment->describe(out.baseline_action);
  out.losses_are_known = tells_losses(*environment);
  const Future own = follow(*environment, opinion.action, as_decided_by(policy), horizon);
  out.futures.push_back({own, environment->describe(opinion.action), policy.name()});
  const auto add_beside = [&](WatchedPolicy& who) {
    out.futures.push_back(
        {follow_beside(own, *environment, out.baseline_action, as_decided_by(who)),
         out.baseline_text, who.name()});
  };
  if (out.baseline_action != opinion.action) add_beside(policy);
  add_beside(baseline);
  if (const auto* timed = dynamic_cast<const env::Timed*>(environment.get())) {
    out.timeline = timed->timeline(opinion.action);
  }
  return out;
}

std::string to_text(const Explanation& explanation) {
  std::vector<std::vector<std::string>> rows{
      {"what comes of it, on the same arrivals", "decisions"}};
  if (explanation.losses_are_known) rows[0].emplace_back("lost");
  rows[0].emplace_back("reward");
  for (const ExplainedFuture& future : explanation.futures) {
    auto& row = rows.emplace_back(std::vector{future.first + ", then as " + future.who + " decides",
                                              std::to_string(future.decisions)});
    if (explanation.losses_are_known) row.push_back(std::to_string(future.lost));
    row.push_back(format_number(future.reward, 3));
  }
  return "decision " + std::to_string(explanation.decision) + " of " + explanation.policy + "\n\n" +
         to_text(explanation.view) + "\n" + explanation.baseline +
         " would choose: " + explanation.baseline_text + "\n\n" + align_columns(rows) +
         (explanation.timeline ? "\n" + to_text(*explanation.timeline) : "");
}

nlohmann::ordered_json to_json(const Explanation& explanation) {
  nlohmann::ordered_json futures = nlohmann::ordered_json::array();
  for (const ExplainedFuture& future : explanation.futures) {
    auto& told = futures.emplace_back(nlohmann::ordered_json{{"first", future.first},
                                                             {"who", future.who},
                                                             {"decisions", future.decisions},
                                                             {"elapsed", future.elapsed},
                                                             {"reward", future.reward}});
    if (explanation.losses_are_known) told["lost"] = future.lost;
  }
  nlohmann::ordered_json json = {{"decision", explanation.decision},
                                 {"policy", explanation.policy},
                                 {"view", to_json(explanation.view)},
                                 {"baseline",
                                  {{"name", explanation.baseline},
                                   {"action", explanation.baseline_action},
                                   {"text", explanation.baseline_text}}},
                                 {"futures", std::move(futures)}};
  if (explanation.timeline) json["timeline"] = to_json(*explanation.timeline);
  return json;
}

}  // namespace pacml::apps
