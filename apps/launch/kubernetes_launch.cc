#include "apps/launch/kubernetes_launch.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "apps/cli/files.h"
#include "apps/cli/words.h"
#include "apps/launch/deploy_files.h"
#include "apps/launch/run_program.h"
#include "apps/launch/template_text.h"
#include "apps/run/endpoints.h"
#include "common/config/dump.h"
#include "common/hash.h"
#include "common/json_text.h"
#include "common/private_folder.h"
#include "common/result.h"
#include "common/transport/endpoint.h"

namespace pacml::apps {
namespace {

constexpr int kHttpPort = 9100;  // probes need one, whatever the site says
constexpr const char* kConfigFile = "/etc/pacml/config.yaml";
constexpr const char* kKeys = "/run/pacml/keys";
constexpr const char* kTokenFile = "/run/pacml/http/token";
constexpr const char* kFollower = "follower";  // in names of objects

class Manifests {
 public:
  explicit Manifests(const LaunchRequest& request)
      : request_(request),
        site_(request.site.kubernetes),
        config_(dump_config(request.config)),
        http_port_(request.site.http_port == 0 ? kHttpPort : request.site.http_port) {
    // Each pod has ports of its own: of its role, of announcements, of learners among themselves.
    const auto clash = clash_of_ports(http_port_, request.site.fixed_port(), 2);
    if (!clash.empty()) throw UserError(clash);
  }

  [[nodiscard]] std::string render() const {
    std::string text = common() + "---\n" + learner();
    if (learners() > 1) text += "---\n" + followers();
    if (shards_of(request_) > 0) text += "---\n" + replay();
    return text + "---\n" + actor();
  }

 private:
  // Pods of a StatefulSet have names of their own below its service's.
  [[nodiscard]] std::string address(const std::string& role, std::int64_t pod) const {
    const std::string set = site_.name + "-" + role;
    return "tcp://" + set + "-" + std::to_string(pod) + "." + set + ":" +
           std::to_string(request_.site.fixed_port());
  }

  // A list in JSON is one in YAML.
  [[nodiscard]] std::string arguments(const std::string& role, Words words) const {
    words.insert(words.begin(), {role, kConfigFile});
    if (!request_.keys.empty()) append(words, {"--keys", kKeys});
    append(words,
           {"--http", "0.0.0.0:" + std::to_string(http_port_), "--http-token-file", kTokenFile});
    return json_text(nlohmann::json(words));
  }

  // The run's name as an argument. Kubernetes would put variables into what a user wrote:
  // "$(POD_INDEX)" is one, and "$$" is a dollar.
  [[nodiscard]] std::string run_word() const {
    std::string word;
    for (const char c : run_name(request_)) word.append(c == '$' ? 2 : 1, c);
    return word;
  }

  [[nodiscard]] std::int64_t learners() const { return request_.config.learner.replicas; }

  // Follower k is pod k of its set, whose numbers begin at 1.
  [[nodiscard]] std::string address_of_learner(std::int64_t k) const {
    return address(k == 0 ? "learner" : kFollower, k);
  }

  [[nodiscard]] transport::Endpoint board_of(const std::string& learner) const {
    return board_endpoint(transport::Endpoint::parse(learner), 0, 1);  // alone on its host
  }

  // Of learner `number`, or of whichever pod reads it.
  [[nodiscard]] Words learner_words(const std::string& number, const std::string& leader) const {
    Words words = {"--run", "/runs/" + run_word(), "--bind", bind()};
    append(words, shard_words());
    if (learners() > 1) {
      append(words, {"--replica", number, "--leader", board_of(leader).str(), "--all-reduce-host",
                     "$(POD_IP)"});
    }
    return words;
  }

  [[nodiscard]] Words shard_words() const {
    Words words;
    for (std::int64_t s = 0; s < shards_of(request_); ++s) {
      append(words, {"--replay", address("replay", s)});
    }
    return words;
  }

  [[nodiscard]] TemplateValues shared_values() const {
    TemplateValues t;
    t.values = {{"NAME", site_.name},
                {"NAMESPACE", site_.name_space},
                {"HTTP_PORT", std::to_string(http_port_)}};
    if (!request_.keys.empty()) t.conditions.insert("KEYS");
    if (!site_.storage_class.empty()) t.conditions.insert("STORAGE_CLASS");
    return t;
  }

  [[nodiscard]] TemplateValues role_values(const RoleResources& resources,
                                           const std::string& args) const {
    TemplateValues t = shared_values();
    t.values.insert({{"CONFIG_HASH", std::to_string(content_hash(config_))},
                     {"IMAGE", json_text(nlohmann::json(site_.image))},
                     {"ARGS", args},
                     {"CPUS", std::to_string(resources.cpus)},
                     {"MEMORY", std::to_string(resources.memory_mib)},
                     {"KEYS_SECRET", site_.keys_secret},
                     {"TOKEN_SECRET", site_.token_secret}});
    return t;
  }

