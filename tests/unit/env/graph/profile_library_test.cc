#include "env/graph/profile_library.h"

#include <filesystem>
#include <fstream>

#include "common/result.h"
#include "env/graph/profile_reader.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::env {
namespace {

namespace fs = std::filesystem;

void write_model(const fs::path& folder, const char* model, int forward_time) {
  fs::create_directory(folder / model);
  std::ofstream(folder / model / "graph.txt")
      << "node1 -- Op -- forward_compute_time=" << forward_time
      << ", backward_compute_time=1, activation_size=0, parameter_size=0\n";
}

std::vector<std::string> names(const std::vector<Profile>& profiles) {
  std::vector<std::string> out;
  for (const Profile& p : profiles) out.push_back(p.model);
  return out;
}

TEST_CASE("without a folder the built-in models are there", "[library]") {
  CHECK(names(load_profiles("", {})) ==
        std::vector<std::string>{"alexnet", "gnmt", "resnet18", "squeezenet1_0", "vgg16"});
  CHECK(names(load_profiles("", {"vgg16", "alexnet"})) ==
        std::vector<std::string>{"vgg16", "alexnet"});
  // ... and some that are meant only where they are named.
  CHECK(names(load_profiles("", {"gpt2_small"})) == std::vector<std::string>{"gpt2_small"});
}

TEST_CASE("a folder's models are sorted by name, or come in the order asked for", "[library]") {
  const testing::TempDir dir;
  write_model(dir.path(), "small", 1);
  write_model(dir.path(), "big", 9);
  std::ofstream(dir / "README") << "no model";
  fs::create_directory(dir / "empty");
  CHECK(list_profiles(dir.path()) == std::vector<std::string>{"big", "small"});
  CHECK(names(load_profiles(dir.path().string(), {})) == std::vector<std::string>{"big", "small"});
  const auto chosen = load_profiles(dir.path().string(), {"small", "big"});
  CHECK(names(chosen) == std::vector<std::string>{"small", "big"});
  CHECK(chosen[1].ops[0].forward_time == 9);
}

TEST_CASE("an unknown model is refused with the nearest name", "[library]") {
  CHECK_THROWS_WITH(load_profiles("", {"resnet81"}),
                    "the built-in model zoo has no model \"resnet81\"; did you mean 'resnet18'?");
  const testing::TempDir dir;
  write_model(dir.path(), "lenet", 1);
  CHECK_THROWS_WITH(load_profiles(dir.path().string(), {"letnet"}),
                    dir.path().string() + " has no model \"letnet\"; did you mean 'lenet'?");
}

TEST_CASE("folders that do not exist or hold no model are refused", "[library]") {
  const testing::TempDir dir;
  CHECK_THROWS_WITH(load_profiles(dir.path().string(), {}),
                    dir.path().string() + ": holds no <model>/graph.txt");
  CHECK_THROWS_WITH(load_profiles((dir / "none").string(), {}),
                    (dir / "none").string() + ": no such folder of profiles");
}

TEST_CASE("a broken file among many is named", "[library]") {
  const testing::TempDir dir;
  write_model(dir.path(), "fine", 1);
  write_model(dir.path(), "broken", -1);
  CHECK_THROWS_WITH(load_profiles(dir.path().string(), {}),
                    Catch::Matchers::StartsWith((dir / "broken").string()));
}

}  // namespace
}  // namespace pacml::env
