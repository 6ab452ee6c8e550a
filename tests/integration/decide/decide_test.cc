#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/file_descriptor.h"
#include "common/unix_socket.h"
#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/pacml_process.h"
#include "tests/support/process_state.h"
#include "tests/support/random_run.h"
#include "tests/support/source_path.h"

namespace pacml::testing {
namespace {

using nlohmann::json;

// A run of random weights, in a place with a short path.
class RandomRun {
 public:
  RandomRun() { write_random_run(run(), cluster_config(), 3); }
  [[nodiscard]] std::string run() const { return (folder_ / "run").string(); }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  TempDir folder_;
};

// Answers to the lines of a file, over standard input and output.
std::vector<json> answers_to(const RandomRun& place, const std::string& lines) {
  std::ofstream(place / "in") << lines;
  const Outcome outcome = run(
      {"/bin/sh", "-c", R"(exec "$0" decide "$1" <"$2")", pacml_path(), place.run(), place / "in"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  std::vector<json> answers;
  std::istringstream out(outcome.out);
  for (std::string line; std::getline(out, line);) answers.push_back(json::parse(line));
  return answers;
}

// Somebody who is connected to a service's socket.
class Client {
 public:
  explicit Client(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.data(), path.size());
    const auto patience = std::chrono::ceil<std::chrono::seconds>(soon().remaining());
    const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
    wait_until("it is served at " + path, [&] {
      socket_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      for (const int waits : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        REQUIRE(::setsockopt(socket_.get(), SOL_SOCKET, waits, &limit, sizeof limit) == 0);
      }
      return ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                       sizeof address) == 0;
    });
  }
  // How much of it was taken at once; less than 0: nothing.
  [[nodiscard]] ssize_t try_to_send(const std::string& text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void send(const std::string& text) {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count =
          ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      REQUIRE(count > 0);
      sent += static_cast<std::size_t>(count);
    }
  }
  json ask(const json& request) {
    send(request.dump() + "\n");
    return answer();
  }
  json answer() {
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      REQUIRE(count > 0);
      received_.append(bytes, static_cast<std::size_t>(count));
    }
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return json::parse(line);
  }
  // Bytes of ours that the service has not taken.
  [[nodiscard]] int unread_by_peer() const {
    int bytes = 0;
    REQUIRE(::ioctl(socket_.get(), SIOCOUTQ, &bytes) == 0);
    return bytes;
  }
  // Bytes that have come and were not received.
  [[nodiscard]] int waiting() const {
    int bytes = 0;
    REQUIRE(::ioctl(socket_.get(), FIONREAD, &bytes) == 0);
    return bytes;
  }
  // All that comes until the service closes, with or without having read what it was sent.
  std::string rest() {
    while (true) {
      char bytes[4096];
      const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (count <= 0) return std::exchange(received_, {});
      received_.append(bytes, static_cast<std::size_t>(count));
    }
  }

 private:
  FileDescriptor socket_;
  std::string received_;
};

// Waits until `holds`, and the service does nothing any more: looks at it while it sleeps in its
// system call, one time after the other.
template <class Condition>
void wait_until_resting(const Pacml& service, const std::string& what, Condition holds) {
  int looks = 0;
  wait_until(what, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const bool sleeps = testing::process_state(service.pid()) == 'S';
    looks = sleeps && holds() ? looks + 1 : 0;
    return looks >= 10;
  });
}

json arrival(const std::string& id, double time) {
  return {{"type", "arrive"}, {"id", id}, {"time", time}, {"model", "alexnet"}, {"limit", 10}};
}

