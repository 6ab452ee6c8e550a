#include "apps/launch/local_launch.h"

#include <ostream>
#include <string>
#include <vector>

#include "apps/launch/template_text.h"
#include "apps/process/hand_over.h"

namespace pacml::apps {
namespace {

std::vector<std::string> train_words(const LaunchRequest& request) {
  std::vector<std::string> words = {"train"};
  const auto append = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  append(request.config_words);
  append({"--run", request.run, "--actors", std::to_string(actors_of(request))});
  append(limit_words(request));
  append(key_words(request));
  append(http_words(request));
  if (request.resume) words.emplace_back("--resume");
  return words;
}

}  // namespace

void print_local_launch(const LaunchRequest& request, std::ostream& out) {
  out << "pacml " << shell_words(train_words(request)) << "\n";
}

void launch_locally(const LaunchRequest& request) { hand_over("pacml", train_words(request)); }

}  // namespace pacml::apps
