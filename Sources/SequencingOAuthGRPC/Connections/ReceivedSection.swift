import SequencingOAuth

/// The section of a response that is being received, a head or the trailers, within limits.
struct ReceivedSection {
  private(set) var status = 0
  private(set) var fields = HTTPFields()
  /// How many bytes all sections of the response have so far, with 32 bytes more for each field.
  private var bytes = 0

  /// How many fields one section may have.
  fileprivate static let maximumFields = 256
  /// How many bytes all fields of a response may have, each with 32 bytes more.
  fileprivate static let maximumBytes = 256 * 1024

  /// Begins the next section of the same response.
  mutating func begin() {
    fields = HTTPFields()
  }

  /// Takes a field; returns `false` if the response has too many.
  mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    bytes += name.count + value.count + 32
    guard bytes <= Self.maximumBytes, fields.count < Self.maximumFields else { return false }
    let text = String(decoding: value, as: UTF8.self)
    if name.first == UInt8(ascii: ":") {
      // nghttp2 lets only sections pass that have one valid status or, as trailers, none.
      status = Int(text) ?? 0
    } else {
      fields.append(HTTPFields.Field(name: String(decoding: name, as: UTF8.self), value: text))
    }
    return true
  }
}

extension RPCError {
  static let tooManyFields = RPCError(
    .resourceExhausted,
    "the server sent more than \(ReceivedSection.maximumFields) metadata fields or "
      + "\(ReceivedSection.maximumBytes) bytes of them")
}
