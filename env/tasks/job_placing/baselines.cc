#include "env/tasks/job_placing/baselines.h"

#include <optional>
#include <set>
#include <string>

#include "common/read_number.h"
#include "common/result.h"
#include "env/tasks/gpu_scheduling/environment.h"
#include "env/tasks/gpu_scheduling/random_offer.h"

namespace pacml::env {
namespace {

constexpr std::string_view kConstant = "constant:";
constexpr std::string_view kEfficient = "efficient";
constexpr double kDoublingPays = 0.5;
constexpr int kMostConstant = 64;  // to choose the best one of

bool is_place(const Offer& offer) { return offer.kind != Offer::Kind::kPass; }

// The first job that is offered; its offers are in the order of their sizes.
std::int32_t first_job(const GpuSchedulingEnv& env) {
  for (const Offer& offer : env.offers().all()) {
    if (is_place(offer)) return offer.job;
  }
  return -1;
}

// Of `wanted` GPUs for the job, or of the largest number below it; to wait, where it may wait for
// as many as it could have on a cluster with room.
int offer_of_size(const GpuSchedulingEnv& env, std::int32_t job, int wanted) {
  int best = -1;
  int has = 0;
  for (std::size_t i = 0; i < env.offers().size(); ++i) {
    const Offer& offer = env.offers()[i];
    const auto gpus = static_cast<int>(offer.num_gpus);
    if (!is_place(offer) || offer.job != job || (best >= 0 && gpus > wanted)) continue;
    best = static_cast<int>(i);
    has = gpus;
  }
  const bool may_wait = env.offers()[0].kind == Offer::Kind::kPass;
  return may_wait && has < wanted ? 0 : best;
}

// The largest size of the job that is offered where there is room, up to `most`; the smallest where
// all are above.
int size_up_to(const GpuSchedulingEnv& env, std::int32_t job, int most) {
  const auto& sizes = env.state().model().speeds().sizes(env.state().jobs()[job].type);
  int size = sizes.begin()->first;
  int offered = 0;
  for (const auto& [gpus, shape] : sizes) {
    if (gpus > most || ++offered > env.offers().config().sizes) break;
    size = gpus;
  }
  return size;
}

class ConstantSize final : public Agent {
 public:
  explicit ConstantSize(int gpus) : gpus_(gpus) {}
  int act(const Environment& environment) override {
    const GpuSchedulingEnv& env = scheduling_env(environment);
    const std::int32_t job = first_job(env);
    const int most = std::min(gpus_, env.state().topology().num_gpus());
    return offer_of_size(env, job, size_up_to(env, job, most));
  }

 private:
  int gpus_;
};

class AsAsked final : public Agent {
 public:
  int act(const Environment& environment) override {
    const GpuSchedulingEnv& env = scheduling_env(environment);
    const std::int32_t job = first_job(env);
    return offer_of_size(env, job, size_up_to(env, job, env.state().jobs()[job].gpus));
  }
};

// The largest size to which each step up from the smallest pays off; 0: whatever there is room for.
class Efficient final : public Agent {
 public:
  explicit Efficient(double pays) : pays_(pays) {}
  int act(const Environment& environment) override {
    const GpuSchedulingEnv& env = scheduling_env(environment);
    const std::int32_t job = first_job(env);
    const Offer* best = nullptr;
    int action = 0;
    for (std::size_t i = 0; i < env.offers().size(); ++i) {
      const Offer& offer = env.offers()[i];
      if (!is_place(offer) || offer.job != job) continue;
      if (best != nullptr) {
        const double more =
            static_cast<double>(offer.num_gpus) / static_cast<double>(best->num_gpus) - 1;
        if (offer.rate / best->rate < 1 + pays_ * more && pays_ > 0) break;
      }
      best = &offer;
      action = static_cast<int>(i);
    }
    return action;
  }

 private:
  double pays_;
};

std::optional<double> number_in(std::string_view text, double least, double most) {
  const auto value = read_number<double>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

}  // namespace

std::vector<Baseline> job_placing_baselines(const JobSpeeds& speeds) {
  Baseline best{"best_constant", "the number of GPUs that does best where all get it", true, {}};
  std::set<int> sizes;
  for (const GpuJobShape& shape : speeds.shapes()) sizes.insert(shape.gpus);
  for (const int gpus : sizes) {
    if (gpus <= kMostConstant)
      best.best_of.push_back(std::string(kConstant) + std::to_string(gpus));
  }
  return {
      {"constant", "constant:N: N GPUs for every job, or as many below as it can use", false, {}},
      best,
      {"as_asked", "as many as the job asks for", true, {}},
      {"max_parallel", "as many as have room and it can use", true, {}},
      {std::string(kEfficient),
       "as many as pay off: each doubling by half at least; efficient:E by the share E",
       true,
       {}},
      {"random", "any number that has room, or none", true, {}}};
}

std::unique_ptr<Agent> make_job_placing_agent(std::string_view name, const JobSpeeds& speeds) {
  if (name == "random") return std::make_unique<RandomOfferAgent>();
  if (name == "as_asked") return std::make_unique<AsAsked>();
  if (name == "max_parallel") return std::make_unique<Efficient>(0);
  if (name == kEfficient) return std::make_unique<Efficient>(kDoublingPays);
  if (name.starts_with(std::string(kEfficient) + ":")) {
    const auto share = number_in(name.substr(kEfficient.size() + 1), 1e-6, 1);
    if (share) return std::make_unique<Efficient>(*share);
    throw UserError("efficient:E: E must be a share above 0, up to 1");
  }
  if (name.starts_with(kConstant)) {
    const auto gpus = number_in(name.substr(kConstant.size()), 1, 1 << 20);
    if (gpus && *gpus == static_cast<int>(*gpus)) {
      return std::make_unique<ConstantSize>(static_cast<int>(*gpus));
    }
    throw UserError("constant:N: N must be a number of GPUs, at least 1");
  }
  throw no_such_baseline(name, job_placing_baselines(speeds));
}

}  // namespace pacml::env
