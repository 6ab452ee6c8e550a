#include "apps/cli/outputs.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::apps;
namespace fs = std::filesystem;

namespace {

// A command that reads a configuration, settings and a graph, and writes two files.
struct Sample {
  testing::TempDir folder;
  std::string config = file("a.yaml");
  std::vector<std::string> settings;
  std::optional<std::string> graph;
  std::string out;
  std::optional<std::string> trace;
  Options options;

  Sample() {
    options.argument("CONFIG", &config, "the configuration");
    options.option("--set KEY=VALUE", &settings, "a setting");
    options.option("--graph FILE", &graph, "a graph");
    options.output("--out FILE", &out, "figures");
    options.output("--trace FILE", &trace, "a timeline");
  }
  // A file that is there.
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ofstream(folder / name) << "kept";
    return name_of(name);
  }
  [[nodiscard]] std::string name_of(const std::string& name) const {
    return (folder / name).string();
  }
  [[nodiscard]] std::string refusal() const {
    try {
      check_outputs(options, {});
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  }
};

}  // namespace

TEST_CASE("a file of its own may be written, new or old") {
  Sample s;
  s.graph = s.file("g.txt");
  s.settings = {"a.b=3", "a.c=" + s.file("other")};
  s.out = s.name_of("new.json");
  s.trace = s.file("old.json");
  CHECK(s.refusal() == "none");
  s.settings = {s.out};  // a word that is no file's name
  CHECK(s.refusal() == "none");
}

TEST_CASE("what a command reads is not overwritten, by whatever name") {
  Sample s;
  s.graph = s.file("g.txt");
  s.settings = {"a.b=3", "env.workload.recorded.file=" + s.file("jobs.csv"),
                "env.job_lists=[ '" + s.file("a.json") + "', " + s.file("b.json") + " ]",
                s.name_of("run") + "," + s.file("p.safetensors") + "+search:K=4,H=2"};
  fs::create_symlink(s.config, s.folder / "link");
  fs::create_directory(s.folder / "sub");
  for (const auto& [out, reader] :
       std::vector<std::pair<std::string, std::string>>{{s.config, "CONFIG"},
                                                        {s.name_of("link"), "CONFIG"},
                                                        {s.name_of("sub/../a.yaml"), "CONFIG"},
                                                        {*s.graph, "--graph"},
                                                        {s.name_of("jobs.csv"), "--set"},
                                                        {s.name_of("a.json"), "--set"},
                                                        {s.name_of("b.json"), "--set"},
                                                        {s.name_of("p.safetensors"), "--set"}}) {
    s.out = out;
    CHECK(s.refusal() == "--out " + out + " is what " + reader +
                             " names, and would be overwritten; name another file");
  }
}

TEST_CASE("what a configuration names is not overwritten either") {
  Sample s;
  fs::create_directories(s.folder / "models" / "m");
  fs::create_directory(s.folder / "run");
  const std::string graph = s.file("models/m/graph.txt");
  std::ofstream(s.folder / "base.yaml") << "task: " << s.file("of_base.csv") << "\n";
  std::ofstream(s.config) << "extends: base.yaml\n"
                          << "env:\n  workload: {recorded: {file: " << s.file("jobs.csv") << "}}\n"
                          << "  graphs: [other, '" << s.file("g.json") << "']\n"
                          << "  profiles: " << s.name_of("models") << "\n";
  std::ofstream(s.folder / "run" / "config.yaml") << "file: " << s.file("task.py") << "\n";
  s.graph = s.name_of("run");
  for (const auto& [out, reader] : std::vector<std::pair<std::string, std::string>>{
           {s.name_of("jobs.csv"), s.config},
           {s.name_of("./g.json"), s.config},
           {s.name_of("base.yaml"), s.config},
           {s.name_of("of_base.csv"), s.config},
           {graph, s.config},
           {s.name_of("task.py"), s.name_of("run/config.yaml")}}) {
    s.out = out;
    CHECK(s.refusal() == "--out " + out + " is what " + reader +
                             " names, and would be overwritten; name another file");
  }
  for (const std::string& own : {s.file("models/m/old.json"), s.name_of("models/n/graph.txt")}) {
    fs::create_directories(fs::path(own).parent_path());
    s.out = own;
    CHECK(s.refusal() == "none");
  }
}

TEST_CASE("a word of the configuration that is no file's name may be an output twice") {
  Sample s;
  std::ofstream(s.config) << "algorithm: impala\nenv: {requirement: {kind: pmf}, seconds: 1000}\n";
  // Where the command is run.
  const fs::path here = fs::current_path();
  fs::current_path(s.folder.path());
  for (const char* out : {"impala", "pmf", "1000"}) {
    std::ofstream(s.folder / out) << "of the first time";
    s.out = out;
    CHECK(s.refusal() == "none");
  }
  fs::current_path(here);
}

TEST_CASE("a list of any length is looked through") {
  Sample s;
  s.out = s.file("out.json");
  s.graph = std::string(200'000, ',') + s.out;
  CHECK_THAT(s.refusal(), Catch::EndsWith("and would be overwritten; name another file"));
}

TEST_CASE("one file is not written twice, a device may be") {
  Sample s;
  s.out = s.name_of("new.json");
  s.trace = s.name_of("./new.json");
  CHECK_THAT(s.refusal(), Catch::EndsWith("is to be written to; name two files"));
  s.out = "/dev/null";
  s.trace = "/dev/null";
  CHECK(s.refusal() == "none");
}

TEST_CASE("a file that cannot be written is told beforehand, as is one that somebody keeps") {
  Sample s;
  s.out = s.name_of("no/such.json");
  CHECK_THAT(s.refusal(), Catch::StartsWith("cannot write " + s.out));
  s.out = s.folder.path().string();
  CHECK_THAT(s.refusal(), Catch::StartsWith("cannot write " + s.out));
  // What a link leads to is what is written.
  fs::create_symlink(s.folder / "no" / "such.json", s.folder / "dangling");
  s.out = s.name_of("dangling");
  CHECK_THAT(s.refusal(), Catch::StartsWith("cannot write " + s.out));
  s.out = s.name_of("new.json");
  const auto refuse = [](const fs::path& file, Writes /*writes*/) {
    throw UserError(file.filename().string() + " is kept");
  };
  CHECK_THROWS_WITH(check_outputs(s.options, refuse), "--out: new.json is kept");
}

TEST_CASE("what may go into a folder may be one") {
  std::string out;
  Options options;
  const testing::TempDir folder;
  options.output("--out FILE|DIR", &out, "a file or a folder", Writes::kFileOrFolder);
  CHECK_NOTHROW(check_outputs(options, {}));  // not given
  for (const fs::path& path : {folder.path(), folder / "made" / "later"}) {
    out = path.string();
    CHECK_NOTHROW(check_outputs(options, {}));
  }
}
