// What a user may get wrong: one sentence that says what and where, exit code 2, and every file as
// it was.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/transport/context.h"
#include "common/transport/router.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/refusals.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::check_refused;
using testing::Outcome;
using testing::pacml;
using testing::text_of;
using testing::Workplace;

using Words = std::vector<std::string>;

constexpr const char* kOp =
    "forward_compute_time=1.0, backward_compute_time=2.0, activation_size=1000, "
    "parameter_size=500";

void write_profile(const fs::path& folder, const std::string& text) {
  fs::create_directories(folder / "alexnet");
  std::ofstream(folder / "alexnet" / "graph.txt") << text;
}

// A finished run of one update, in place.run().
void train_a_little(const Workplace& place) {
  const Outcome trained = pacml({"train", place.config_file(), "--run", place.run(), "--decisions",
                                 "400", "--deterministic"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
}

TEST_CASE("profiles that are missing or broken stop every command before it begins",
          "[integration][config]") {
  const Workplace place;
  const std::string profiles = (place / "profiles").string();
  Words parts;
  SECTION("no such folder") { parts = {profiles, "no such folder"}; }
  SECTION("no such model") {
    fs::create_directories(fs::path(profiles) / "alexnte");
    std::ofstream(fs::path(profiles) / "alexnte" / "graph.txt") << "node1 -- A -- " << kOp << "\n";
    parts = {profiles, "no model \"alexnet\"", "did you mean 'alexnte'?"};
  }
  SECTION("a line that is none") {
    write_profile(profiles, std::string("node1 -- A -- ") + kOp + "\nnode2 -- Linear\n");
    parts = {profiles + "/alexnet/graph.txt:2: "};
  }
  SECTION("a cycle") {
    write_profile(profiles, std::string("node1 -- A -- ") + kOp + "\nnode2 -- B -- " + kOp +
                                "\n\tnode1 -- node2\n\tnode2 -- node1\n");
    parts = {profiles + "/alexnet/graph.txt: the graph has a cycle through node1"};
  }
  const Words options = {place.config_file(), "--profiles", profiles};
  const auto command = [&](Words words) {
    words.insert(words.begin() + 1, options.begin(), options.end());
    return words;
  };
  check_refused(place, command({"train", "--run", place.run(), "--decisions", "100"}), parts);
  check_refused(place,
                command({"train", "--run", place.run(), "--decisions", "100", "--deterministic"}),
                parts);
  check_refused(place, command({"learner", "--run", place.run(), "--bind", place.socket()}), parts);
  check_refused(place, command({"actor", "--learner", place.socket()}), parts);
  check_refused(place, command({"eval", "--seeds", "1"}), parts);
}

TEST_CASE("a configuration that cannot be is refused by file, line and key",
          "[integration][config]") {
  const Workplace place;
  const auto with = [&](const std::string& change) {
    return Words{"train", place.config_file(), "--run", place.run(), "--set", change};
  };
  check_refused(place, with("impala.discuont=0.9"),
                {"--set impala.discuont=0.9: ", "'impala.discuont'", "did you mean 'discount'?"});
  check_refused(place, with("impala.discount=high"),
                {"--set impala.discount=high: ", "expected a number, found 'high'"});
  check_refused(place, with("env.ramp.topology=[2, 4, 2]"),
                {"--set env.ramp.topology=[2, 4, 2]: ", "4 racks per group do not fit 2"});
  check_refused(place, with("seed"), {"--set seed: expected key=value"});
  check_refused(place, with("seed.of=1"), {"--set seed.of=1: there is no 'of' to set"});

  const auto written = [&](const std::string& text) {
    const std::string file = (place / "wrong.yaml").string();
    std::ofstream(file) << text;
    return Words{"train", file, "--run", place.run()};
  };
  const std::string name = (place / "wrong.yaml").string();
  check_refused(place, written("seed: 1\nenv:\n  rampp: {}\n"),
                {name + ":3: unknown key 'env.rampp'; did you mean 'ramp'?"});
  check_refused(place, written("seed: 1\nactor:\n  environments: many\n"),
                {name + ":3: actor.environments: expected an integer"});
  check_refused(place, written("env:\n  ramp:\n    topology: [1, 2, 2]\n"),
                {name + ":3: env.ramp: topology: 2 racks per group do not fit 1"});
  check_refused(place, written("seed: [1\n"), {name + ":", "not valid YAML"});
  check_refused(place, {"train", (place / "none.yaml").string(), "--run", place.run()},
                {"cannot read " + (place / "none.yaml").string(), "No such file"});
}

TEST_CASE("words that pacml does not know are answered with those that it does",
          "[integration][config]") {
  const Workplace place;
  const std::string config = place.config_file();
  check_refused(place, {"trian", config}, {"there is no command 'trian'; did you mean 'train'?"});
  check_refused(place, {"train", config, "--rnu", place.run()},
                {"has no option --rnu; did you mean '--run'?"});
  check_refused(place, {"train", config}, {"--run is required"});
  check_refused(place, {"train", config, "--run"}, {"--run needs a value"});
  check_refused(place, {"train", config, "more", "--run", place.run()}, {"does not take 'more'"});
  check_refused(place, {"bench", "simulator", "--watched"},
                {"--watched: is of the benchmark pipeline, not of simulator"});
  const std::string recording = (place / "recording.json").string();
  std::ofstream(recording) << "{\"format\": \"no-such-format\"}";
  check_refused(place, {"trace", recording, "--out", (place / "replayed.json").string()},
                {recording + ": "});
  check_refused(place, {"eval", config, "--policy", "para_mxa"},
                {"no policy and no run folder \"para_mxa\"; did you mean 'para_max'?"});
  check_refused(place, {"eval", config, "--policy", "constant:many"}, {"constant:many"});
  check_refused(place, {"eval", config, "--policy", (place / ".").string()},
                {"holds no run: its config.yaml is missing"});
}

TEST_CASE("recordings that ask for what is not there are refused, rather than compared with else",
          "[integration][config]") {
  const Workplace place;
  const std::string recording = (place / "recording.json").string();
  const Words trace = {"trace", recording, "--out", (place / "replayed.json").string()};
  const auto write = [&](const std::string& cache, const std::string& settings) {
    std::ofstream(recording) << R"({"format": "ramp-golden-1", "lookahead_cache": ")" << cache
                             << R"(",
      "config": {"topology": [2, 2, 2], "num_channels": 1, "total_node_bandwidth": 1.6e12,
                 "intra_gpu_propagation_latency": 5e-8, "worker_io_latency": 1e-7,
                 "num_training_steps": 50, "max_partitions_per_op_in_observation": 1,
                 "max_partitions_per_op": 8, "min_op_run_time_quantum": 0.01,
                 "max_simulation_run_time": 4000, "worker_memory_capacity": 8e10,
                 "apply_action_mask": true},
      "rewards_config": {"time": {"cls": "LookaheadJobCompletionTime", "kwargs": )"
                             << settings << R"(}},
      "jobs": [["alexnet", 0.5, 0]], "cluster_step_columns": [], "steps": [{"action": 4}]})";
  };
  write("offf", "{}");
  check_refused(place, trace,
                {recording + ": lookahead_cache is an unknown 'offf'; did you mean 'off'?"});
  write("off", R"({"sing": -1})");
  check_refused(place, trace, {"reward \"time\" has an unknown \"sing\"; did you mean 'sign'?"});
  write("off", R"({"normaliser": "speed"})");
  check_refused(place, trace, {"the normaliser of reward \"time\" is an unknown 'speed'"});
  write("off", R"({"sign": -1})");
  CHECK(pacml(trace).code == 0);
}

