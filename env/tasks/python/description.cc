#include "env/tasks/python/description.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "common/config/dump.h"
#include "common/result.h"
#include "common/try_again.h"
#include "env/tasks/python/python_process.h"
#include "env/tasks/python/whole_number.h"

namespace pacml::env {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMostConstants = 64;  // to compare with; more say little

// UserError: it is no number of `what`.
std::uint32_t count_of(const json& said, const std::string& what) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto count = whole_number(said, 0, kMost);
  if (!count) throw UserError("the number of its " + what + " cannot be " + said.dump());
  return static_cast<std::uint32_t>(*count);
}

int decimals_of(const json& said, const std::string& metric) {
  constexpr std::int64_t kMost = 17;  // a double has no more
  const auto decimals = whole_number(said, 0, kMost);
  if (!decimals) {
    throw UserError("the metric " + metric + " has " + said.dump() + " decimals, and not 0 to 17");
  }
  return static_cast<int>(*decimals);
}

FeatureSpec feature_of(const json& said) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return {said.at("name"), said.at("unit"),
          said.at("low").is_null() ? -kNone : said.at("low").get<double>(),
          said.at("high").is_null() ? kNone : said.at("high").get<double>()};
}

Better better_of(const std::string& said, const std::string& metric) {
  if (said == "lower") return Better::kLower;
  if (said == "higher") return Better::kHigher;
  if (said == "neither") return Better::kNeither;
  throw UserError("the metric " + metric + " is better neither lower nor higher: " + said);
}

ObservationSpec observation_of(const json& said) {
  ObservationSpec spec;
  spec.slots = {{.name = "nothing", .node_width = 1, .edge_width = 1, .most_nodes = 1}};
  for (const json& each : said.at("globals")) spec.globals.push_back(feature_of(each));
  const json& candidates = said.at("candidates");
  spec.agents = count_of(said.at("agents"), "agents");
  spec.candidates.most = count_of(candidates.at("most"), "candidates");
  spec.candidates.vary = candidates.at("vary");
  for (const json& each : candidates.at("features")) {
    spec.candidates.features.push_back(feature_of(each));
  }
  if (const auto problems = validate(spec); !problems.empty()) throw UserError(problems.front());
  return spec;
}

// Of a baseline that the environment brings. UserError: it could not be told from what a list of
// policies means by it.
std::string own_name(const std::string& name, const std::vector<Baseline>& added) {
  if (std::ranges::find(added, name, &Baseline::name) != added.end()) {
    throw UserError("the baseline " + name +
                    " needs another name: pacml adds one that is called so");
  }
  if (name.empty() || name == "baselines" || name.find_first_of(",:+") != std::string::npos) {
    throw UserError("the baseline \"" + name +
                    "\" needs another name, without a comma, a colon and a plus");
  }
  return name;
}

PythonDescription read(const json& said) {
  PythonDescription out;
  out.observation = observation_of(said);
  for (const json& each : said.at("metrics")) {
    const std::string name = each.at("name");
    out.metrics.push_back({name,
                           name,
                           each.at("unit"),
                           better_of(each.at("better"), name),
                           decimals_of(each.at("decimals"), name),
                           {}});
  }
  const std::vector<Baseline> added = added_baselines(out.observation.candidates);
  for (const json& each : said.at("baselines")) {
    out.baselines.push_back({own_name(each.at("name"), added), each.at("about"), true, {}});
  }
  out.sources = said.at("sources").get<std::vector<std::string>>();
  return out;
}

PythonDescription ask(const PythonConfig& config) {
  const PythonProcess process(config);
  try {
    return read(process.description());
  } catch (const json::exception& error) {
    throw UserError(process.name() +
                    " describes itself with values of other types: " + error.what());
  }
}

// A file of a task, which is edited while a notebook goes on.
struct Source {
  std::string file;
  std::filesystem::file_time_type written;  // where there is no such file, the least time
};

Source source_now(const std::string& file) {
  std::error_code failed;
  return {file, std::filesystem::last_write_time(file, failed)};
}

// A reading asks several times: for so long an error answers all of them.
constexpr Duration kReading = in_seconds(2);

struct Answer {
  std::variant<PythonDescription, UserError> said;
  std::vector<Source> sources;
  Deadline until;

  [[nodiscard]] bool holds() const {
    return !until.expired() && std::ranges::all_of(sources, [](const Source& was) {
      return source_now(was.file).written == was.written;
    });
  }
};

Answer answer_to(const PythonConfig& config) {
  std::vector<Source> sources;
  if (!config.file.empty()) sources.push_back(source_now(config.file));
  try {
    PythonDescription said = ask(config);
    for (const std::string& file : said.sources) sources.push_back(source_now(file));
    return {std::move(said), std::move(sources), Deadline::never()};
  } catch (const TryAgainError&) {
    throw;  // what may pass by itself is no answer
  } catch (const UserError& error) {
    return {error, std::move(sources), Deadline::in(kReading)};
  }
}

}  // namespace

std::vector<Baseline> added_baselines(const CandidateSpec& candidates) {
  std::vector<Baseline> all;
  if (candidates.features.empty() && !candidates.vary && candidates.most <= kMostConstants) {
    Baseline best{"best_constant", "the action that does best where it is always taken", true, {}};
    for (std::uint32_t a = 0; a < candidates.most; ++a) {
      best.best_of.push_back("constant:" + std::to_string(a));
    }
    all.push_back(
        {"constant", "always action A; where it is not allowed, the next one", false, {}});
    all.push_back(std::move(best));
  }
  all.push_back({"random", "any action that is allowed, all equally likely", true, {}});
  return all;
}

PythonDescription description_of(const PythonConfig& config) {
  static std::mutex mutex;
  static std::map<std::string, Answer, std::less<>> known;
  const std::scoped_lock lock(mutex);
  const std::string key = dump_config(config);
  auto found = known.find(key);
  if (found == known.end() || !found->second.holds()) {
    found = known.insert_or_assign(key, answer_to(config)).first;
  }
  const auto& said = found->second.said;
  if (const auto* error = std::get_if<UserError>(&said)) throw UserError(*error);
  return std::get<PythonDescription>(said);
}

}  // namespace pacml::env
