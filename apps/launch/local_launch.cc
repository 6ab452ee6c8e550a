#include "apps/launch/local_launch.h"

#include <ostream>

#include "apps/cli/words.h"
#include "apps/launch/template_text.h"
#include "apps/process/hand_over.h"

namespace pacml::apps {
namespace {

Words train_words(const LaunchRequest& request) {
  Words words = {"train"};
  append(words, request.config_words);
  append(words, {"--run", request.run, "--actors", std::to_string(actors_of(request))});
  append(words, limit_words(request));
  append(words, key_words(request));
  append(words, http_words(request));
  if (request.resume) words.emplace_back("--resume");
  return words;
}

}  // namespace

void print_local_launch(const LaunchRequest& request, std::ostream& out) {
  out << "pacml " << shell_words(train_words(request)) << "\n";
}

void launch_locally(const LaunchRequest& request) { hand_over("pacml", train_words(request)); }

}  // namespace pacml::apps
