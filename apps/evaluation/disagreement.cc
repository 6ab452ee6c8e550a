#include "apps/evaluation/disagreement.h"

#include <algorithm>
#include <atomic>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/text_table.h"
#include "apps/evaluation/future.h"
#include "common/heartbeat.h"
#include "common/thread_group.h"

namespace pacml::apps {
namespace {

// One choice against another in one episode.
struct EpisodeSums {
  std::int64_t decisions = 0;
  Future after_first;  // sums
  Future after_second;
  std::int64_t costliest = 0;  // a decision, by what its second choice costs
  double its_cost = -std::numeric_limits<double>::infinity();
};
using Choices = std::pair<std::string, std::string>;  // texts of both

struct EpisodeFindings {
  std::int64_t decisions = 0;
  std::map<Choices, EpisodeSums> sums;
};

void add(Future& sum, const Future& future) {
  sum.decisions += future.decisions;
  sum.lost += future.lost;
  sum.reward += future.reward;
}

EpisodeFindings play(env::Environment& environment, const NamedPolicy& first,
                     const NamedPolicy& second, Seed seed, std::int64_t horizon,
                     const std::stop_token& stop) {
  // Who follows up has an agent of its own, lest it change what the episode's draws.
  const auto [plays, doubts, follows] = std::tuple(first.make(), second.make(), first.make());
  environment.reset(seed);
  for (env::Agent* agent : {plays.get(), doubts.get(), follows.get()}) agent->reset(seed);
  const auto decide = [&](const env::Environment& state) { return follows->act(state); };
  EpisodeFindings found;
  for (bool goes_on = true; goes_on && !stop.stop_requested(); ++found.decisions) {
    beat();
    const int action = plays->act(environment);
    const int other = doubts->act(environment);
    if (other != action) {
      EpisodeSums& sums =
          found.sums[{environment.describe_kind(action), environment.describe_kind(other)}];
      const Future mine = follow(environment, action, decide, horizon);
      const Future theirs = follow_beside(mine, environment, other, decide);
      ++sums.decisions;
      add(sums.after_first, mine);
      add(sums.after_second, theirs);
      const double cost = mine.reward - theirs.reward;
      if (cost > sums.its_cost) {
        sums.its_cost = cost;
        sums.costliest = found.decisions;
      }
    }
    goes_on = !environment.step(action).final();
  }
  return found;
}

// A mean a decision, of sums over episodes and how many decisions each had: those that had any.
MeanInterval mean_a_decision(const std::vector<std::pair<double, std::int64_t>>& episodes) {
  double sum = 0;
  double count = 0;
  for (const auto& [total, decisions] : episodes) {
    sum += total;
    count += static_cast<double>(decisions);
  }
  MeanInterval out{sum / count, std::numeric_limits<double>::quiet_NaN()};
  const auto n = static_cast<double>(episodes.size());
  if (n < 2) return out;
  double squares = 0;
  for (const auto& [total, decisions] : episodes) {
    const double rest = total - out.mean * static_cast<double>(decisions);
    squares += rest * rest;
  }
  const double deviation = std::sqrt(squares * n / (n - 1)) / count;
  out.ci95 = boost::math::quantile(boost::math::students_t(n - 1), 0.975) * deviation;
  return out;
}

void merge(EpisodeSums& all, const EpisodeSums& sums) {
  all.decisions += sums.decisions;
  add(all.after_first, sums.after_first);
  add(all.after_second, sums.after_second);
  if (sums.its_cost <= all.its_cost) return;
  all.its_cost = sums.its_cost;
  all.costliest = sums.costliest;
}

// By episode, those with such a decision alone: most kinds of choices are rare.
using SumsOfEpisodes = std::vector<std::pair<std::size_t, EpisodeSums>>;

DisagreementGroup summarise(const Choices& choices, const SumsOfEpisodes& episodes,
                            std::int64_t first_number) {
  DisagreementGroup group;
  group.first = choices.first;
  group.second = choices.second;
  EpisodeSums total;
  std::vector<std::pair<double, std::int64_t>> lost;
  std::vector<std::pair<double, std::int64_t>> reward;
  for (const auto& [e, sums] : episodes) {
    lost.emplace_back(sums.after_second.lost - sums.after_first.lost, sums.decisions);
    reward.emplace_back(sums.after_first.reward - sums.after_second.reward, sums.decisions);
    if (sums.its_cost > total.its_cost) {
      group.episode = first_number + static_cast<std::int64_t>(e);
    }
    merge(total, sums);
  }
  group.decisions = total.decisions;
  group.decision = total.costliest;
  if (group.decisions == 0) return group;
  const auto count = static_cast<double>(group.decisions);
  group.lost_after_first = static_cast<double>(total.after_first.lost) / count;
  group.lost_after_second = static_cast<double>(total.after_second.lost) / count;
  group.reward_after_first = total.after_first.reward / count;
  group.reward_after_second = total.after_second.reward / count;
  group.more_lost = mean_a_decision(lost);
  group.less_reward = mean_a_decision(reward);
  return group;
}

std::string with_interval(const MeanInterval& value, int decimals) {
  std::string text = format_number(value.mean, decimals);
  if (!std::isnan(value.ci95)) text += " ± " + format_number(value.ci95, decimals);
  return text;
}

std::string percent(std::int64_t part, std::int64_t of) {
  if (of == 0) return "0 %";
  return format_number(100 * static_cast<double>(part) / static_cast<double>(of), 1) + " %";
}

// Of the futures what the table and the last sentence are about.
struct Measure {
  const char* noun;
  int decimals;
  double DisagreementGroup::*after_first;
  double DisagreementGroup::*after_second;
  MeanInterval DisagreementGroup::*cost;
};
constexpr Measure kLosses{"lost", 3, &DisagreementGroup::lost_after_first,
                          &DisagreementGroup::lost_after_second, &DisagreementGroup::more_lost};
constexpr Measure kRewards{"reward", 4, &DisagreementGroup::reward_after_first,
                           &DisagreementGroup::reward_after_second,
                           &DisagreementGroup::less_reward};

std::string table_of(const Disagreement& found, const Measure& measure, std::size_t most) {
  const std::string noun = measure.noun;
  std::vector<std::vector<std::string>> rows{
      {found.first, found.second, "decisions", noun + " after the first's",
       noun + " after the second's", "the second's costs more by", "e.g. seed, decision"}};
  const auto add_row = [&](const DisagreementGroup& group, const std::string& what) {
    rows.push_back({what.empty() ? group.first : what, group.second,
                    std::to_string(group.decisions),
                    format_number(group.*measure.after_first, measure.decimals),
                    format_number(group.*measure.after_second, measure.decimals),
                    with_interval(group.*measure.cost, measure.decimals),
                    std::to_string(group.episode) + ", " + std::to_string(group.decision)});
  };
  for (std::size_t g = 0; g < std::min(most, found.groups.size()); ++g) {
    add_row(found.groups[g], {});
  }
  add_row(found.all, "all");
  std::string text = align_columns(rows);
  if (found.groups.size() > most) {
    text += std::to_string(found.groups.size() - most) + " rarer kinds are not shown\n";
  }
  return text;
}

std::string verdict(const Disagreement& found, const Measure& measure) {
  const MeanInterval& cost = found.all.*measure.cost;
  const std::string how_long = " within " + std::to_string(found.horizon) + " decisions";
  if (std::isnan(cost.ci95) || std::abs(cost.mean) <= cost.ci95) {
    return "whose choices are better where they differ cannot be told" + how_long + "\n";
  }
  const bool first = cost.mean > 0;
  const MeanInterval size{std::abs(cost.mean), cost.ci95};
  const bool losses = measure.cost == kLosses.cost;
  return "where they differ, a choice of " + (first ? found.first : found.second) +
         " is better: " + (losses ? "fewer lost by " : "more reward by ") +
         with_interval(size, measure.decimals) + how_long + "\n";
}

nlohmann::ordered_json group_json(const DisagreementGroup& group, bool losses) {
  const auto interval = [](const MeanInterval& value) {
    return nlohmann::ordered_json{{"mean", value.mean}, {"ci95", value.ci95}};
  };
  nlohmann::ordered_json json = {
      {"first", group.first},
      {"second", group.second},
      {"decisions", group.decisions},
      {"reward_after_first", group.reward_after_first},
      {"reward_after_second", group.reward_after_second},
      {"less_reward", interval(group.less_reward)},
      {"example", {{"seed", group.episode}, {"decision", group.decision}}}};
  if (losses) {
    json["lost_after_first"] = group.lost_after_first;
    json["lost_after_second"] = group.lost_after_second;
    json["more_lost"] = interval(group.more_lost);
  }
  return json;
}

}  // namespace

Disagreement find_disagreement(const env::Task& task, const NamedPolicy& first,
                               const NamedPolicy& second, const std::vector<Seed>& seeds,
                               std::int64_t first_number, std::int64_t horizon, int threads,
                               const EvaluationWatch& watch) {
  std::vector<EpisodeFindings> episodes(seeds.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::atomic<bool> losses_are_known{true};
  ThreadGroup group;
  const std::stop_callback stopped(watch.stop, [&group] { group.request_stop(); });
  const auto workers =
      std::min<std::size_t>(seeds.size(), static_cast<std::size_t>(std::max(1, threads)));
  for (std::size_t w = 0; w < workers; ++w) {
    group.spawn("compare", [&](const std::stop_token& stop) {
      const auto environment = task.make_factory()();
      if (!tells_losses(*environment)) losses_are_known = false;
      for (std::size_t i = next++; i < seeds.size() && !stop.stop_requested(); i = next++) {
        episodes[i] = play(*environment, first, second, seeds[i], horizon, stop);
        if (watch.progress) watch.progress(++done, seeds.size());
      }
    });
  }
  group.join();

  Disagreement out;
  out.first = first.name;
  out.second = second.name;
  out.episodes = static_cast<std::int64_t>(seeds.size());
  out.horizon = horizon;
  out.losses_are_known = losses_are_known;
  std::map<Choices, SumsOfEpisodes> kinds;
  SumsOfEpisodes all;
  for (std::size_t e = 0; e < seeds.size(); ++e) {
    out.decisions += episodes[e].decisions;
    EpisodeSums of_episode;
    for (auto& [choices, sums] : episodes[e].sums) {
      merge(of_episode, sums);
      kinds[choices].emplace_back(e, sums);
    }
    episodes[e].sums.clear();
    if (of_episode.decisions > 0) all.emplace_back(e, of_episode);
  }
  out.all = summarise({}, all, first_number);
  for (const auto& [choices, sums] : kinds) {
    out.groups.push_back(summarise(choices, sums, first_number));
  }
  std::ranges::stable_sort(out.groups, std::greater{}, &DisagreementGroup::decisions);
  return out;
}

std::string to_text(const Disagreement& found, std::size_t most) {
  std::string text =
      found.first + " and " + found.second + " differ in " + std::to_string(found.all.decisions) +
      " of " + std::to_string(found.decisions) + " decisions (" +
      percent(found.all.decisions, found.decisions) + ") of " + std::to_string(found.episodes) +
      (found.episodes == 1 ? " episode" : " episodes") + " as the first plays " +
      (found.episodes == 1 ? "it" : "them") + "\n";
  if (found.all.decisions == 0) return text;
  const Measure& measure = found.losses_are_known ? kLosses : kRewards;
  return text + "\n" + table_of(found, measure, most) + "\n" + verdict(found, measure);
}

nlohmann::ordered_json to_json(const Disagreement& found) {
  auto groups = nlohmann::ordered_json::array();
  for (const DisagreementGroup& group : found.groups) {
    groups.push_back(group_json(group, found.losses_are_known));
  }
  return {{"first", found.first},
          {"second", found.second},
          {"episodes", found.episodes},
          {"decisions", found.decisions},
          {"horizon", found.horizon},
          {"differing", found.all.decisions},
          {"all", group_json(found.all, found.losses_are_known)},
          {"groups", std::move(groups)}};
}

}  // namespace pacml::apps
