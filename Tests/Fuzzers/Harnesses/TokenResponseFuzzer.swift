import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the body of a token endpoint's response, as JSON, as a form and as an error.
  static let tokenResponse = Fuzzer("token-response") { input in
    try checkErrorResponse(input)
    let members = JSONMessage.members(of: input)
    let pairs = FormCoding.decode(String(decoding: input, as: UTF8.self))
    for (type, quirks) in kinds {
      let isForm = quirks.contains(.formEncoded)
      let holdsError =
        isForm
        ? pairs?.contains { $0.name == "error" } == true : members?["error"] ?? .null != .null
      switch result(of: input, as: type, quirks: quirks) {
      case .success(let token): try check(token, holdsError: holdsError)
      case .failure(let error):
        try require(error.description.isHarmless, "the error shows as \(error.description)")
        try require(!error.description.contains(secret), "the error repeats a secret")
      }
      // A response with an error status never gives a token.
      if case .success = result(of: input, as: type, quirks: quirks, status: 400) {
        throw Finding(description: "a response with status 400 gives a token")
      }
    }
  }

  private static let kinds: [(type: String, quirks: TokenResponseQuirks)] = [
    ("application/json", []),
    ("text/html", [.anyContentType, .missingTokenType]),
    ("text/plain", .formEncoded),
  ]
  private static let now = Date(timeIntervalSinceReferenceDate: 0)
  private static let secret = "s3cr3t-verifier"

  private static func result(
    of body: Data, as type: String, quirks: TokenResponseQuirks, status: Int = 200
  ) -> Result<SQToken, SQOAuthError> {
    let context = TokenResponseContext(receivedAt: now, requestedScope: nil, quirks: quirks)
    let request = TokenRequest(
      endpoint: URL(filePath: "/"), parameters: [FormCoding.Pair("code_verifier", secret)],
      client: ClientCredentials(id: "c", secret: nil, authentication: .publicClient),
      timeout: .seconds(1))
    let reader = TokenResponse(
      parser: StandardTokenResponseParser(), context: context, request: request)
    let response = WebResponse(status: status, headers: ["Content-Type": type], body: body)
    return Result { () throws(SQOAuthError) in try reader.read(response) }
  }

  private static func check(_ token: SQToken, holdsError: Bool) throws {
    try require(!holdsError, "an error response gives a token")
    try require(
      !token.accessToken.isEmpty && token.accessToken.isASCII(withSpaces: false),
      "the access token is \(token.accessToken)")
    try require(token.tokenType.lowercased() == "bearer", "the type is \(token.tokenType)")
    if let refresh = token.refreshToken {
      try require(
        !refresh.isEmpty && refresh.isASCII(withSpaces: true), "the refresh token is \(refresh)")
    }
    let life = token.expirationDate?.timeIntervalSince(now)
    if let life {
      try require((0...TokenLifetime.maximum).contains(life), "it lives for \(life) s")
    }
    try require(token.description.isHarmless, "it shows as \(token.description)")
    try requireCodable(token, "the token")
    try requireReadAgain(token, life: life)
  }

  /// Requires that the token, written as a response in the standard form, is read as the same
  /// token.
  private static func requireReadAgain(_ token: SQToken, life: Double?) throws {
    var members = token.additionalFields
    members["access_token"] = .string(token.accessToken)
    members["token_type"] = .string(token.tokenType)
    if let life { members["expires_in"] = .integer(Int64(life)) }
    if let refresh = token.refreshToken { members["refresh_token"] = .string(refresh) }
    if let scope = token.scope { members["scope"] = .string(scope) }
    let body = try JSONEncoder().encode(JSONValue.object(members))
    guard case .success(let again) = result(of: body, as: "application/json", quirks: []) else {
      throw Finding(description: "the token is not read when it is written again")
    }
    try require(again == token, "the token reads differently when it is written again")
  }

  private static func checkErrorResponse(_ body: Data) throws {
    guard let error = ErrorResponse(body: body, removing: SentSecrets([secret])) else { return }
    let texts = [error.error.rawValue, error.errorDescription ?? "", error.errorURI ?? ""]
    for text in texts {
      try require(text.isHarmless && text.unicodeScalars.count <= 500, "the error says \(text)")
      try require(!text.contains(secret), "the error repeats a secret")
    }
  }
}
