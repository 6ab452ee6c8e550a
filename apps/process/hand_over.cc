#include "apps/process/hand_over.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "common/result.h"

namespace pacml::apps {
namespace {

struct Variable {
  const char* name;
  const char* value;
};
constexpr std::array kSingleThreadedMath{
    Variable{"OPENBLAS_NUM_THREADS", "1"},
    Variable{"OMP_NUM_THREADS", "1"},
    Variable{"OMP_WAIT_POLICY", "passive"},
};

constexpr const char* kSelf = "/proc/self/exe";

}  // namespace

bool set_single_threaded_math() {
  bool was_set = true;
  for (const Variable& variable : kSingleThreadedMath) {
    const char* now = std::getenv(variable.name);
    if (now != nullptr && std::string_view(now) == variable.value) continue;
    was_set = false;
    ::setenv(variable.name, variable.value, 1);
  }
  return was_set;
}

std::filesystem::path program_beside_us(const std::string& name) {
  return std::filesystem::read_symlink(kSelf).parent_path() / name;
}

void hand_over(const std::string& program, const std::vector<std::string>& arguments) {
  const auto path = program_beside_us(program);
  set_single_threaded_math();
  std::vector<std::string> words{path.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  throw UserError("'" + arguments.at(0) + "' needs the program " + path.string() + ": " +
                  std::strerror(errno) + "; it is built where LibTorch is (PACML_WITH_TORCH=ON)");
}

void restart_self(char** argv) {
  ::execv(kSelf, argv);
  throw std::runtime_error(std::string("cannot start again: ") + std::strerror(errno));
}

}  // namespace pacml::apps
