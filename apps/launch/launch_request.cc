#include "apps/launch/launch_request.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "apps/process/hand_over.h"
#include "apps/run/run_directory.h"
#include "common/base_name.h"
#include "common/result.h"

namespace pacml::apps {

std::int64_t shards_of(const LaunchRequest& request) {
  return uses_replay(request.config.algorithm) ? request.config.replay.shards : 0;
}

std::int64_t actors_of(const LaunchRequest& request) {
  return request.actors.value_or(request.config.actors);
}

std::int64_t stop_seconds(const LaunchRequest& request) {
  return static_cast<std::int64_t>(std::ceil(request.config.supervision.stop_seconds.count()));
}

std::string run_name(const LaunchRequest& request) { return base_name(request.run); }

std::string program_of(const LaunchRequest& request) {
  return request.site.program.empty() ? program_beside_us("pacml").string() : request.site.program;
}

std::vector<std::string> key_words(const LaunchRequest& request) {
  if (request.keys.empty()) return {};
  return {"--keys", request.keys};
}

std::vector<std::string> limit_words(const LaunchRequest& request) {
  std::vector<std::string> words;
  if (request.decisions) {
    words.insert(words.end(), {"--decisions", std::to_string(*request.decisions)});
  }
  if (request.minutes) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.10g", *request.minutes);
    words.insert(words.end(), {"--minutes", text.data()});
  }
  return words;
}

std::vector<std::string> http_words(const LaunchRequest& request) {
  const Site& site = request.site;
  if (site.http_port == 0) return {};
  const std::string port = std::to_string(site.http_port);
  if (site.http_token_file.empty()) return {"--http", "127.0.0.1:" + port};
  return {"--http", "0.0.0.0:" + port, "--http-token-file", site.http_token_file};
}

void require_keys(const LaunchRequest& request) {
  if (!request.keys.empty() || request.config.transport.allow_insecure_bind) return;
  throw UserError(
      "roles on several hosts need --keys DIR (pacml keygen DIR makes them), or, in a network "
      "where "
      "everybody is trusted, --set transport.allow_insecure_bind=true");
}

void check_run_folder(const LaunchRequest& request) {
  if (request.resume) {
    static_cast<void>(RunDirectory::open(request.run));
  } else {
    RunDirectory::refuse_existing(request.run);
  }
}

}  // namespace pacml::apps
