import SQBasics
import SequencingOAuth

/// A header section that is being received, within limits: a response's head or its trailers.
struct ReceivedSection {
  private(set) var status = 0
  private(set) var fields = HeaderFields()
  /// The bytes of all sections of the response so far, plus 32 bytes for each field.
  private var bytes = 0

  /// The most fields of one section.
  fileprivate static let maximumFields = 256
  /// The most bytes of all fields of a response, counting 32 extra bytes for each field.
  fileprivate static let maximumBytes = 256 * 1024

  /// Begins the next section of the same response.
  mutating func begin() {
    fields = HeaderFields()
  }

  /// Adds a field; returns `false` if the response has too many fields or bytes.
  mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    bytes += name.count + value.count + 32
    guard bytes <= Self.maximumBytes, fields.count < Self.maximumFields else { return false }
    let text = String(streamSafe: value)
    if name.first == UInt8(ascii: ":") {
      // nghttp2 passes on only sections with one valid status or, for trailers, none.
      status = Int(text) ?? 0
    } else {
      fields.append(HeaderFields.Field(name: String(decoding: name, as: UTF8.self), value: text))
    }
    return true
  }
}

extension RPCCallError {
  static let tooManyFields = RPCCallError(
    .resourceExhausted,
    "the server sent more than \(ReceivedSection.maximumFields) metadata fields or "
      + "\(ReceivedSection.maximumBytes) bytes of metadata")
}
