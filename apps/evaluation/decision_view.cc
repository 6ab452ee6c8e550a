#include "apps/evaluation/decision_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/text_table.h"
#include "apps/evaluation/future.h"
#include "common/experience/observations.h"

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;

std::string short_number(double value) {
  char text[32];
  const bool large = std::abs(value) >= 1e3 && std::abs(value) < 1e9;
  std::snprintf(text, sizeof text, large ? "%.0f" : "%.4g", value);
  return text;
}

std::optional<double> entry(const std::vector<double>& values, std::size_t action) {
  if (action >= values.size() || std::isnan(values[action])) return std::nullopt;
  return values[action];
}

// The valid actions, those first that the policy would rather take.
std::vector<int> valid_actions(const env::Environment& environment, const Opinion& opinion) {
  Observations seen = environment.spec().make_observations();
  environment.observe(seen);
  const auto mask = seen.mask(0);
  std::vector<int> actions;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] != 0) actions.push_back(static_cast<int>(a));
  }
  // A rule may do what is not shown (Environment::takes()).
  if (std::ranges::find(actions, opinion.action) == actions.end()) {
    actions.push_back(opinion.action);
  }
  const auto& weights =
      opinion.probabilities.empty() ? opinion.action_values : opinion.probabilities;
  const auto rank = [&](int action) {
    if (action == opinion.action) return std::pair(0, 0.0);
    return std::pair(1, -entry(weights, static_cast<std::size_t>(action)).value_or(-1e30));
  };
  std::ranges::stable_sort(actions, {}, rank);
  return actions;
}

CandidateOutcome try_action(const env::Environment& environment, const Opinion& opinion,
                            int action) {
  CandidateOutcome out;
  out.action = action;
  out.text = environment.describe(action);
  out.probability = entry(opinion.probabilities, static_cast<std::size_t>(action));
  out.value = entry(opinion.action_values, static_cast<std::size_t>(action));
  const auto imagined = environment.clone();
  const env::StepResult result = imagined->step(action);
  out.reward = static_cast<float>(reward_of_all(result, *imagined));
  if (const auto* pictured = dynamic_cast<const env::Pictured*>(imagined.get())) {
    out.outcome = pictured->picture().last;
  }
  return out;
}

Json to_json(const env::PictureItem& item) {
  return {{"id", item.id}, {"label", item.label}, {"begins", item.begins}, {"ends", item.ends}};
}

Json to_json(const env::PictureGrid& grid) {
  return {{"title", grid.title}, {"shape", grid.shape}, {"of", grid.of}, {"items", grid.items}};
}

Json to_json(const CandidateOutcome& candidate) {
  Json out = {{"action", candidate.action}, {"text", candidate.text}, {"reward", candidate.reward}};
  if (candidate.probability) out["probability"] = *candidate.probability;
  if (candidate.value) out["value"] = *candidate.value;
  if (candidate.outcome) {
    out["kept"] = candidate.outcome->kept;
    out["reason"] = candidate.outcome->reason;
  }
  return out;
}

// "a" .. "z", "A" .. "Z", then "#": more than that stand nowhere in a terminal.
char letter_of(std::size_t item) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return item < kLetters.size() ? kLetters[item] : '#';
}

std::string draw(const env::PictureGrid& grid) {
  const auto [blocks, rows, columns] = grid.shape;
  std::string text = grid.title + ", a line a " + grid.of[0] + ", a word a " + grid.of[1] +
                     ", a letter a " + grid.of[2] + ":\n";
  for (int b = 0, place = 0; b < blocks; ++b) {
    text += "  ";
    for (int r = 0; r < rows; ++r) {
      if (r > 0) text += ' ';
      for (int c = 0; c < columns; ++c, ++place) {
        const int item = grid.items[static_cast<std::size_t>(place)];
        if (item == -2) continue;
        text += item < 0 ? '.' : letter_of(static_cast<std::size_t>(item));
      }
    }
    text += "\n";
  }
  return text;
}

std::string legend(const env::Picture& picture) {
  std::string text;
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    const env::PictureItem& item = picture.items[i];
    text += std::string("  ") + letter_of(i) + "  " + std::to_string(item.id) + ": " + item.label;
    if (item.ends > item.begins) {
      text += ", " + short_number(item.ends - picture.now) + " left of " +
              short_number(item.ends - item.begins);
    }
    text += "\n";
  }
  return text;
}

