#include "model/parameters_io.h"

#include <limits>

#include "common/atomic_file.h"
#include "common/hash.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/random_network.h"
#include "tests/support/temp_dir.h"

namespace pacml::model {
namespace {

NetworkShape small_shape() { return {NetworkConfig{1, 4, 8, 3, 2, 5}, {{2, 2}}, 3, 4}; }

std::string why(const Result<Parameters>& result) {
  return result ? "no error" : result.error().detail;
}

// `bytes` with a checksum that is right for what stands before it.
std::string resealed(std::string bytes) {
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  const std::uint64_t hash = content_hash(bytes);
  bytes.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  return bytes;
}

TEST_CASE("parameters come back from a file as they were") {
  const testing::TempDir folder;
  const NetworkShape shape = small_shape();
  const ParameterLayout layout = make_layout(shape);
  Parameters parameters = random_parameters(shape, Seed{5});
  parameters.version = PolicyVersion{1234567890123};
  REQUIRE(save_parameters(folder / "policy", parameters, layout));
  CHECK(load_parameters(folder / "policy", layout) == parameters);
  REQUIRE(save_parameters(folder / "policy", initialise(shape, Seed{6}), layout));
  CHECK(load_parameters(folder / "policy", layout) == initialise(shape, Seed{6}));
}

TEST_CASE("a file that is missing or is something else is told in one sentence") {
  const testing::TempDir folder;
  const ParameterLayout layout = make_layout(small_shape());
  CHECK_THROWS_WITH(load_parameters(folder / "none", layout),
                    Catch::Contains((folder / "none").string()));
  REQUIRE(write_file_atomically(folder / "text", "rounds: 2\n"));
  CHECK_THROWS_WITH(load_parameters(folder / "text", layout),
                    (folder / "text").string() + " is not a parameter file");
  CHECK_THROWS_AS(load_parameters(folder / "text", layout), UserError);
}

TEST_CASE("a checkpoint of another network is refused with what differs first") {
  const NetworkShape here = small_shape();
  const auto refusal = [&](auto change) {
    NetworkShape there = here;
    change(there);
    const std::string bytes = encode_parameters(initialise(there, Seed{1}), make_layout(there));
    const Result<Parameters> result = decode_parameters(bytes, make_layout(here));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::kVersionMismatch);
    return result.error().detail;
  };
  const std::string other = "is a checkpoint of another network: ";
  CHECK(refusal([](NetworkShape& s) { s.slots.front().node_width = 5; }) ==
        other + "round0.node_norm.weight is [5] in it and [2] in this network");
  CHECK(refusal([](NetworkShape& s) { s.config.readout_width = 6; }) ==
        other + "readout.weight is [6, 5] in it and [5, 5] in this network");
  CHECK(refusal([](NetworkShape& s) { s.config = {2, 4, 3, 3, 2, 5}; }) ==
        other + "it has round1.node_norm.weight where this network has graph_norm.weight");
}

TEST_CASE("a file of a later format is refused as such") {
  const NetworkShape shape = small_shape();
  std::string bytes = encode_parameters(initialise(shape, Seed{1}), make_layout(shape));
  bytes[8] = 9;
  CHECK(why(decode_parameters(bytes, make_layout(shape))) ==
        "has format 9; this program reads format 1");
}

TEST_CASE("every truncation of a parameter file is refused") {
  const NetworkShape shape = small_shape();
  const ParameterLayout layout = make_layout(shape);
  const std::string bytes = encode_parameters(initialise(shape, Seed{1}), layout);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE_FALSE(decode_parameters(std::string_view(bytes).substr(0, size), layout));
    if (size > 20) REQUIRE_FALSE(decode_parameters(resealed(bytes.substr(0, size)), layout));
  }
}

TEST_CASE("every flipped bit of a parameter file is found") {
  const NetworkShape shape = small_shape();
  const ParameterLayout layout = make_layout(shape);
  std::string bytes = encode_parameters(initialise(shape, Seed{1}), layout);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    REQUIRE_FALSE(decode_parameters(bytes, layout));
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
  }
  CHECK(decode_parameters(bytes, layout));
}

TEST_CASE("any bytes with a right checksum are decoded without harm") {
  const NetworkShape shape = small_shape();
  const ParameterLayout layout = make_layout(shape);
  const std::string bytes = encode_parameters(initialise(shape, Seed{1}), layout);
  const std::size_t header = bytes.size() - layout.total * sizeof(float);
  Rng rng(Seed{2});
  for (int trial = 0; trial < 2000; ++trial) {
    std::string forged = bytes;
    for (int change = 0; change < 3; ++change) {
      // After magic and format; lengths, names and shapes lie here.
      forged[12 + rng.below(header - 12 - 8)] = static_cast<char>(rng.next());
    }
    const Result<Parameters> result = decode_parameters(resealed(forged), layout);
    if (result) CHECK(result->values.size() == layout.total);
  }
}

TEST_CASE("weights that are not finite are refused by name") {
  const NetworkShape shape = small_shape();
  const ParameterLayout layout = make_layout(shape);
  Parameters parameters = initialise(shape, Seed{1});
  view(parameters, layout, "graph.bias")[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(why(decode_parameters(encode_parameters(parameters, layout), layout)) ==
        "holds a value of graph.bias that is not finite");
}

}  // namespace
}  // namespace pacml::model