TEST_CASE("a stream goes on behind lines that are none", "[integration][decide]") {
  const RandomRun place;
  const auto answers = answers_to(
      place, arrival("a", 1).dump() + "\r\n\nnonsense\n" + std::string((1 << 20) + 1, 'x') + "\n" +
                 R"({"type": "finish", "id": "never"})" + "\n" + arrival("b", 2).dump());
  REQUIRE(answers.size() == 5);
  CHECK(answers[0]["type"] == "decision");
  CHECK(answers[1]["type"] == "error");
  CHECK(answers[2]["type"] == "error");
  CHECK_THAT(answers[2]["error"].get<std::string>(), Catch::Contains("1048576 bytes"));
  CHECK(answers[3]["type"] == "error");
  CHECK(answers[4]["type"] == "decision");  // the last line has no end
  CHECK(answers[4]["id"] == "b");
  // Nor has one that is too long.
  const auto cut =
      answers_to(place, "{\"type\": \"describe\"}\n" + std::string((1 << 20) + 1, 'x'));
  REQUIRE(cut.size() == 2);
  CHECK_THAT(cut[1]["error"].get<std::string>(), Catch::Contains("1048576 bytes"));
}

TEST_CASE("a model that is none is the user's to mend", "[integration][decide]") {
  const RandomRun place;
  write_random_policy(place / "p.safetensors", cluster_config(), 3);
  std::ofstream(place / "no.safetensors") << "nothing of the kind";
  write_random_policy(place / "placing.safetensors", config_of_task("device_placement", "groups"),
                      3);
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"decide", place / "nowhere"}, "nowhere"},
      {{"decide", place / "no.safetensors"}, "safetensors file"},
      {{"decide", place / "placing.safetensors"}, "is a policy of device_placement"},
      // A checkpoint that does not say what its values are in units of.
      {{"decide", place.run(), "--search", "K=2"}, "no search can go by them"},
      {{"decide", place / "p.safetensors", "--search", "Q=1"}, "Q"},
      {{"decide", place.run(), "--bench", "0"}, "--bench: must be in"},
      {{"decide", place.run(), "--bench", "9", "--http", "0"}, "serves no --socket and no --http"},
      {{"decide", place.run(), "--socket", place / "s", "--http", "0"}, "not beside --socket"},
      {{"decide", place.run(), "--http", "0.0.0.0:0"}, "needs --http-token-file"},
      {{"decide", place.run(), "--socket", place.run()}, "is there, and no socket"}};
  for (const auto& [words, sentence] : wrong) {
    const Outcome outcome = pacml(words);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains(sentence));
  }
}

TEST_CASE("a socket serves several at once, of one cluster, and nobody else's user",
          "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "s";
  Pacml service({"decide", place.run(), "--socket", path});
  Client first(path);
  Client second(path);
  struct stat there {};
  REQUIRE(::stat(path.c_str(), &there) == 0);
  CHECK((there.st_mode & 0777) == 0600);
  first.send(R"({"type": "clus)");  // half a line holds up nobody else
  CHECK(second.ask({{"type", "cluster"},
                    {"time", 3},
                    {"running", {{{"id", "a"}, {"servers", {1, 2}}, {"until", 9}}}}})["free"] == 6);
  first.send(R"(ter", "running": []})"
             "\n");
  CHECK(first.answer()["free"] == 8);
  const Outcome refused = pacml({"decide", place.run(), "--socket", path});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("somebody serves there already"));
  service.signal(SIGTERM);
  CHECK(service.end() == 0);
  CHECK(::stat(path.c_str(), &there) != 0);
}

TEST_CASE("another model is taken over at SIGHUP, and no question is lost",
          "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "s";
  Pacml service({"decide", place.run(), "--socket", path});
  Client client(path);
  const auto policy = [&] { return client.ask({{"type", "describe"}})["policy"]; };
  REQUIRE(policy() == 3);
  write_random_run(place.run(), cluster_config(), 4);
  service.signal(SIGHUP);
  wait_until("the new policy decides", [&] {
    const json now = policy();
    REQUIRE((now == 3 || now == 4));
    return now == 4;
  });
  // One that cannot be had changes nothing.
  std::ofstream(place.run() + "/config.yaml") << "env: {task: nonsense}\n";
  service.signal(SIGHUP);
  wait_until("it is told why",
             [&] { return service.err().find("keeps the former policy") != std::string::npos; });
  CHECK(policy() == 4);
  CHECK(client.ask(arrival("a", 1))["type"] == "decision");
  service.signal(SIGTERM);
  CHECK(service.end() == 0);
}