TEST_CASE("numbers out of range are refused by their option", "[integration][config]") {
  const Workplace place;
  const Words train = {"train", place.config_file(), "--run", place.run()};
  const Words learner = {"learner", place.config_file(), "--run", place.run(),
                         "--bind",  place.socket()};
  const Words actor = {"actor", place.config_file(), "--learner", place.socket()};
  const Words eval = {"eval", place.config_file()};
  const auto check = [&](Words words, const std::string& option, const std::string& value) {
    words.insert(words.end(), {option, value});
    check_refused(place, words, {option});
  };
  for (const Words& command : {train, learner}) {
    check(command, "--minutes", "-1");
    check(command, "--minutes", "0");
    check(command, "--minutes", "soon");
    check(command, "--minutes", "1e30");
    check(command, "--decisions", "0");
    check(command, "--decisions", "1.5");
  }
  check(train, "--actors", "0");
  check(train, "--actors", "100000");
  Words crowd = train;
  crowd.insert(crowd.end(), {"--set", "learner.max_actors=2", "--actors", "3"});
  check_refused(place, crowd, {"3 actors are more than learner.max_actors, 2"});
  check(actor, "--id", "-1");
  check(actor, "--id", "4294967296");
  check(eval, "--seeds", "0");
  check(eval, "--seeds", "1000000000");
  check(eval, "--first-seed", "-1");
  check(eval, "--first-seed", "9223372036854775807");
  check(eval, "--threads", "-2");
  check(eval, "--threads", "1000000");
  check(eval, "--policy", "");
  check(eval, "--policy", "para_max,,random");
  Words timed = train;
  timed.insert(timed.end(), {"--deterministic", "--minutes", "1"});
  check_refused(place, timed, {"--deterministic needs --decisions, and no --minutes"});
}

