#include "apps/process/hand_over.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/result.h"
#include "model/math_environment.h"

namespace pacml::apps {
namespace {

constexpr const char* kSelf = "/proc/self/exe";

}  // namespace

std::filesystem::path program_beside_us(const std::string& name) {
  return std::filesystem::read_symlink(kSelf).parent_path() / name;
}

void hand_over(const std::string& program, const std::vector<std::string>& arguments) {
  const auto path = program_beside_us(program);
  model::set_single_threaded_math();
  std::vector<std::string> words{path.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  throw UserError("'" + arguments.at(0) + "' needs the program " + path.string() + ": " +
                  std::strerror(errno) + "; it is built where LibTorch is (PACML_WITH_TORCH=ON)");
}

}  // namespace pacml::apps
