#include "apps/launch/kubernetes_launch.h"

#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_run.h"

using namespace pacml;
using namespace pacml::apps;

TEST_CASE("what has no place on Kubernetes is refused with where it belongs") {
  LaunchRequest request;
  request.config = testing::tiny_config();
  request.config.transport.allow_insecure_bind = true;
  request.run = "run";
  request.actors = 2;
  CHECK_NOTHROW(make_manifests(request));
  std::string sentence;
  SECTION("a token of this machine") {
    request.site.http_token_file = "token";
    sentence = "http_token_file: on Kubernetes the token is in a secret (kubernetes.token_secret)";
  }
  SECTION("two kinds of pages at one port: of status, which is always there, and of a role") {
    request.site.port = 9099;
    sentence = "http_port: must not be in 9099..9101, which roles listen at (port)";
  }
  SECTION("... also where the roles' is the usual one") {
    request.site.http_port = 5556;
    sentence = "http_port: must not be in 5555..5557, which roles listen at (port)";
  }
  CHECK_THROWS_WITH(make_manifests(request), sentence);
}