// `pacml decide` over HTTP, and where.
class HttpService {
 public:
  explicit HttpService(const RandomRun& place, std::vector<std::string> words = {})
      : service_([&] {
          words.insert(words.begin(), {"decide", place.run(), "--http", "0"});
          return words;
        }()) {
    wait_until("it is served", [&] {
      const std::string said = service_.err();
      const std::string before = "serving http://";
      const auto begin = said.find(before);
      const auto end = said.find("/v1/decisions", begin);
      if (end == std::string::npos) return false;
      address_ = said.substr(begin + before.size(), end - begin - before.size());
      return true;
    });
  }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] Pacml& process() { return service_; }
  // The answer to a POST with this body; headers end in a newline.
  [[nodiscard]] HttpAnswer post(const std::string& body,
                                const std::string& headers = "Content-Type: application/json\r\n",
                                const std::string& path = "/v1/decisions") const {
    HttpClient client(address_);
    return client.ask("POST", path,
                      headers + "Content-Length: " + std::to_string(body.size()) + "\r\n", body);
  }

 private:
  Pacml service_;
  std::string address_;
};

TEST_CASE("lines that are posted are answered, each with one", "[integration][decide]") {
  const RandomRun place;
  HttpService service(place);
  const auto answer =
      service.post(arrival("a", 1).dump() + "\r\n\nnonsense\n" + arrival("b", 2).dump());
  CHECK(answer.result_int() == 200);
  CHECK(answer["content-type"] == "application/x-ndjson");
  std::vector<json> lines;
  std::istringstream body(answer.body());
  for (std::string line; std::getline(body, line);) lines.push_back(json::parse(line));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["id"] == "a");
  CHECK(lines[1]["type"] == "error");
  CHECK(lines[2]["id"] == "b");
  // What clients of curl's kind do before a body that is not small.
  HttpClient careful(service.address());
  const std::string question = R"({"type": "describe"})";
  REQUIRE(
      careful.say("POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/x-ndjson; charset=utf-8\r\nExpect: 100-continue\r\n"
                  "Content-Length: " +
                  std::to_string(question.size()) + "\r\n\r\n"));
  CHECK(careful.hear(true)->result_int() == 100);
  REQUIRE(careful.say(question));
  CHECK(json::parse(careful.hear()->body())["policy"] == 3);
  CHECK(http_get(service.address(), "/healthz").body() == "ok\n");
  write_random_run(place.run(), cluster_config(), 4);
  service.process().signal(SIGHUP);
  wait_until("the new policy decides",
             [&] { return json::parse(service.post(question).body())["policy"] == 4; });
  service.process().signal(SIGTERM);
  CHECK(service.process().end() == 0);
}