TEST_CASE("no folder and the root are no place for a run", "[integration][config]") {
  const Workplace place;
  for (const std::string command : {"train", "learner"}) {
    const auto words = [&](const std::string& run) {
      return Words{command, place.config_file(), "--run", run, "--decisions", "100"};
    };
    check_refused(place, words(""), {command + ": --run needs a value, not ''"});
    check_refused(place, words("/"), {"a run cannot be in / itself"});
    Words resumed = words("/");
    resumed.emplace_back("--resume");
    check_refused(place, resumed, {"a run cannot be in / itself"});
  }
}

TEST_CASE("a configuration that sets nothing, or never comes, is refused",
          "[integration][config]") {
  const Workplace place;
  const std::string file = (place / "empty.yaml").string();
  const Words train = {"train", file, "--run", place.run(), "--decisions", "100"};
  for (const char* text : {"", "\n", "# seed: 3\n", "---\n"}) {
    std::ofstream(file) << text;
    check_refused(place, train, {file + ": sets nothing"});
  }
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  const Outcome outcome = pacml(train);
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "pacml: cannot read " + file + ": nothing came for ten seconds\n");
}

TEST_CASE("metrics that would go into a pipe are refused before the folder is a run",
          "[integration][config]") {
  const Workplace place;
  const fs::path metrics = place / "run" / "metrics.jsonl";
  fs::create_directories(place / "run");
  REQUIRE(::mkfifo(metrics.c_str(), 0600) == 0);
  check_refused(
      place,
      {"train", place.config_file(), "--run", place.run(), "--decisions", "400", "--deterministic"},
      {"cannot write " + metrics.string() + ": it is a pipe"});
  fs::remove(metrics);
  train_a_little(place);
}

TEST_CASE("a run among whose files pipes stand holds up nobody", "[integration][config]") {
  const Workplace place;
  train_a_little(place);
  for (const char* name : {"metrics.jsonl", "tags"}) {
    const fs::path file = place / "run" / name;
    fs::remove(file);
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  }
  const Outcome listed = pacml({"runs", place.run()});
  CHECK(listed.code == 0);
  CHECK_THAT(listed.out, Catch::Contains("metrics.jsonl tells nothing"));
  const Words resume = {"train", "--run", place.run(), "--resume", "--decisions", "800"};
  const Outcome refused = pacml(resume);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("metrics.jsonl: it is a pipe"));
  fs::remove(place / "run" / "metrics.jsonl");
  const Outcome resumed = pacml(resume);
  INFO(resumed.err);
  CHECK(resumed.code == 0);
}

