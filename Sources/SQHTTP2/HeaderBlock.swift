import CSQNghttp2

/// The fields of one header section, ready to send, with all texts in one block of memory.
///
/// Names must be in lower case; ``HTTP2Session`` sends the fields in order.
package struct HeaderBlock: Sendable {
  private var bytes: [UInt8] = []
  /// The lengths of each name and its value.
  private var lengths: [(name: Int, value: Int)] = []

  package init() {
    bytes.reserveCapacity(512)
    lengths.reserveCapacity(12)
  }

  package init(_ fields: KeyValuePairs<String, String>) {
    self.init()
    for (name, value) in fields { append(name, value) }
  }

  package mutating func append(_ name: String, _ value: String) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(contentsOf: value.utf8)
    lengths.append((name.utf8.count, value.utf8.count))
  }

  /// The fields in order.
  package var fields: [(name: String, value: String)] {
    var rest = bytes[...]
    return lengths.map { length in
      let name = String(decoding: rest.prefix(length.name), as: UTF8.self)
      rest = rest.dropFirst(length.name)
      defer { rest = rest.dropFirst(length.value) }
      return (name, String(decoding: rest.prefix(length.value), as: UTF8.self))
    }
  }

  /// Calls a closure with the fields in nghttp2's form; the pointers are valid only during the
  /// call.
  func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>, Int) -> Result) -> Result {
    var bytes = bytes
    return bytes.withUnsafeMutableBufferPointer { buffer in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: lengths.count) { fields in
        var next = buffer.baseAddress
        for (index, length) in lengths.enumerated() {
          let value = next.map { $0 + length.name }
          fields.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: next, value: value, namelen: length.name, valuelen: length.value,
              flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
          next = value.map { $0 + length.value }
        }
        guard let start = fields.baseAddress else { preconditionFailure("an empty header block") }
        return body(start, lengths.count)
      }
    }
  }
}