TEST_CASE("what is posted amiss is refused with a sentence, and changes nothing",
          "[integration][decide]") {
  const RandomRun place;
  HttpService service(place);
  const std::string json_type = "Content-Type: application/json\r\n";
  const std::string question = arrival("a", 1).dump();
  CHECK(service.post(question, json_type, "/v1/decision").result_int() == 404);
  CHECK(service.post(question, "").result_int() == 415);
  CHECK(service.post(question, "Content-Type: text/plain\r\n").result_int() == 415);
  CHECK(service.post(question, "Content-Type: Application/JSON\r\n").result_int() == 200);
  const auto not_posted = service.post(question, json_type, "/healthz");
  CHECK(not_posted.result_int() == 405);
  CHECK(not_posted["allow"] == "GET, HEAD");
  CHECK(service.post("\n\r\n", json_type).result_int() == 400);
  const auto long_one = service.post(std::string((1 << 20) + 1, 'x'), json_type);
  CHECK(long_one.result_int() == 413);
  CHECK_THAT(long_one.body(), Catch::Contains("1048576 bytes"));
  std::string many;
  for (int i = 0; i < 1025; ++i) many += question + "\n";
  CHECK(service.post(many, json_type).result_int() == 413);
  HttpClient getter(service.address());
  const auto got = getter.get("/v1/decisions");
  CHECK(got.result_int() == 405);
  CHECK(got["allow"] == "POST");
  HttpClient putter(service.address());
  REQUIRE(putter.say("PUT /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"));
  const auto not_put = putter.hear();
  REQUIRE(not_put);
  CHECK(not_put->result_int() == 405);
  CHECK((*not_put)["allow"] == "GET, HEAD, POST");
  HttpClient elsewhere(service.address());
  REQUIRE(elsewhere.say("POST /v1/decisions HTTP/1.1\r\nHost: example.com\r\n" + json_type +
                        "Content-Length: " + std::to_string(question.size()) + "\r\n\r\n" +
                        question));
  CHECK(elsewhere.hear()->result_int() == 403);
  // Chunks whose sum is too much, and that no header announced.
  HttpClient chunked(service.address());
  chunked.say("POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n" + json_type +
              "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + std::string(0x200000, 'x'));
  const auto refused = chunked.hear();
  REQUIRE(refused);
  CHECK(refused->result_int() == 413);
  CHECK(json::parse(service.post(R"({"type": "describe"})").body())["running"] == 1);
}

TEST_CASE("over HTTP, who does not show the token is not answered", "[integration][decide]") {
  const RandomRun place;
  const std::string token(32, 't');
  std::ofstream(place / "token") << token << "\n";
  REQUIRE(::chmod((place / "token").c_str(), 0600) == 0);
  HttpService service(place, {"--http-token-file", place / "token"});
  const std::string json_type = "Content-Type: application/json\r\n";
  const std::string question = R"({"type": "describe"})";
  CHECK(service.post(question, json_type).result_int() == 401);
  CHECK(service.post(question, json_type + bearer(token)).result_int() == 200);
  const Outcome taken = pacml({"decide", place.run(), "--http", service.address()});
  CHECK(taken.code != 0);
  CHECK_THAT(taken.err, Catch::Contains("cannot listen at " + service.address()));
}

TEST_CASE("somebody who does not read answers holds up nobody else", "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "s";
  Pacml service({"decide", place.run(), "--socket", path});
  Client silent(path);
  // Until its buffers and the system's are full: then it takes no more, although more is there.
  const std::string question = json{{"type", "describe"}}.dump() + "\n";
  std::string questions;
  while (questions.size() < std::size_t{64} << 10) questions += question;
  wait_until_resting(service, "no more is taken", [&] {
    return silent.try_to_send(questions) < 0 && silent.unread_by_peer() > 0;
  });
  Client patient(path);
  CHECK(patient.ask({{"type", "describe"}})["policy"] == 3);
  service.signal(SIGTERM);
  CHECK(service.end() == 0);
}

// Asks for more answers than the system's buffers hold, so that some are with the service, which
// holds all: they are there when this returns. The questions.
std::string ask_for_much(const Pacml& service, Client& client) {
  const std::size_t bytes = client.ask({{"type", "describe"}}).dump().size() + 1;
  const std::string question = json{{"type", "describe"}}.dump() + "\n";
  std::string questions;
  for (std::size_t answers = 0; answers < std::size_t{768} << 10; answers += bytes) {
    questions += question;
  }
  client.send(questions);
  wait_until_resting(service, "all is answered",
                     [&] { return client.unread_by_peer() == 0 && client.waiting() > 0; });
  return questions;
}

TEST_CASE("a service that is told to end hands out what it has answered", "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "s";
  Pacml service({"decide", place.run(), "--socket", path});
  Client client(path);
  const std::string questions = ask_for_much(service, client);
  const int before = client.waiting();
  service.signal(SIGTERM);
  const std::string rest = client.rest();
  CHECK(service.end() == 0);
  CHECK(rest.size() > static_cast<std::size_t>(before));
  CHECK(std::ranges::count(rest, '\n') == std::ranges::count(questions, '\n'));
  CHECK(rest.ends_with('\n'));
}

TEST_CASE("a service that hands out leaves its path to the next one", "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "s";
  Pacml service({"decide", place.run(), "--socket", path});
  Client client(path);
  ask_for_much(service, client);
  service.signal(SIGTERM);
  wait_until("nobody listens", [&] { return look_at_socket_path(path) == AtSocketPath::kFree; });
  Pacml next({"decide", place.run(), "--socket", path});
  CHECK(Client(path).ask({{"type", "describe"}})["policy"] == 3);
  client.rest();
  CHECK(service.end() == 0);
  CHECK(Client(path).ask({{"type", "describe"}})["policy"] == 3);
  next.signal(SIGTERM);
  CHECK(next.end() == 0);
}

// A model in a pipe: it is being loaded for as long as more of it comes.
class EndlessModel {
 public:
  explicit EndlessModel(const std::string& path) {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    pipe_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    REQUIRE(pipe_.is_open());
    go_on();
  }
  void go_on() const { static_cast<void>(!::write(pipe_.get(), "x", 1)); }  // it may be full
  // Whether somebody has read what came.
  [[nodiscard]] bool is_read() const {
    int bytes = 0;
    REQUIRE(::ioctl(pipe_.get(), FIONREAD, &bytes) == 0);
    return bytes == 0;
  }

 private:
  FileDescriptor pipe_;
};

TEST_CASE("a signal ends a service whose first model is being loaded", "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "p.safetensors";
  const EndlessModel model(path);
  Pacml service({"decide", path, "--socket", place / "s"});
  wait_until("it is being loaded", [&] { return model.is_read(); });
  service.signal(SIGTERM);
  wait_until("it has ended", [&] {
    model.go_on();
    return !service.runs();
  });
  CHECK(service.end() == 128 + SIGTERM);
}

TEST_CASE("a service that is told to end does not wait for another model's loading",
          "[integration][decide]") {
  const RandomRun place;
  const std::string path = place / "p.safetensors";
  write_random_policy(path, cluster_config(), 3);
  const bool over_http = GENERATE(false, true);
  Pacml service({"decide", path, over_http ? "--http" : "--socket", over_http ? "0" : place / "s"});
  wait_until("it is served", [&] {
    return over_http ? service.err().find("serving http://") != std::string::npos
                     : std::filesystem::exists(place / "s");
  });
  std::filesystem::remove(path);
  const EndlessModel model(path);
  service.signal(SIGHUP);
  wait_until("it is being loaded", [&] { return model.is_read(); });
  service.signal(SIGTERM);
  wait_until("it has ended", [&] {
    model.go_on();
    return !service.runs();
  });
  CHECK(service.end() == 0);
}

TEST_CASE("the scheduler of the examples keeps a cluster busy", "[integration][decide]") {
  const RandomRun place;
  const Outcome outcome =
      run({"/usr/bin/python3", source_path("docs/examples/decide/scheduler.py").string(),
           pacml_path(), place.run(), "10000"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("10000 jobs"));
}

TEST_CASE("the figures of --bench are written as those of every benchmark",
          "[integration][decide]") {
  const RandomRun place;
  const Outcome outcome =
      pacml({"decide", place.run(), "--bench", "200", "--out", place / "bench.json"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto figures = json::parse(text_of(place / "bench.json"))["decide"];
  CHECK(figures["decisions_per_second"].get<double>() > 0);
  CHECK(figures["decisions"] == 200);
  CHECK(figures["decision_p99_seconds"].get<double>() > 0);
}

}  // namespace
}  // namespace pacml::testing
