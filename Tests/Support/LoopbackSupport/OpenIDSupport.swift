import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

/// A signed token that a test reads without verifying the signature.
struct ReadJWT {
  let text: String
  let header: SandboxJSON
  let claims: SandboxJSON

  init(_ text: String) throws {
    self.text = text
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3, "a signed token has three parts")
    header = try Self.json(parts[0])
    claims = try Self.json(parts[1])
  }

  private static func json(_ part: Substring) throws -> SandboxJSON {
    let text = String(decoding: try #require(Data(base64URL: part)), as: UTF8.self)
    return try #require(SandboxJSON(parsing: text))
  }
}

extension Data {
  /// Decodes base64url without padding.
  init?(base64URL text: some StringProtocol) {
    let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    self.init(base64Encoded: standard + padding)
  }
}

extension SandboxJSON {
  var string: String? { if case .string(let string) = self { string } else { nil } }
  var integer: Int? { if case .integer(let integer) = self { integer } else { nil } }
  var array: [SandboxJSON] { if case .array(let values) = self { values } else { [] } }
  var names: [String] { if case .object(let members) = self { members.map(\.name) } else { [] } }
}

extension LoopbackAnswer {
  /// Returns the body as JSON, with the members of each object in the order of their names.
  func json() throws -> SandboxJSON { try #require(SandboxJSON(parsing: text), "\(text)") }

  func idToken() throws -> ReadJWT {
    try ReadJWT(try #require(try json()["id_token"]?.string, "no ID token"))
  }
}

extension SandboxPeer {
  /// Signs in with the scope `openid`, and returns the token response.
  func signIn(
    _ changes: [String: String?] = [:], visitor: SandboxVisitor = SandboxVisitor()
  ) async throws -> LoopbackAnswer {
    let changes = ["scope": "openid"].merging(changes) { $1 }
    let code = try await redirect(changes, visitor: visitor).value("code")
    return try await redeem(try #require(code))
  }

  /// Returns the error in the redirect after an authorization request, or `nil` if there is a code.
  func refusal(_ changes: [String: String?], visitor: SandboxVisitor) async throws -> String? {
    try await redirect(changes, visitor: visitor).value("error")
  }

  func keys() async throws -> [SandboxJSON] {
    try #require(try await get("/jwks").json()["keys"]).array
  }

  /// Returns the hidden fields of a page's form.
  static func hiddenFields(_ page: String) -> [(String, String)] {
    page.split(separator: "<input type=\"hidden\" name=\"").dropFirst().map { input in
      let parts = input.split(separator: "\"", maxSplits: 3)
      return (String(parts[0]), String(parts[2]))
    }
  }

  /// Returns the request field that sends the cookie of an answer back.
  static func cookie(of answer: LoopbackAnswer) throws -> (name: String, value: String) {
    let cookie = try #require(answer.header("set-cookie"))
    return ("Cookie", String(cookie.prefix { $0 != ";" }))
  }
}
