// What `pacml launch` would submit, as text: a difference is reviewed like code.

#include <yaml-cpp/yaml.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "apps/launch/kubernetes_launch.h"
#include "apps/launch/local_launch.h"
#include "apps/launch/slurm_launch.h"
#include "apps/launch/ssh_launch.h"
#include "apps/launch/template_text.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/result.h"
#include "env/tasks/partitioning/config.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

// Without the configuration in it, which grows with every setting, and without its hash.
void check_golden(const std::string& file, std::string text, const LaunchRequest& request) {
  const std::string config = dump_config(request.config);
  for (const std::string& known : {config, indented(config, 4)}) {
    const auto at = text.find(known);
    if (at != std::string::npos) text.replace(at, known.size(), "(every setting)\n");
  }
  static const std::regex kHash("pacml/config: \"[0-9]+\"");
  text = std::regex_replace(text, kHash, "pacml/config: \"(its hash)\"");
  static const std::regex kFile("config-[0-9]+\\.yaml");
  text = std::regex_replace(text, kFile, "config-(its hash).yaml");
  testing::check_golden("tests/golden/launch/" + file, text);
}

// Nothing in it depends on this machine.
LaunchRequest request_of(const TrainConfig& config) {
  LaunchRequest request;
  request.config = config;
  request.config.supervision.stop_seconds = SupervisionConfig{}.stop_seconds;  // as users have it
  request.config_words = {"configs/tiny.yaml", "--set", "seed=1"};
  request.run = "/data/runs/a";
  request.actors = 4;
  request.keys = "/data/keys";
  request.site.program = "/opt/pacml/bin/pacml";
  request.site.ssh.directory = "/data";
  return request;
}

LaunchRequest impala_request() {
  LaunchRequest request = request_of(testing::tiny_config());
  request.decisions = 1'000'000;
  return request;
}

LaunchRequest apex_request() { return request_of(testing::tiny_apex_config()); }

std::string printed(void (*print)(const LaunchRequest&, std::ostream&),
                    const LaunchRequest& request) {
  std::ostringstream out;
  print(request, out);
  return out.str();
}

TEST_CASE("launch on this machine is pacml train") {
  LaunchRequest request = impala_request();
  request.config_words = {"it's.yaml"};
  CHECK(printed(print_local_launch, request) ==
        "pacml train 'it'\\''s.yaml' --run /data/runs/a --actors 4 --decisions 1000000 --keys "
        "/data/keys\n");
}

TEST_CASE("launch over ssh prints its commands") {
  const auto hosts = parse_hostfile("hosts",
                                    "trainer@10.0.0.1\n"
                                    "10.0.0.2 slots=2\n"
                                    "10.0.0.3 role=replay slots=1\n");
  std::ostringstream out;
  LaunchRequest request = apex_request();
  request.resume = true;
  print_ssh_launch(request, hosts, out);
  check_golden("ssh.txt", out.str(), request);
}

TEST_CASE("launch on Slurm prints its jobs") {
  LaunchRequest request = impala_request();
  check_golden("slurm_impala.txt", printed(print_slurm_launch, request), request);
  request = apex_request();
  request.site.slurm.partition = "long";
  request.site.slurm.time_limit = "30";
  request.site.slurm.options = {"--account=physics", "--qos=low"};
  request.site.http_port = 9100;
  request.site.http_token_file = "/data/token";
  check_golden("slurm_apex.txt", printed(print_slurm_launch, request), request);
}

TEST_CASE("launch on Kubernetes prints its manifests") {
  LaunchRequest request = apex_request();
  check_golden("kubernetes_apex.yaml", make_manifests(request), request);
  request = request_of(testing::tiny_config());
  request.config.transport.allow_insecure_bind = true;
  request.keys.clear();
  request.site.kubernetes.storage_class = "fast";
  check_golden("kubernetes_impala.yaml", make_manifests(request), request);
}

