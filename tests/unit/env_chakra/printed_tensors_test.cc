#include "env/chakra/printed_tensors.h"

#include "tests/support/catch.h"

namespace pacml::env {

TEST_CASE("tensors are counted wherever they are in what was printed", "[unit][chakra]") {
  CHECK(bytes_of_printed_tensors("[[7, 8, 0, 100, 4, 'cuda:0']]") == 400);
  CHECK(bytes_of_printed_tensors("[[[7, 8, 0, 100, 4, 'cuda:0'], [9, 8, 0, 3, 2, 'cpu']], 5]") ==
        406);
  CHECK(bytes_of_printed_tensors("([1,2,0,10,8,\"cpu\"], (3,4,0,1,1,''))") == 81);
}

TEST_CASE("what is no tensor counts nothing", "[unit][chakra]") {
  for (const char* text :
       {"", "[]", "[1, 2, 3, 4, 5]", "[1, 2, 0, 10, 4, 'cpu', 6]", "[1, 2, 0, 4, 'cpu']",
        "[1, 2, 0, 10, -4, 'cpu']", "[1, 2, 0, 10, 4.5, 'cpu']", "[1, 2, 0, 10, 4, None, 'cpu']",
        "'[1, 2, 0, 10, 4, ]'", "[1, 2, 0, 10, 4, 'cpu'", "[1, 2, 0, 10, 4, 'c\\'pu]",
        "1, 2, 0, 10, 4, 'cpu']", "[[1, 2, 0, 10, 4, [], 'cpu']]",
        "[1, 2, 0, 99999999999999999999999, 4, 'cpu']"}) {
    INFO(text);
    CHECK(bytes_of_printed_tensors(text) == 0);
  }
}

}  // namespace pacml::env
