#include "apps/dashboard/episode_desk.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "apps/run/run_directory.h"
#include "common/config/dump.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

using State = EpisodeDesk::Answer::State;
using testing::wait_until;

EpisodeRequest request(std::int64_t episode) { return {"run", episode, "rule"}; }

EpisodeDesk::Answer wait_for(EpisodeDesk& desk, const EpisodeRequest& wanted) {
  EpisodeDesk::Answer answer;
  wait_until("the episode is there", [&] {
    answer = desk.ask(wanted);
    return answer.state == State::kReady || answer.state == State::kFailed;
  });
  return answer;
}

TEST_CASE("an episode is played once, and kept", "[unit][dashboard]") {
  std::atomic<int> played{0};
  EpisodeDesk desk([&played](const EpisodeRequest& wanted, const std::stop_token&) {
    ++played;
    return std::make_shared<const std::string>(std::to_string(wanted.episode));
  });
  CHECK(*wait_for(desk, request(3)).text == "3");
  CHECK(*wait_for(desk, request(4)).text == "4");
  CHECK(*desk.ask(request(3)).text == "3");
  CHECK(played == 2);
  for (int i = 10; i < 20; ++i) static_cast<void>(wait_for(desk, request(i)));
  CHECK(*wait_for(desk, request(3)).text == "3");
  CHECK(played == 13);  // it had made room for others
}

// A checkpoint as the desk sees it: that it is there, and since when.
void write_checkpoint(const RunDirectory& run, const std::string& name, int seconds) {
  static const auto begin = std::filesystem::file_time_type::clock::now();
  std::filesystem::create_directories(run.checkpoints());
  const auto file = run.checkpoints() / (name + ".safetensors");
  std::ofstream(file) << seconds;
  std::filesystem::last_write_time(file, begin + std::chrono::seconds(seconds));
}

TEST_CASE("an episode is played anew when the policy that decides is another one",
          "[unit][dashboard]") {
  const testing::TempDir folder;
  const auto run = RunDirectory::create(folder / "a", dump_config(testing::tiny_config()));
  std::atomic<int> played{0};
  EpisodeDesk desk([&played](const EpisodeRequest&, const std::stop_token&) {
    return std::make_shared<const std::string>(std::to_string(++played));
  });
  const EpisodeRequest wanted{run.path(), 0};
  const auto check = [&](const std::string& expected) {
    CHECK(*wait_for(desk, wanted).text == expected);
    CHECK(*wait_for(desk, wanted).text == expected);
  };
  write_checkpoint(run, "checkpoint-000000000001", 1);
  check("1");
  write_checkpoint(run, "checkpoint-000000000002", 2);
  check("2");
  write_checkpoint(run, "best", 3);
  check("3");
  write_checkpoint(run, "checkpoint-000000000003", 4);  // the best one decides
  check("3");
  write_checkpoint(run, "best", 5);
  check("4");
}

TEST_CASE("whoever waits for an episode gets it, however fast checkpoints come",
          "[unit][dashboard]") {
  const testing::TempDir folder;
  const auto run = RunDirectory::create(folder / "a", dump_config(testing::tiny_config()));
  write_checkpoint(run, "checkpoint-000000000000", 0);
  std::atomic<int> played{0};
  EpisodeDesk desk([&](const EpisodeRequest&, const std::stop_token&) {
    const int k = ++played;
    write_checkpoint(run, "checkpoint-00000000000" + std::to_string(k % 10), k);
    return std::make_shared<const std::string>(std::to_string(k));
  });
  const EpisodeRequest wanted{run.path(), 0};
  CHECK(*wait_for(desk, wanted).text == "1");
  CHECK(*wait_for(desk, wanted).text == "2");
  CHECK(played == 2);
}

TEST_CASE("an episode of what is no run fails with a sentence", "[unit][dashboard]") {
  EpisodeDesk desk([](const EpisodeRequest&, const std::stop_token&) {
    return std::make_shared<const std::string>("whole");
  });
  const testing::TempDir folder;
  const auto answer = desk.ask({(folder / "no-run").string(), 0, ""});
  CHECK(answer.state == State::kFailed);
  CHECK_THAT(*answer.text, Catch::Contains("holds no run"));
}

TEST_CASE("what fails is told once, and played again when it is asked for again",
          "[unit][dashboard]") {
  std::atomic<int> played{0};
  EpisodeDesk desk([&played](const EpisodeRequest&,
                             const std::stop_token&) -> std::shared_ptr<const std::string> {
    if (++played == 1) throw UserError("there is no checkpoint");
    return std::make_shared<const std::string>("whole");
  });
  const auto failed = wait_for(desk, request(0));
  CHECK(failed.state == State::kFailed);
  CHECK(*failed.text == "there is no checkpoint");
  CHECK(*wait_for(desk, request(0)).text == "whole");
}

TEST_CASE("few episodes wait, further ones are asked for again, and the end waits for none",
          "[unit][dashboard]") {
  std::atomic<bool> begun{false};
  EpisodeDesk desk([&begun](const EpisodeRequest&, const std::stop_token& stop) {
    begun = true;
    // Without assertions, which are for the test's own thread.
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::shared_ptr<const std::string>();
  });
  CHECK(desk.ask(request(0)).state == State::kPlaying);
  wait_until("one is being played", [&begun] { return begun.load(); });
  int taken = 0;
  for (int i = 1; i < 20; ++i) taken += desk.ask(request(i)).state == State::kPlaying ? 1 : 0;
  CHECK(taken == 4);
  CHECK(desk.ask(request(0)).state == State::kPlaying);
}

TEST_CASE("an episode of a run that has no policy fails with a sentence", "[unit][dashboard]") {
  const testing::TempDir folder;
  const auto run = RunDirectory::create(folder / "a", dump_config(testing::tiny_config()));
  CHECK_THROWS_WITH(play({run.path(), 0, ""}, {}), Catch::Contains("there is no checkpoint"));
  CHECK_THROWS_AS(play({run.path(), 0, "nobody"}, {}), UserError);
  CHECK_THROWS_AS(play({folder / "b", 0, ""}, {}), UserError);
  CHECK_THAT(*play({run.path(), 0, "para_max"}, {}), Catch::Contains("\"decisions\":[{"));
}

}  // namespace
}  // namespace pacml::apps