// Those of the schema that a typing error in a template would break.
void check_pod(const YAML::Node& pod, const std::set<std::string>& claims) {
  CHECK(pod["securityContext"]["runAsNonRoot"].as<bool>());
  CHECK(pod["terminationGracePeriodSeconds"].as<int>() > 0);
  std::set<std::string> volumes = claims;
  for (const auto& volume : pod["volumes"]) volumes.insert(volume["name"].as<std::string>());
  REQUIRE(pod["containers"].size() == 1);
  const YAML::Node& container = pod["containers"][0];
  std::set<std::string> ports;
  for (const auto& port : container["ports"]) {
    ports.insert(port["name"].as<std::string>());
    CHECK(port["containerPort"].as<int>() > 0);
  }
  for (const char* probe : {"livenessProbe", "readinessProbe"}) {
    CHECK(ports.contains(container[probe]["httpGet"]["port"].as<std::string>()));
    CHECK(container[probe]["httpGet"]["path"].as<std::string>().starts_with("/"));
  }
  CHECK(container["securityContext"]["readOnlyRootFilesystem"].as<bool>());
  CHECK_FALSE(container["securityContext"]["allowPrivilegeEscalation"].as<bool>());
  CHECK(container["resources"]["requests"]["memory"].as<std::string>().ends_with("Mi"));
  std::set<std::string> mounted;
  for (const auto& mount : container["volumeMounts"]) {
    const auto name = mount["name"].as<std::string>();
    INFO(name);
    CHECK(volumes.contains(name));
    CHECK(mount["mountPath"].as<std::string>().starts_with("/"));
    mounted.insert(name);
  }
  CHECK(mounted == volumes);
  CHECK(container["args"].size() > 4);
}

using Labels = std::map<std::string, std::string>;

// A set's pods carry what its service and its budget look for, and the service is there.
void check_manifests(const std::string& text, const std::set<std::string>& sets) {
  std::map<std::string, YAML::Node> found;  // kind/name
  for (const YAML::Node& document : YAML::LoadAll(text)) {
    REQUIRE(document["apiVersion"]);
    REQUIRE(document["metadata"]["namespace"].as<std::string>() == "pacml");
    const std::string name =
        document["kind"].as<std::string>() + "/" + document["metadata"]["name"].as<std::string>();
    INFO(name);
    CHECK(found.emplace(name, document).second);
  }
  std::set<std::string> seen;
  for (const auto& [name, document] : found) {
    if (!name.starts_with("StatefulSet/")) continue;
    INFO(name);
    seen.insert(name.substr(name.find('/') + 1));
    const YAML::Node& spec = document["spec"];
    const YAML::Node& pod = spec["template"];
    const auto labels = pod["metadata"]["labels"].as<Labels>();
    const auto service = found.find("Service/" + spec["serviceName"].as<std::string>());
    const auto budget = found.find("PodDisruptionBudget/" + name.substr(name.find('/') + 1));
    REQUIRE(service != found.end());
    REQUIRE(budget != found.end());
    for (const auto& selector : {spec["selector"]["matchLabels"].as<Labels>(),
                                 service->second["spec"]["selector"].as<Labels>(),
                                 budget->second["spec"]["selector"]["matchLabels"].as<Labels>()}) {
      CHECK_FALSE(selector.empty());
      for (const auto& [key, value] : selector) CHECK(labels.at(key) == value);
    }
    CHECK(service->second["spec"]["clusterIP"].as<std::string>() == "None");
    std::set<std::string> claims;
    for (const auto& claim : spec["volumeClaimTemplates"]) {
      claims.insert(claim["metadata"]["name"].as<std::string>());
      CHECK(claim["spec"]["resources"]["requests"]["storage"]);
    }
    check_pod(pod["spec"], claims);
  }
  CHECK(seen == sets);
  CHECK(found.contains("NetworkPolicy/pacml"));
  CHECK(found.contains("ConfigMap/pacml-config"));
}

TEST_CASE("manifests hang together") {
  check_manifests(make_manifests(apex_request()), {"pacml-learner", "pacml-replay", "pacml-actor"});
  LaunchRequest request = request_of(testing::tiny_config());
  check_manifests(make_manifests(request), {"pacml-learner", "pacml-actor"});
}

TEST_CASE("the configuration of a manifest is the one that was launched") {
  const auto documents = YAML::LoadAll(make_manifests(apex_request()));
  const auto text = documents[0]["data"]["config.yaml"].as<std::string>();
  CHECK(read_config<TrainConfig>(ConfigSource::from_text("config.yaml", text)) ==
        apex_request().config);
}

