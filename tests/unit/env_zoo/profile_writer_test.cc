#include "env/graph/profile_writer.h"

#include <sstream>
#include <string>

#include "env/graph/profile_reader.h"
#include "env/graph/zoo/zoo.h"
#include "tests/support/catch.h"

namespace pacml::env {

TEST_CASE("a profile is written as one line an op and one a dependency") {
  Profile profile;
  profile.ops = {{.id = 2,
                  .description = "ReLU",
                  .forward_time = 0.5,
                  .backward_time = 0.25,
                  .activation_bytes = 1024,
                  .parameter_bytes = 0},
                 {.id = 1,
                  .description = "Data",
                  .forward_time = 12.3456,
                  .backward_time = 0,
                  .activation_bytes = 2048,
                  .parameter_bytes = 8}};
  profile.dependencies = {{1, 2}};
  CHECK(to_graph_txt(profile) ==
        "node2 -- ReLU -- forward_compute_time=0.500, backward_compute_time=0.250, "
        "activation_size=1024.000, parameter_size=0.000\n"
        "node1 -- Data -- forward_compute_time=12.346, backward_compute_time=0.000, "
        "activation_size=2048.000, parameter_size=8.000\n"
        "\tnode1 -- node2\n");
}

TEST_CASE("what an optimiser keeps is written, and read again") {
  Profile profile;
  profile.ops = {{.id = 1,
                  .description = "Op",
                  .forward_time = 1,
                  .parameter_bytes = 4,
                  .optimizer_bytes = 8}};
  const std::string text = to_graph_txt(profile);
  CHECK_THAT(text, Catch::EndsWith(", parameter_size=4.000, optimizer_size=8.000\n"));
  std::istringstream in(text);
  CHECK(read_profile(in, "m", "graph.txt").ops[0].optimizer_bytes == 8);
}

TEST_CASE("a description cannot break the format") {
  Profile profile;
  profile.ops = {{.id = 1, .description = "a -- b\tc\nd -- e"}};
  const std::string text = to_graph_txt(profile);
  CHECK(text.starts_with("node1 -- a b c d e -- forward"));
  for (const char* description : {"x --", "-- x", "--", "", " -- -- "}) {
    INFO(description);
    profile.ops[0].description = description;
    profile.ops[0].forward_time = 2;
    std::istringstream in(to_graph_txt(profile));
    CHECK(read_profile(in, "m", "graph.txt").ops[0].forward_time == 2);
  }
}

TEST_CASE("the reader gets the zoo back as it was written") {
  for (const auto& model : zoo_models()) {
    INFO(model);
    const Profile written = zoo_profile(model);
    std::istringstream text(to_graph_txt(written));
    const Profile read = read_profile(text, model, "graph.txt");
    REQUIRE(read.ops.size() == written.ops.size());
    for (std::size_t i = 0; i < read.ops.size(); ++i) {
      CHECK(read.ops[i].id == written.ops[i].id);
      CHECK(read.ops[i].description == written.ops[i].description);
      CHECK(read.ops[i].forward_time == written.ops[i].forward_time);
      CHECK(read.ops[i].backward_time == written.ops[i].backward_time);
      CHECK(read.ops[i].activation_bytes == written.ops[i].activation_bytes);
      CHECK(read.ops[i].parameter_bytes == written.ops[i].parameter_bytes);
    }
    CHECK(read.dependencies == written.dependencies);
  }
}

}  // namespace pacml::env
