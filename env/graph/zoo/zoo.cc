#include "env/graph/zoo/zoo.h"

#include <array>

#include "common/result.h"
#include "common/text.h"
#include "env/graph/zoo/cost_model.h"
#include "env/graph/zoo/networks.h"

namespace pacml::env {
namespace {

struct Entry {
  std::string_view name;
  int batch;
  zoo::Network (*describe)(int batch);
  bool is_usual = false;  // meant where no model is named
};

constexpr auto kModels = std::to_array<Entry>({
    {"alexnet", 256, zoo::alexnet, true},
    {"bert_base", 32, zoo::bert_base},
    {"gnmt", 64, zoo::gnmt, true},
    {"gpt2_large", 2, zoo::gpt2_large},
    {"gpt2_medium", 4, zoo::gpt2_medium},
    {"gpt2_small", 8, zoo::gpt2_small},
    {"gpt2_xl", 1, zoo::gpt2_xl},
    {"llama_7b", 1, zoo::llama_7b},
    {"mixtral_8x7b", 1, zoo::mixtral_8x7b},
    {"resnet18", 256, zoo::resnet18, true},
    {"resnet50", 64, zoo::resnet50},
    {"squeezenet1_0", 256, zoo::squeezenet1_0, true},
    {"vgg16", 64, zoo::vgg16, true},
    {"vit_b_16", 64, zoo::vit_b_16},
});

const Entry& entry_of(std::string_view model) {
  for (const Entry& entry : kModels) {
    if (entry.name == model) return entry;
  }
  throw UserError("there is no built-in model '" + std::string(model) + "'" +
                  did_you_mean(model, all_zoo_models()));
}

}  // namespace

std::vector<std::string> zoo_models() {
  std::vector<std::string> names;
  for (const Entry& entry : kModels) {
    if (entry.is_usual) names.emplace_back(entry.name);
  }
  return names;
}

std::vector<std::string> all_zoo_models() {
  std::vector<std::string> names;
  for (const Entry& entry : kModels) names.emplace_back(entry.name);
  return names;
}

int zoo_batch(std::string_view model) { return entry_of(model).batch; }

zoo::Network zoo_network(std::string_view model, int batch) {
  return entry_of(model).describe(batch);
}

Profile zoo_profile(std::string_view model, const zoo::Device& device, int batch) {
  return zoo::profile_of(zoo_network(model, batch), device);
}

Profile zoo_profile(std::string_view model) {
  return zoo_profile(model, zoo::a100(), zoo_batch(model));
}

}  // namespace pacml::env