// yaml-cpp takes one of two equal keys and says nothing; a cluster takes the other, or neither.
void check_keys_differ(const YAML::Node& node, const std::string& path) {
  if (node.IsMap()) {
    std::set<std::string> keys;
    for (const auto& entry : node) {
      const std::string key = entry.first.as<std::string>();
      INFO(path << " has " << key << " twice");
      CHECK(keys.insert(key).second);
      check_keys_differ(entry.second, path + "." + key);
    }
  } else if (node.IsSequence()) {
    for (const auto& item : node) check_keys_differ(item, path + "[]");
  }
}

TEST_CASE("no manifest has a key twice") {
  for (LaunchRequest request : {apex_request(), impala_request()}) {
    request.minutes.reset();
    request.decisions.reset();
    for (const YAML::Node& document : YAML::LoadAll(make_manifests(request))) {
      check_keys_differ(document, document["kind"].as<std::string>());
    }
  }
}

TEST_CASE("pods are replaced when what they are configured with is") {
  const auto hash_of = [](const LaunchRequest& request) {
    std::set<std::string> hashes;
    for (const YAML::Node& document : YAML::LoadAll(make_manifests(request))) {
      if (document["kind"].as<std::string>() != "StatefulSet") continue;
      const auto metadata = document["spec"]["template"]["metadata"];
      hashes.insert(metadata["annotations"]["pacml/config"].as<std::string>());
    }
    REQUIRE(hashes.size() == 1);
    return *hashes.begin();
  };
  LaunchRequest request = apex_request();
  const std::string before = hash_of(request);
  CHECK(hash_of(request) == before);
  request.config.apex.batch_size += 1;
  CHECK(hash_of(request) != before);
}

TEST_CASE("names that YAML would take for something else stay names") {
  LaunchRequest request = apex_request();
  request.site.kubernetes.name_space = "123";
  request.site.kubernetes.name = "null";
  for (const YAML::Node& document : YAML::LoadAll(make_manifests(request))) {
    const auto metadata = document["metadata"];
    const auto is_quoted = [](const YAML::Node& node) { return node.Tag() == "!"; };
    CHECK(is_quoted(metadata["namespace"]));
    CHECK(is_quoted(metadata["labels"]["app.kubernetes.io/instance"]));
    const bool is_alone = metadata["name"].as<std::string>() == "null";
    CHECK((!is_alone || is_quoted(metadata["name"])));
  }
}

TEST_CASE("nothing goes over the network in the clear unless that is allowed") {
  for (LaunchRequest request : {impala_request(), apex_request()}) {
    request.keys.clear();
    request.decisions.reset();
    const auto hosts = parse_hostfile("hosts", "a\nb slots=9\n");
    CHECK_THROWS_WITH(make_slurm_jobs(request), Catch::Contains("--keys"));
    CHECK_THROWS_WITH(make_manifests(request), Catch::Contains("--keys"));
    CHECK_THROWS_WITH(plan_ssh_launch(request, hosts), Catch::Contains("--keys"));
    CHECK_NOTHROW(plan_ssh_launch(request, parse_hostfile("hosts", "127.0.0.1 slots=9\n")));
    request.config.transport.allow_insecure_bind = true;
    CHECK_NOTHROW(make_slurm_jobs(request));
    CHECK_NOTHROW(make_manifests(request));
    CHECK_NOTHROW(plan_ssh_launch(request, hosts));
  }
}

TEST_CASE("who is called is not named as another machine on each host") {
  LaunchRequest request = apex_request();
  request.decisions.reset();
  const auto plan = [&request](const std::string& hosts) {
    return plan_ssh_launch(request, parse_hostfile("hosts", hosts));
  };
  const auto sentence = Catch::Contains("localhost is another machine on every host");
  CHECK_THROWS_WITH(plan("localhost role=learner\nb slots=9\n"), sentence);
  CHECK_THROWS_WITH(plan("b slots=8\nlocalhost role=replay\n"), sentence);
  CHECK_NOTHROW(plan("localhost role=learner\n127.0.0.1 slots=9\n"));
  CHECK_NOTHROW(plan("b role=learner\nlocalhost slots=9\n"));  // whom nobody calls
}

