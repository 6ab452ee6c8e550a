#include <pacml/decisions.h>

#include <utility>

#include "api/guarded.h"
#include "apps/decide/decision_model.h"
#include "apps/decide/decision_service.h"

namespace pacml::api {
namespace {

std::unique_ptr<apps::DecisionModel> load(const std::string& path, const PolicyOptions& options) {
  auto model = std::make_unique<apps::DecisionModel>(
      apps::DecisionModelOptions{path, options.profiles, options.search});
  model->warm_up();
  return model;
}

}  // namespace

struct DecisionService::Impl {
  apps::DecisionService service;
};

DecisionService::DecisionService(const std::string& path, const PolicyOptions& options)
    : impl_(guarded([&] {
        return std::make_unique<Impl>(Impl{apps::DecisionService(load(path, options))});
      })) {}
DecisionService::DecisionService(DecisionService&&) noexcept = default;
DecisionService& DecisionService::operator=(DecisionService&&) noexcept = default;
DecisionService::~DecisionService() = default;

std::string DecisionService::answer(std::string_view line) { return impl_->service.answer(line); }

const std::string& DecisionService::warning() const { return impl_->service.model().warning(); }

void DecisionService::take_over(const std::string& path, const PolicyOptions& options) {
  guarded([&] { impl_->service.take_over(load(path, options)); });
}

}  // namespace pacml::api
