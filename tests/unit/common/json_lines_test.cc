#include "common/json_lines.h"

#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

using testing::SmallDisk;
using testing::TempDir;

TEST_CASE("each object is one line, there as soon as it is written", "[json]") {
  const TempDir folder;
  JsonLinesWriter writer(folder / "m.jsonl");
  REQUIRE(writer.write({{"a", 1}}));
  REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":1}\n");
  REQUIRE(writer.write({{"text", "two\nlines"}}));
  REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":1}\n{\"text\":\"two\\nlines\"}\n");
}

TEST_CASE("opening again appends", "[json]") {
  const TempDir folder;
  REQUIRE(JsonLinesWriter(folder / "m.jsonl").write({{"a", 1}}));
  REQUIRE(JsonLinesWriter(folder / "m.jsonl").write({{"a", 2}}));
  REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":1}\n{\"a\":2}\n");
}

TEST_CASE("a line that a crash tore is cut off at opening", "[json]") {
  const TempDir folder;
  SECTION("after whole lines") {
    REQUIRE(write_file_atomically(folder / "m.jsonl", "{\"a\":1}\n{\"a\":"));
    REQUIRE(JsonLinesWriter(folder / "m.jsonl").write({{"a", 3}}));
    REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":1}\n{\"a\":3}\n");
  }
  SECTION("as the only, long one") {
    REQUIRE(write_file_atomically(folder / "m.jsonl", std::string(10'000, 'x')));
    REQUIRE(JsonLinesWriter(folder / "m.jsonl").write({{"a", 3}}));
    REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":3}\n");
  }
}

TEST_CASE("what JSON cannot say becomes null or a replacement, not an exception", "[json]") {
  const TempDir folder;
  JsonLinesWriter writer(folder / "m.jsonl");
  REQUIRE(writer.write({{"x", std::numeric_limits<double>::quiet_NaN()}}));
  REQUIRE(writer.write({{"x", "\xff"}}));
  REQUIRE(read_file(folder / "m.jsonl") == "{\"x\":null}\n{\"x\":\"\xEF\xBF\xBD\"}\n");
}

TEST_CASE("a place that cannot be written is the user's to mend", "[json]") {
  const TempDir folder;
  REQUIRE_THROWS_AS(JsonLinesWriter(folder / "no" / "m.jsonl"), UserError);
  const auto pipe = folder / "pipe";  // which would hold up whoever writes into it
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE_THROWS_WITH(JsonLinesWriter(pipe), "cannot write " + pipe.string() + ": it is a pipe");
}

TEST_CASE("a line that the disk took half of is cut off, and the next one is whole", "[json]") {
  const TempDir folder;
  JsonLinesWriter writer(folder / "m.jsonl");
  REQUIRE(writer.write({{"a", 1}}));
  {
    const SmallDisk disk(12);
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto written = writer.write({{"a", 2}});
      REQUIRE(written.error().code == Errc::kIo);
      REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":1}\n");
    }
  }
  REQUIRE(writer.write({{"a", 3}}));
  REQUIRE(read_file(folder / "m.jsonl") == "{\"a\":1}\n{\"a\":3}\n");
}

TEST_CASE("a full disk is an error, not an exception", "[json]") {
  JsonLinesWriter writer("/dev/full");
  REQUIRE(writer.write({{"a", 1}}).error().code == Errc::kIo);
}

}  // namespace
}  // namespace pacml
