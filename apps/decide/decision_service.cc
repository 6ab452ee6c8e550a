#include "apps/decide/decision_service.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/cli/version.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

using Json = nlohmann::ordered_json;  // what is no number is dumped as null
using Kind = DecisionRequest::Kind;

// A job that should have ended counts as about to: of the mean time between arrivals.
constexpr double kOverdue = 1e-3;

std::string error_line(const std::string& sentence, const std::string& id) {
  Json out = {{"type", "error"}, {"error", sentence}};
  if (!id.empty()) out["id"] = id;
  return json_text(out);
}

Json numbers_of(const env::ServerSet& servers) {
  Json out = Json::array();
  const auto words = servers.words();
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      out.push_back(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
  return out;
}

// Every valid action, with what the policy makes of it.
Json candidates_of(const ClusterDecision& decision) {
  Json out = Json::array();
  const Opinion& opinion = decision.opinion;
  for (std::size_t a = 0; a < decision.mask.size(); ++a) {
    if (decision.mask[a] == 0) continue;
    Json& candidate = out.emplace_back(Json{{"action", a}});
    if (!opinion.probabilities.empty()) candidate["probability"] = opinion.probabilities[a];
    if (!opinion.action_values.empty() && !std::isnan(opinion.action_values[a])) {
      candidate["value"] = opinion.action_values[a];
    }
  }
  return out;
}

}  // namespace

DecisionService::DecisionService(std::unique_ptr<DecisionModel> model)
    : model_(std::move(model)), ledger_(model_->num_servers(), model_->no_arrivals()) {}

void DecisionService::take_over(std::unique_ptr<DecisionModel> model) {
  if (model->task().setting().ramp.topology != model_->task().setting().ramp.topology) {
    throw UserError(model->file() +
                    " is of a cluster of another shape than the one that is served");
  }
  // Running jobs would end at other times.
  if (model->task().ramp_config().time_unit != model_->task().ramp_config().time_unit) {
    throw UserError(model->file() + " counts time in another unit than the one that is served");
  }
  model_ = std::move(model);
  if (ledger_.arrivals().memory() != model_->no_arrivals().memory()) {
    ledger_.set_arrivals(model_->no_arrivals());
  }
}

std::string DecisionService::answer(std::string_view line) {
  std::string id;
  const auto request = parse_decision_request(line, &id);
  if (!request) return error_line(request.error().detail, id);
  try {
    auto answered = answer(*request);
    return answered ? *std::move(answered) : error_line(answered.error().detail, request->id);
  } catch (const UserError& error) {
    return error_line(error.what(), request->id);
  }
}

Result<std::string> DecisionService::answer(const DecisionRequest& request) {
  if (request.kind == Kind::kDescribe) return describe();
  // On a copy where more than one thing changes: a request that is refused changes nothing.
  ClusterLedger changed = ledger_;
  // Who says all that there is to know may speak of any time.
  const bool says_all =
      (request.kind == Kind::kAsk || request.kind == Kind::kCluster) && request.running;
  if (says_all && request.time && *request.time < ledger_.now()) {
    changed =
        ClusterLedger(ledger_.num_servers(), env::RecentArrivals(ledger_.arrivals().memory()));
  }
  if (request.kind == Kind::kAsk) return decide(request, changed);
  if (request.kind == Kind::kArrive) {
    auto decided = decide(request, changed);
    if (decided) ledger_ = std::move(changed);
    return decided;
  }
  if (request.time) {
    if (auto advanced = changed.advance(*request.time); !advanced) {
      return tl::unexpected(advanced.error());
    }
  }
  const auto done = request.kind == Kind::kFinish ? changed.finish(request.id)
                                                  : changed.replace(*request.running);
  if (!done) return tl::unexpected(done.error());
  ledger_ = std::move(changed);
  Json out = {{"type", request.kind == Kind::kFinish ? "finished" : "cluster"}};
  if (request.kind == Kind::kFinish) out["id"] = request.id;
  out["time"] = ledger_.now();
  out["running"] = ledger_.jobs().size();
  out["free"] = ledger_.num_free();
  return json_text(out);
}

