import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct TokenRequestTests {
  static func request(
    id: String = "s6BhdRkqt3", secret: String? = nil, _ authentication: ClientAuthentication,
    parameters: [FormCoding.Pair] = [
      .init("grant_type", "authorization_code"), .init("code", "SplxlOBeZQQYbYS6WxSbIA"),
      .init("redirect_uri", "https://client.example.com/cb"),
    ]
  ) throws -> WebRequest {
    TokenRequest(
      endpoint: try #require(URL(string: "https://server.example.com/token")),
      parameters: parameters,
      client: ClientCredentials(id: id, secret: secret, authentication: authentication),
      timeout: .seconds(7)
    ).httpRequest()
  }

  static func body(_ request: WebRequest) throws -> String {
    guard case .bytes(let data) = request.body else {
      Issue.record("the request has no body of bytes")
      return ""
    }
    return try #require(String(data: data, encoding: .utf8))
  }

  static let codeBody =
    "grant_type=authorization_code&code=SplxlOBeZQQYbYS6WxSbIA"
    + "&redirect_uri=https%3A%2F%2Fclient.example.com%2Fcb"

  @Test func `Basic sends the client's credentials only in the header`() throws {
    let request = try Self.request(secret: "gX1fBat3bV", .basic)
    #expect(request.headers.values(for: "Authorization") == ["Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW"])
    #expect(try Self.body(request) == Self.codeBody)
  }

  @Test func `post sends the client's credentials only in the body`() throws {
    let request = try Self.request(secret: "gX1fBat3bV", .post)
    #expect(request.headers["Authorization"] == nil)
    #expect(
      try Self.body(request)
        == Self.codeBody + "&client_id=s6BhdRkqt3&client_secret=gX1fBat3bV")
  }

  @Test func `a public client sends its identifier and no secret`() throws {
    let request = try Self.request(.publicClient)
    #expect(request.headers["Authorization"] == nil)
    #expect(try Self.body(request) == Self.codeBody + "&client_id=s6BhdRkqt3")
  }

  @Test func `the request is a POST of a form that asks for JSON`() throws {
    let request = try Self.request(.publicClient)
    #expect(request.method == "POST")
    #expect(request.url.absoluteString == "https://server.example.com/token")
    #expect(request.headers.values(for: "Content-Type") == ["application/x-www-form-urlencoded"])
    #expect(request.headers["Accept"] == "application/json")
    #expect(request.timeout == .seconds(7))
    #expect(request.maximumResponseBytes == 4 << 20)
    #expect(request.headers["Cookie"] == nil)
  }

  @Test(arguments: [
    ("s6BhdRkqt3", "gX1fBat3bV", "s6BhdRkqt3:gX1fBat3bV"),
    ("a:b", "c:d", "a%3Ab:c%3Ad"),
    ("100%", "%41", "100%25:%2541"),
    ("\u{FC}", "\u{20AC}", "%C3%BC:%E2%82%AC"),
    ("a b", "c+d", "a%20b:c%2Bd"), ("a~b", "c*d", "a~b:c*d"),
    ("https://id.example/c?x=1&y", "", "https%3A%2F%2Fid.example%2Fc%3Fx%3D1%26y:"),
    ("", "s", ":s"),
  ])
  func `Basic percent-encodes the client's identifier and secret before it joins them`(
    id: String, secret: String, joined: String
  ) throws {
    let field = ClientCredentials.basic(id: id, secret: secret)
    let prefix = "Basic "
    #expect(field.hasPrefix(prefix))
    let decoded = try #require(Data(base64Encoded: String(field.dropFirst(prefix.count))))
    #expect(String(data: decoded, encoding: .utf8) == joined)
  }

  @Test(arguments: FormCodingTests.difficult)
  func `each parameter of the body decodes to its original bytes`(value: String) throws {
    let request = try Self.request(
      id: value, secret: value, .post, parameters: [.init("code", value)])
    let pairs = try #require(FormCoding.decode(try Self.body(request)))
    #expect(pairs.map(\.name) == ["code", "client_id", "client_secret"])
    for pair in pairs { #expect(Array(pair.value.utf8) == Array(value.utf8)) }
  }
}
