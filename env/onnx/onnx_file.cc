#include "env/onnx/onnx_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <array>
#include <cstdint>

#include "common/result.h"

namespace pacml::env {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// The messages of onnx.proto that are read.
enum class Kind : std::uint8_t {
  kModel,
  kOperatorSet,
  kGraph,
  kFunction,
  kNode,
  kAttribute,
  kTensor,
  kValueInfo,
  kType,
  kTensorType,
  kShape,
  kExtent,
  kNone,  // no message, but a number or text
};

struct Field {
  Kind of;
  std::uint32_t number;
  Kind holds = Kind::kNone;
  bool is_data = false;  // values: left out where they are long
};

constexpr auto kFields = std::to_array<Field>({
    {Kind::kModel, onnx::ModelProto::kProducerNameFieldNumber},
    {Kind::kModel, onnx::ModelProto::kProducerVersionFieldNumber},
    {Kind::kModel, onnx::ModelProto::kGraphFieldNumber, Kind::kGraph},
    {Kind::kModel, onnx::ModelProto::kOpsetImportFieldNumber, Kind::kOperatorSet},
    {Kind::kModel, onnx::ModelProto::kFunctionsFieldNumber, Kind::kFunction},
    {Kind::kFunction, onnx::FunctionProto::kNameFieldNumber},
    {Kind::kFunction, onnx::FunctionProto::kDomainFieldNumber},
    {Kind::kFunction, onnx::FunctionProto::kInputFieldNumber},
    {Kind::kFunction, onnx::FunctionProto::kOutputFieldNumber},
    {Kind::kFunction, onnx::FunctionProto::kNodeFieldNumber, Kind::kNode},
    {Kind::kOperatorSet, onnx::OperatorSetIdProto::kDomainFieldNumber},
    {Kind::kOperatorSet, onnx::OperatorSetIdProto::kVersionFieldNumber},
    {Kind::kGraph, onnx::GraphProto::kNodeFieldNumber, Kind::kNode},
    {Kind::kGraph, onnx::GraphProto::kInitializerFieldNumber, Kind::kTensor},
    {Kind::kGraph, onnx::GraphProto::kInputFieldNumber, Kind::kValueInfo},
    {Kind::kGraph, onnx::GraphProto::kOutputFieldNumber, Kind::kValueInfo},
    {Kind::kGraph, onnx::GraphProto::kValueInfoFieldNumber, Kind::kValueInfo},
    {Kind::kNode, onnx::NodeProto::kInputFieldNumber},
    {Kind::kNode, onnx::NodeProto::kOutputFieldNumber},
    {Kind::kNode, onnx::NodeProto::kNameFieldNumber},
    {Kind::kNode, onnx::NodeProto::kOpTypeFieldNumber},
    {Kind::kNode, onnx::NodeProto::kDomainFieldNumber},
    {Kind::kNode, onnx::NodeProto::kAttributeFieldNumber, Kind::kAttribute},
    {Kind::kAttribute, onnx::AttributeProto::kNameFieldNumber},
    {Kind::kAttribute, onnx::AttributeProto::kRefAttrNameFieldNumber},
    {Kind::kAttribute, onnx::AttributeProto::kTypeFieldNumber},
    {Kind::kAttribute, onnx::AttributeProto::kFFieldNumber},
    {Kind::kAttribute, onnx::AttributeProto::kIFieldNumber},
    {Kind::kAttribute, onnx::AttributeProto::kSFieldNumber, Kind::kNone, true},
    {Kind::kAttribute, onnx::AttributeProto::kTFieldNumber, Kind::kTensor},
    {Kind::kAttribute, onnx::AttributeProto::kGFieldNumber, Kind::kGraph},
    {Kind::kAttribute, onnx::AttributeProto::kFloatsFieldNumber},
    {Kind::kAttribute, onnx::AttributeProto::kIntsFieldNumber},
    {Kind::kTensor, onnx::TensorProto::kDimsFieldNumber},
    {Kind::kTensor, onnx::TensorProto::kDataTypeFieldNumber},
    {Kind::kTensor, onnx::TensorProto::kNameFieldNumber},
    {Kind::kTensor, onnx::TensorProto::kRawDataFieldNumber, Kind::kNone, true},
    {Kind::kTensor, onnx::TensorProto::kFloatDataFieldNumber, Kind::kNone, true},
    {Kind::kTensor, onnx::TensorProto::kInt32DataFieldNumber, Kind::kNone, true},
    {Kind::kTensor, onnx::TensorProto::kInt64DataFieldNumber, Kind::kNone, true},
    {Kind::kTensor, onnx::TensorProto::kDoubleDataFieldNumber, Kind::kNone, true},
    {Kind::kTensor, onnx::TensorProto::kDataLocationFieldNumber},
    {Kind::kValueInfo, onnx::ValueInfoProto::kNameFieldNumber},
    {Kind::kValueInfo, onnx::ValueInfoProto::kTypeFieldNumber, Kind::kType},
    {Kind::kType, onnx::TypeProto::kTensorTypeFieldNumber, Kind::kTensorType},
    {Kind::kTensorType, onnx::TypeProto_Tensor::kElemTypeFieldNumber},
    {Kind::kTensorType, onnx::TypeProto_Tensor::kShapeFieldNumber, Kind::kShape},
    {Kind::kShape, onnx::TensorShapeProto::kDimFieldNumber, Kind::kExtent},
    {Kind::kExtent, onnx::TensorShapeProto_Dimension::kDimValueFieldNumber},
    {Kind::kExtent, onnx::TensorShapeProto_Dimension::kDimParamFieldNumber},
});

const Field* find(Kind of, std::uint32_t number) {
  for (const Field& field : kFields) {
    if (field.of == of && field.number == number) return &field;
  }
  return nullptr;
}

constexpr std::uint32_t kMostText = 1 << 16;  // bytes of a name, or of packed numbers
constexpr std::uint32_t kMostData = 1 << 10;  // bytes of values that may be asked for
constexpr int kMostDepth = 16;                // of graphs within graphs
constexpr std::uint64_t kNumberBytes = 16;    // of a number, likewise

// Copies a message with the fields of kFields alone, as bytes, before anything is parsed.
class Slimming {
 public:
  Slimming(CodedInputStream& in, const std::string& source) : in_(in), source_(source) {}

