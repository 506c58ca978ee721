import SQBasics
import SQFoundation
import SequencingOAuth

// The duties about the three destinations of a response's content.
extension TransportProbe {
  func checkMemory() async throws {
    let body = try await send(WebRequest(url: try server.url("/large/memory"))).body
    try require(
      body.count == ProbeServer.largeSize,
      "the body has \(body.count) of \(ProbeServer.largeSize) bytes")
  }

  func checkFile() async throws {
    let file = file("download")
    try Data(repeating: 0x62, count: 10).write(to: file)
    let response = try await send(try download("/plain/file", to: file))
    try require(response.body.isEmpty, "the content of a file's response is also in its body")
    try require(
      try Data(contentsOf: file) == Data("hello".utf8),
      "the file does not have the response's content")
    let missing = self.file("missing")
    let refusal = try await send(try download("/status/404/file", to: missing))
    try require(
      refusal.body == Data("hello".utf8),
      "with a file as the destination, the content of a 404 is not in the response's body")
    try require(
      !FileManager.default.fileExists(atPath: missing.path) || Self.isEmpty(missing),
      "the content of a 404 is in the file")
  }

  func checkFileMode() async throws {
    let file = file("private")
    _ = try await send(try download("/plain/mode", to: file))
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    let mode = attributes[.posixPermissions] as? Int ?? 0
    try require(mode == 0o600, "the file has the mode 0\(String(mode, radix: 8))")
  }

  func checkFileLink() async throws {
    let (link, other) = (file("link"), file("other"))
    try Data("other".utf8).write(to: other)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
    _ = try await failure(
      of: try download("/plain/link", to: link),
      instead: "it accepts a symbolic link in place of the file")
    try require(
      try Data(contentsOf: other) == Data("other".utf8),
      "it changes the target of a symbolic link")
  }

  func checkStream() async throws {
    for (path, size) in [("/large/stream", ProbeServer.largeSize), ("/status/404/stream", 5)] {
      let pieces = Locked<[(status: Int, count: Int)]>([])
      var request = WebRequest(url: try server.url(path))
      request.destination = .stream { head, data in
        pieces.withLock { $0.append((head.status, data.count)) }
      }
      let response = try await send(request)
      let found = pieces.withLock(\.self)
      try require(
        found.first?.count == 0, "the closure's first call does not have the head without content")
      let sum = found.reduce(0) { $0 + $1.count }
      try require(sum == size, "the closure of \(path) got \(sum) of \(size) bytes")
      try require(
        found.allSatisfy { $0.status == response.status },
        "the closure for \(path) got another status than the response has")
      try require(response.body.isEmpty, "the content of a closure's response is also in its body")
    }
    struct Refused: Error {}
    var request = WebRequest(url: try server.url("/large/refused"))
    request.destination = .stream { _, data in if !data.isEmpty { throw Refused() } }
    _ = try await failure(of: request, instead: "it ignores the error of a closure")
  }

  func checkResponseLimit() async throws {
    let file = file("bomb")
    let destinations: [(String, HTTPDestination)] = [
      ("memory", .memory), ("file", .file(file)), ("stream", .stream { _, _ in }),
    ]
    for path in ["/large", "/gzip"] {
      for (name, destination) in destinations {
        var request = WebRequest(url: try server.url("\(path)/limit-\(name)"))
        request.destination = destination
        request.maximumResponseBytes = 1000
        let what = "\(ProbeServer.largeSize) bytes from \(path), destination \(name)"
        let (error, _) = try await failure(
          of: request, instead: "it takes \(what), with a limit of 1000")
        try require(
          error.code == .responseTooLarge,
          "\(what), with a limit of 1000, end with \(error.code) and not with response_too_large")
      }
    }
  }

  private func download(_ path: String, to file: URL) throws(SQOAuthError) -> WebRequest {
    var request = WebRequest(url: try server.url(path))
    request.destination = .file(file)
    return request
  }

  private static func isEmpty(_ file: URL) -> Bool {
    (try? Data(contentsOf: file))?.isEmpty ?? true
  }
}
