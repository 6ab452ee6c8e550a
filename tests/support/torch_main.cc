// main() of the test programs that link LibTorch: computes as the programs that users run do.
#include "model/math_environment.h"

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  pacml::model::settle_math_environment(argv);
  return Catch::Session().run(argc, argv);
}