  // Up to the current limit of the stream.
  void copy(Kind kind, std::string& out) {
    if (kind == Kind::kGraph && ++depth_ > kMostDepth) {
      throw UserError(source_ + ": its graphs are within one another, more than 16 deep");
    }
    StringOutputStream stream(&out);
    CodedOutputStream coded(&stream);
    while (const std::uint32_t tag = in_.ReadTag()) {
      const Field* field = find(kind, tag >> 3U);
      switch (tag & 7U) {
        case 0:
          copy_number(tag, field, coded, &CodedInputStream::ReadVarint64,
                      &CodedOutputStream::WriteVarint64);
          break;
        case 1:
          copy_number(tag, field, coded, &CodedInputStream::ReadLittleEndian64,
                      &CodedOutputStream::WriteLittleEndian64);
          break;
        case 5:
          copy_number(tag, field, coded, &CodedInputStream::ReadLittleEndian32,
                      &CodedOutputStream::WriteLittleEndian32);
          break;
        case 2: {
          const std::string piece = copy_piece(field);
          if (field == nullptr || (field->is_data && piece.empty())) break;
          coded.WriteTag(tag);
          coded.WriteVarint32(static_cast<std::uint32_t>(piece.size()));
          coded.WriteString(piece);
          break;
        }
        default:
          expect(false);
      }
    }
    expect(in_.ConsumedEntireMessage());
    if (kind == Kind::kGraph) --depth_;
  }

 private:
  template <class T>
  void copy_number(std::uint32_t tag, const Field* field, CodedOutputStream& out,
                   bool (CodedInputStream::*read)(T*), void (CodedOutputStream::*write)(T)) {
    T value = 0;
    expect((in_.*read)(&value));
    if (field == nullptr || field->holds != Kind::kNone) return;
    charge(kNumberBytes);
    out.WriteTag(tag);
    (out.*write)(value);
  }

  // What follows a tag of a message, a text or packed numbers; empty where it is left out.
  std::string copy_piece(const Field* field) {
    std::uint32_t size = 0;
    expect(in_.ReadVarint32(&size) && size <= INT32_MAX);
    const auto length = static_cast<int>(size);
    std::string piece;
    if (field != nullptr && field->holds != Kind::kNone) {
      charge(kOnnxMessageBytes);
      const int left = in_.BytesUntilLimit();
      expect(left < 0 || left >= length);
      const auto limit = in_.PushLimit(length);
      copy(field->holds, piece);
      in_.PopLimit(limit);
    } else if (field == nullptr || (field->is_data && size > kMostData)) {
      expect(in_.Skip(length));
    } else {
      if (size > kMostText) {
        throw UserError(source_ + ": it holds a name or list of more than 64 KiB");
      }
      charge(kOnnxTextBytes + sizeof(double) * size);
      expect(in_.ReadString(&piece, length));
    }
    return piece;
  }
  void charge(std::uint64_t bytes) {
    taken_ += bytes;
    if (taken_ > kMostOnnxBytes) {
      throw UserError(source_ + ": it takes more than 256 MiB without its weights");
    }
  }
  void expect(bool is_right) const {
    if (!is_right) throw UserError(source_ + ": it is no ONNX model, or ends in the middle");
  }

  CodedInputStream& in_;
  const std::string& source_;
  std::uint64_t taken_ = 0;
  int depth_ = 0;
};

}  // namespace

onnx::ModelProto read_onnx_model(std::istream& in, const std::string& source) {
  google::protobuf::io::IstreamInputStream stream(&in);
  CodedInputStream coded(&stream);
  std::string slim;
  Slimming(coded, source).copy(Kind::kModel, slim);
  if (in.bad()) throw UserError(source + ": it cannot be read");
  onnx::ModelProto model;
  if (!model.ParseFromString(slim)) throw UserError(source + ": it is no ONNX model");
  if (!model.has_graph()) throw UserError(source + ": it is no ONNX model, as it holds no graph");
  return model;
}

}  // namespace pacml::env
