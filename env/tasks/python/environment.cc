#include "env/tasks/python/environment.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/check.h"
#include "common/result.h"
#include "env/tasks/python/whole_number.h"

namespace pacml::env {
namespace {

using nlohmann::json;

std::vector<float> numbers_of(const json& said) {
  std::vector<float> out;
  out.reserve(said.size());
  for (const json& each : said) out.push_back(each.get<float>());
  return out;
}

// As many bits of a seed as libraries of Python take.
constexpr std::uint64_t kSeeds = (std::uint64_t{1} << 32U) - 1;

// What `use` makes of answers. UserError: they are not of the form that host.py gives them, as
// where a task's process has become two, which answer in turns.
template <class Use>
auto understood(const PythonProcess& process, const Use& use) {
  try {
    return use();
  } catch (const json::exception& error) {
    throw UserError(process.name() +
                    " answers something else than it was asked (does it fork?): " + error.what());
  }
}

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

}  // namespace

PythonEnvironment::PythonEnvironment(std::shared_ptr<const EnvironmentSpec> spec,
                                     std::shared_ptr<PythonProcess> process)
    : spec_(std::move(spec)), process_(std::move(process)), id_(process_->new_id()) {}

PythonEnvironment::~PythonEnvironment() { process_->drop(id_); }

json PythonEnvironment::ask(const char* what, json with) const {
  return process_->ask(what, id_, std::move(with));
}

void PythonEnvironment::refuse(const std::string& what) const {
  throw UserError(process_->name() + " shows " + what);
}

PythonEnvironment::Shown PythonEnvironment::read(const json& said) const {
  const CandidateSpec& spec = spec_->observation.candidates;
  Shown shown;
  shown.globals = numbers_of(said.at("globals"));
  if (const auto most = spec_->observation.globals.size(); shown.globals.size() != most) {
    refuse(counted(shown.globals.size(), "globals, and says that they are ") +
           std::to_string(most));
  }
  const json& rows = said.at("candidates");
  const bool by_place = spec.features.empty() && !spec.vary;
  const std::size_t candidates = by_place ? spec.most : rows.size();
  if (candidates == 0 || candidates > spec.most || (!spec.vary && candidates != spec.most)) {
    refuse(counted(candidates, "candidates, and says that they are ") + (spec.vary ? "1 to " : "") +
           std::to_string(spec.most));
  }
  for (const json& row : rows) {
    if (row.size() != spec.features.size()) {
      refuse("a candidate of " + counted(row.size(), "features, and says that they are ") +
             std::to_string(spec.features.size()));
    }
    for (const json& each : row) shown.candidates.push_back(each.get<float>());
  }
  const json& mask = said.at("mask");
  shown.mask.assign(candidates, 1);
  if (!mask.is_null()) shown.mask = mask.get<std::vector<std::uint8_t>>();
  if (shown.mask.size() != candidates) {
    refuse("a mask of " + counted(shown.mask.size(), "entries for ") +
           counted(candidates, "candidates"));
  }
  if (std::ranges::count(shown.mask, 1) == 0) refuse("a decision without an action");
  shown.agent = agent_of(said.at("agent"));
  return shown;
}

int PythonEnvironment::agent_of(const json& said) const {
  const auto agent = whole_number(said, 0, std::int64_t{spec_->observation.agents} - 1);
  if (!agent) {
    refuse("agent number " + said.dump() + ", and says that there are " +
           std::to_string(spec_->observation.agents));
  }
  return static_cast<int>(*agent);
}

float PythonEnvironment::reward_of(const json& said) const {
  const auto reward = said.get<float>();
  if (!std::isfinite(reward)) refuse("a reward beyond what float32 holds");
  return reward;
}

void PythonEnvironment::reset(Seed seed) {
  shown_ = understood(*process_, [&] {
    return read(ask("reset", {{"seed", seed.get() & kSeeds}}));
  });
  others_.clear();
  decided_.assign(spec_->observation.agents, false);
  left_.assign(spec_->observation.agents, false);
  total_ = 0;
  decisions_ = 0;
}

StepResult PythonEnvironment::step(int action) {
  PACML_CHECK(takes(action), "an action that the mask allows");
  return understood(*process_, [&] { return answered_step(action); });
}

StepResult PythonEnvironment::answered_step(int action) {
  const json said = ask("step", {{"action", action}});
  StepResult result;
  result.reward = reward_of(said.at("reward"));
  result.terminated = said.at("terminated").get<bool>();
  result.truncated = said.at("truncated").get<bool>() && !result.terminated;
  result.elapsed = said.at("elapsed").get<float>();
  if (!std::isfinite(result.elapsed) || result.elapsed <= 0) {
    refuse("an elapsed time that is not above 0");
  }
  total_ += result.reward;
  const auto decided = static_cast<std::size_t>(shown_.agent);
  others_.clear();
  for (const json& each : said.at("rewards")) {
    const AgentReward other{agent_of(each.at(0)), reward_of(each.at(1))};
    total_ += other.reward;
    // Who has not decided yet has nothing that it could be for.
    if (decided_[static_cast<std::size_t>(other.agent)]) others_.push_back(other);
  }
  decided_[decided] = true;
  left_.assign(spec_->observation.agents, false);
  for (const json& each : said.at("left")) left_[static_cast<std::size_t>(agent_of(each))] = true;
  if (!result.terminated) shown_ = read(said);
  ++decisions_;
  return result;
}

bool PythonEnvironment::takes(int action) const {
  return action >= 0 && static_cast<std::size_t>(action) < shown_.mask.size() &&
         shown_.mask[static_cast<std::size_t>(action)] == 1;
}

void PythonEnvironment::observe(Observations& out) const { write(shown_, out); }

void PythonEnvironment::observe_last(int agent, Observations& out) const {
  if (spec_->observation.agents == 1) return observe(out);
  write(understood(*process_, [&] { return read(ask("last", {{"agent", agent}})); }), out);
}

void PythonEnvironment::write(const Shown& shown, Observations& out) const {
  const bool vary = spec_->observation.candidates.vary;
  const ObservationRow row = out.append(
      {.candidates = vary ? static_cast<std::uint32_t>(shown.mask.size()) : 0, .nodes = {}});
  std::ranges::copy(shown.globals, row.globals.begin());
  std::ranges::copy(shown.candidates, row.candidates.begin());
  std::ranges::copy(shown.mask, row.mask.begin());
  for (auto& agent : row.agent) agent = static_cast<std::uint16_t>(shown.agent);
}

std::unique_ptr<Environment> PythonEnvironment::clone() const {
  auto made = std::make_unique<PythonEnvironment>(spec_, process_);
  static_cast<void>(ask("clone", {{"clone", made->id_}}));
  made->shown_ = shown_;
  made->others_ = others_;
  made->decided_ = decided_;
  made->left_ = left_;
  made->total_ = total_;
  made->decisions_ = decisions_;
  return made;
}

bool PythonEnvironment::resample_future(Seed seed) {
  return understood(*process_, [&] {
    return ask("resample", {{"seed", seed.get() & kSeeds}}).get<bool>();
  });
}

EpisodeRecord PythonEnvironment::summary() const {
  EpisodeRecord record{total_, decisions_, {}};
  understood(*process_, [&] {
    const json said = ask("summary");
    for (std::size_t m = 0; m < spec_->metrics.size(); ++m) record.metrics[m] = said.at(m);
  });
  return record;
}

std::string PythonEnvironment::describe(int action) const {
  return understood(*process_, [&] {
    return ask("describe", {{"action", action}}).get<std::string>();
  });
}

int PythonEnvironment::act(const std::string& baseline) const {
  const json said = ask("act", {{"name", baseline}});
  const auto action = whole_number(said, 0, std::int64_t{spec_->observation.candidates.most} - 1);
  if (!action || !takes(static_cast<int>(*action))) {
    refuse("an action of its baseline " + baseline + " that its mask forbids: " + said.dump());
  }
  return static_cast<int>(*action);
}

}  // namespace pacml::env
