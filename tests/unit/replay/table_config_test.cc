#include "replay/table_config.h"

#include <limits>

#include "common/config/dump.h"
#include "common/config/reader.h"
#include "tests/support/catch.h"

using namespace pacml::replay;

TEST_CASE("a table's defaults are valid") { CHECK(validate(TableConfig{}).empty()); }

TEST_CASE("a table's settings survive their dump") {
  TableConfig config;
  config.sampler = Sampler::kFifo;
  config.remover = Remover::kUniform;
  config.max_times_sampled = 1;
  config.samples_per_insert = 1.5;
  const auto source = pacml::ConfigSource::from_text("dump", pacml::dump_config(config));
  CHECK(pacml::read_config<TableConfig>(source) == config);
}

TEST_CASE("every problem of a table's settings is told, by its key") {
  TableConfig config;
  config.capacity = 0;
  config.max_bytes = -1;
  config.priority_exponent = 1.5;
  config.max_times_sampled = -1;
  config.samples_per_insert = std::numeric_limits<double>::quiet_NaN();
  const auto problems = validate(config);
  REQUIRE(problems.size() == 6);
  CHECK(problems[0] == "capacity must be from 1 to 2147483648, not 0");
  CHECK(problems[1] == "max_bytes must be at least 0, not -1");
  CHECK(problems[2] == "priority_exponent must be from 0 to 1, not 1.500000");
  CHECK(problems[3] == "max_times_sampled must be from 0 to 2147483648, not -1");
  CHECK(problems[4] == "samples_per_insert must be from 0 to 1e9, not nan");
  CHECK(problems[5] == "min_size must be from 1 to capacity (0), not 10000");
}

TEST_CASE("an error buffer that could stall both sides is refused") {
  TableConfig config;
  config.samples_per_insert = 8;
  config.error_buffer = 7.9;
  CHECK(validate(config).size() == 1);
  config.error_buffer = 8;
  CHECK(validate(config).empty());
  config.samples_per_insert = 0.1;
  config.error_buffer = 0.9;
  CHECK(validate(config).size() == 1);
}