std::string candidates_table(const DecisionView& view) {
  const auto has = [&view](auto member) {
    return std::ranges::any_of(
        view.candidates, [&](const auto& candidate) { return (candidate.*member).has_value(); });
  };
  const bool probabilities = has(&CandidateOutcome::probability);
  const bool values = has(&CandidateOutcome::value);
  std::vector<std::vector<std::string>> rows{{"candidate"}};
  if (probabilities) rows[0].emplace_back("probability");
  if (values) rows[0].emplace_back("value");
  rows[0].emplace_back("reward");
  for (const CandidateOutcome& candidate : view.candidates) {
    std::vector<std::string> row{(candidate.action == view.chosen ? "> " : "  ") + candidate.text};
    if (probabilities) row.push_back(format_number(candidate.probability.value_or(0), 3));
    if (values) row.push_back(format_number(candidate.value.value_or(NAN), 3));
    row.push_back(format_number(static_cast<double>(candidate.reward), 3));
    rows.push_back(std::move(row));
  }
  // What came of each is a sentence, and not a column to the right.
  std::string table = align_columns(rows);
  std::string text;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < table.size(); ++line) {
    const std::size_t end = table.find('\n', begin);
    text += table.substr(begin, end - begin);
    if (line > 0 && view.candidates[line - 1].outcome) {
      text += "  " + view.candidates[line - 1].outcome->reason;
    }
    text += "\n";
    begin = end + 1;
  }
  if (view.left_out > 0) text += "  and " + std::to_string(view.left_out) + " more\n";
  return text;
}

}  // namespace

env::Picture picture_of(const env::Environment& environment) {
  if (const auto* pictured = dynamic_cast<const env::Pictured*>(&environment)) {
    return pictured->picture();
  }
  env::Picture picture;
  picture.now = static_cast<double>(environment.summary().decisions);
  Observations seen = environment.spec().make_observations();
  environment.observe(seen);
  const auto& globals = environment.spec().observation.globals;
  for (std::size_t g = 0; g < globals.size(); ++g) {
    const std::string unit = globals[g].unit == "1" ? "" : " " + globals[g].unit;
    picture.facts.push_back(
        {globals[g].name, short_number(static_cast<double>(seen.globals(0)[g])) + unit});
  }
  return picture;
}

DecisionView look_at(const env::Environment& environment, const Opinion& opinion,
                     std::size_t most) {
  DecisionView view;
  view.picture = picture_of(environment);
  view.chosen = opinion.action;
  view.value = opinion.value;
  auto actions = valid_actions(environment, opinion);
  if (actions.size() > most) {
    view.left_out = actions.size() - most;
    actions.resize(most);
  }
  std::ranges::sort(actions);
  for (const int action : actions) {
    view.candidates.push_back(try_action(environment, opinion, action));
  }
  return view;
}

Json to_json(const env::PictureOutcome& outcome) {
  return {{"item", to_json(outcome.item)}, {"kept", outcome.kept}, {"reason", outcome.reason}};
}

Json to_json(const DecisionView& view) {
  const env::Picture& picture = view.picture;
  Json out = {{"now", picture.now},     {"facts", Json::array()},      {"items", Json::array()},
              {"grids", Json::array()}, {"candidates", Json::array()}, {"left_out", view.left_out},
              {"chosen", view.chosen}};
  for (const auto& fact : picture.facts) {
    Json& told = out["facts"].emplace_back(Json::array({fact.name, fact.value}));
    if (fact.number) told.push_back(*fact.number);
  }
  for (const auto& item : picture.items) out["items"].push_back(to_json(item));
  for (const auto& grid : picture.grids) out["grids"].push_back(to_json(grid));
  for (const auto& candidate : view.candidates) out["candidates"].push_back(to_json(candidate));
  if (view.value) out["value"] = *view.value;
  return out;
}

std::string to_text(const DecisionView& view) {
  std::vector<std::vector<std::string>> facts;
  std::size_t width = 4;
  for (const auto& fact : view.picture.facts) width = std::max(width, fact.name.size());
  const auto line = [width](const std::string& name, const std::string& value) {
    return name + std::string(width - name.size() + 2, ' ') + value + "\n";
  };
  std::string text = line("time", short_number(view.picture.now));
  for (const auto& fact : view.picture.facts) text += line(fact.name, fact.value);
  if (view.value) text += line("value", short_number(*view.value));
  for (const auto& grid : view.picture.grids) text += "\n" + draw(grid);
  text += legend(view.picture);
  return text + "\n" + candidates_table(view);
}

}  // namespace pacml::apps
