#include "apps/launch/run_program.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>

#include "apps/cli/files.h"
#include "apps/process/child_process.h"
#include "common/clock.h"
#include "common/private_folder.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

ChildExit wait_for(ChildProcess& process, const std::string& name, std::chrono::seconds patience) {
  const Deadline deadline = Deadline::in(patience);
  while (true) {
    if (const auto exit = process.poll()) return *exit;
    if (deadline.expired()) {
      throw UserError(name + " did not end within " + std::to_string(patience.count()) + " s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) {
      return candidate.string();
    }
  }
  throw UserError("this needs " + name + ", which is not on PATH");
}

std::string output_of(const std::vector<std::string>& command, std::chrono::seconds patience) {
  const std::string& name = command.at(0);
  const PrivateFolder scratch("pacml");
  ChildSpec spec;
  spec.name = name;
  // The shell only parts the two streams, then becomes the program.
  spec.command = {
      "/bin/sh",         "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh", scratch / "out",
      find_program(name)};
  spec.command.insert(spec.command.end(), command.begin() + 1, command.end());
  spec.log = scratch / "err";
  auto process = ChildProcess::spawn(spec);
  if (!process) throw UserError("cannot run " + name + ": " + process.error().detail);
  const ChildExit exit = wait_for(*process, name, patience);
  if (exit.clean()) return read_user_file(scratch / "out");
  throw UserError(name + " " + describe(exit) + ": " + read_user_file(scratch / "err"));
}

}  // namespace pacml::apps
