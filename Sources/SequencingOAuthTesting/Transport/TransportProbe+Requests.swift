import SQBasics
import SQFoundation
import SQLoopback
import SequencingOAuth

// The duties about what a client sends.
extension TransportProbe {
  func checkMethod() async throws {
    for method in ["GET", "PUT", "DELETE", "PATCH", "PROPFIND", "Query"] {
      let found = try await received(method, "/plain/method/\(method)").method
      try require(found == method, "it sends \(found) in place of \(method)")
    }
  }

  func checkURL() async throws {
    // All URLs begin with this path, so that the server finds the requests of this check.
    let path = "/plain/url"
    for rest in ["?a=1&b=%26%2F&c=%C3%A9+d", "%2Fa%20b?x=%25", "//a/./?y"] {
      let url = try server.url(path + rest)
      _ = try await send(WebRequest(url: url))
      let found = server.targets(beginningWith: path).last
      try require(
        found == path + rest, "it sends \(found ?? "nothing") in place of \(path + rest)")
    }
  }

  func checkFields() async throws {
    var fields: HeaderFields = ["X-One": "a, b", "Authorization": "Bearer duty"]
    fields.append(.init(name: "X-Two", value: "first"))
    fields.append(.init(name: "X-Two", value: "second"))
    let found = try await received("GET", "/plain/fields", fields)
    for name in ["x-one", "authorization", "x-two"] {
      let values = found.headers.filter { $0.name == name }.map(\.value)
      // A list in one field has the same meaning as a repeated field.
      let isSent =
        values.joined(separator: ", ") == fields.values(for: name).joined(separator: ", ")
      try require(isSent, "the field \(name) is missing or changed")
    }
  }

  func checkEmptyBody() async throws {
    let found = try await received("POST", "/plain/empty")
    try require(
      found.body.isEmpty, "it sends \(found.body.count) bytes for a request without content")
  }

  func checkBytesBody() async throws {
    try await checkBody(.bytes(Self.content), "bytes", hasLength: true)
  }

  func checkFileBody() async throws {
    let file = file("upload")
    try Self.content.write(to: file)
    try await checkBody(.file(file), "file", hasLength: true)
  }

  func checkStreamBody() async throws {
    for length in [Int64(Self.content.count), nil] {
      let starts = Locked(0)
      let body = WebRequestBody.stream(length: length) {
        starts.withLock { $0 += 1 }
        let rest = Locked(Self.content)
        return {
          rest.withLock { rest in
            defer { rest = rest.dropFirst(1000) }
            return rest.isEmpty ? nil : Data(rest.prefix(1000))
          }
        }
      }
      let name = length == nil ? "stream-of-any-length" : "stream"
      try await checkBody(body, name, hasLength: length != nil)
      let count = starts.withLock(\.self)
      try require(count == 1, "it called the closure that makes the chunks \(count) times")
    }
  }

  /// Content with all byte values, in an order that reveals missing or moved bytes.
  private static let content = Data((0..<10_007).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) })

  private func checkBody(
    _ body: WebRequestBody, _ name: String, hasLength: Bool
  ) async throws {
    let found = try await received(
      "POST", "/plain/body/\(name)", ["Content-Type": "application/octet-stream"], body)
    try require(
      found.body == Self.content,
      "the server got \(found.body.count) bytes that are not the \(Self.content.count) of the \(name)"
    )
    let length = found.header("content-length")
    try require(
      !hasLength || length == String(Self.content.count),
      "it does not send Content-Length: \(Self.content.count) for the \(name)")
  }

  func checkConcurrency() async throws {
    let texts = (0..<16).map { "content of request \($0)" }
    let mixed = try await withThrowingTaskGroup(of: Bool.self) { group in
      for (index, text) in texts.enumerated() {
        let request = WebRequest(
          method: "POST", url: try server.url("/echo/\(index)"), body: .bytes(Data(text.utf8)))
        group.addTask { try await send(request).body != Data(text.utf8) }
      }
      return try await group.contains(true)
    }
    try require(!mixed, "a request got the response to a different request")
  }
}
