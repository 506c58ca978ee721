import FoundationEssentials
import OAuthSandbox
import SQLoopback
import TestSupport
import Testing

@testable import LoopbackSupport

/// A client of the drive with one token, which sends plain requests.
struct DriveClient {
  let sandbox: SandboxServer
  let token: String

  init(_ sandbox: SandboxServer, scopes: [String]? = nil, for user: String = "alice") {
    self.sandbox = sandbox
    token = sandbox.issueTokens(for: user, scopes: scopes).accessToken
  }

  func send(
    _ method: String = "GET", _ path: String, _ headers: [(name: String, value: String)] = [],
    body: Data = Data()
  ) async throws -> LoopbackAnswer {
    let url = try #require(LoopbackURL(sandbox.issuer.absoluteString + path))
    return try await LoopbackClient.send(
      method, url, headers: [("Authorization", "Bearer " + token)] + headers, body: body)
  }

  func json(_ method: String, _ path: String, _ json: String) async throws -> LoopbackAnswer {
    try await send(
      method, path, [("Content-Type", "application/json")], body: Data(json.utf8))
  }

  /// Fetches one page of the list from a path or an absolute URL of the sandbox.
  func page(_ url: String = "/drive/v2/files") async throws -> FileListJSON {
    let path = url.replacing(sandbox.issuer.absoluteString, with: "")
    return try await send("GET", path).decoded()
  }

  /// Uploads multipart content unchanged, with `b` as the boundary.
  func multipart(
    _ body: String, _ method: String = "POST", to path: String = "/upload/drive/v2/files",
    type: String = "multipart/form-data; boundary=b"
  ) async throws -> LoopbackAnswer {
    try await send(method, path, [("Content-Type", type)], body: Data(body.utf8))
  }
}

/// The members of a file that the tests check.
struct FileJSON: Decodable, Equatable {
  let id: String
  let title: String
  let description: String?
  let mimeType: String
  let fileSize: String
  let modifiedDate: String
  let downloadUrl: String
}

struct FileListJSON: Decodable {
  let kind: String
  let items: [FileJSON]
  let nextLink: String?
  let nextPageToken: String?

  var titles: [String] { items.map(\.title) }
}

extension LoopbackAnswer {
  func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try #require((200...299).contains(status), "\(text)")
    return try JSONDecoder().decode(type, from: body)
  }

  /// The message of an error in the drive's format; `nil` if the code in the body differs from the
  /// response's status.
  var driveError: String? {
    struct Body: Decodable {
      struct Inner: Decodable {
        let code: Int
        let message: String
      }
      let error: Inner
    }
    let error = try? JSONDecoder().decode(Body.self, from: body).error
    return error?.code == status ? error?.message : nil
  }

  /// The URLs of a `Link` header by their relation.
  var links: [String: String] {
    let pairs = (header("link") ?? "").split(separator: ", ").compactMap { link in
      let halves = link.dropFirst().split(separator: ">; rel=\"")
      return halves.count == 2 ? (String(halves[1].dropLast()), String(halves[0])) : nil
    }
    return Dictionary(pairs) { first, _ in first }
  }
}