Result<env::ArrivingJob> DecisionService::job_of(const DecisionRequest& request) const {
  const auto number = model_->model_number(request.model);
  if (!number) {
    return wrong("model: there is none called " + request.model +
                 did_you_mean(request.model, model_->model_names()));
  }
  if (request.steps && *request.steps != model_->training_steps()) {
    return wrong("steps: the policy decides about jobs of " +
                 std::to_string(model_->training_steps()) + " training steps");
  }
  const double fraction =
      request.limit ? *request.limit : *request.limit_time / model_->sequential_time(*number);
  if (!(fraction > 0 && std::isfinite(fraction))) {
    return wrong("limit: is no share of the job's sequential time");
  }
  return env::ArrivingJob{*number, fraction};
}

Result<std::string> DecisionService::decide(const DecisionRequest& request, ClusterLedger& ledger) {
  if (request.time) {
    if (auto advanced = ledger.advance(*request.time); !advanced) {
      return tl::unexpected(advanced.error());
    }
  }
  if (request.running) {
    if (auto replaced = ledger.replace(*request.running); !replaced) {
      return tl::unexpected(replaced.error());
    }
  }
  if (auto fresh = ledger.check_new(request.id); !fresh) return tl::unexpected(fresh.error());
  const auto job = job_of(request);
  if (!job) return tl::unexpected(job.error());
  moment_.job = *job;
  moment_.running.clear();
  const double least = kOverdue * model_->task().slot();
  for (const ClusterLedger::Job& running : ledger.jobs()) {
    moment_.running.push_back(
        {model_->occupation(running.servers), std::max(running.until - ledger.now(), least)});
  }
  ledger.arrive(job->fraction);
  const ClusterDecision decision = model_->decide(moment_, ledger.arrivals());
  const bool accepted = decision.cause == env::BlockCause::kNone;
  Json out = {{"type", "decision"},          {"id", request.id},
              {"time", ledger.now()},        {"action", decision.opinion.action},
              {"meaning", decision.meaning}, {"accepted", accepted}};
  if (!accepted) out["reason"] = env::name_of(decision.cause);
  if (decision.execution) {
    out["degree"] = decision.execution->job->degree();
    out["servers"] = numbers_of(decision.execution->servers);
    out["completion_time"] = decision.completion_time;
  }
  out["limit_time"] = decision.limit_time;
  if (accepted) {
    const double until = ledger.now() + decision.completion_time;
    out["until"] = until;
    ledger.start(request.id, decision.execution->servers, until);
  }
  if (decision.opinion.value) out["value"] = *decision.opinion.value;
  out["candidates"] = candidates_of(decision);
  out["policy"] = model_->version();
  return json_text(out);
}

std::string DecisionService::describe() const {
  const env::RampTaskConfig& config = model_->task().ramp_config();
  Json models = Json::array();
  const auto names = model_->model_names();
  for (std::size_t m = 0; m < names.size(); ++m) {
    models.push_back(
        {{"name", names[m]}, {"sequential_time", model_->sequential_time(static_cast<int>(m))}});
  }
  const Json out = {{"type", "description"},
                    {"schema", kDecisionSchema},
                    {"program", "pacml " + version()},
                    {"task", model_->task().spec().task},
                    {"file", model_->file()},
                    {"policy", model_->version()},
                    {"search", model_->search() ? Json(*model_->search()) : Json(nullptr)},
                    {"topology", config.ramp.topology},
                    {"servers", model_->num_servers()},
                    {"actions", model_->task().spec().num_actions()},
                    {"training_steps", model_->training_steps()},
                    {"time_unit", pacml::name_of(config.time_unit)},
                    {"mean_interarrival_time", model_->task().slot()},
                    {"models", std::move(models)},
                    {"time", ledger_.now()},
                    {"running", ledger_.jobs().size()},
                    {"free", ledger_.num_free()}};
  return json_text(out);
}

}  // namespace pacml::apps
