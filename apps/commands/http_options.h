#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/http/http_settings.h"

namespace pacml::apps {

// The options of every command whose process serves pages over HTTP.
struct HttpOptions {
  std::optional<std::string> address;
  std::optional<std::string> token_file;

  void declare(Options& options, bool with_dashboard = false) {
    options.option("--http [HOST:]PORT", &address,
                   std::string("serves ") + (with_dashboard ? "the dashboard (/), " : "") +
                       "/status, /metrics, /healthz and /readyz there; a port alone is for this "
                       "machine, 0 any free port");
    options.option("--http-token-file FILE", &token_file,
                   "who reads /status or /metrics has to show this token");
  }
  // The same options as words, to hand on to another program.
  [[nodiscard]] std::vector<std::string> arguments() const {
    std::vector<std::string> words;
    if (address) words.insert(words.end(), {"--http", *address});
    if (token_file) words.insert(words.end(), {"--http-token-file", *token_file});
    return words;
  }
  [[nodiscard]] std::optional<HttpSettings> load() const {
    return make_http_settings(address, token_file);
  }
};

}  // namespace pacml::apps
