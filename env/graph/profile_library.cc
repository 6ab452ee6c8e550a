#include "env/graph/profile_library.h"

#include <algorithm>
#include <filesystem>

#include "common/result.h"
#include "common/text.h"
#include "env/graph/profile_reader.h"
#include "env/graph/zoo/zoo.h"

namespace pacml::env {

std::vector<Profile> load_profiles(const std::string& directory,
                                   const std::vector<std::string>& models) {
  const bool built_in = directory.empty();
  auto available = built_in ? all_zoo_models() : list_profiles(directory);
  std::sort(available.begin(), available.end());
  const auto usual = built_in ? zoo_models() : available;
  std::vector<Profile> profiles;
  for (const auto& model : models.empty() ? usual : models) {
    if (std::find(available.begin(), available.end(), model) == available.end()) {
      throw UserError((built_in ? std::string("the built-in model zoo") : directory) +
                      " has no model \"" + model + "\"" + did_you_mean(model, available));
    }
    profiles.push_back(
        built_in ? zoo_profile(model)
                 : read_profile_file(std::filesystem::path(directory) / model / "graph.txt"));
  }
  return profiles;
}

}  // namespace pacml::env
