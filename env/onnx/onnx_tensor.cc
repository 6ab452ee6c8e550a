#include "env/onnx/onnx_tensor.h"

#include <onnx/onnx_pb.h>

namespace pacml::env {
namespace {

// Types of later versions than the messages that we read with: 8 and 4 bits.
constexpr int kFirstFloat8 = 17;
constexpr int kLastFloat8 = 20;
constexpr int kFirst4Bits = 21;
constexpr int kLast4Bits = 23;

}  // namespace

double product_of(const Extents& extents) {
  double product = 1;
  for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

double element_bytes(int type) {
  using onnx::TensorProto;
  if (type >= kFirstFloat8 && type <= kLastFloat8) return 1;
  if (type >= kFirst4Bits && type <= kLast4Bits) return 0.5;
  switch (type) {
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::BOOL:
      return 1;
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 4;
    case TensorProto::DOUBLE:
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::COMPLEX64:
      return 8;
    case TensorProto::COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

bool is_floating(int type) {
  using onnx::TensorProto;
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE ||
         type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16 ||
         (type >= kFirstFloat8 && type <= kLastFloat8);
}

std::string to_text(const Extents& extents) {
  std::string text;
  for (const std::int64_t extent : extents) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text.empty() ? "scalar" : text;
}

double OnnxTensor::elements() const { return product_of(extents) * repeats; }

double OnnxTensor::bytes() const { return elements() * element_bytes(type); }

}  // namespace pacml::env
