#include "env/graph/zoo/zoo.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

double step_time(const Profile& profile) {
  double sum = 0;
  for (const auto& op : profile.ops) sum += op.forward_time + op.backward_time;
  return sum;
}

}  // namespace

TEST_CASE("the zoo's networks have the published numbers of parameters") {
  const std::map<std::string, double> parameters = {
      {"alexnet", 61'100'840}, {"resnet18", 11'689'512}, {"squeezenet1_0", 1'248'424},
      {"vgg16", 138'357'544},  {"gnmt", 192'782'592},
  };
  for (const auto& model : zoo_models()) {
    INFO(model);
    CHECK(zoo_network(model, 1).parameters() == parameters.at(model));
  }
}

// Sources: torchvision's table of models (ResNet-50, ViT-B/16); BertForSequenceClassification,
// GPT2LMHeadModel in four sizes, LlamaForCausalLM and MixtralForCausalLM as their authors publish
// them with the library transformers.
TEST_CASE("the larger models have the published numbers of parameters") {
  const std::map<std::string, double> parameters = {
      {"bert_base", 109'483'778},       {"gpt2_small", 124'439'808}, {"gpt2_medium", 354'823'168},
      {"gpt2_large", 774'030'080},      {"gpt2_xl", 1'557'611'200},  {"llama_7b", 6'738'415'616},
      {"mixtral_8x7b", 46'702'792'704}, {"resnet50", 25'557'032},    {"vit_b_16", 86'567'656}};
  for (const auto& [model, count] : parameters) {
    INFO(model);
    CHECK(zoo_network(model, 1).parameters() == count);
  }
  CHECK(parameters.size() + zoo_models().size() == all_zoo_models().size());
}

TEST_CASE("ResNet-50 and ViT-B/16 have the published amounts of arithmetic for one image") {
  // GFLOPS of torchvision's ResNet50_Weights and ViT_B_16_Weights, in multiply-adds.
  CHECK(zoo_network("resnet50", 1).multiply_adds() == Approx(4.09e9).epsilon(0.002));
  CHECK(zoo_network("vit_b_16", 1).multiply_adds() == Approx(17.56e9).epsilon(0.01));
}

// Kaplan et al. 2020, section 2.1: N + layers * steps * width multiply-adds a token, twice that
// attention where nothing is spared behind the diagonal. N leaves out embeddings.
TEST_CASE("language models have the arithmetic that their sizes mean") {
  struct Size {
    const char* model;
    double layers, steps, width, vocabulary;
  };
  for (const Size& s :
       {Size{"gpt2_small", 12, 1024, 768, 50'257}, Size{"gpt2_xl", 48, 1024, 1600, 50'257},
        Size{"llama_7b", 32, 2048, 4096, 32'000}}) {
    INFO(s.model);
    const zoo::Network network = zoo_network(s.model, 2);
    const double embeddings = network.layers[1].parameters;
    // The output layer's product uses a table again, or one as large that is counted already.
    const bool is_tied = s.vocabulary == 50'257;
    const double in_products = network.parameters() - (is_tied ? 0 : embeddings);
    CHECK(network.multiply_adds() / s.steps ==
          Approx(in_products + 2 * s.layers * s.steps * s.width).epsilon(0.01));
  }
}

TEST_CASE("each step of a mixture of experts goes through two of them") {
  // 12.9 billion of its parameters are active for a token (Jiang et al. 2024), the table among
  // them.
  const zoo::Network network = zoo_network("mixtral_8x7b", 1);
  const double attention = 2.0 * 32 * 2048 * 4096;
  CHECK(network.multiply_adds() / 2048 + 32'000.0 * 4096 - attention ==
        Approx(12.9e9).epsilon(0.01));
}

TEST_CASE("every model is a job graph that no op keeps from being cut") {
  for (const auto& model : all_zoo_models()) {
    INFO(model);
    const Profile profile = zoo_profile(model);
    std::set<int> read;
    for (const auto& [producer, consumer] : profile.dependencies) {
      CHECK(producer < consumer);
      read.insert(producer);
    }
    // The loss alone is read by nobody.
    CHECK(read.size() == profile.ops.size() - 1);
  }
}

TEST_CASE("GNMT's parameters are the sum of its parts") {
  constexpr double kEmbeddings = 2.0 * 32'000 * 1024;
  constexpr double kLstmFrom1024 = 4.0 * 1024 * (1024 + 1024) + 8 * 1024;
  constexpr double kLstmFrom2048 = 4.0 * 1024 * (2048 + 1024) + 8 * 1024;
  constexpr double kEncoder = 2 * kLstmFrom1024 + kLstmFrom2048 + 2 * kLstmFrom1024;
  constexpr double kAttention = 2.0 * 1024 * 1024 + 1024;
  constexpr double kDecoder = kLstmFrom1024 + kAttention + 3 * kLstmFrom2048;
  constexpr double kClassifier = 1024.0 * 32'000 + 32'000;
  CHECK(zoo_network("gnmt", 1).parameters() == kEmbeddings + kEncoder + kDecoder + kClassifier);
}

TEST_CASE("the zoo's networks have the published amounts of arithmetic for one image") {
  const std::map<std::string, double> giga_multiply_adds = {
      {"alexnet", 0.714}, {"resnet18", 1.814}, {"squeezenet1_0", 0.819}, {"vgg16", 15.47}};
  for (const auto& [model, giga] : giga_multiply_adds) {
    INFO(model);
    CHECK(zoo_network(model, 1).multiply_adds() == Approx(giga * 1e9).epsilon(0.005));
    CHECK(zoo_network(model, 32).multiply_adds() == zoo_network(model, 1).multiply_adds());
  }
}

TEST_CASE("feature maps shrink as published") {
  const auto shape = [](const std::string& model, std::size_t layer) {
    return zoo_network(model, 1).layers.at(layer - 1).output;
  };
  CHECK(shape("alexnet", 2) == zoo::Shape{64, 55, 55});
  CHECK(shape("alexnet", 14) == zoo::Shape{256, 6, 6});
  CHECK(shape("vgg16", 32) == zoo::Shape{512, 7, 7});
  CHECK(shape("squeezenet1_0", 2) == zoo::Shape{96, 109, 109});
  CHECK(shape("squeezenet1_0", 4) == zoo::Shape{96, 54, 54});
  CHECK(shape("resnet18", 5) == zoo::Shape{64, 56, 56});
  CHECK(shape("resnet18", 68) == zoo::Shape{512, 1, 1});
}

TEST_CASE("a zoo graph runs from one source to one sink, in the order of its ids") {
  for (const auto& model : zoo_models()) {
    INFO(model);
    const Profile profile = zoo_profile(model);
    const int n = static_cast<int>(profile.ops.size());
    std::set<int> producers;
    std::set<int> consumers;
    for (const auto& [producer, consumer] : profile.dependencies) {
      REQUIRE(producer >= 1);
      REQUIRE(consumer <= n);
      REQUIRE(producer < consumer);  // hence no cycle
      producers.insert(producer);
      consumers.insert(consumer);
    }
    for (int id = 1; id <= n; ++id) {
      CHECK(profile.ops[static_cast<std::size_t>(id) - 1].id == id);
      CHECK((producers.count(id) == 1) == (id != n));
      CHECK((consumers.count(id) == 1) == (id != 1));
    }
  }
}

TEST_CASE("every op takes time, except views, and the data has no backward pass") {
  for (const auto& model : zoo_models()) {
    const Profile profile = zoo_profile(model);
    for (const auto& op : profile.ops) {
      INFO(model << " " << op.description);
      const bool view = op.description == "Flatten";
      CHECK((op.forward_time > 0) == !view);
      CHECK((op.backward_time > 0) == (!view && op.id != 1));
      CHECK(op.activation_bytes > 0);
      CHECK(op.parameter_bytes >= 0);
      CHECK(op.forward_time == std::round(op.forward_time * 1000) / 1000);
    }
  }
}

TEST_CASE("the five jobs offer a load of about 0.9 at the published setting") {
  // 50 steps a job, milliseconds read as seconds, a job every 1000, 32 servers.
  double load = 0;
  for (const auto& model : zoo_models()) {
    const double job = 50 * step_time(zoo_profile(model));
    INFO(model << " " << job);
    CHECK(job > 3e3);
    CHECK(job < 4e4);
    CHECK((job < 1e4) == (model == "gnmt"));
    load += job / static_cast<double>(zoo_models().size()) / 1000 / 32;
  }
  CHECK(load == Approx(0.9).margin(0.02));
}

TEST_CASE("a zoo profile is a function of model, device and mini-batch") {
  const Profile once = zoo_profile("resnet18", zoo::v100(), 32);
  const Profile again = zoo_profile("resnet18", zoo::v100(), 32);
  REQUIRE(once.ops.size() == again.ops.size());
  for (std::size_t i = 0; i < once.ops.size(); ++i) {
    CHECK(once.ops[i].forward_time == again.ops[i].forward_time);
  }
  CHECK(step_time(zoo_profile("resnet18", zoo::v100(), 64)) > step_time(once));
  CHECK(step_time(zoo_profile("resnet18", zoo::a100(), 32)) < step_time(once));
}

TEST_CASE("an unknown model is refused with the nearest name") {
  CHECK_THROWS_WITH(zoo_profile("alexnett"),
                    "there is no built-in model 'alexnett'; did you mean 'alexnet'?");
  CHECK_THROWS_AS(zoo_batch("bert"), UserError);
  CHECK_THROWS_AS(zoo_network("bert", 1), UserError);
}

TEST_CASE("the names of the zoo are sorted") {
  const auto names = zoo_models();
  CHECK(names.size() == 5);
  CHECK(std::ranges::is_sorted(names));
}

}  // namespace pacml::env