TEST_CASE("a configuration that ssh could not hand over is refused beforehand") {
  LaunchRequest request = impala_request();
  request.config.env.as<env::PartitioningConfig>().workload.loads.assign(30'000, 1.25);
  const auto hosts = parse_hostfile("hosts", "127.0.0.1 slots=9\n");
  CHECK_THROWS_WITH(plan_ssh_launch(request, hosts),
                    Catch::Contains("and ssh hands over at most 102400"));
}

// Two learners that exchange gradients over a trusted network.
LaunchRequest with_two_learners(LaunchRequest request) {
  request.config.learner.replicas = 2;
  request.config.learner.allow_insecure_all_reduce = true;
  return request;
}

TEST_CASE("several learners are launched everywhere") {
  LaunchRequest request = with_two_learners(apex_request());
  check_manifests(make_manifests(request),
                  {"pacml-learner", "pacml-follower", "pacml-replay", "pacml-actor"});
  check_golden("kubernetes_two_learners.yaml", make_manifests(request), request);
  check_golden("slurm_two_learners.txt", printed(print_slurm_launch, request), request);
  const auto hosts = parse_hostfile("hosts",
                                    "10.0.0.1 role=learner\n"
                                    "10.0.0.2 role=learner\n"
                                    "10.0.0.3 slots=4\n");
  std::ostringstream out;
  print_ssh_launch(request, hosts, out);
  check_golden("ssh_two_learners.txt", out.str(), request);
  CHECK_NOTHROW(printed(print_local_launch, request));
}

TEST_CASE("Kubernetes puts nothing into a run's name, which is the same in every pod") {
  LaunchRequest request = with_two_learners(apex_request());
  request.run = "/data/runs/$$x$(POD_INDEX)";
  std::map<std::string, std::set<std::string>> said;  // by all roles, of each option
  for (const YAML::Node& document : YAML::LoadAll(make_manifests(request))) {
    if (document["kind"].as<std::string>() != "StatefulSet") continue;
    const auto args = document["spec"]["template"]["spec"]["containers"][0]["args"]
                          .as<std::vector<std::string>>();
    for (std::size_t i = 0; i + 1 < args.size(); ++i) said[args[i]].insert(args[i + 1]);
  }
  const std::string escaped = "$$$$x$$(POD_INDEX)";
  using Values = std::set<std::string>;
  CHECK(said["--run"] == Values{"/runs/" + escaped});
  CHECK(said["--snapshot"] == Values{"/snapshots/" + escaped});
  CHECK(said["--run-id"] == Values{escaped});
  CHECK(said["--id"] == Values{"$(POD_INDEX)"});
}

TEST_CASE("gradients leave a host where that is allowed only") {
  LaunchRequest request = with_two_learners(impala_request());
  request.decisions.reset();
  request.config.learner.allow_insecure_all_reduce = false;
  const auto sentence = Catch::Contains("allow_insecure_all_reduce");
  CHECK_THROWS_WITH(make_manifests(request), sentence);
  CHECK_THROWS_WITH(plan_ssh_launch(request, parse_hostfile("hosts", "a slots=4\nb\n")), sentence);
  CHECK_NOTHROW(plan_ssh_launch(request, parse_hostfile("hosts", "a slots=4\n")));
  CHECK_NOTHROW(plan_ssh_launch(request, parse_hostfile("hosts", "a role=learner\nb slots=4\n")));
  CHECK_NOTHROW(make_slurm_jobs(request));
}

TEST_CASE("what a place cannot do is said") {
  LaunchRequest request = impala_request();
  CHECK_THROWS_WITH(make_manifests(request), Catch::Contains("--decisions"));
  LaunchRequest begun = apex_request();
  begun.config.warm_start.from = "/data/runs/b";
  CHECK_THROWS_WITH(make_manifests(begun), Catch::Contains("/data/runs/b is not in the pods"));
  begun = apex_request();
  begun.config.env.set_profiles("/data/graphs");
  CHECK_THROWS_WITH(make_manifests(begun), Catch::Contains("/data/graphs is not in the pods"));
  request.run = "/data/two words";
  CHECK_THROWS_WITH(make_slurm_jobs(request), Catch::Contains("two words"));
}

}  // namespace
}  // namespace pacml::apps
