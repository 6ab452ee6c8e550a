#include "apps/tensorboard/record_file.h"

#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/event_reader.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using testing::TempDir;

TEST_CASE("checksums are those of RFC 3720, and masked as records carry them", "[tensorboard]") {
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43U);
  CHECK(crc32c("123456789") == 0xE3069283U);
  CHECK(crc32c({}) == 0);
  // (crc >> 15 | crc << 17) + 0xA282EAD8
  CHECK(masked_crc32c({}) == 0xA282EAD8U);
  CHECK(masked_crc32c("123456789") == 0xC78AB0E5U);
}

TEST_CASE("records come back whole and in their order", "[tensorboard]") {
  const TempDir folder;
  const std::vector<std::string> records = {"", "one", std::string(100'000, 'x') + '\0'};
  RecordFile file(folder / "records");
  for (const std::string& record : records) REQUIRE(file.append(record));
  std::string rest;
  CHECK(testing::read_records(testing::text_of(folder / "records"), rest) == records);
  CHECK(rest.empty());
}

TEST_CASE("a file that is there already is never written into", "[tensorboard]") {
  const TempDir folder;
  { const RecordFile first(folder / "records"); }
  CHECK_THROWS_AS(RecordFile(folder / "records"), UserError);
  CHECK_THROWS_AS(RecordFile(folder / "none" / "records"), UserError);
}

TEST_CASE("a full disk costs the records that it does not take, and no other", "[tensorboard]") {
  const TempDir folder;
  RecordFile file(folder / "records");
  REQUIRE(file.append("first"));
  {
    const testing::SmallDisk disk(50);  // 21 bytes are there
    CHECK_FALSE(file.append(std::string(100, 'x')));
    CHECK_FALSE(file.append(std::string(100, 'y')));
    CHECK(file.append("small"));
  }
  REQUIRE(file.append("last"));
  std::string rest;
  CHECK(testing::read_records(testing::text_of(folder / "records"), rest) ==
        std::vector<std::string>{"first", "small", "last"});
  CHECK(rest.empty());
}

}  // namespace
}  // namespace pacml::apps
