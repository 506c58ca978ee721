import Foundation

@testable import SequencingOAuth

/// Token responses in a short form for tables.
enum Answer {
  static let now = Date(timeIntervalSince1970: 1_750_000_000)

  /// A request without secrets, of a client that does not authenticate.
  static let request = TokenRequest(
    endpoint: URL(filePath: "/"), parameters: [.init("grant_type", "authorization_code")],
    client: ClientCredentials(id: "app", secret: nil, authentication: .publicClient),
    timeout: .seconds(1))

  static func http(
    _ body: String, status: Int = 200, type: String? = "application/json"
  ) -> WebResponse {
    var headers: HeaderFields = ["Cache-Control": "no-store"]
    headers["Content-Type"] = type
    return WebResponse(status: status, headers: headers, body: Data(body.utf8))
  }

  static func read(
    _ body: String, status: Int = 200, type: String? = "application/json",
    quirks: TokenResponseQuirks = [], scope: String? = "asked",
    parser: any TokenResponseParser = StandardTokenResponseParser()
  ) throws(SQOAuthError) -> SQToken {
    try TokenResponse(
      parser: parser,
      context: .init(receivedAt: now, requestedScope: scope, quirks: quirks), request: request
    ).read(http(body, status: status, type: type))
  }
}
