#include "common/read_number.h"

#include <cmath>
#include <cstdint>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("a number is read from a text that spells nothing else", "[common]") {
  CHECK(read_number<int>("42") == 42);
  CHECK(read_number<std::int64_t>("-7") == -7);
  CHECK(read_number<double>("1.5e3") == 1500.0);
  CHECK(std::isinf(read_number<double>("inf").value()));
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "0x1", "2147483648", "1.5"}) {
    INFO(text);
    CHECK_FALSE(read_number<int>(text).has_value());
  }
  CHECK_FALSE(read_number<unsigned>("-1").has_value());
  CHECK_FALSE(read_number<double>("1e999").has_value());
}

}  // namespace
}  // namespace pacml