TEST_CASE("what a program is started without is not taken for something else",
          "[integration][config]") {
  const Workplace place;
  train_a_little(place);
  const auto with = [&place](const std::string& closed) {
    return testing::run({"/bin/sh", "-c", R"(exec "$0" decide "$1" )" + closed,
                         testing::pacml_path(), place.run()});
  };
  for (const char* closed : {"<&-", ">&- </dev/null"}) {
    INFO(closed);
    const Outcome outcome = with(closed);
    CHECK(outcome.code == (closed[0] == '<' ? 2 : 0));
  }
  CHECK_THAT(with("<&-").err, Catch::Contains("standard input or output is gone"));
}

TEST_CASE("a profile that has no end is refused", "[integration][config]") {
  const Workplace place;
  const std::string profile = (place / "models/alexnet/graph.txt").string();
  fs::create_directories(place / "models" / "alexnet");
  fs::create_symlink("/dev/zero", profile);
  const Outcome outcome =
      pacml({"eval", place.config_file(), "--profiles", (place / "models").string()});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "pacml: " + profile + " is longer than 268435456 bytes\n");
}

TEST_CASE("what is no plain file is never replaced by one", "[integration][config]") {
  const Workplace place;
  train_a_little(place);
  const auto exported = [&](const std::string& format, const std::string& out) {
    return pacml({"export", place.run(), "--format", format, "--out", out});
  };
  // Through links, so that a fault cannot replace the machine's own.
  fs::create_symlink("/dev/full", place / "full");
  const std::string full = (place / "full").string();
  const Outcome no_space = exported("torchscript", full);
  CHECK(no_space.code == 2);
  CHECK(no_space.err == "pacml: cannot write " + full + ": No space left on device\n");
  CHECK_THAT(exported("safetensors", full).err, Catch::Contains("needs a plain file"));
  CHECK(fs::is_symlink(full));
  CHECK(fs::is_character_file("/dev/full"));

  const std::string pipe = (place / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const Outcome nobody = exported("torchscript", pipe);
  CHECK(nobody.code == 2);
  CHECK(nobody.err == "pacml: cannot write " + pipe + ": nobody reads from it\n");
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("an address that cannot be used is refused, and leaves no run folder behind",
          "[integration][config]") {
  const Workplace place;
  const auto learner = [&](const std::string& address) {
    return Words{"learner", place.config_file(), "--run", place.run(), "--bind", address};
  };
  transport::Context context;
  SECTION("a port in use") {
    const transport::Router taken(context, transport::Endpoint::parse("tcp://127.0.0.1:*"));
    check_refused(place, learner(taken.endpoint().str()),
                  {"cannot bind " + taken.endpoint().str(), "already in use"}, 75);
  }
  SECTION("a port in use, for pages") {
    const transport::Router taken(context, transport::Endpoint::parse("tcp://127.0.0.1:*"));
    const std::string port = taken.endpoint().str().substr(taken.endpoint().str().rfind(':') + 1);
    check_refused(
        place,
        {"train", place.config_file(), "--run", place.run(), "--decisions", "100", "--http", port},
        {"--http: cannot listen at 127.0.0.1:" + port, "in use"}, 75);
  }
  SECTION("a path in use") {
    const transport::Router taken(context, transport::Endpoint::parse(place.socket()));
    check_refused(place, learner(place.socket()),
                  {"cannot bind " + place.socket(), "already in use"}, 75);
  }
  SECTION("an address for everybody") {
    check_refused(place, learner("tcp://0.0.0.0:5999"), {"other hosts can reach that address"});
  }
  SECTION("no address") {
    check_refused(place, learner("127.0.0.1:5999"), {"'127.0.0.1:5999'"});
    check_refused(place, {"actor", place.config_file(), "--learner", "tcp://127.0.0.1:99999"},
                  {"'tcp://127.0.0.1:99999'", "PORT 1 to 65535"});
  }
  SECTION("more learners than there are, or one of them twice") {
    const std::string at = place.socket();
    Words actor = {"actor", place.config_file(), "--learner", at, "--learner", at};
    check_refused(place, actor, {"--learner: 2 addresses, but learner.replicas is 1"});
    actor.insert(actor.end(), {"--set", "learner.replicas=2"});
    check_refused(place, actor, {"--learner: an address is there twice"});
  }
}

TEST_CASE("a folder that cannot hold a run is refused", "[integration][config]") {
  const Workplace place;
  const std::string file = (place / "file").string();
  std::ofstream(file) << "not a folder";
  for (const std::string& run : {file, file + "/run", std::string("/proc/run")}) {
    check_refused(place, {"train", place.config_file(), "--run", run, "--decisions", "100"}, {run});
    check_refused(place, {"learner", place.config_file(), "--run", run, "--bind", place.socket()},
                  {run});
  }
  check_refused(place, {"train", place.config_file(), "--run", place.run(), "--resume"},
                {place.run() + " holds no run"});
}

TEST_CASE("a run that exists is neither overwritten nor continued as another",
          "[integration][config]") {
  const Workplace place;
  train_a_little(place);
  const Words train = {"train", place.config_file(), "--run", place.run(), "--decisions", "800"};
  const Words learner = {"learner", place.config_file(), "--run", place.run(),
                         "--bind",  place.socket()};
  for (const Words& command : {train, learner}) {
    check_refused(place, command, {place.run() + " already holds a run", "--resume"});
  }
  for (const std::string where : {"local", "slurm"}) {
    check_refused(place,
                  {"launch", place.config_file(), "--on", where, "--run", place.run(), "--dry-run"},
                  {place.run() + " already holds a run"});
  }
  SECTION("of another task or network") {
    for (Words command : {learner, train}) {
      command.insert(command.end(), {"--resume", "--set", "network.readout_width=32", "--set",
                                     "env.ramp.topology=[4,2,2]"});
      check_refused(place, command,
                    {"a resumed run stays what it is",
                     "env.ramp.topology is [4, 2, 2], and [2, 2, 2] in the run",
                     "network.readout_width is 32, and 16 in the run"});
    }
  }
  SECTION("without a configuration, unless it is resumed") {
    for (const std::string name : {"train", "learner"}) {
      check_refused(place, {name, "--run", place.run()}, {"CONFIG is required"});
      check_refused(place, {name, "--run", (place / "nowhere").string(), "--resume"},
                    {(place / "nowhere").string()});
    }
    check_refused(place, {"launch", "--on", "local", "--run", place.run()}, {"CONFIG is required"});
    const Outcome outcome =
        pacml({"launch", "--on", "local", "--run", place.run(), "--resume", "--decisions", "1200"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
  }
  SECTION("on other job graphs") {
    write_profile(place / "models", std::string("node1 -- A -- ") + kOp + "\n");
    for (Words command : {learner, train}) {
      command.insert(command.end(), {"--resume", "--profiles", (place / "models").string()});
      check_refused(place, command,
                    {"the run was trained on other job graphs: alexnet is not what it was"});
    }
  }
  SECTION("without a whole checkpoint") {
    fs::remove_all(place / "run" / "checkpoints");
    Words command = learner;
    command.emplace_back("--resume");
    const Outcome outcome = pacml(command);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "pacml: there is no checkpoint in " + place.run() + "/checkpoints\n");
  }
  SECTION("evaluated on another task") {
    check_refused(place,
                  {"eval", place.config_file(), "--policy", place.run(), "--set",
                   "env.max_partitions_per_op=8"},
                  {place.run() + "/checkpoints/best.safetensors is a checkpoint of another network",
                   "graph_norm.weight"});
  }
  SECTION("evaluated on decisions that its network does not read") {
    check_refused(
        place,
        {"eval", place.config_file(), "--policy", place.run(), "--set", "env.observation=cluster",
         "--set", "env.cluster.lookahead_cache=placement", "--set", "network.head=candidates"},
        {place.run() + " was trained for other decisions: network.head: dense"});
  }
  SECTION("while somebody trains in it") {
    testing::Pacml first({"learner", place.config_file(), "--run", place.run(), "--bind",
                          place.socket(), "--resume"});
    testing::wait_until("the learner serves", [&] {
      return place.log("learner").find("serving actors at") != std::string::npos;
    });
    const Outcome second = pacml({"learner", place.config_file(), "--run", place.run(), "--bind",
                                  place.socket() + "2", "--resume"});
    CHECK(second.code == 75);  // it may be about to end
    CHECK(second.err == "pacml: process " + std::to_string(first.pid()) + " is training in " +
                            place.run() + " already\n");
    first.signal(SIGTERM);
    CHECK(first.end() == 0);
  }
}

TEST_CASE("a file that cannot be written is refused before the work, not after it",
          "[integration][config]") {
  const Workplace place;
  const Words eval = {"eval", place.config_file(), "--policy", "para_max", "--seeds", "1"};
  for (const std::string& out : {(place / "no" / "such.json").string(), (place / ".").string()}) {
    Words command = eval;
    command.insert(command.end(), {"--out", out});
    check_refused(place, command, {"cannot write " + out});
    CHECK(pacml(command).out.empty());
  }
}

TEST_CASE("an actor that differs from its learner is told what differs", "[integration][config]") {
  const Workplace place;
  // An actor that has to wait for its learner would say so.
  testing::Learner learner(place, place.socket());
  const auto refused = [&](const Words& options) {
    Words command = {"actor", place.config_file(), "--learner", place.socket()};
    command.insert(command.end(), options.begin(), options.end());
    return pacml(command);
  };
  const Outcome task = refused({"--set", "env.max_partitions_per_op=8"});
  CHECK(task.code == 2);
  CHECK(task.err ==
        "pacml: the actor's configuration differs from the learner's (here: learner): "
        "env.max_partitions_per_op: 4 here, 8 there\n");
  const Outcome network = refused({"--set", "network.readout_width=32"});
  CHECK(network.code == 2);
  CHECK_THAT(network.err, Catch::Contains("network.readout_width: 16 here, 32 there"));
  write_profile(place / "profiles", std::string("node1 -- A -- ") + kOp + "\n");
  const Outcome graphs = refused({"--profiles", (place / "profiles").string()});
  CHECK(graphs.code == 2);
  CHECK_THAT(graphs.err, Catch::Contains("(here: learner): graphs.alexnet: ") &&
                             Catch::Contains(" here, ") && Catch::Contains(" there\n"));
  const Outcome run = refused({"--run-id", "other"});
  CHECK(run.code == 2);
  CHECK(run.err == "pacml: the actor belongs to run other, this is run run\n");
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
}

TEST_CASE("an actor whose file of jobs is another one than its learner's is refused",
          "[integration][config]") {
  const Workplace place;
  const auto record = [&](const std::string& folder, const std::string& last) {
    fs::create_directories(place / folder);
    const auto file = (place / folder) / "jobs.csv";
    std::ofstream(file) << "arrival,model,fraction\n0,alexnet,0.5\n900,alexnet,0.7\n"
                        << "1800,alexnet,0.6\n" + last;
    return "env.workload.recorded.file=" + file.string();
  };
  const auto words = [&](const Words& first, const std::string& jobs) {
    Words all = first;
    all.insert(all.end(), {"--set", jobs, "--set", "env.workload.recorded.known=1"});
    return all;
  };
  testing::Pacml learner(
      words({"learner", place.config_file(), "--run", place.run(), "--bind", place.socket()},
            record("here", "2700,alexnet,0.4\n")));
  const Outcome refused = pacml(words({"actor", place.config_file(), "--learner", place.socket()},
                                      record("there", "2700,alexnet,0.3\n")));
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("(here: learner): inputs.env.workload.recorded.file: ") &&
                              Catch::Contains(" here, ") && Catch::Contains(" there\n"));
  // Equal jobs elsewhere are as good.
  testing::Pacml actor(words({"actor", place.config_file(), "--learner", place.socket()},
                             record("there", "2700,alexnet,0.40\n")));
  place.wait_for_decisions(400);
  learner.signal(SIGTERM);
  CHECK(learner.end() == 0);
}

}  // namespace
}  // namespace pacml