  [[nodiscard]] TemplateValues server_values(const RoleResources& resources,
                                             const std::string& args) const {
    TemplateValues t = role_values(resources, args);
    t.values.insert(
        {{"PORT", std::to_string(request_.site.fixed_port())},
         {"STOP_SECONDS",
          std::to_string(site_.stop_seconds > 0 ? site_.stop_seconds : stop_seconds(request_))},
         {"STORAGE", std::to_string(site_.storage_gib)},
         {"STORAGE_CLASS", site_.storage_class}});
    return t;
  }

  [[nodiscard]] std::string bind() const {
    return "tcp://*:" + std::to_string(request_.site.fixed_port());
  }

  [[nodiscard]] std::string common() const {
    TemplateValues t = shared_values();
    t.values.insert({{"CONFIG", indented(config_, 4)},
                     {"CLIENT", request_.config.security.client},
                     {"KEYS_SECRET", site_.keys_secret},
                     {"TOKEN_SECRET", site_.token_secret}});
    return fill_template(deploy_file("kubernetes/common.yaml"), t);
  }

  [[nodiscard]] std::string learner() const {
    Words words = learner_words("0", bind());
    words.emplace_back("--continue");
    TemplateValues t = learner_values("learner", 1, words);
    if (learners() > 1) {
      t.conditions.insert("BOARD");
      t.values["BOARD_PORT"] = board_of(bind()).port();
    }
    if (!site_.storage_class.empty()) t.conditions.insert("CLAIM_CLASS");
    return fill_template(deploy_file("kubernetes/learner.yaml"), t);
  }

  [[nodiscard]] std::string followers() const {
    TemplateValues t = learner_values(kFollower, learners() - 1,
                                      learner_words("$(POD_INDEX)", address_of_learner(0)));
    t.conditions.insert("FOLLOWER");
    return fill_template(deploy_file("kubernetes/learner.yaml"), t);
  }

  [[nodiscard]] TemplateValues learner_values(const std::string& role, std::int64_t replicas,
                                              const Words& words) const {
    TemplateValues t = server_values(request_.site.learner, arguments("learner", words));
    t.values["ROLE"] = role;
    t.values["REPLICAS"] = std::to_string(replicas);
    t.values["WEIGHTS_PORT"] = announcement_endpoint(transport::Endpoint::parse(bind())).port();
    if (learners() > 1) t.conditions.insert("SEVERAL");
    return t;
  }

  [[nodiscard]] std::string replay() const {
    Words words = {"--bind", bind(), "--shard", "$(POD_INDEX)"};
    append(words, {"--snapshot", "/snapshots/" + run_word(), "--run-id", run_word()});
    TemplateValues t = server_values(request_.site.replay, arguments("replay", words));
    t.values["SHARDS"] = std::to_string(shards_of(request_));
    return fill_template(deploy_file("kubernetes/replay.yaml"), t);
  }

  [[nodiscard]] std::string actor() const {
    Words words;
    for (std::int64_t k = 0; k < learners(); ++k) {
      append(words, {"--learner", address_of_learner(k)});
    }
    append(words, {"--id", "$(POD_INDEX)", "--run-id", run_word()});
    append(words, shard_words());
    TemplateValues t = role_values(request_.site.actor, arguments("actor", words));
    t.values["ACTORS"] = std::to_string(actors_of(request_));
    return fill_template(deploy_file("kubernetes/actor.yaml"), t);
  }

  const LaunchRequest& request_;
  const KubernetesSite& site_;
  std::string config_;
  std::int64_t http_port_;
};

}  // namespace

std::string make_manifests(const LaunchRequest& request) {
  require_keys(request);
  if (request.config.learner.replicas > 1) {
    check_all_reduce_host(request.config, request.site.kubernetes.name + "-learner-0");
  }
  if (request.minutes || request.decisions) {
    throw UserError(
        "--minutes, --decisions: Kubernetes would start a learner that ended again; train until "
        "the "
        "run is deleted (kubectl delete -f)");
  }
  if (!request.site.http_token_file.empty()) {
    throw UserError(
        "http_token_file: on Kubernetes the token is in a secret (kubernetes.token_secret)");
  }
  std::vector<std::string> files = request.config.env.files();
  if (const auto& run = request.config.warm_start.from; !run.empty()) files.push_back(run);
  if (!files.empty()) {
    throw UserError(files.front() +
                    " is not in the pods; Kubernetes trains on what is built in, without "
                    "env.profiles and other settings that name files");
  }
  return Manifests(request).render();
}

int launch_on_kubernetes(const LaunchRequest& request, std::ostream& out) {
  const std::string manifests = make_manifests(request);
  const PrivateFolder scratch("pacml");
  const auto file = scratch / "manifests.yaml";
  write_user_file(file, manifests);
  out << output_of({"kubectl", "apply", "-f", file});
  return 0;
}

}  // namespace pacml::apps
