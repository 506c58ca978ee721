import SQFoundation

/// A file's metadata, read from a client's JSON; unknown members are ignored.
struct DriveMetadata: Decodable {
  var title: String?
  var description: String?
  var mimeType: String?

  /// Reads and checks the metadata in the body of a request.
  init(_ request: SandboxRequest) throws(APIFault) {
    guard request.header("content-type")?.mediaType == "application/json" else {
      throw APIFault(415, "The Content-Type of a file's metadata must be application/json.")
    }
    guard let read = try? JSONDecoder().decode(Self.self, from: request.body) else {
      throw APIFault(400, "The body is not a JSON object with the metadata of a file.")
    }
    self = read
    try check()
  }

  private func check() throws(APIFault) {
    if let title { try Self.check(title: title) }
    if let mimeType { try Self.check(type: mimeType) }
  }

  static func check(title: String) throws(APIFault) {
    guard !title.isEmpty, title.utf8.count <= 1024 else {
      throw APIFault(400, "A title must have 1 to 1024 bytes.")
    }
  }

  /// Checks that a media type can be sent later as the value of `Content-Type`.
  static func check(type: String) throws(APIFault) {
    guard type.contains("/"), type.utf8.count <= 256,
      type.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { throw APIFault(400, "The media type is malformed.") }
  }
}
